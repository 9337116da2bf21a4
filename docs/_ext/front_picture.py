"""Make the picture of the README and of the front page from the first example.

python docs/_ext/front_picture.py
"""
# SPDX-License-Identifier: MIT

import runpy
from pathlib import Path

from matplotlib import pyplot

ROOT = Path(__file__).parents[2]
EXAMPLE = ROOT / "examples" / "plot_01_before_after.py"
PICTURE = ROOT / "docs" / "images" / "before-after.png"

if __name__ == "__main__":
    pyplot.switch_backend("Agg")
    runpy.run_path(str(EXAMPLE))
    pyplot.gcf().savefig(PICTURE, dpi=130)
