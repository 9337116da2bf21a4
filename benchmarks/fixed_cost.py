"""What a small fit costs apart from its gradients and Hessians: checks, preparation, steps, the last check.

    python benchmarks/fixed_cost.py          # German Credit, a few seconds
    python benchmarks/fixed_cost.py --save   # keep the results

The least milliseconds of several fits, each kind by itself. `rest` is all of a fit that is neither an evaluation of
gradients nor a Hessian.
"""

import time
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from _common import run_parts, splits

from fairpca import FairPCA
from fairpca.problem import FairSubspaceProblem

REPEATS = 40
MOST_REST = 10.0
"""Most milliseconds that the rest of a fit may take."""


@contextmanager
def timed(name: str) -> Iterator[list[float]]:
    """Keep the seconds of each call of a method of the problem while the context lasts."""
    method: Callable[..., Any] = getattr(FairSubspaceProblem, name)
    seconds: list[float] = []

    def wrapped(*args: Any, **kwargs: Any) -> Any:
        began = time.perf_counter()
        try:
            return method(*args, **kwargs)
        finally:
            seconds.append(time.perf_counter() - began)

    setattr(FairSubspaceProblem, name, wrapped)
    try:
        yield seconds
    finally:
        setattr(FairSubspaceProblem, name, method)


def one_fit(X: Any, groups: Any) -> dict[str, float]:
    """Fit, and return where the milliseconds went."""
    with timed("evaluate") as gradients, timed("hessian") as hessians:
        began = time.perf_counter()
        FairPCA(2, tolerance=1e-3, random_state=0).fit(X, sensitive_features=groups)
        total = time.perf_counter() - began
    rest = total - sum(gradients) - sum(hessians)
    named = {"total": total, "gradients": sum(gradients), "hessians": sum(hessians), "rest": rest}
    return {name: 1e3 * seconds for name, seconds in named.items()}


def fixed() -> Iterator[dict[str, Any]]:
    for split, data in splits("german"):
        X, groups = data["X_train"], data["a_train"]
        fits = [one_fit(X, groups) for _ in range(REPEATS)]
        least = {f"{name}_ms": min(fit[name] for fit in fits) for name in fits[0]}
        yield {"split": split} | least | {"most_rest_ms": MOST_REST, "within": least["rest_ms"] <= MOST_REST}


def main() -> None:
    warnings.simplefilter("ignore")
    run_parts({"fixed": fixed}, "fixed_cost", __doc__)


if __name__ == "__main__":
    main()
