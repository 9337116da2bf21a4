# SPDX-License-Identifier: MIT
"""
Categories without a dense table
================================

``OneHotEncoder`` makes sparse columns, mostly zeros. ``FairPCA`` takes them as they are, in the middle of a pipeline.
"""

# %%
# German Credit as people have it, in words. The attribute and the columns that tell it stay out.

import matplotlib.pyplot as plt
import numpy as np
import sklearn
from sklearn.linear_model import LogisticRegression
from sklearn.pipeline import make_pipeline
from sklearn.preprocessing import OneHotEncoder

from fairpca import FairPCA
from fairpca.datasets import raw_table

table = raw_table("german")
left_out = {"age", "sex", "personal_status", "credit", "duration", "credit_amount"}
names = [name for name in table if name not in left_out]
rows = np.column_stack([np.asarray(table[name], dtype=str) for name in names])
sex, credit = np.asarray(table["sex"]), np.asarray(table["credit"])

# %%
# One pipeline from words to a classifier; ``sensitive_features`` finds its way by metadata routing.

sklearn.set_config(enable_metadata_routing=True)
encoder = OneHotEncoder(handle_unknown="ignore")
fair = FairPCA(8, tolerance=3e-3).set_fit_request(sensitive_features=True)
pipeline = make_pipeline(encoder, fair, LogisticRegression())
pipeline.fit(rows, credit, sensitive_features=sex)
encoded = encoder.transform(rows)
print(f"{encoded.shape[1]} columns, {100 * encoded.nnz / np.prod(encoded.shape):.0f} % of the cells are not 0")
print(f"accuracy on the people of the fit: {pipeline.score(rows, credit):.2f}")

# %%
# What each component keeps, and of which columns it is made.

fitted = pipeline["fairpca"]
features = encoder.get_feature_names_out(names)
figure, (left, right) = plt.subplots(1, 2, figsize=(11, 4.2), layout="constrained")
left.bar(np.arange(1, 9), 100 * fitted.explained_variance_ratio_, color="#0072B2")
left.set(xlabel="component", ylabel="variance kept (%)")
largest = np.argsort(np.abs(fitted.components_[0]))[-10:]
right.barh(features[largest], fitted.components_[0][largest], color="#0072B2")
right.set_xlabel("loading on component 1")
for ax in (left, right):
    ax.spines[["top", "right"]].set_visible(False)
plt.show()
sklearn.set_config(enable_metadata_routing=False)
