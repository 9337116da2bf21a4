"""Put the saved results of reference.py and path.py into the tables of docs/budget.md.

python benchmarks/budget_page.py
"""

import json
from pathlib import Path

from _common import RESULTS

PAGE = Path(__file__).parents[1] / "docs" / "budget.md"
NAMES = {"german": "German Credit", "compas": "COMPAS", "adult": "Adult"}
REFERENCE_HEAD = """| data | d | tolerance | kept % | published | seconds | times as fast | gradients, Hessians |
|---|---:|---:|---|---|---|---|---|
"""
PATH_HEAD = """| data | d | seconds of the path | seconds of one fit | ratio |
|---|---:|---|---|---|
"""


def saved(name):
    return json.loads((RESULTS / f"{name}.json").read_text())["rows"]


def joined(rows, text):
    return " / ".join(map(text, rows))


def reference_line(name, d, tau, rows):
    def published(row):
        star = "" if row["published_mmd2_train"] <= tau else "*"
        return f"{row['published_kept_train']:.2f}{star}"

    cells = [
        NAMES[name],
        str(d),
        f"{tau:.0e}".replace("e-0", "e-"),
        joined(rows, lambda row: f"{row['own_kept_train']:.2f}"),
        joined(rows, published) if all("published_kept_train" in row for row in rows) else "-",
        joined(rows, lambda row: f"{row['seconds']:.{2 if row['seconds'] < 10 else 0}f}"),
        joined(rows, lambda row: f"{row['speed_ratio']:.0f}") if "speed_ratio" in rows[0] else "-",
        joined(rows, lambda row: f"{row['gradients']}, {row['hessians']}"),
    ]
    return f"| {' | '.join(cells)} |"


def reference_lines():
    results = saved("reference_budget_1e-3") + saved("reference_budget_1e-6")
    found = {(row["split"], row["d"], row["tau"]): row for row in results}
    for name in NAMES:
        for d in (2, 10):
            for tau in (1e-3, 1e-6):
                rows = [found[f"{name}_split{split}", d, tau] for split in range(3)]
                if all(row["own_mmd2_train"] <= tau for row in rows):
                    yield reference_line(name, d, tau, rows)


def path_lines():
    groups = {}
    for row in saved("path"):
        groups.setdefault((row["split"].split("_")[0], row["d"]), []).append(row)
    for (name, d), rows in groups.items():
        path, single, ratio = (
            joined(rows, lambda row, key=key, digits=digits: f"{row[key]:.{digits}f}")
            for key, digits in (("path_seconds", 2), ("single_seconds", 2), ("ratio", 1))
        )
        yield f"| {NAMES[name]} | {d} | {path} | {single} | {ratio} |"


def with_table(page, head, lines):
    before, after = page.split(head)
    after = after.split("\n\n", 1)
    rest = "\n\n" + after[1] if len(after) == 2 else "\n"
    return before + head + "\n".join(lines) + rest


def main():
    page = with_table(PAGE.read_text(), REFERENCE_HEAD, reference_lines())
    PAGE.write_text(with_table(page, PATH_HEAD, path_lines()))


if __name__ == "__main__":
    main()
