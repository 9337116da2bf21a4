"""Put the saved results of packages.py into docs/installing.md.

python benchmarks/packages_page.py
"""

import json
import re
from pathlib import Path

from _common import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "installing.md"
PLACE = re.compile(r"(<!-- packages -->\n).*(<!-- end -->)", re.DOTALL)
HEAD = """| Python | dependencies | numpy, SciPy, scikit-learn | from | kernel sums | passed, failed | import |
|---|---|---|---|---|---|---:|
"""


def line(row):
    versions = ", ".join(row["versions"][name] for name in ("numpy", "scipy", "scikit-learn"))
    whole = f"{row['dependencies']}, all extras" if row["extra"] else row["dependencies"]
    tests = f"{row['passed']}, {row['failed']}"
    cells = [row["python"], whole, versions, row["installed"], row["engine"], tests, f"{row['import_ratio']:.2f}"]
    return f"| {' | '.join(cells)} |\n"


def table(rows):
    built = next(row for row in rows if "wheel" in row)
    sizes = (
        f"The wheel `{built['wheel']}` has {built['wheel_kB']:.0f} kB ({built['unpacked_kB']:.0f} kB in "
        f"{built['files']} files when unpacked), the source distribution {built['sdist_kB']:.0f} kB.\n"
    )
    return "\n" + HEAD + "".join(line(row) for row in rows if "engine" in row) + "\n" + sizes + "\n"


if __name__ == "__main__":
    rows = json.loads((RESULTS / "packages.json").read_text())["rows"]
    PAGE.write_text(PLACE.sub(lambda found: found[1] + table(rows) + found[2], PAGE.read_text()))
