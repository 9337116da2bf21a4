"""What every notion of fairness measures, computed from its definition with dense matrices."""
# SPDX-License-Identifier: MIT

from itertools import product

import numpy as np
from scipy.stats import rankdata

from comparisons import kernel


def judge(Z, sigma, attributes, *, y=None, among=None, controls=None, weight=None, crossed=False, continuous=()):
    """Return the value of each measure, by its name.

    Parameters
    ----------
    Z : ndarray of shape (n, d)
        Projections.
    sigma : float
        Bandwidth.
    attributes : dict of str to ndarray
        Protected attributes; None or NaN where a row has none.
    y, among : ndarray and list
        Labels, and those among which groups are compared.
    controls : dict of str to ndarray
        Control features.
    weight : ndarray of shape (n,)
        Weights.
    crossed : bool
        Whether intersections are compared.
    continuous : collection of str
        Attributes that are numbers.
    """
    K = kernel(Z, sigma)
    mass = np.ones(len(Z)) if weight is None else np.asarray(weight, dtype=float)
    groups = {name: np.asarray(values) for name, values in attributes.items() if name not in continuous}
    if crossed and len(groups) > 1:
        tuples = [" & ".join(map(str, row)) for row in zip(*groups.values(), strict=True)]
        groups = {" & ".join(groups): np.array(tuples)}
    several = len(groups) + len(continuous) > 1
    found = {}
    for name, values in groups.items():
        for where, inside in segments(len(Z), y, among, controls):
            for label, value in of_groups(K, values, mass, inside).items():
                found[(f"{name}: " if several else "") + label + where] = value
    for name in continuous:
        for where, inside in segments(len(Z), y, among, controls):
            found[f"dependence on {name or 'the attribute'}" + where] = hsic(K, attributes[name], mass, inside)
    return found


def segments(n, y, among, controls):
    controls = controls or {}
    for label in [None] if among is None else among:
        for values in product(*(np.unique(column).tolist() for column in controls.values())):
            inside, words = np.ones(n, dtype=bool), []
            if label is not None:
                inside &= y == label
                words.append(f"y = {label}")
            for (name, column), value in zip(controls.items(), values, strict=True):
                inside &= column == value
                words.append(f"{name} = {value}")
            yield (f" among {', '.join(words)}" if words else ""), inside


def of_groups(K, values, mass, inside):
    inside = inside & np.array([value is not None and value == value for value in values.tolist()])
    labels = sorted(set(values[inside].tolist()))

    def mean(P, Q):
        return mass[P] @ K[np.ix_(P, Q)] @ mass[Q] / (mass[P].sum() * mass[Q].sum())

    def mmd2(label):
        A = np.flatnonzero(inside & (values == label))
        B = np.flatnonzero(inside & (values != label))
        return mean(A, A) + mean(B, B) - 2 * mean(A, B)

    if len(labels) == 2:
        return {f"{labels[0]} against {labels[1]}": mmd2(labels[0])}
    return {f"{label} against all others": mmd2(label) for label in labels}


def hsic(K, values, mass, inside):
    """Return tr(KHLH) / n^2 for the rows inside that have a value, weighted, with L on their standing among all."""
    present = ~np.isnan(values)
    standing = np.full(len(values), np.nan)
    if np.all(mass == np.rint(mass)):
        repeated = np.repeat(np.arange(len(values)), mass.astype(int) * present)
        standing[repeated] = (rankdata(values[repeated]) - 0.5) / len(repeated)
    else:
        total = mass[present].sum()
        for i in np.flatnonzero(present):
            below, equal = mass[present & (values < values[i])].sum(), mass[present & (values == values[i])].sum()
            standing[i] = (below + equal / 2) / total
    rows = np.flatnonzero(inside & present & (mass > 0))
    u, w = standing[rows], mass[rows] / mass[rows].sum()
    s = (1 - np.sqrt(0.5)) / np.sqrt(2)
    L = np.exp(-((u[:, None] - u) ** 2) / (2 * s**2))
    centred = L - (L @ w)[:, None] - (w @ L)[None] + w @ L @ w
    return float(w @ (K[np.ix_(rows, rows)] * centred) @ w)
