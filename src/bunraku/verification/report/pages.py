"""Pages of A4: words, tables, pictures and lines to sign, one below the other, on as many pages as they need."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from typing import Any

WIDE, TALL, EDGE = 8.27, 11.69, 0.75
"""Width, height and margin of a page [in]."""
GOOD, BAD, GREY, LINE = "#2e7d4f", "#c1272d", "#666666", "#cccccc"
COLUMNS = (0.0, 0.55, 2.75, 3.95, 4.85)
"""Where the columns of a table begin [in]: verdict, name, value, threshold, note."""
HIGHEST = 4.4
"""The most height of a picture [in], so that two have room on a page, unless it would become too small by that."""
HEADING, BELOW = 0.52, 0.3
"""Height of a heading, and of what stands below a picture [in]."""
LETTER = 0.0076
"""Mean width of a letter [in] of one point of size."""


class Pages:
    """Fills pages from top to bottom; :meth:`finished` gives the bytes of the PDF. The same words give the same bytes."""

    def __init__(self, title: str) -> None:
        from matplotlib.backends.backend_pdf import PdfPages

        self._stream = BytesIO()
        self._title = title
        self._pdf: Any = PdfPages(self._stream, metadata={"Title": title, "Creator": "Bunraku", "CreationDate": None})
        self._figure: Any = None
        self._y = 0.0
        self._number = 0

    def title(self, text: str) -> None:
        """The largest words."""
        self.words(text, size=17.0, bold=True)

    def heading(self, text: str, room: float = 1.3) -> None:
        """A heading with a line below, on a page with so much ``room`` [in] for it and what follows."""
        self._need(room)
        self._y -= 0.16
        self._put(0.0, text, 12.0, "black", True)
        self._y -= 0.26
        self._rule()
        self._y -= HEADING - 0.42

    def room_with(self, png: bytes) -> float:
        """The room [in] that a heading needs to stand on one page with a picture."""
        return HEADING + _fitted(png)[2] + BELOW

    def words(self, text: str, *, size: float = 9.0, color: str = "black", bold: bool = False) -> None:
        """A paragraph."""
        lines = _lines(text, WIDE - 2 * EDGE, size * (1.12 if bold else 1.0))
        for line in lines:
            self._need(0.02 * size)
            self._put(0.0, line, size, color, bold)
            self._y -= 0.0195 * size
        self._y -= 0.06

    def facts(self, rows: Sequence[tuple[str, str]]) -> None:
        """Names and values in two columns."""
        for name, value in rows:
            lines = _lines(value, WIDE - 2 * EDGE - 1.9, 10.0) or [""]
            self._need(0.165 * len(lines))
            self._put(0.0, name, 8.5, GREY)
            for line in lines:
                self._put(1.9, line, 8.5, "black")
                self._y -= 0.165
        self._y -= 0.08

    def table(self, rows: Sequence[tuple[str, str, str, str, str]]) -> None:
        """Checks: verdict, name, value, threshold, note."""
        for verdict, name, value, threshold, note in rows:
            room = [*(b - a - 0.08 for a, b in pairwise(COLUMNS)), WIDE - 2 * EDGE - COLUMNS[4]]
            cells = [_lines(cell, wide, 7.5) for cell, wide in zip((verdict, name, value, threshold, note), room, strict=True)]
            height = max(len(cell) for cell in cells) * 0.145 + 0.05
            self._need(height)
            top = self._y
            for k, (cell, left) in enumerate(zip(cells, COLUMNS, strict=True)):
                self._y = top
                color = (GOOD if verdict == "holds" else BAD) if k == 0 else GREY if k == 4 else "black"
                for line in cell:
                    self._put(left, line, 7.5, color, k == 0)
                    self._y -= 0.145
            self._y = top - height + 0.02
            self._rule("#eeeeee")
            self._y -= 0.03
        self._y -= 0.06

    def picture(self, png: bytes, caption: str) -> None:
        """A picture over the whole width, or less if it is high, with words below."""
        pixels, wide, tall = _fitted(png)
        self._need(tall + BELOW)
        axis = self._figure.add_axes((0.5 - 0.5 * wide / WIDE, (self._y - tall) / TALL, wide / WIDE, tall / TALL))
        axis.imshow(pixels, aspect="auto", interpolation="antialiased")
        axis.set_axis_off()
        self._y -= tall + 0.07
        self.words(caption, size=7.5, color=GREY)
        self._y -= 0.08

    def signatures(self, statement: str, roles: Sequence[str]) -> None:
        """A statement and, for each role, lines for name, date and signature; together on one page."""
        self._need(1.4 + 0.95 * len(roles))
        self.heading("Signed")
        self.words(statement)
        third = (WIDE - 2 * EDGE) / 3.0
        for role in roles:
            self._y -= 0.12
            self._put(0.0, role, 9.0, "black", True)
            self._y -= 0.62
            for k, word in enumerate(("Name", "Date", "Signature")):
                self._rule("black", k * third, (k + 0.92) * third)
                self._put(k * third, word, 7.5, GREY, lower=0.03)
            self._y -= 0.2

    def finished(self) -> bytes:
        """The pages as bytes."""
        self._close()
        self._pdf.close()
        return self._stream.getvalue()

    def _need(self, height: float) -> None:
        """A new page if so much [in] is not left on this one."""
        if self._figure is not None and self._y - height >= EDGE:
            return
        from matplotlib.figure import Figure

        self._close()
        self._figure = Figure(figsize=(WIDE, TALL))
        self._y = TALL - EDGE
        self._number += 1

    def _close(self) -> None:
        if self._figure is None:
            return
        words = {"fontsize": 7.0, "color": GREY, "parse_math": False}
        self._figure.text(EDGE / WIDE, 0.4 / TALL, self._title[:110], **words)
        self._figure.text(1.0 - EDGE / WIDE, 0.4 / TALL, str(self._number), ha="right", **words)
        self._pdf.savefig(self._figure, dpi=220)
        self._figure = None

    def _put(self, left: float, text: str, size: float, color: str, bold: bool = False, lower: float = 0.0) -> None:
        place = ((EDGE + left) / WIDE, (self._y - lower) / TALL)
        weight = "bold" if bold else "normal"
        self._figure.text(*place, text, fontsize=size, color=color, weight=weight, va="top", parse_math=False)

    def _rule(self, color: str = LINE, start: float = 0.0, end: float = WIDE - 2 * EDGE) -> None:
        from matplotlib.lines import Line2D

        x = [(EDGE + start) / WIDE, (EDGE + end) / WIDE]
        line = Line2D(x, [self._y / TALL] * 2, color=color, lw=0.7, transform=self._figure.transFigure)
        self._figure.add_artist(line)


def worded(value: object) -> str:
    """The value of an option for people: a list as its items, an empty one as none."""
    if isinstance(value, (list, tuple)):
        return ", ".join(map(worded, value)) or "none"
    if isinstance(value, bool):
        return "yes" if value else "no"
    return "none" if value is None or value == "" else str(value)


def _fitted(png: bytes) -> tuple[Any, float, float]:
    """The pixels of a picture, and its width and height on a page [in]."""
    from matplotlib import image

    pixels = image.imread(BytesIO(png), format="png")
    wide = WIDE - 2 * EDGE
    tall = wide * pixels.shape[0] / pixels.shape[1]
    most = HIGHEST if tall < 1.5 * HIGHEST else TALL - 2 * EDGE - 1.0
    return (pixels, wide * most / tall, most) if tall > most else (pixels, wide, tall)


def _lines(text: str, wide: float, size: float) -> list[str]:
    """Lines of words that fit into so many inches; words that are too long are cut."""
    count = max(4, int(wide / (LETTER * size)))
    return textwrap.wrap(" ".join(text.split()), count, break_long_words=True)
