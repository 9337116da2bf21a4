"""Performing tasks, in this process or in several, and storing each answer as it comes."""
# SPDX-License-Identifier: MIT

import os
import threading
import time
import warnings
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import cache

import joblib

from fairpca._utils.threads import single_threaded_blas
from fairpca.baselines import TiedEigenvaluesWarning
from fairpca.exceptions import AttributeInTableWarning, ConvergenceWarning, NullComponentsWarning, RankWarning
from fairpca.paper._results import Outcome, Results
from fairpca.paper._store import TaskStore
from fairpca.paper._tasks import Task

EXPECTED = (
    *(AttributeInTableWarning, ConvergenceWarning, NullComponentsWarning, RankWarning),
    TiedEigenvaluesWarning,
)
"""What tasks warn of: the tables of the paper hold their protected attribute, and the rest stands in the rows."""


@dataclass(frozen=True)
class Progress:
    """How far an experiment is.

    Attributes
    ----------
    experiment : str
        Its name.
    key : str
        The task that was finished last; empty at the beginning.
    done, total : int
        Tasks with an answer, and all.
    cost_done, cost_total : float
        The same weighted with the rough seconds of each.
    """

    experiment: str
    key: str
    done: int
    total: int
    cost_done: float
    cost_total: float


ProgressCallback = Callable[[Progress], None]


def execute(
    experiment: str,
    tasks: Sequence[Task],
    store: TaskStore,
    *,
    jobs: int = 1,
    callback: ProgressCallback | None = None,
) -> Results:
    """Perform the tasks that have no stored answer and return the answers of all.

    Answers do not depend on `jobs`: matrix products use one thread in either case, and the kernel sums add up in one
    order for any number of threads.

    Parameters
    ----------
    experiment : str
        Name, for the callback.
    tasks : sequence of Task
        The tasks.
    store : TaskStore
        Where answers are stored, each as soon as it is there.
    jobs : int, default=1
        Number of processes; 1 is this process. Several use one thread each.
    callback : callable, default=None
        Called with a `Progress` at the beginning and after each task.

    Returns
    -------
    results : Results
        The answers in the order of the tasks.
    """
    answers = {index: outcome for index, task in enumerate(tasks) if (outcome := store.load(task)) is not None}
    pending = [index for index in range(len(tasks)) if index not in answers]
    # In several processes the longest first, so that none is left running alone at the end; in one the shortest first,
    # so that much is stored early.
    pending.sort(key=lambda index: tasks[index].cost, reverse=jobs > 1)
    _tell(callback, experiment, "", tasks, answers)
    for index, outcome in _answers([(index, tasks[index]) for index in pending], jobs):
        store.save(tasks[index], outcome)
        answers[index] = outcome
        _tell(callback, experiment, tasks[index].key, tasks, answers)
    return Results(tuple(answers[index] for index in range(len(tasks))))


def _tell(
    callback: ProgressCallback | None, experiment: str, key: str, tasks: Sequence[Task], answers: dict[int, Outcome]
) -> None:
    if callback is None:
        return
    cost_done = sum(tasks[index].cost for index in answers)
    cost_total = sum(task.cost for task in tasks)
    callback(Progress(experiment, key, len(answers), len(tasks), cost_done, cost_total))


def _answers(pending: Sequence[tuple[int, Task]], jobs: int) -> Iterator[tuple[int, Outcome]]:
    if jobs == 1 or len(pending) < 2:
        yield from (_perform(index, task) for index, task in pending)
        return
    with joblib.parallel_config(backend="loky", inner_max_num_threads=1):
        # Batches would hold answers back that could be stored.
        parallel = joblib.Parallel(n_jobs=jobs, return_as="generator_unordered", batch_size=1)
        yield from parallel(joblib.delayed(_perform_in_worker)(index, task, os.getpid()) for index, task in pending)


def _perform_in_worker(index: int, task: Task, parent: int) -> tuple[int, Outcome]:
    _end_with(parent)
    return _perform(index, task)


@cache
def _end_with(parent: int) -> None:
    """End this process soon after its parent: when that is killed, nobody waits for the answer any more."""

    def watch() -> None:
        while os.getppid() == parent:
            time.sleep(1.0)
        os._exit(1)

    threading.Thread(target=watch, name="fairpca-parent-watch", daemon=True).start()


def _perform(index: int, task: Task) -> tuple[int, Outcome]:
    """Perform a task quietly: what its warnings say stands in its row."""
    with warnings.catch_warnings(), single_threaded_blas():
        for category in EXPECTED:
            warnings.simplefilter("ignore", category)
        return index, task.perform()
