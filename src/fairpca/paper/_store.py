"""Answers of tasks on disk, one small file each, whole or absent."""
# SPDX-License-Identifier: MIT

import json
import time
import zipfile
from pathlib import Path

import numpy as np

from fairpca._utils.files import writing
from fairpca.paper._results import Outcome
from fairpca.paper._tasks import Task

_STALE_SECONDS = 60.0
"""A temporary file lives for milliseconds; one of this age was left by a process that was killed."""


class TaskStore:
    """Stored answers below one folder.

    Parameters
    ----------
    root : Path
        The folder; each experiment has a folder of its own in it.
    """

    def __init__(self, root: Path) -> None:
        self._root = root

    def path(self, task: Task) -> Path:
        """Return where the answer of a task is stored."""
        return self._root / task.folder / f"{task.stem}.json"

    def load(self, task: Task) -> Outcome | None:
        """Return the stored answer, or None if there is none that can be read."""
        path = self.path(task)
        try:
            stored = json.loads(path.read_text(encoding="utf-8"))
            arrays = {}
            if stored["arrays"]:
                with np.load(path.with_suffix(".npz")) as archive:
                    arrays = dict(archive)
            return Outcome(stored["row"], stored["seconds"], arrays)
        except (FileNotFoundError, KeyError, TypeError, ValueError, EOFError, zipfile.BadZipFile):
            return None

    def save(self, task: Task, outcome: Outcome) -> None:
        """Store an answer. The row comes last: where it is, the arrays are."""
        path = self.path(task)
        path.parent.mkdir(parents=True, exist_ok=True)
        if outcome.arrays:
            with writing(path.with_suffix(".npz")) as temporary, temporary.open("wb") as file:
                np.savez_compressed(file, **outcome.arrays)  # type: ignore[arg-type]
        stored = {"row": outcome.row, "seconds": outcome.seconds, "arrays": sorted(outcome.arrays)}
        with writing(path) as temporary:
            temporary.write_text(json.dumps(stored, indent=1) + "\n", encoding="utf-8")

    def remove_leftovers(self) -> None:
        """Remove temporary files of processes that were killed while writing."""
        for path in self._root.glob("*/.*.part"):
            if time.time() - path.stat().st_mtime > _STALE_SECONDS:
                path.unlink(missing_ok=True)
