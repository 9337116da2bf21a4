"""How work is shared out: threads for numpy code that releases the interpreter lock, and the sizes of its pieces."""
# SPDX-License-Identifier: MIT

import os
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, wait
from contextlib import AbstractContextManager, contextmanager, nullcontext
from functools import cache
from threading import Event, Lock
from typing import Any

import joblib
from threadpoolctl import ThreadpoolController

N_SUMS = 8
"""Partial sums, as many for any number of threads: so the order of additions, hence the last bit, is the same."""

BLOCK_NUMBERS = 2**18
"""Numbers of a block that one thread works on: 2 MB in float64, the share of the cache that a core has."""

MEMORY_NUMBERS = 2**25
"""Numbers of the largest array that is made to save time: 256 MB in float64, which every machine has to spare."""


@cache
def n_threads() -> int:
    """Return how many threads to use: the cores this process may use, at most OMP_NUM_THREADS.

    joblib counts what affinity and the quota of a container leave. It sets that variable in its workers, so nested
    parallelism does not ask for more than the machine has.
    """
    cores = joblib.cpu_count()
    asked = os.environ.get("OMP_NUM_THREADS", "")
    return max(1, min(cores, int(asked))) if asked.isdigit() else cores


@cache
def _executor() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(n_threads(), thread_name_prefix="fairpca")


@cache
def _controller() -> ThreadpoolController:
    return ThreadpoolController()


class _SharedLimit:
    """The limit on BLAS threads, which belongs to the process: set by the first who asks, lifted by the last."""

    def __init__(self) -> None:
        self.reset()

    def reset(self) -> None:
        self.lock = Lock()
        self.n_holders = 0
        self.limiter: Any = None


_limit = _SharedLimit()

if hasattr(os, "register_at_fork"):
    # A forked child inherits the pool object but not its threads, and a lock that another thread may have held.
    os.register_at_fork(after_in_child=_executor.cache_clear)
    os.register_at_fork(after_in_child=_limit.reset)


@contextmanager
def single_threaded_blas() -> Iterator[None]:
    """Keep BLAS from starting threads of its own inside ours.

    Fits in several threads overlap: were each to restore what it found, the last would leave the limit of another.
    """
    with _limit.lock:
        if _limit.n_holders == 0:
            _limit.limiter = _controller().limit(limits=1, user_api="blas")
        _limit.n_holders += 1
    try:
        yield
    finally:
        with _limit.lock:
            _limit.n_holders -= 1
            if _limit.n_holders == 0:
                _limit.limiter.restore_original_limits()


def blas_threads_for(n_numbers: int) -> AbstractContextManager[None]:
    """Keep BLAS to one thread on small arrays: waking the others takes longer, above all on a busy machine.

    Parameters
    ----------
    n_numbers : int
        Size of the arrays.
    """
    return single_threaded_blas() if n_numbers < 4 * BLOCK_NUMBERS else nullcontext()


def run_all(tasks: Sequence[Callable[[], None]]) -> None:
    """Run the tasks, each thread the next that none has begun; an exception in any of them is raised here.

    Parameters
    ----------
    tasks : sequence of callable
        What to run.
    """
    run_sequences([[task] for task in tasks])


def run_sequences(sequences: Sequence[Iterable[Callable[[], None]]]) -> None:
    """Run sequences of tasks, each task of one after the other; a thread that has ended a sequence takes the next.

    Short work is not held up by a thread that is slow to wake: this one begins at once, and leaves to others what they
    come in time for.

    An interrupt, which reaches the main thread alone, is raised here as soon as the others have ended the task that
    they are at: tasks should take a fraction of a second.

    Parameters
    ----------
    sequences : sequence of iterables of callable
        What to run.
    """
    workers = min(n_threads(), len(sequences))
    waiting, stopped = deque(sequences), Event()
    helpers = [_executor().submit(_run, waiting, stopped) for _ in range(1, workers)]
    try:
        _run(waiting, stopped)
        for helper in helpers:
            if not helper.cancel():
                helper.result()
    except BaseException:
        stopped.set()
        wait([helper for helper in helpers if not helper.cancel()])
        raise


def _run(waiting: deque[Iterable[Callable[[], None]]], stopped: Event) -> None:
    """Run what is left; several threads may do so, and none gets what another has got."""
    while True:
        try:
            sequence = waiting.popleft()
        except IndexError:
            return
        try:
            for task in sequence:
                if stopped.is_set():
                    return
                task()
        except BaseException:
            stopped.set()
            raise
