"""What chance, carelessness and malice make of model files."""
# SPDX-License-Identifier: MIT

import io
import json
import zipfile

import numpy as np

from fairpca.saving._archive import UNSIGNED, digest_of


def members_of(content):
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {info.filename: archive.read(info) for info in archive.infolist()}


def zipped(members, compression=zipfile.ZIP_STORED):
    """Return an archive of names and contents, which may come as pairs to have a name twice."""
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w", compression) as archive:
        for name, content in members.items() if isinstance(members, dict) else members:
            archive.writestr(zipfile.ZipInfo(name), content, compression)
    return buffer.getvalue()


def signed(document):
    """Return the text of a document with the checksum that belongs to it."""
    text = json.dumps(document | {"sha256": UNSIGNED}).encode()
    return text.replace(UNSIGNED.encode(), digest_of(text).encode(), 1)


class Mutations:
    """Files that chance makes of a model file, with zip and JSON kept whole in some of them."""

    def __init__(self, content):
        self.content, self.members = content, members_of(content)
        self.arrays = [name for name in self.members if name != "model.json"]

    def flipped(self, rng):
        changed = bytearray(self.content)
        for place in rng.integers(len(changed), size=rng.integers(1, 4)):
            changed[place] ^= 1 << int(rng.integers(8))
        return bytes(changed)

    def truncated(self, rng):
        return self.content[: rng.integers(len(self.content))]

    def array_changed(self, rng):
        name = str(rng.choice(self.arrays))
        array = np.load(io.BytesIO(self.members[name]))
        index = int(rng.integers(array.size))
        array.flat[index] = not array.flat[index] if array.dtype == bool else np.nextafter(array.flat[index], np.inf)
        buffer = io.BytesIO()
        np.save(buffer, array)
        return zipped(self.members | {name: buffer.getvalue()})

    def edited(self, rng):
        document = json.loads(self.members["model.json"])
        edit(document, rng)
        return zipped(self.members | {"model.json": json.dumps(document).encode()})

    def every(self, count):
        ways = [self.flipped, self.flipped, self.truncated, self.array_changed, self.edited]
        for number in range(count):
            yield ways[number % len(ways)](np.random.default_rng(number))


def places_in(value):
    """Yield every table or list inside a document, with each of its keys."""
    pairs = value.items() if isinstance(value, dict) else enumerate(value) if isinstance(value, list) else ()
    for key, inner in pairs:
        yield value, key
        yield from places_in(inner)


OTHERS = [None, True, -1, 0, 1, 3, 10**18, 10**30, 0.5, -1e308, "", "nan", "x", [], [[]], {}, {"$float": "nan"}]
OTHERS += [{"$float": "x"}, {"$array": "mean_"}, {"$array": []}, {"$tuple": [1]}, {"$floats": [1.0]}, {"$Budget": {}}]
OTHERS += [{"$dict": [[1, 2], [1, 3]]}, {"$dict": [[[], 2]]}, {"$status": "CONVERGED"}, {"$os.system": {"x": 1}}]
OTHERS += [{"$Scales": {"factors": {"$tuple": [-1.0]}, "bandwidth": "median"}}, {"$strings": ["a", "b"]}, {"$a": 1}]
OTHERS += [
    {"$EqualizedOdds": {}},
    {"$strings": [1]},
    {"$floats": {}},
    {"$status": []},
    {"$tuple": 3},
    {"a": 1, "$b": 2},
]


def edit(document, rng):
    """Change one place of a document: another value, a key less, or a key more."""
    places = list(places_in(document))
    table, key = places[int(rng.integers(len(places)))]
    way = rng.integers(6)
    if way == 0:
        del table[key]
    elif way == 1 and isinstance(table, dict):
        table[str(rng.choice(["extra", "$x", "__class__"]))] = OTHERS[int(rng.integers(len(OTHERS)))]
    elif way == 2 and type(table[key]) in (int, float):
        table[key] = table[key] + 1
    else:
        table[key] = OTHERS[int(rng.integers(len(OTHERS)))]
