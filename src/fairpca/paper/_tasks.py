"""A task: one call of a function that can be made in any process, and a name for its answer."""
# SPDX-License-Identifier: MIT

import hashlib
import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

from fairpca import __version__
from fairpca.paper._results import Outcome


@dataclass(frozen=True)
class Task:
    """One independent piece of an experiment.

    Attributes
    ----------
    folder : str
        The experiment under whose name the answer is stored. Experiments that need the same fit name the same folder.
    key : str
        Readable name of the task, unique in the folder for one set of parameters.
    function : callable
        A function of a module, so that other processes can find it; called with `parameters` and `context`.
    parameters : dict
        What determines the answer.
    context : dict
        What does not, such as the folder in which raw data are cached.
    cost : float
        Rough seconds, to show how much is left and to begin with the longest.
    """

    folder: str
    key: str
    function: Callable[..., Outcome]
    parameters: Mapping[str, Any]
    context: Mapping[str, Any] = field(default_factory=dict)
    cost: float = 1.0

    @property
    def stem(self) -> str:
        """Name of the stored answer: the key and a hash of parameters and package version."""
        named = {name: repr(value) for name, value in sorted(self.parameters.items())}
        identity = json.dumps([__version__, self.function.__module__, self.function.__qualname__, named])
        return f"{self.key}-{hashlib.sha256(identity.encode()).hexdigest()[:10]}"

    def perform(self) -> Outcome:
        """Call the function."""
        return self.function(**self.parameters, **self.context)
