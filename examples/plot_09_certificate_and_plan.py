# SPDX-License-Identifier: MIT
"""
What can be shown, and how many people that takes
=================================================

An audit that finds nothing proves nothing. What can be shown is a bound, and how small a bound can be depends on how
many people are audited. :func:`fairpca.plan` says so beforehand; a certificate carries what was shown.
"""

# %%
# Which bound do 300 and 700 people support, and how many would 0.005 take?

import matplotlib.pyplot as plt
import numpy as np

from fairpca import FairPCA, audit, plan, verify
from fairpca.plots.style import PALETTE

planned = plan(5e-3, n_components=2, groups=(300, 700))
print(planned)

# %%
# A population of two groups, a model fitted to 1,000 of its people, and audits of more and more others.

rng = np.random.default_rng(5)
mixing, shift = rng.normal(size=(6, 6)), rng.normal(size=6)


def people(n):
    """Draw rows of two groups, three to seven."""
    group = np.where(rng.random(n) < 0.3, "a", "b")
    return rng.normal(size=(n, 6)) @ mixing + (group == "a")[:, None] * shift, group


X, group = people(1000)
model = FairPCA(2, random_state=0).fit(X, sensitive_features=group)
sizes = [300, 600, 1200, 2400, 4800]
quick = {"adversaries": "linear", "n_permutations": 99, "random_state": 0}
audits = []
for n in sizes:
    rows, known = people(n)
    audits.append(audit(model, rows, sensitive_features=known, **quick))

# %%
# The curve is the plan: four audits in five show as much where the groups do not differ at all. The model was fitted
# to 1,000 people, others differ a little, and with many of them that shows.

figure, ax = plt.subplots(figsize=(7, 4.4), layout="constrained")
planned.plot(ax=ax)
ax.plot(sizes, [each.upper_bound for each in audits], "o", color=PALETTE[2], label="bounds of audits")
ax.plot(sizes, [max(each.mmd2, 1e-5) for each in audits], "_", color="0.4", markersize=14, label="measured")
ax.legend(frameon=False)
plt.show()

# %%
# A certificate says what an audit has shown, and holds nothing of any single row. Anyone with the model and people of
# the same population can look for themselves.

certificate = audits[-1].certificate()
rows, known = people(4800)
print(verify(certificate, model, rows, sensitive_features=known))
