"""The command line: `python -m experiments table1 --quick`."""
# SPDX-License-Identifier: MIT

import argparse
import sys
from pathlib import Path

from experiments.fits import LOADERS
from experiments.study import QUICK_SPLITS, SPLITS, Settings, run
from experiments.synthetic import CONTRAST, FIGURE_1, SYNTHETIC_2
from experiments.uci import BIPLOTS, COMMUNALITY, LEAKAGE, TABLE_1

EXPERIMENTS = {
    experiment.name: experiment
    for experiment in (FIGURE_1, SYNTHETIC_2, TABLE_1, COMMUNALITY, BIPLOTS, LEAKAGE, CONTRAST)
}
INTERRUPTED = 130
"""Exit code that shells give to what Ctrl-C has ended."""


def positive(text: str) -> int:
    """Return a whole number of at least 1."""
    number = int(text)
    if number < 1:
        raise argparse.ArgumentTypeError(f"{number} must be at least 1.")
    return number


def parser() -> argparse.ArgumentParser:
    """Return the options."""
    parser = argparse.ArgumentParser("python -m experiments", description=sys.modules["experiments"].__doc__)
    parser.add_argument("experiment", choices=[*EXPERIMENTS, "all"])
    parser.add_argument("--output", type=Path, default=Path("paper"), help="folder for numbers, figures and pages")
    parser.add_argument("--splits", type=positive, help=f"{SPLITS} by default, {QUICK_SPLITS} with --quick")
    parser.add_argument("--jobs", type=positive, default=1, help="processes")
    parser.add_argument("--quick", action="store_true", help="fewer splits and settings: minutes, not hours")
    parser.add_argument("--data", nargs="+", choices=list(LOADERS), default=list(LOADERS), help="data sets")
    parser.add_argument("--components", nargs="+", type=positive, default=[2, 10], help="dimensions d of table1")
    parser.add_argument("--dimensions", nargs="+", type=positive, default=[], help="dimensions p of synthetic2")
    parser.add_argument("--data-home", help="where raw data are cached")
    return parser


def main(arguments: list[str] | None = None) -> int:
    """Run what the arguments ask for and return the exit code."""
    options = parser()
    asked = options.parse_args(arguments)
    settings = Settings(
        splits=asked.splits or (QUICK_SPLITS if asked.quick else SPLITS),
        quick=asked.quick,
        data=tuple(asked.data),
        n_components=tuple(asked.components),
        dimensions=tuple(asked.dimensions),
        data_home=asked.data_home,
    )
    chosen = list(EXPERIMENTS.values()) if asked.experiment == "all" else [EXPERIMENTS[asked.experiment]]
    try:
        paths = run(chosen, asked.output, settings, asked.jobs)
    except KeyboardInterrupt:
        print("interrupted: what is finished is stored, and the same command goes on from there.", file=sys.stderr)
        return INTERRUPTED
    except OSError as error:
        # A folder that cannot be written to, or data that cannot be had.
        options.error(str(error))
    print(f"{len(paths)} files in {asked.output}; begin with {paths[-1]}")
    return 0


if __name__ == "__main__":
    sys.exit(main())
