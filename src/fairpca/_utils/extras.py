"""Importing optional dependencies, with the install line when they are missing."""
# SPDX-License-Identifier: MIT

from importlib import import_module
from types import ModuleType


def require(module: str, extra: str) -> ModuleType:
    """Import a module of an optional dependency.

    Parameters
    ----------
    module : str
        Dotted name of the module.
    extra : str
        The extra of this package that installs it.
    """
    try:
        return import_module(module)
    except ImportError as error:
        package = module.partition(".")[0]
        raise ImportError(f"this needs {package}, which is not installed: pip install 'fairpca[{extra}]'") from error
