"""Pages of text, tables and pictures, as Markdown and as HTML."""
# SPDX-License-Identifier: MIT

import html
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Protocol

from fairpca._utils.files import writing
from fairpca.report import render_page


class Block(Protocol):
    """A part of a page."""

    def markdown(self) -> str:
        """Return it as Markdown."""

    def html(self) -> str:
        """Return it as HTML."""


@dataclass(frozen=True)
class Heading:
    """A heading of the second or third level."""

    text: str
    level: int = 2

    def markdown(self) -> str:
        """Return it as Markdown."""
        return f"{'#' * self.level} {self.text}"

    def html(self) -> str:
        """Return it as HTML."""
        return f"<h{self.level}>{html.escape(self.text)}</h{self.level}>"


@dataclass(frozen=True)
class Paragraph:
    """Plain text."""

    text: str

    def markdown(self) -> str:
        """Return it as Markdown."""
        return escape_markdown(self.text)

    def html(self) -> str:
        """Return it as HTML."""
        return f"<p>{html.escape(self.text)}</p>"


@dataclass(frozen=True)
class Bullets:
    """A list of sentences, each of which may lead to another page."""

    items: Sequence[str]
    targets: Sequence[str] = ()

    def markdown(self) -> str:
        """Return it as Markdown."""
        texts = [escape_markdown(item) for item in self.items]
        if self.targets:
            texts = [f"[{text}]({target}.md)" for text, target in zip(texts, self.targets, strict=True)]
        return "\n".join(f"- {text}" for text in texts)

    def html(self) -> str:
        """Return it as HTML."""
        texts = [html.escape(item) for item in self.items]
        if self.targets:
            pairs = zip(texts, self.targets, strict=True)
            texts = [f'<a href="{html.escape(target)}.html">{text}</a>' for text, target in pairs]
        return "<ul>\n" + "\n".join(f"<li>{text}</li>" for text in texts) + "\n</ul>"


@dataclass(frozen=True)
class Table:
    """A table; the first column is text, the others are numbers.

    Examples
    --------
    >>> print(Table("", ["method", "MMD²"], [["PCA", "0.1"]]).markdown())
    | method | MMD² |
    |---|---:|
    | PCA | 0.1 |
    """

    caption: str
    header: Sequence[str]
    rows: Sequence[Sequence[str]]

    def markdown(self) -> str:
        """Return it as Markdown."""
        lines = ["|---" + "|---:" * (len(self.header) - 1) + "|"]
        lines += [_markdown_row(row) for row in self.rows]
        table = "\n".join([_markdown_row(self.header), *lines])
        return f"{escape_markdown(self.caption)}\n\n{table}" if self.caption else table

    def html(self) -> str:
        """Return it as HTML."""
        caption = f"<caption>{html.escape(self.caption)}</caption>" if self.caption else ""
        head = "".join(f'<th scope="col">{html.escape(cell)}</th>' for cell in self.header)
        body = "\n".join(
            "<tr>" + "".join(f"<td>{html.escape(cell)}</td>" for cell in row) + "</tr>" for row in self.rows
        )
        label = html.escape(self.caption) or "Table"
        return (
            f'<div class="table" role="region" tabindex="0" aria-label="{label}"><table>{caption}\n'
            f"<thead><tr>{head}</tr></thead>\n<tbody>\n{body}\n</tbody>\n</table></div>"
        )


@dataclass(frozen=True)
class Picture:
    """A picture beside the page, as PNG with the SVG one click away."""

    stem: str
    caption: str

    def markdown(self) -> str:
        """Return it as Markdown."""
        return f"[![{self.caption}]({self.stem}.png)]({self.stem}.svg)\n\n{escape_markdown(self.caption)}"

    def html(self) -> str:
        """Return it as HTML."""
        caption = html.escape(self.caption)
        image = f'<a href="{self.stem}.svg"><img src="{self.stem}.png" alt="{caption}"></a>'
        return f"<figure>{image}\n<figcaption>{caption}</figcaption></figure>"


@dataclass
class Page:
    """A page.

    Attributes
    ----------
    title : str
        Its first heading.
    blocks : list of Block
        What follows.
    """

    title: str
    blocks: list[Block] = field(default_factory=list)

    def add(self, *blocks: Block) -> None:
        """Append parts."""
        self.blocks += blocks

    def markdown(self) -> str:
        """Return the page as Markdown."""
        return "\n\n".join([f"# {self.title}", *(block.markdown() for block in self.blocks)]) + "\n"

    def html(self) -> str:
        """Return the page as HTML that needs nothing but its pictures."""
        return render_page(self.title, "\n".join(block.html() for block in self.blocks))

    def write(self, folder: Path, name: str) -> list[Path]:
        """Write `name`.md and `name`.html into a folder.

        Parameters
        ----------
        folder : Path
            The folder, which exists.
        name : str
            Name of the files without ending.
        """
        paths = [folder / f"{name}.md", folder / f"{name}.html"]
        for path, text in zip(paths, (self.markdown(), self.html()), strict=True):
            with writing(path) as temporary:
                temporary.write_text(text, encoding="utf-8")
        return paths


def escape_markdown(text: str) -> str:
    r"""Keep signs that mean something in Markdown from meaning it.

    Examples
    --------
    >>> print(escape_markdown("P* and n_components"))
    P\* and n\_components
    """
    for sign in "\\*_|<`":
        text = text.replace(sign, f"\\{sign}")
    return text


def _markdown_row(cells: Sequence[str]) -> str:
    return "| " + " | ".join(escape_markdown(cell) for cell in cells) + " |"
