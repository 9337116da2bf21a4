"""Check a site: its links lead somewhere, it loads nothing from elsewhere, and every public name is there.

python docs/_ext/check_site.py docs/_build/html
"""
# SPDX-License-Identifier: MIT

import sys
from collections.abc import Iterator
from html.parser import HTMLParser
from importlib import import_module
from pathlib import Path
from urllib.parse import unquote, urlsplit

from sphinx.util.inventory import InventoryFile

from public_names import MODULES, home_of

LOADED = {"script": "src", "img": "src", "source": "src", "iframe": "src", "link": "href"}
"""What a browser fetches by itself, by element."""


class Page(HTMLParser):
    """The links of a page, what it loads, and the places that links can lead to."""

    def __init__(self, text: str) -> None:
        super().__init__()
        self.places: set[str] = set()
        self.links: list[str] = []
        self.loads: list[str] = []
        self.feed(text)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Note what an element refers to."""
        known = {name: value or "" for name, value in attrs}
        self.places |= {known[name] for name in ("id", "name") if name in known}
        if tag == "a" and "href" in known:
            self.links.append(known["href"])
        if known.get(LOADED.get(tag, "")):
            self.loads.append(known[LOADED[tag]])


def broken(site: Path) -> Iterator[str]:
    """Yield what is wrong with the links of a site, in words.

    Parameters
    ----------
    site : Path
        Its folder.
    """
    pages = {
        path: Page(path.read_text(encoding="utf-8")) for path in site.rglob("*.html") if "_static" not in path.parts
    }
    for path, page in pages.items():
        name = path.relative_to(site)
        yield from (f"{name} loads {address}" for address in page.loads if urlsplit(address).netloc)
        for address in {*page.links, *page.loads}:
            parts = urlsplit(address)
            if parts.scheme or parts.netloc:
                continue
            target = (path.parent / unquote(parts.path)).resolve() if parts.path else path
            if not target.exists():
                yield f"{name}: {address} leads nowhere"
            elif parts.fragment and target in pages and unquote(parts.fragment) not in pages[target].places:
                yield f"{name}: {address} has no such place"


def undocumented(site: Path) -> Iterator[str]:
    """Yield public names that the reference of a site does not have.

    Parameters
    ----------
    site : Path
        Its folder.
    """
    content = (site / "objects.inv").read_bytes()
    known = {name for kind in InventoryFile.loads(content, uri="").data.values() for name in kind}
    for module in MODULES:
        for name in import_module(module).__all__:
            if name != "__version__" and home_of(module, name) not in known:
                yield f"{module}.{name} is not in the reference"


if __name__ == "__main__":
    folder = Path(sys.argv[1]).resolve()
    problems = [*broken(folder), *undocumented(folder)]
    print("\n".join(problems) or f"{folder}: links, resources and names are in order")
    sys.exit(bool(problems))
