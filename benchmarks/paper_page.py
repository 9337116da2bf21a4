"""Put the saved results of Table 1 into docs/paper.md, and some of them into docs/explanation/which-method.md.

python benchmarks/paper_page.py
"""

import csv
from collections import defaultdict
from pathlib import Path

from _common import RESULTS

DOCS = Path(__file__).parents[1] / "docs"
NAMES = {"compas": "COMPAS", "german": "German credit", "adult": "Adult"}
QUANTITIES = {"variance_percent_test": 2, "mmd2_test": 3, "accuracy_percent_paper": 2, "dp_paper": 2}
COMPARED = {
    "PCA": "PCA",
    "FPCA(0, 0.01)": "FPCA",
    "Budget(1e-3)": "FairPCA, 1e-3",
    "Budget(1e-6)": "FairPCA, 1e-6",
}
HELD_OUT = {"variance_percent_test": 1, "mmd2_test": 3, "accuracy_percent_holdout": 1, "dp_holdout": 3}
HEAD = """| data | d | method | variance % | MMD² | accuracy % | parity gap | converged |
|---|---:|---|---|---|---|---|---:|
"""


def cell(row, digits):
    published = f" ({row['published_mean']})" if row["published_mean"] else ""
    return f"{float(row['mean']):.{digits}f}{published}"


def fill(page, name, table, script="paper_page.py"):
    """Put a table between its marks in a page."""
    start, end = f"<!-- {name}: made by benchmarks/{script} -->\n", f"<!-- end of {name} -->"
    before, rest = page.read_text().split(start)
    page.write_text(before + start + table + end + rest.split(end)[1])


def table1(settings):
    lines = HEAD
    for (data, d, method), rows in settings.items():
        cells = " | ".join(cell(rows[name], digits) for name, digits in QUANTITIES.items())
        converged = round(float(rows["converged"]["mean"]) * int(rows["converged"]["n"]))
        lines += f"| {NAMES[data]} | {d} | {method} | {cells} | {converged} of {rows['converged']['n']} |\n"
    return lines


def methods(settings):
    lines = "| data | d | method | variance % | MMD² | accuracy % | parity gap |\n|---|---:|---|---:|---:|---:|---:|\n"
    for (data, d, method), rows in settings.items():
        if method in COMPARED:
            cells = " | ".join(f"{float(rows[name]['mean']):.{digits}f}" for name, digits in HELD_OUT.items())
            lines += f"| {NAMES[data]} | {d} | {COMPARED[method]} | {cells} |\n"
    # Markdown takes a comment for the end of a table only after an empty line.
    return f"\n{lines}\n"


def main():
    with (RESULTS / "paper" / "table1_summary.csv").open(newline="") as file:
        settings = defaultdict(dict)
        for row in csv.DictReader(file):
            settings[row["data"], row["n_components"], row["method"]][row["quantity"]] = row
    fill(DOCS / "paper.md", "table1", table1(settings))
    fill(DOCS / "explanation" / "which-method.md", "methods", methods(settings))


if __name__ == "__main__":
    main()
