"""Put the saved results of Table 1 into the table of docs/paper.md.

python benchmarks/paper_page.py
"""

import csv
from collections import defaultdict
from pathlib import Path

from _common import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "paper.md"
START, END = "<!-- table1: made by benchmarks/paper_page.py -->\n", "<!-- end of table1 -->"
NAMES = {"compas": "COMPAS", "german": "German credit", "adult": "Adult"}
QUANTITIES = {"variance_percent_test": 2, "mmd2_test": 3, "accuracy_percent_paper": 2, "dp_paper": 2}
HEAD = """| data | d | method | variance % | MMD² | accuracy % | parity gap | converged |
|---|---:|---|---|---|---|---|---:|
"""


def cell(row, digits):
    published = f" ({row['published_mean']})" if row["published_mean"] else ""
    return f"{float(row['mean']):.{digits}f}{published}"


def main():
    with (RESULTS / "paper" / "table1_summary.csv").open(newline="") as file:
        settings = defaultdict(dict)
        for row in csv.DictReader(file):
            settings[row["data"], row["n_components"], row["method"]][row["quantity"]] = row
    lines = HEAD
    for (data, d, method), rows in settings.items():
        cells = " | ".join(cell(rows[name], digits) for name, digits in QUANTITIES.items())
        converged = round(float(rows["converged"]["mean"]) * int(rows["converged"]["n"]))
        lines += f"| {NAMES[data]} | {d} | {method} | {cells} | {converged} of {rows['converged']['n']} |\n"
    before, rest = PAGE.read_text().split(START)
    PAGE.write_text(before + START + lines + END + rest.split(END)[1])


if __name__ == "__main__":
    main()
