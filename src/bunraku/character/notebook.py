"""How a thing is shown in a notebook: a caption over a small table."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from html import escape


def html_table(caption: str, rows: Iterable[Sequence[object]]) -> str:
    """The rows as an HTML table; captions and cells are text, never markup."""
    cells = ("".join(f"<td>{escape(str(cell))}</td>" for cell in row) for row in rows)
    body = "".join(f"<tr>{row}</tr>" for row in cells)
    return f'<table><caption style="text-align:left">{escape(caption)}</caption>{body}</table>'
