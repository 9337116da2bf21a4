"""What the library says of arguments, said of options."""
# SPDX-License-Identifier: MIT

import re


def option_of(name: str) -> str:
    """Return what a parameter is called here."""
    return f"--{name.replace('_', '-')}"


OPTIONS = {
    "target": "--promise",
    "n_components": "--components",
    "random_state": "--seed",
    "epsilon": "epsilon",
    **{
        name: option_of(name)
        for name in (
            *("sensitive", "label", "control", "weight", "drop", "keep_sensitive", "missing", "categories", "numbers"),
            *("dates", "missing_values", "delimiter", "encoding", "decimal", "sheet", "held_out", "tolerance"),
            *("fairness", "favourable", "small_groups"),
            *("confidence", "power", "groups", "rows", "keep", "unknown", "missing_sensitive", "promise"),
            "methods",
        )
    },
}
"""Arguments of Python, and what they are called here."""

OF_ATTRIBUTES = {"group", "leave"}
"""What can become of missing attributes, but not of missing features."""

PHRASES = {
    r"sensitive_features\[(\d+)\]": r"column \1 of --sensitive",
    r"sensitive_features\[('[^']*'|\"[^\"]*\")\]": r"the sensitive column \1",
    r"control_features\[('[^']*'|\"[^\"]*\")\]": r"the control column \1",
    r"\bsensitive_features\b": "--sensitive",
    r"\bcontrol_features\b": "--control",
    r"\bsample_weight\b": "--weight",
    r"\bsensitive_kind=[\"']continuous[\"']": "--continuous",
    r"\bsensitive_kind\b": "--continuous",
    r"\battribute_error\b": "--attribute-error",
    r"name it by favourable=": "name it with --favourable",
    r"a label of y\b": "a label of --label",
    r"pass them as y, one for each row": "name their column with --label",
    r'is said to be "continuous"': "is named in --continuous",
    r"named twice among the roles": "named twice among --sensitive, --label, --control, --weight and --drop",
    r"\bn_features=": "",
    r"min_group_size=(\d+)": r"\1",
    r", or lower min_group_size": "",
    r"leave it out with drop\b": "leave it out with --drop",
    r"\b(names? (?:it|these)) in (numbers|categories|dates)\b": r"\1 in --\2",
    r"\bname these in missing_values\b": "name these in --missing-values",
    r"\bnamed in (numbers|dates)\b": r"named in --\1",
    r"\bnamed both in (\w+) and in (\w+)": r"named both in --\1 and in --\2",
    r"\bname that one with decimal\b": "name that one with --decimal",
    r"Name another by sheet\.": "Name another with --sheet.",
    r", or allow for more with most_categories": "",
    r"^(sensitive|tolerance) names\b": r"--\1 names",
    r"\bgroups=\(([^()]*), ([^()]*)\)": r"--groups \1,\2",
    r"such as \(([\d.]+), ([\d.]+)\)": r"such as \1,\2",
    r"; name one that Python knows, such as 'utf-8'": "; name another, such as utf-8",
    r"\bsmall_groups=\)": "--small-groups)",
    r" Use solver=[^.]*\.": "",
    r"audit rows that were held out": "--held-out takes those of this table that were held out",
    r"Pass fitted_rows=.*, or trust_rows=True": "Put the file of its rows (MODEL.rows) beside it, or pass --trust-rows",
    r"trust_rows=True": "--trust-rows",
    r"\bencode the table to fit with missing=": "fit again with missing=",
}
"""What the library says of its arguments, and how that is said of options."""

QUOTE, QUOTES = "'", ("'", '"')


def in_options(sentence: str) -> str:
    """Return a sentence that speaks of arguments as one that speaks of options.

    Parameters
    ----------
    sentence : str
        What the library says.

    Examples
    --------
    >>> in_options("values are missing in 'age' (3); use missing='fill' or missing='drop-rows'.")
    "values are missing in 'age' (3); use --missing fill or --missing drop-rows."
    """

    def option(match: re.Match[str]) -> str:
        name, value = match[1], _unquoted(match[2])
        if name not in OPTIONS:
            return match[0]
        if name == "missing" and value in OF_ATTRIBUTES:
            name = "missing_sensitive"
        return f"{OPTIONS[name]} {value}"

    for words, others in PHRASES.items():
        sentence = re.sub(words, others, sentence)
    sentence = re.sub(r"\b([a-z_]+)=('[^']*'|\"[^\"]*\"|-?[\w.+-]*[\w+-])", option, sentence)
    return re.sub(r"choose one of \[([^\]]*)\]", lambda match: f"choose one of {match[1].replace(QUOTE, '')}", sentence)


def _unquoted(value: str) -> str:
    """Return a value as one types it; quoted where it would not be seen, or not be one word."""
    return value[1:-1] if value[:1] in QUOTES and re.fullmatch(r"\S+", value[1:-1]) else value
