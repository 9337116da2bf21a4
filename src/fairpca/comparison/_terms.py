"""What a user says of the people behind the rows, and how they are to be compared."""
# SPDX-License-Identifier: MIT

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from fairpca._utils.checks import check_integer, check_name
from fairpca.comparison._notions import NOTIONS, Notion
from fairpca.comparison._small_groups import SmallGroups

KINDS = "auto", "groups", "continuous"


@dataclass(frozen=True, eq=False)
class People:
    """What is known of the people behind the rows, as the user passed it.

    Attributes
    ----------
    sensitive_features : vector or table of n rows, default=None
        Protected attributes; nothing is compared without.
    y : vector of n rows, default=None
        Labels.
    control_features : vector or table of n rows, default=None
        Segments within which groups are compared.
    sample_weight : vector of n rows, default=None
        How much each row counts.
    """

    sensitive_features: Any = None
    y: Any = None
    control_features: Any = None
    sample_weight: Any = None

    @property
    def tables(self) -> dict[str, Any]:
        """What was passed, by the name of the argument."""
        return {name: table for name, table in vars(self).items() if table is not None}


@dataclass(frozen=True, eq=False)
class Terms:
    """How people are to be compared.

    Attributes
    ----------
    fairness : str or Notion, default="demographic_parity"
        The notion of fairness.
    favourable : label or None, default=None
        The favourable label.
    sensitive : {"each", "intersections"}, default="each"
        Whether several attributes are compared each by itself or crossed.
    sensitive_kind : {"auto", "groups", "continuous"} or mapping, default="auto"
        Whether attributes are groups or numbers, for all or by their names.
    min_group_size : int, default=5
        Rows that a group needs.
    small_groups : {"refuse", "merge", "leave"}, default="refuse"
        What becomes of smaller ones.
    missing : {"refuse", "group", "leave"}, default="refuse"
        What becomes of rows without an attribute.
    """

    fairness: Any = "demographic_parity"
    favourable: Any = None
    sensitive: str = "each"
    sensitive_kind: Any = "auto"
    min_group_size: int = 5
    small_groups: str = "refuse"
    missing: str = "refuse"

    @classmethod
    def of(cls, parameters: Any) -> "Terms":
        """Read and check the terms of an estimator.

        Parameters
        ----------
        parameters : object
            Has the attributes.
        """
        return cls.named(**{name: getattr(parameters, name) for name in cls.__dataclass_fields__})

    @classmethod
    def named(cls, **terms: Any) -> "Terms":
        """Take and check terms by their names.

        Parameters
        ----------
        **terms : dict
            Some of the attributes.
        """
        for name in terms:
            if name not in cls.__dataclass_fields__:
                raise TypeError(
                    f"{name!r} is no way to compare people; choose among {sorted(cls.__dataclass_fields__)}."
                )
        chosen = cls(**terms)
        chosen.check()
        return chosen

    def check(self) -> None:
        """Refuse what has no meaning, before any work."""
        notion_from(self.fairness)
        check_name("sensitive", self.sensitive, ["each", "intersections"])
        check_name("small_groups", self.small_groups, ["refuse", "merge", "leave"])
        check_name("missing", self.missing, ["refuse", "group", "leave"])
        check_integer("min_group_size", self.min_group_size, least=2)
        kinds = self.sensitive_kind.values() if isinstance(self.sensitive_kind, Mapping) else [self.sensitive_kind]
        for kind in kinds:
            check_name("sensitive_kind", kind, KINDS)

    @property
    def notion(self) -> Notion:
        """The notion of fairness."""
        return notion_from(self.fairness)

    @property
    def rule(self) -> SmallGroups:
        """The rule for small groups."""
        return SmallGroups(self.min_group_size, self.small_groups)

    def kinds_of(self, names: list[str]) -> list[str]:
        """Return the kind that each attribute is said to be."""
        if not isinstance(self.sensitive_kind, Mapping):
            return [self.sensitive_kind] * len(names)
        unknown = [repr(name) for name in self.sensitive_kind if name not in names]
        if unknown:
            raise ValueError(
                f"sensitive_kind names {', '.join(unknown)}, but sensitive_features has "
                f"{', '.join(map(repr, names)) if any(names) else 'a column without a name'}."
            )
        return [self.sensitive_kind.get(name, "auto") for name in names]


def notion_from(fairness: Any) -> Notion:
    """Return the notion of fairness for a name or an object.

    Parameters
    ----------
    fairness : str or Notion
        What the user passed.
    """
    if isinstance(fairness, str):
        return NOTIONS[check_name("fairness", fairness, NOTIONS)]()
    if not isinstance(fairness, Notion):
        raise TypeError(f"fairness must be one of {sorted(NOTIONS)} or a fairpca.comparison.Notion; got {fairness!r}.")
    return fairness
