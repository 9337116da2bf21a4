"""A file that is not a whole model, as it was written, ends in one sentence, whoever made it."""
# SPDX-License-Identifier: MIT

import io
import pickle
import struct
import zipfile
from contextlib import nullcontext
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import fairpca
from damaged_files import members_of, zipped
from fairpca import FairPCA
from fairpca.exceptions import ModelFileError
from fairpca.saving import READERS, read_archive, to_archive, write_archive
from fairpca.saving._archive import MOST_DIRECTORY, MOST_TEXT, MOST_VALUES, array_of, npy_of
from fairpca.solvers import Budget

FORMAT_1 = Path(__file__).parent / "data" / "model-format-1.fairpca"
N_MUTATIONS, N_FORGERIES = 1000, 500
ROWS = np.random.default_rng(0).normal(size=(60, 4)) * [1, 2, 3, 4]
GROUPS = np.repeat(["a", "b"], 30)


@pytest.fixture(scope="module")
def model():
    solver = Budget(n_starts=1, allow_null=False)
    return FairPCA(2, tolerance=0.03, init=np.eye(2, 4), solver=solver).fit(ROWS, sensitive_features=GROUPS)


@pytest.fixture(scope="module")
def content(model, tmp_path_factory):
    path = tmp_path_factory.mktemp("model") / "model.fairpca"
    model.save(path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path):
    return tmp_path / "model.fairpca"


def refusal(path, content):
    """Return in which words a file is refused."""
    path.write_bytes(content)
    with pytest.raises(ModelFileError) as caught:
        fairpca.load(path)
    message = str(caught.value)
    assert message.startswith(f"{path} cannot be loaded: ")
    return message


def test_nested_documents_are_refused(model, path):
    document, arrays = to_archive(model)
    for depth in (40, 900):
        nested = []
        for _ in range(depth):
            nested = [nested]
        write_archive(path, document | {"parameters": document["parameters"] | {"init": nested}}, arrays)
        assert "more than 32 deep" in refusal(path, path.read_bytes())


def test_forged_arrays_are_refused(model, path):
    document, arrays = to_archive(model)
    p = model.n_features_in_
    for name, array, words in [
        ("mean_", np.zeros(p + 1), r"mean_ is an array of float64 of shape (5,)"),
        ("mean_", np.zeros(p, dtype=np.float32), "mean_ is an array of float32"),
        ("mean_", np.full(p, np.nan), "mean_ holds numbers that no fit gives"),
        ("components_", model.components_.T.copy(), "components_ is an array of float64 of shape (4, 2)"),
        ("components_", np.full((2, p), np.inf), "components_ holds numbers"),
        ("scale_", np.zeros(p), "scale_ must be greater than 0"),
        ("scale_", np.array("x"), "scale_ is an array of <U1"),
        ("constant_features_", np.zeros(p), "constant_features_ is an array of float64"),
        ("singular_values_", np.array([-1.0, 1.0]), "singular_values_ holds numbers"),
        ("surplus", np.zeros(2), "arrays that belong nowhere: 'surplus'"),
    ]:
        write_archive(path, document, arrays | {name: array})
        assert words in refusal(path, path.read_bytes())


def test_nothing_is_unpickled(content, path):
    marker = path.with_name("ran")

    class Payload:
        def __reduce__(self):
            return Path.touch, (marker,)

    buffer = io.BytesIO()
    np.save(buffer, np.array([Payload()], dtype=object), allow_pickle=True)
    for payload in (buffer.getvalue(), pickle.dumps(Payload())):
        members = members_of(content) | {"arrays/mean_.npy": payload}
        assert "checksum" in refusal(path, zipped(members))
        with pytest.raises(ValueError, match="no plain array"):
            array_of("mean_", payload)
        assert "no model file" in refusal(path, payload)
    assert not marker.exists()


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (lambda m: m | {"arrays/more.npy": b""}, "its arrays are not those that its document lists"),
        (lambda m: m | {"setup.py": b""}, "a member 'setup.py'"),
        (lambda m: m | {"../model.json": b""}, "a member '../model.json'"),
        (lambda m: m | {"arrays/../x.npy": b""}, "a member 'arrays/../x.npy'"),
        (lambda m: m | {"arrays/ä.npy": b""}, "a member 'arrays/ä.npy'"),
        (lambda m: [*m.items(), *m.items()], "a member twice"),
        (lambda m: {name: each for name, each in m.items() if name != "model.json"}, "has no model.json"),
        (lambda m: {name: each for name, each in m.items() if name != "arrays/mean_.npy"}, "its arrays are not those"),
        (lambda m: m | {"model.json": b""}, "Expecting value"),
        (lambda m: m | {"model.json": b"\xff{}"}, "it is no text"),
        (lambda m: m | {"model.json": b"[" * 10**5}, "too deep"),
        (lambda m: m | {"model.json": b"[1" + b"0" * 5000 + b"]"}, "digits"),
        (lambda m: m | {"model.json": b"[NaN]"}, "NaN is no number"),
        (lambda m: m | {"model.json": b'{"a": 1, "a": 2}'}, "a field occurs twice"),
        (lambda m: m | {"model.json": b'{"format": "fairpca certificate"}'}, "its format is 'fairpca model'"),
        (lambda m: m | {"model.json": b"[" + b"1," * MOST_VALUES + b"1]"}, "values"),
        (lambda m: m | {"model.json": b" " * (MOST_TEXT + 1)}, "bytes"),
    ],
)
def test_what_is_wrong_with_an_archive_is_said(change, words, content, path):
    with pytest.warns(UserWarning, match="Duplicate") if words == "a member twice" else nullcontext():
        changed = zipped(change(members_of(content)))
    assert words in refusal(path, changed)


def test_newer_formats_ask_for_an_upgrade(content, path):
    text = members_of(content)["model.json"]
    newer = text.replace(b'"format_version": 1, "fairpca": "0.1.0"', b'"format_version": 2, "fairpca": "9.0"')
    assert "written by a newer version, fairpca 9.0: format 2, this fairpca reads 1; upgrade fairpca." in refusal(
        path, zipped(members_of(content) | {"model.json": newer})
    )
    for version in (b"0", b"-1", b"true", b"1.0", b'"1"', b"null"):
        odd = text.replace(b'"format_version": 1', b'"format_version": ' + version)
        assert "format version" in refusal(path, zipped(members_of(content) | {"model.json": odd}))


def test_files_of_format_1_are_read():
    """Written when the format was young; it must be readable for good."""
    loaded = fairpca.load(FORMAT_1)
    assert loaded.summary().startswith("2 components keep")
    rows = pd.DataFrame(np.arange(8.0).reshape(2, 4), columns=list("abcd"))
    expected = ((rows.to_numpy() - loaded.mean_) / loaded.scale_) @ loaded.components_.T
    np.testing.assert_allclose(loaded.transform(rows), expected, atol=1e-12)
    assert loaded.get_params()["solver__n_starts"] == 3
    assert loaded.mmd2_ <= loaded.tolerance_ == loaded.tolerance["group"] == 0.01


def test_other_files_and_no_files(path):
    for other in (b"", b"x", b"PK\5\6" + b"\0" * 18, b"\0" * 5000, b"PK\3\4" * 30):
        assert "no model file" in refusal(path, other) or "no zip archive" in refusal(path, other)
    with pytest.raises(FileNotFoundError):
        fairpca.load(path.with_name("nothing"))
    with pytest.raises(IsADirectoryError):
        fairpca.load(path.parent)


def test_compressed_and_encrypted_members_are_refused(content, path):
    for method in (zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA):
        assert "compressed or encrypted" in refusal(path, zipped(members_of(content), method))
    directory = content.rindex(b"PK\1\2")
    flags = directory + 8
    encrypted = content[:flags] + bytes([content[flags] | 1]) + content[flags + 1 :]
    assert "compressed or encrypted" in refusal(path, encrypted)


def ending(content, **changes):
    """Return an archive with another record at its end."""
    names = ("signature", "disk", "first", "here", "all", "length", "start", "comment")
    fields = dict(zip(names, struct.unpack("<4s4H2LH", content[-22:]), strict=True)) | changes
    return content[:-22] + struct.pack("<4s4H2LH", *fields.values())


def test_odd_ends_of_archives_never_reach_the_zip_library(content, path):
    length, start = struct.unpack("<2L", content[-10:-2])
    assert "no zip archive" in refusal(path, ending(content, start=start + 1))
    assert "no zip archive" in refusal(path, ending(content, length=2**32 - 1))
    assert "no zip archive" in refusal(path, ending(content, comment=3))
    assert "no zip archive" in refusal(path, content + b"PK\5\6" + b"\0" * 18)
    locator = b"PK\6\7" + struct.pack("<LQL", 0, 0, 1)
    assert "no zip archive" in refusal(path, ending(content[:-22] + locator + content[-22:], length=length + 20))
    junk = b"x" * (MOST_DIRECTORY + 1)
    long = content[:start] + junk + content[start:]
    assert "list of members is too long" in refusal(path, ending(long, length=length + len(junk)))


def test_members_that_overlap_are_refused(path):
    """Many members that share their bytes would be larger together than the file."""
    large = npy_of("x", np.zeros(10**5))
    archive = bytearray(
        zipped({"model.json": b"{}"} | {f"arrays/a{k}.npy": large if k == 0 else b"" for k in range(9)})
    )
    first = archive.index(b"PK\1\2", archive.index(b"PK\1\2") + 1)
    fields = archive[first + 16 : first + 28]
    place = archive[first + 42 : first + 46]
    entry = first
    while (entry := archive.find(b"PK\1\2", entry + 1)) > 0:
        archive[entry + 16 : entry + 28] = fields
        archive[entry + 42 : entry + 46] = place
    assert "larger than itself" in refusal(path, bytes(archive))


def test_too_much_is_not_written(path):
    with pytest.raises(ValueError, match=r"about .* values"):
        write_archive(path, {"kind": "x", "more": [1] * (MOST_VALUES + 1)}, {})
    with pytest.raises(ValueError, match="no name of a member"):
        write_archive(path, {"kind": "x"}, {"../x": np.zeros(1)})
    with pytest.raises(ValueError, match="no fields"):
        write_archive(path, {"kind": "x", "sha256": "x"}, {})
    assert list(path.parent.iterdir()) == []


def test_kinds_are_chosen_from_those_that_are_known(path):
    write_archive(path, {"kind": "os"}, {})
    refused = refusal(path, path.read_bytes())
    assert "kind='os' is unknown; choose one of ['AugmentedPCA', " in refused
    assert "'FairPCA', 'LEACE', 'ReconstructionFairPCA', 'Release', 'SPLINCE', 'TableModel']" in refused
    write_archive(path, {"model": 1}, {})
    assert "the document lacks 'kind'" in refusal(path, path.read_bytes())
    assert read_archive(FORMAT_1)[0]["kind"] in READERS
