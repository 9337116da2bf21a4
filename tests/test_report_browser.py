"""What a reader of a report sees and does, in a real browser."""
# SPDX-License-Identifier: MIT

import numpy as np
import pandas as pd
import pytest
from sklearn.model_selection import train_test_split

from browsers import browser, violations
from fairpca import FairPCA, fair_pca_path
from fairpca.datasets import load_german
from fairpca.report import Report, make_report
from people_tables import people

PHONE, DESKTOP = {"width": 390, "height": 800}, {"width": 1280, "height": 900}
NAMES = ["<img src=x onerror=alert(1)>", "</script><script>alert(2)</script>", "\u202edrow", "y" * 10_000]


@pytest.fixture(scope="module")
def files(tmp_path_factory):
    """Write a report of German Credit with two attributes and a path, one without, and one of hostile names."""
    folder = tmp_path_factory.mktemp("reports")
    german = load_german(as_frame=True)
    X, known = german.data.drop(columns="age"), german.attributes[["sex", "age"]]
    parts = train_test_split(X, known, german.target, test_size=0.3, random_state=0, stratify=known["sex"])
    seen, new, known_seen, known_new, _, y_new = parts
    model = FairPCA(2, random_state=0).fit(seen, sensitive_features=known_seen)
    path = fair_pca_path(seen, known_seen, 2, tolerances=[5e-2, 1e-2, 1e-3, 1e-4, 3e-5], random_state=0)
    columns = [{"name": name, "kind": "number", "note": ""} for name in X]
    quick = {"adversaries": "linear", "n_permutations": 99}
    about = {"data": "German Credit", "columns": columns}
    make_report(
        model, new, y_new, sensitive_features=known_new, path=path, about=about, file=folder / "german.html", **quick
    )
    model.report(new, sensitive_features=known_new, n_points=60, file=folder / "short.html", **quick)
    _hostile(folder / "hostile.html", quick)
    return folder


def _hostile(file, quick):
    X, table = people(n=400)
    rows = pd.DataFrame(X, columns=[*NAMES, *"abcd"])
    known = {name: np.where(table["sex"] == "f", name, "m") for name in NAMES}
    known["many"] = np.array([f"{k} {name}" for k in range(3) for name in NAMES[:2]])[np.arange(400) % 6]
    model = FairPCA(2, tolerance=0.01).fit(rows[:200], sensitive_features={k: v[:200] for k, v in known.items()})
    others = {name: values[200:] for name, values in known.items()}
    about = {"data": NAMES[0], "notes": NAMES, "command": NAMES[1]}
    model.report(rows[200:], sensitive_features=others, title=NAMES[0], about=about, file=file, **quick)


@pytest.fixture(scope="module")
def chromium():
    with browser() as started:
        yield started


class Reader:
    """A page, and all that went wrong or left it."""

    def __init__(self, chromium, file, size, moves=False, **context):
        self.wrong, self.moves = [], moves
        motion = "no-preference" if moves else "reduce"
        self.context = chromium.new_context(viewport=size, reduced_motion=motion, **context)
        self.page = self.context.new_page()
        self.page.on("console", lambda message: self.wrong.append(message.text))
        self.page.on("pageerror", lambda error: self.wrong.append(str(error)))
        self.page.on("dialog", lambda dialog: self.wrong.append(dialog.message))
        self.page.on("request", lambda request: self.wrong.append(request.url))
        self.page.goto(file.as_uri())
        assert self.wrong == [file.as_uri()]
        self.wrong.clear()

    def text(self, selector):
        return self.page.locator(selector).inner_text()

    def places(self):
        """Return where the curves of the moving picture are."""
        return self.page.evaluate(
            "Array.from(document.querySelectorAll('.moving path'), p => p.getAttribute('d'))"
            ".flatMap(d => d.match(/[\\d.]+/g).map(Number))"
        )

    def settled(self):
        """Return where the curves are when they have stopped moving."""
        if self.moves:
            self.page.wait_for_timeout(400)
        return np.array(self.places())

    def value(self):
        return int(self.page.locator("#slider").input_value())


@pytest.fixture
def read(chromium, files):
    """Open a report; whatever goes wrong while it is read is found at the end."""
    opened = []

    def open_report(name="german", size=DESKTOP, **context):
        opened.append(Reader(chromium, files / f"{name}.html", size, **context))
        return opened[-1]

    yield open_report
    for reader in opened:
        reader.context.close()
        assert reader.wrong == []


VIEWS = [
    *(("german", scheme, size) for scheme in ("light", "dark") for size in (PHONE, DESKTOP)),
    ("short", "light", DESKTOP),
    ("hostile", "dark", PHONE),
]


@pytest.mark.parametrize(("name", "scheme", "size"), VIEWS)
def test_everybody_can_read_it(read, name, scheme, size):
    reader = read(name, size, color_scheme=scheme)
    wide, shown = reader.page.evaluate("[document.documentElement.scrollWidth, window.innerWidth]")
    assert wide <= shown
    reader.page.evaluate("document.querySelectorAll('details').forEach(each => { each.open = true; })")
    assert violations(reader.page) == []
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= shown


def test_headings_are_in_order(read):
    levels = read().page.evaluate("Array.from(document.querySelectorAll('h1,h2,h3,h4'), h => Number(h.tagName[1]))")
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert max(np.diff(levels)) <= 1


@pytest.mark.parametrize("moves", [False, True])
def test_arrow_keys_move_curves_and_numbers(read, moves):
    reader = read(moves=moves)
    slider = reader.page.locator("#slider")
    slider.focus()
    slider.press("Home")
    start = reader.settled()
    assert reader.value() == 0
    numbers = [reader.text(f"#now-{name}") for name in ("variance", "new", "fitted", "tolerance")]
    mark = reader.page.locator("#mark-new-0").get_attribute("x")
    slider.press("ArrowRight")
    assert reader.value() == 1
    slider.press("End")
    moved = reader.settled()
    assert reader.value() == 5
    assert np.abs(moved - start).max() > 5
    assert all(
        reader.text(f"#now-{name}") != number
        for name, number in zip(("variance", "new", "fitted", "tolerance"), numbers, strict=True)
    )
    assert reader.page.locator("#mark-new-0").get_attribute("x") != mark
    said = slider.get_attribute("aria-valuetext")
    assert said.startswith("Step 6 of 6: keeps ")
    assert reader.text("#now-variance") in said
    slider.press("Home")
    assert np.abs(reader.settled() - start).max() < 0.2


def test_the_theme_can_be_chosen(read):
    reader = read(color_scheme="light")
    colour = "getComputedStyle(document.body).backgroundColor"
    light = reader.page.evaluate(colour)
    button = reader.page.get_by_role("button", name="Dark colours")
    assert button.get_attribute("aria-pressed") == "false"
    button.focus()
    button.press("Enter")
    assert button.get_attribute("aria-pressed") == "true"
    assert reader.page.evaluate(colour) != light
    assert violations(reader.page) == []
    button.click()
    assert reader.page.evaluate(colour) == light


def test_the_attribute_can_be_chosen_with_the_keyboard(read):
    reader = read()
    number = reader.text("#now-new")
    assert reader.page.locator(".moving[data-attribute='0']").is_visible()
    assert reader.page.get_by_role("heading", name="By sex").is_visible()
    assert not reader.page.get_by_role("heading", name="By age").is_visible()
    reader.page.locator("input[name=attribute-groups]").first.focus()
    reader.page.keyboard.press("ArrowRight")
    assert reader.page.get_by_role("heading", name="By age").is_visible()
    assert not reader.page.get_by_role("heading", name="By sex").is_visible()
    assert reader.page.locator(".moving[data-attribute='1']").is_visible()
    assert not reader.page.locator(".moving[data-attribute='0']").is_visible()
    assert reader.text("#now-new") != number
    assert reader.page.locator("input[name=attribute-trade-off]").nth(1).is_checked()


def test_the_first_key_leads_to_the_content(read):
    reader = read()
    reader.page.keyboard.press("Tab")
    reader.page.keyboard.press("Enter")
    assert reader.page.evaluate("document.activeElement.id") == "main"


def test_names_are_shown_as_text(read):
    reader = read("hostile")
    assert reader.text("h1") == NAMES[0]
    text = reader.text("main")
    for name in NAMES[:2]:
        assert name in text
    assert "\ufffddrow" in text
    assert "yyy…" in text
    assert reader.page.locator("main img").count() == 0


def test_it_can_be_read_without_scripts(read):
    reader = read(java_script_enabled=False)
    for name in ("By sex", "By age"):
        assert reader.page.get_by_role("heading", name=name).is_visible()
    assert not reader.page.locator("#controls").is_visible()
    assert reader.page.locator("#moving-0-t").count() == 1


def test_it_can_be_printed(read):
    reader = read(color_scheme="dark")
    reader.page.emulate_media(media="print")
    assert reader.page.evaluate("getComputedStyle(document.body).backgroundColor") == "rgb(255, 255, 255)"
    assert not reader.page.get_by_role("button", name="Dark colours").is_visible()
    assert reader.page.get_by_role("heading", name="By age").is_visible()
    # A4 without its margins, in pixels.
    reader.page.set_viewport_size({"width": 720, "height": 1000})
    assert reader.page.evaluate("document.documentElement.scrollWidth") <= 720
    assert len(reader.page.pdf()) > 10_000


def test_it_is_printed_to_a_file(files, tmp_path):
    page = Report((files / "short.html").read_text(encoding="utf-8"), {})
    assert page.save(tmp_path / "report.pdf").read_bytes().startswith(b"%PDF")


def test_in_a_notebook_it_works_in_its_frame(chromium, files):
    html = (files / "german.html").read_text(encoding="utf-8")
    frame = Report(html, {"title": "German"})._repr_html_()
    page = chromium.new_page()
    wrong = []
    page.on("console", lambda message: wrong.append(message.text))
    page.set_content(frame)
    inside = page.frame_locator("iframe")
    inside.locator("#slider").press("End")
    assert inside.locator("#slider").input_value() == "5"
    assert "Step 6 of 6" in inside.locator("#slider").get_attribute("aria-valuetext")
    page.close()
    assert wrong == []
