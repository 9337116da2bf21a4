"""Threads are given back, and an interrupt is heard."""

import _thread
import signal
import subprocess
import sys
import threading
import time

import numpy as np
import pytest
from threadpoolctl import threadpool_info

from fairpca import FairPCA
from fairpca._utils import threads
from fairpca._utils.threads import run_sequences
from fairpca.mmd import kernel_products


def blas_threads():
    return [library["num_threads"] for library in threadpool_info() if library["user_api"] == "blas"]


def test_fits_in_threads_leave_blas_as_they_found_it(two_groups):
    X, group = two_groups
    before = blas_threads()
    fits = [
        threading.Thread(target=FairPCA(2, tolerance=1e-3).fit, args=(X,), kwargs={"sensitive_features": group})
        for _ in range(4)
    ]
    for fit in fits:
        fit.start()
        time.sleep(0.01)
    for fit in fits:
        fit.join()
    assert blas_threads() == before


def test_an_interrupt_stops_all_lanes():
    done = []

    def task():
        time.sleep(0.01)
        done.append(1)

    def interrupt():
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_sequences([[task, interrupt], [task] * 200])
    count = len(done)
    assert count < 100
    time.sleep(0.05)
    assert len(done) == count


@pytest.fixture
def heeds_interrupts():
    """Interrupts become KeyboardInterrupt, also where the process was started in the background, which ignores them."""
    before = signal.signal(signal.SIGINT, signal.default_int_handler)
    yield
    signal.signal(signal.SIGINT, before)


@pytest.mark.usefixtures("heeds_interrupts")
def test_an_interrupted_fit_leaves_the_old_model_whole(two_groups):
    X, group = two_groups
    model = FairPCA(2, tolerance=1e-3).fit(X, sensitive_features=group)
    before = dict(vars(model))
    model.callback = lambda step: _thread.interrupt_main()
    with pytest.raises(KeyboardInterrupt):
        model.fit(3 * X + 1, sensitive_features=group)
    after = {name: value for name, value in vars(model).items() if name != "callback"}
    assert all(after[name] is before[name] for name in after)
    np.testing.assert_array_equal(model.transform(X).shape, (300, 2))


INTERRUPTED = """
import _thread
import numpy as np
from scipy.stats import qmc
from fairpca import two_sample

load = np.load
def interrupted(*arguments, **options):
    _thread.interrupt_main()
    return load(*arguments, **options)
np.load = interrupted
rng = np.random.default_rng(0)
X = rng.normal(size=(40_000, 2))
try:
    two_sample(X[:20_000], X[20_000:], random_state=0)
except KeyboardInterrupt:
    assert qmc.Sobol(2, scramble=False).random(4).max() == 0.75  # its numbers are whole
else:
    raise AssertionError("the interrupt was lost")
"""


def test_an_interrupt_while_scipy_reads_its_numbers_is_not_lost():
    """Scipy drops exceptions there, once in a process."""
    subprocess.run(
        [sys.executable, "-c", INTERRUPTED], check=True, preexec_fn=lambda: signal.signal(signal.SIGINT, signal.SIG_DFL)
    )


def kernel_pass(n_threads):
    rng = np.random.default_rng(0)
    Z, operand = rng.normal(size=(1600, 3)), rng.normal(size=(1600, 4))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(threads, "n_threads", lambda: n_threads)
        return kernel_products(Z, operand, 1.0)


@pytest.mark.usefixtures("each_engine")
@pytest.mark.parametrize("n_threads", [2, 3, 100])
def test_kernel_sums_have_the_same_bits_in_any_number_of_threads(n_threads):
    alone = kernel_pass(1)
    for _ in range(5):
        np.testing.assert_array_equal(kernel_pass(n_threads), alone)
