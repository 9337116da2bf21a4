"""Which fair reductions there are, and why some of them cannot do what is asked."""
# SPDX-License-Identifier: MIT

from collections.abc import Callable, Iterable, Mapping
from functools import partial
from typing import Any

from sklearn.base import BaseEstimator, clone
from sklearn.utils.validation import has_fit_parameter

from fairpca._utils.checks import check_name
from fairpca.baselines import FPCA, LEACE, SPLINCE, AugmentedPCA, ClosedFormFairPCA, ReconstructionFairPCA
from fairpca.comparison import LARGEST_MMD2, People, Terms
from fairpca.estimator import FairPCA

PLAIN = "PCA"

KNOWN: dict[str, Callable[[Any], Any]] = {
    PLAIN: partial(FairPCA, tolerance=LARGEST_MMD2),  # nothing exceeds this tolerance
    "FairPCA": FairPCA,
    "FairPCA-scales": partial(FairPCA, bandwidth="scales"),
    "ClosedForm": ClosedFormFairPCA,
    "ClosedForm-cov": partial(ClosedFormFairPCA, match="covariances"),
    "LEACE": LEACE,
    "SPLINCE": SPLINCE,
    "AugmentedPCA": AugmentedPCA,
    "FPCA": FPCA,
    "equal-loss": ReconstructionFairPCA,
}

SLOW_BEYOND = {"FPCA": 1000}
"""Columns beyond which a method takes minutes, and is only tried where it is named: FPCA took 9 s of 500, and grows by
the third power."""

QUESTIONS = ("fairness", "favourable", "sensitive", "sensitive_kind")
"""Terms that change what is asked for; the others are rules for rows."""


def names_of_methods(methods: Any) -> tuple[str, ...]:
    """Return the names of methods, plain PCA first.

    Parameters
    ----------
    methods : str, iterable of str, mapping of str to estimator, or None
        What the user passed; None stands for all.
    """
    if methods is None:
        return tuple(KNOWN)
    if isinstance(methods, Mapping):
        if wrong := [name for name, model in methods.items() if not isinstance(model, BaseEstimator)]:
            raise TypeError(f"methods[{wrong[0]!r}] must be an estimator that reduces, such as PCA(2), not fitted.")
        listed = [*methods]
    elif isinstance(methods, Iterable):
        listed = [methods] if isinstance(methods, str) else list(methods)
        listed = [check_name("methods", name, KNOWN) for name in listed]
    else:
        raise TypeError(f"methods must be names among {', '.join(KNOWN)}, or estimators by name; got {methods!r}.")
    return tuple(dict.fromkeys([PLAIN, *listed]))


def method_of(name: str, n_components: Any, tolerance: Any, seed: int, terms: Terms, methods: Any = None) -> Any:
    """Return a method, not fitted, with those settings that it has.

    Parameters
    ----------
    name : str
        Which.
    n_components : int or float
        Of the reduction.
    tolerance : "auto", float, sequence or mapping
        Of `FairPCA`.
    seed : int
        Of what it draws.
    terms : Terms
        How people are compared.
    methods : mapping of str to estimator, default=None
        What the user has brought, which stays as it is.
    """
    if isinstance(methods, Mapping) and name in methods:
        return clone(methods[name])
    model = KNOWN[name](n_components)
    asked = {"random_state": seed} | vars(terms) | ({"tolerance": tolerance} if name.startswith("FairPCA") else {})
    return model.set_params(**{key: asked[key] for key in asked.keys() & model.get_params().keys()})


def why_not(name: str, model: Any, people: People, terms: Terms, n_features: int, is_named: bool) -> str:
    """Return why a method cannot do what is asked, as far as that is known before it is fitted, or nothing.

    Parameters
    ----------
    name : str
        Of the method.
    model : estimator
        It, not fitted.
    people : People
        What is known of the rows.
    terms : Terms
        How they are compared.
    n_features : int
        Columns.
    is_named : bool
        Whether the caller has asked for it by name.
    """
    if not has_fit_parameter(model, "sensitive_features"):
        return ""  # A reduction that compares nobody is asked for nothing.
    plain = Terms()
    for question in QUESTIONS:
        if getattr(terms, question) != getattr(plain, question) and question not in model.get_params():
            return f"it knows no {question}={getattr(terms, question)!r}."
    for argument, words in (("control_features", "segments"), ("sample_weight", "weights")):
        if getattr(people, argument) is not None and not has_fit_parameter(model, argument):
            return f"it knows no {words} ({argument})."
    most = SLOW_BEYOND.get(name)
    if most is not None and n_features > most and not is_named:
        return f"it takes minutes beyond {most} columns, and there are {n_features}; name it in methods to have it."
    return ""
