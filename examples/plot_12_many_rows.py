# SPDX-License-Identifier: MIT
"""
Many rows: a file that is mapped, and Dask
==========================================

MMD² compares all pairs of rows. Beyond 5,000 of them ``FairPCA`` does so in linear time, on rows that stay in their
file or on a cluster.
"""

# %%
# A file of 200,000 rows in single precision, mapped and not read.

import tempfile
import time
from pathlib import Path

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA

rng = np.random.default_rng(0)
n, p = 200_000, 20
folder = tempfile.TemporaryDirectory()
file = Path(folder.name) / "rows.npy"
rows = np.lib.format.open_memmap(file, mode="w+", dtype=np.float32, shape=(n, p))
group = rng.random(n) < 0.4
rows[:] = rng.normal(size=(n, p)).astype(np.float32) @ rng.normal(size=(p, p)).astype(np.float32)
rows[group, :3] += 2.0
rows.flush()
X = np.load(file, mmap_mode="r")

# %%
# Seconds of a fit against rows, on the machine that made this page. Up to 60,000 rows they include one exact
# measurement over all pairs at the end; beyond, MMD² comes with a bound on its error.

sizes = [6_000, 20_000, 200_000]
seconds = []
for size in sizes:
    start = time.perf_counter()
    model = FairPCA(2, tolerance=1e-3, random_state=0).fit(X[:size], sensitive_features=group[:size])
    seconds.append(time.perf_counter() - start)
    print(f"{size:>7,} rows: MMD² {model.mmd2_:.2e} ± {model.mmd2_error_:.0e} by {model.mmd_method_}")

figure, ax = plt.subplots(figsize=(6.5, 4), layout="constrained")
ax.loglog(sizes, seconds, "o-", color="#0072B2", label="FairPCA")
ax.loglog(sizes, seconds[0] * np.divide(sizes, sizes[0]), ":", color="0.5", label="linear in the rows")
ax.loglog(sizes, seconds[0] * np.divide(sizes, sizes[0]) ** 2, "--", color="0.7", label="quadratic")
ax.set(xlabel="rows", ylabel="seconds of a fit")
ax.set_xticks(sizes, [f"{size:,}" for size in sizes])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()

# %%
# The same rows as a Dask array in blocks: the same components.

blocks = da.from_array(X, chunks=(50_000, p))
groups = da.from_array(group, chunks=50_000)
on_dask = FairPCA(2, tolerance=1e-3, random_state=0).fit(blocks, sensitive_features=groups)
print(f"largest difference of a loading: {np.abs(on_dask.components_ - model.components_).max():.0e}")
folder.cleanup()
