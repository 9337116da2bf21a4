"""Tables as people export them: by spreadsheets and databases of several countries, and by hand."""
# SPDX-License-Identifier: MIT

import gzip
from dataclasses import dataclass, field

import numpy as np
import openpyxl

N = 60
KINDS = {"income": "number", "share": "number", "balance": "number", "hours": "number", "age": "number"} | {
    "town": "category",
    "sex": "category",
}


def people(seed, n=N):
    """Return columns of numbers as they are, and of words."""
    rng = np.random.default_rng(seed)
    man = rng.random(n) < 0.5
    return {
        "income": (20_000 + 9_000 * man + rng.gamma(3.0, 9_000.0, n)).round(2),
        "share": rng.uniform(0, 100, n).round(1),
        "balance": rng.normal(0, 4_000, n).round(2),
        "hours": rng.normal(36, 4, n).round(1),
        "age": rng.integers(18, 80, n),
        "town": rng.choice(["Süd", "Nord", "West"], n),
        "sex": np.where(man, "m", "f"),
    }


@dataclass(frozen=True)
class Locale:
    """How a country writes numbers and files."""

    delimiter: str
    mark: str
    groups: str
    money: str
    percent: str = "{} %"
    encoding: str = "utf-8"
    code: str = "EUR"

    def number(self, value, digits=2):
        whole, _, rest = f"{abs(value):.{digits}f}".partition(".")
        size, parts = 2 if self.code == "INR" else 3, [whole[-3:]]
        whole = whole[:-3]
        while whole:
            parts.insert(0, whole[-size:])
            whole = whole[:-size]
        return self.groups.join(parts) + (self.mark + rest if rest else "")


LOCALES = {
    "German": Locale(";", ",", ".", "{} €", encoding="utf-8-sig"),
    "US": Locale(",", ".", ",", "${}", "{}%", code="USD"),
    "French": Locale("\t", ",", "\u00a0", "{} €", "{}\u00a0%", "cp1252"),
    "Swiss": Locale(";", ".", "’", "Fr. {}", code="CHF"),
    "Indian": Locale(",", ".", ",", "₹ {}", "{}%", "utf-16", code="INR"),
}
WAYS = (
    *("money", "whole", "brackets", "minus behind", "codes", "units in header"),
    *("typographic", "words", "packed", "quoted"),
)


MINUS = {"cp1252": "–"}
"""Signs that an encoding has in place of the minus of typographers."""

EXPORTS = [(country, way) for country in LOCALES for way in WAYS if (country, way) != ("US", "quoted")]
EXPORTS.append(("US", "gaps"))


def exported(country, way, seed):
    """Return the bytes of a file, and its columns as they are."""
    here, table = LOCALES[country], people(seed)
    digits = 0 if way == "whole" else 2
    signed = {
        "brackets": lambda text: f"({text})",
        "minus behind": lambda text: f"{text}-",
        "typographic": lambda text: f"{MINUS.get(here.encoding, '−')}{text}",
    }.get(way, lambda text: f"-{text}")
    money = (
        "{}" if way in ("units in header", "minus behind") else f"{here.code} {{}}" if way == "codes" else here.money
    )
    amounts = {name: [here.number(value, digits) for value in table[name]] for name in ("income", "balance")}
    cells = {
        "income": [money.format(text) for text in amounts["income"]],
        "share": [here.percent.format(here.number(value, 1)) for value in table["share"]],
        "balance": [
            signed(money.format(t)) if v < 0 else money.format(t)
            for t, v in zip(amounts["balance"], table["balance"], strict=True)
        ],
        "hours": [here.number(value, 1) + (" Std." if way == "words" else "") for value in table["hours"]],
        **{name: [str(value) for value in table[name]] for name in ("age", "town", "sex")},
    }
    if way == "gaps":
        for name, word in (("income", "unknown"), ("share", "n/a"), ("hours", "-")):
            cells[name][3::17] = [word] * len(cells[name][3::17])
    if digits == 0:
        table |= {name: table[name].round(0) for name in ("income", "balance")}
    names = {name: name for name in cells}
    if way == "units in header":
        names |= {"income": f"income ({here.code})", "share": "share [%]", "hours": "hours/week"}
    rows = [names.values(), *zip(*cells.values(), strict=True)]
    quotes = [[f'"{cell}"' if here.delimiter in cell or way == "quoted" else cell for cell in row] for row in rows]
    lines = [here.delimiter.join(row) for row in quotes]
    content = ("\r\n".join(lines) + "\r\n").encode(here.encoding)
    return gzip.compress(content) if way == "packed" else content, {names[name]: table[name] for name in cells}


def lines(header, row):
    """Return the bytes of a file whose rows a function of their number writes."""
    return "\n".join([header, *(row(k) for k in range(N)), ""]).encode()


def other(k):
    """Return a number that differs from row to row without order."""
    return (k * 37 + 11) % 101


def sex(k):
    return "fm"[k * 7 // 3 % 2]


def workbook(path, *rows, title="People"):
    book = openpyxl.Workbook()
    book.active.title = title
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path.read_bytes()


@dataclass(frozen=True)
class Made:
    """A file made by hand: kinds of its columns, the first row of its numbers, and what the refusal must say."""

    content: bytes
    kinds: dict
    first: dict = field(default_factory=dict)
    refusal: str = ""


def made_by_hand(folder):
    """Return files made by hand, by name."""
    import datetime

    day = datetime.date(2020, 1, 1)
    header = ["income", "day", "town", "sex"]
    cells = [[1000 + other(k) * 7.5, f"{other(k)},5 %", ["A", "B"][k % 2], sex(k)] for k in range(N)]
    dated = [[1000 + other(k), day + datetime.timedelta(days=other(k)), k % 2 == 0, sex(k)] for k in range(N)]
    number, word = "number", "category"
    return {
        "for Excel": Made(
            lines("sep=;\npay;age;sex", lambda k: f"{1000 + other(k)},25;{other(k)};{sex(k)}"),
            {"pay": number, "age": number, "sex": word},
            {"pay": 1011.25},
        ),
        "from SAP": Made(
            lines("Betrag\tMenge\tsex", lambda k: f" {1 + k % 3}.{100 + other(k)},50- \t {other(k)} KG \t{sex(k)}"),
            {"Betrag": number, "Menge": number, "sex": word},
            {"Betrag": -1111.5, "Menge": 11},
        ),
        "from R": Made(
            lines('"pay";"x";"sex"', lambda k: f'{other(k)},5;{1e-4 * other(k):.2e};"{sex(k)}"'.replace(".", ",")),
            {"pay": number, "x": number, "sex": word},
            {"pay": 11.5, "x": 1.1e-3},
        ),
        "whole thousands beside decimals": Made(
            lines("pay;rate;sex", lambda k: f"{1 + k % 7}.{100 + other(k)};{other(k)},5;{sex(k)}"),
            {"pay": number, "rate": number, "sex": word},
            {"pay": 1111, "rate": 11.5},
        ),
        "rappen": Made(
            lines("Lohn;Miete;sex", lambda k: f"{k % 9 + 1}'{100 + other(k)}.–;CHF {other(k)}.50;{sex(k)}"),
            {"Lohn": number, "Miete": number, "sex": word},
            {"Lohn": 1111, "Miete": 11.5},
        ),
        "a few words among many": Made(
            lines(
                "pay,age,sex", lambda k: f"{'not asked' if k % 30 == 5 else other(k) + 0.5},{20 + other(k)},{sex(k)}"
            ),
            {"pay": number, "age": number, "sex": word},
            refusal="missing in 'pay' (2 with 'not asked')",
        ),
        "a workbook": Made(
            workbook(folder / "1.xlsx", header, *cells),
            {"income": number, "day": number, "town": word, "sex": word},
            {"income": 1082.5, "day": 11.5},
        ),
        "a workbook with days": Made(
            workbook(folder / "2.xlsx", header, *dated),
            {"income": number, "day": "date", "town": "boolean", "sex": word},
            refusal="'day' is a date: name it in --dates",
        ),
        "whole thousands alone": Made(
            lines("pay;age;sex", lambda k: f"{1 + k % 7}.{100 + other(k)};{20 + other(k)};{sex(k)}"),
            {"pay": "ambiguous number", "age": number, "sex": word},
            refusal="'pay' is made of numbers whose mark may be a decimal mark or part thousands such as '1.111'",
        ),
        "a register": Made(
            lines(
                "id,born,pay,sex",
                lambda k: f'P{k:03},{1 + other(k) % 28:02}.03.19{10 + other(k) % 80},"$1,{100 + other(k)}.50",{sex(k)}',
            ),
            {"id": "identifier", "born": "date", "pay": number, "sex": word},
            refusal="'id' is an identifier, different in each row: leave it out with --drop",
        ),
    }
