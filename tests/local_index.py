"""A package index that is a folder."""
# SPDX-License-Identifier: MIT


def use_index(folder, monkeypatch):
    """Make pip take packages from a folder only."""
    monkeypatch.setenv("PIP_NO_INDEX", "1")
    monkeypatch.setenv("PIP_FIND_LINKS", str(folder))
