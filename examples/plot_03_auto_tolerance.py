# SPDX-License-Identifier: MIT
"""
How small is small: chance and ``tolerance="auto"``
===================================================

Two samples of one population never look exactly alike. What they show by chance depends on how many people they have;
a tolerance far below that has no meaning for anybody else. The default asks for half of it.
"""

# %%
# People whose groups differ in one direction, from a hundred to three thousand of them. As many others, who take no
# part in the fit, are looked at afterwards.

import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA
from fairpca.metrics import mmd2
from fairpca.plots.style import PALETTE

rng = np.random.default_rng(0)
mixing = rng.normal(size=(8, 8))
shift = 3.0 * rng.normal(size=8)


def people(n):
    """Draw rows of two groups, women two in five."""
    sex = rng.choice(["female", "male"], size=n, p=[0.4, 0.6])
    return rng.normal(size=(n, 8)) @ mixing + np.where(sex == "female", 1.0, 0.0)[:, None] * shift, sex


sizes = [100, 200, 400, 800, 1600, 3200]
fitted, chance, expected, new = [], [], [], []
for n in sizes:
    X, sex = people(n)
    model = FairPCA(2, random_state=0).fit(X, sensitive_features=sex)
    fitted.append(model.mmd2_)
    chance.append(model.chance_level_)
    expected.append(model.expected_mmd2_new_)
    draws = [people(n) for _ in range(20)]
    new.append([mmd2(model.transform(rows), sensitive_features=who, bandwidth=model.bandwidth_) for rows, who in draws])

# %%
# New people show about the tolerance plus the chance level. There is one fit of each size here, and what it leaves
# varies from fit to fit: some means lie above the dashed line, some below. No tolerance takes b away; more people do.

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
ax.plot(sizes, chance, color="0.5", linestyle=":", label="chance level, b")
ax.plot(sizes, fitted, "o-", color=PALETTE[0], label="people of the fit: b / 2")
ax.plot(sizes, expected, color=PALETTE[5], linestyle="--", label="expected of new people: 3 b / 2")
ax.plot(sizes, np.mean(new, axis=1), "^", color=PALETTE[1], label="new people, mean of 20 draws")
for n, values in zip(sizes, new, strict=True):
    ax.plot([n] * len(values), values, "_", color=PALETTE[1], alpha=0.5)
ax.set(xscale="log", yscale="log", xlabel="people", ylabel="MMD² of the projected groups")
ax.set_xticks(sizes, [f"{n:,}" for n in sizes])
ax.minorticks_off()
ax.legend(frameon=False)
plt.show()
