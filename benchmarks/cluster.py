"""The same fit on one Dask worker and on two, one thread each, whose memory goes back to the system or is kept.

python benchmarks/cluster.py --rows 1e6 --save cluster
"""

import argparse
import time
from itertools import product

import dask
import dask.array as da
import numpy as np
from _common import save
from distributed import Client, LocalCluster, wait
from scale import COLUMNS, TOLERANCE, block, loadings

from fairpca import FairPCA
from fairpca.geometry import projection_distance

BLOCKS = 16
MEMORY = {
    "returned": {"MALLOC_TRIM_THRESHOLD_": 2**16},  # as Dask starts workers
    "kept": {"MALLOC_TRIM_THRESHOLD_": 2**30, "MALLOC_MMAP_THRESHOLD_": 2**30},
}
IN_MEMORY = 2_000_000


def fit(X, groups):
    began = time.perf_counter()
    model = FairPCA(2, tolerance=TOLERANCE, random_state=0).fit(X, sensitive_features=groups)
    return time.perf_counter() - began, model


def blocks(n):
    """Rows and groups that are made where they stay."""
    height = -(-n // BLOCKS)
    made = [dask.delayed(block, nout=2)(np.random.default_rng(seed), height, loadings()) for seed in range(BLOCKS)]
    X = [da.from_delayed(rows, (height, COLUMNS), np.float32) for rows, _ in made]
    groups = [da.from_delayed(labels, (height,), bool) for _, labels in made]
    return da.concatenate(X), da.concatenate(groups)


def on_workers(n_workers, n, memory):
    dask.config.set({"distributed.nanny.pre-spawn-environ": MEMORY[memory]})
    cluster = LocalCluster(n_workers=n_workers, threads_per_worker=1, processes=True, dashboard_address=None)
    with cluster, Client(cluster) as client:
        # Rows wait in the workers' memory, and every worker has imported what it needs.
        X, groups = client.persist(blocks(n))
        wait([X, groups])
        fit(X[:20_000].rechunk((5000, -1)), groups[:20_000].rechunk(5000))
        return fit(X, groups)


def main():
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--rows", type=float, default=1e6)
    parser.add_argument("--save", default=None, help="name of the result file")
    arguments = parser.parse_args()
    n = int(arguments.rows)
    rows, local = [], None
    if n <= IN_MEMORY:
        X, groups = dask.compute(*blocks(n))
        seconds, local = fit(X, groups)
        rows.append({"workers": 0, "n": n, "p": COLUMNS, "seconds": seconds, "mmd2": local.mmd2_})
    for memory, n_workers in product(MEMORY, (1, 2)):
        seconds, model = on_workers(n_workers, n, memory)
        row = {"workers": n_workers, "memory": memory, "n": n, "p": COLUMNS, "seconds": seconds, "mmd2": model.mmd2_}
        rows.append(row)
        if local is not None:
            rows[-1]["distance_to_in_memory"] = projection_distance(model.components_.T, local.components_.T)
    for row in rows:
        print(" ".join(f"{key}={value}" for key, value in row.items()), flush=True)
    print(f"two workers are {rows[-2]['seconds'] / rows[-1]['seconds']:.2f} times as fast as one")
    if arguments.save:
        print("saved", save(arguments.save, rows))


if __name__ == "__main__":
    main()
