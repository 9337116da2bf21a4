"""Threads for numpy code that releases the interpreter lock."""
# SPDX-License-Identifier: MIT

import os
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache

from threadpoolctl import ThreadpoolController

SMALL = 1_000_000


@cache
def n_threads() -> int:
    """Return how many threads to use: the cores this process may run on, at most OMP_NUM_THREADS.

    joblib sets that variable in its workers, so nested parallelism does not ask for more than the machine has.
    """
    cores = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(asked))) if asked.isdigit() else cores


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="fairpca")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but not its threads.
    os.register_at_fork(after_in_child=_executor.cache_clear)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS from starting threads of its own inside ours."""
    with _controller().limit(limits=1, user_api="blas"):
        yield


def blas_threads_for(n_numbers: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread on small arrays: waking the others takes longer, above all on a busy machine.

    Parameters
    ----------
    n_numbers : int
        Size of the arrays.
    """
    return single_threaded_blas() if n_numbers < SMALL else nullcontext()


def run_all(tasks: Sequence[Callable[[], None]], most_threads: int | None = None) -> None:
    """Run the tasks, thread t taking tasks t, t + T, ...; an exception in any of them is raised here.

    Parameters
    ----------
    tasks : sequence of callable
        What to run.
    most_threads : int, default=None
        Threads to use at most.
    """
    workers = min(n_threads(), len(tasks), most_threads or len(tasks))
    if workers < 2:
        _run(tasks)
        return
    shares = [_executor().submit(_run, tasks[worker::workers]) for worker in range(1, workers)]
    _run(tasks[::workers])
    for share in shares:
        share.result()


def _run(tasks: Sequence[Callable[[], None]]) -> None:
    for task in tasks:
        task()
