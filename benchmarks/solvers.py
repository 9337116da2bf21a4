"""Budget solver, REPMS with each sub-solver, and pymanopt's trust region inside REPMS, on identical data in one run.

    python benchmarks/solvers.py
    python benchmarks/solvers.py --data german --d 2 10 --tau 1e-3

Prints seconds from `fit` to its return, the ratio to the budget solver, evaluations by kind and variance kept.
"""

import argparse
import time
import warnings

from _common import save, splits

from fairpca import FairPCA
from fairpca.solvers import REPMS, Budget


def contestants():
    solvers = {"budget": Budget()}
    solvers |= {
        f"repms {name}": REPMS(subsolver=name) for name in ("newton-bfgs", "rbfgs", "trust-region", "gradient-descent")
    }
    try:
        import pymanopt
    except ImportError:
        return solvers
    return solvers | {"repms pymanopt-tr": REPMS(subsolver=pymanopt.optimizers.TrustRegions())}


def run(data, d, tau, solver):
    model = FairPCA(d, tolerance=tau, solver=solver, random_state=0)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        began = time.perf_counter()
        model.fit(data["X_train"], sensitive_features=data["a_train"])
        seconds = time.perf_counter() - began
    result = model.result_
    return {
        "seconds": seconds,
        "kept": 100 * result.variance_kept,
        "mmd2": result.mmd2,
        "converged": model.converged_,
        "gradients": result.n_gradients,
        "hessian_products": result.n_hessian_products,
        "hessians": result.n_hessians,
    }


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--data", nargs="*", default=["german", "compas", "adult"])
    parser.add_argument("--d", type=int, nargs="*", default=[2])
    parser.add_argument("--tau", type=float, nargs="*", default=[1e-3])
    parser.add_argument("--save", default="solvers", help="name of the result file")
    args = parser.parse_args()
    rows = []
    for tau in args.tau:
        for name in args.data:
            split, data = splits(name)[0]
            for d in args.d:
                fastest = None
                for label, solver in contestants().items():
                    row = {"split": split, "d": d, "tau": tau, "solver": label} | run(data, d, tau, solver)
                    fastest = fastest or row["seconds"]
                    row["ratio"] = row["seconds"] / fastest
                    rows.append(row)
                    print(
                        f"{split} d={d} tau={tau:g} {label:24s} {row['seconds']:7.2f} s  {row['ratio']:6.1f} x  "
                        f"{row['gradients']:5d} gradients {row['hessian_products']:5d} products "
                        f"{row['hessians']:3d} Hessians  kept {row['kept']:6.2f} %  MMD^2 {row['mmd2']:.2e}"
                        f"{'' if row['converged'] else '  not converged'}",
                        flush=True,
                    )
    print(f"saved {save(args.save, rows)}")


if __name__ == "__main__":
    main()
