"""Promises about every classifier: bounds for released data, and a transformer that releases less than it knows."""
# SPDX-License-Identifier: MIT

from fairpca.release._bound import AnyClassifierBound, any_classifier_bound as any_classifier_bound
from fairpca.release._noise import PeopleNoise as PeopleNoise
from fairpca.release._places import Places
from fairpca.release._release import Release as Release
from fairpca.release._sides import Sides as Sides, least_bound as least_bound, sides_of as sides_of
from fairpca.release._task import BoostedTrees as BoostedTrees, TaskScores as TaskScores

__all__ = ["AnyClassifierBound", "Places"]
