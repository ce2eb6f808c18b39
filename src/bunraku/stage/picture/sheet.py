"""Contact sheets: a performance at some of its moments side by side, as figures of papers show it."""

from __future__ import annotations

from collections.abc import Callable
from math import ceil
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import DrawnMotion, drawn
from bunraku.stage.picture.painter import DARK, LIGHT, encoded
from bunraku.stage.picture.shot import BEFORE, GHOST, Shot, arranged, span_of
from bunraku.stage.picture.triangles import linear

MOST = 64
"""The most moments on a sheet."""
GAP = 3
"""Between pictures [px]."""


def sheet(
    performance: Performance,
    *,
    count: int = 8,
    columns: int | None = None,
    cell: int = 300,
    wish: bool = True,
    before: bool = False,
    start: float | None = None,
    end: float | None = None,
    dark: bool = False,
    step: Callable[[float], None] = lambda fraction: None,
    **view: Any,
) -> NDArray[np.uint8]:
    """A sheet (height, width, 3) of ``count`` moments from ``start`` to ``end`` [s], each with its time.

    Args:
        performance: What is seen.
        count: How many moments.
        columns: How many stand in a row; by default all up to eight, or as many as rows of equal length take.
        cell: Height of a picture [px].
        wish: Whether what was wished is seen too, green and see-through, where it is anything else than what is performed.
        before: Whether each row has another above it, grey: the wish played as it is, if that makes a difference.
        start: The first moment [s].
        end: The last moment [s].
        dark: Whether the stage is dark.
        step: Told how much is done, from 0 to 1.
        view: From where it is seen, as `shot.arranged` takes it.
    """
    if not 1 <= count <= MOST or not 40 <= cell <= 1600:
        raise BadInput(f"{count} pictures {cell} pixels high were asked for; give at most {MOST}, from 40 to 1600 pixels high")
    times = moments(performance, count, start, end)
    figure = Figure(performance.character)
    seen = drawn(performance, figure=figure, times=times)
    wished = drawn(performance, which="wish", figure=figure, times=times) if wish else None
    plain = drawn(performance, which="before", figure=figure, times=times) if before else None
    wished, plain = (None if one is None or _alike(one, seen) else one for one in (wished, plain))
    also = () if plain is None else (plain,)
    scene = arranged(seen, wished, width=cell, height=cell, dark=dark, also=also, samples=3, **view)
    scene = scene.resized(round(cell * min(max(1.12 * scene.proportion, 0.55), 1.8)), cell)
    rows = [("performed", scene)]
    if plain is not None:
        rows.insert(0, ("wish as it is", scene.of(plain)))
    across = columns or ceil(count / ceil(count / 8))  # the fewest rows of at most eight, evenly filled
    title = f"{performance.clip_name}, {performance.character.name}"
    return _laid(title, rows, times, across, dark, wished is not None, step)


def moments(performance: Performance, count: int, start: float | None = None, end: float | None = None) -> tuple[float, ...]:
    """``count`` times [s] from the first to the last, evenly."""
    first, last = span_of(performance, start, end)
    return tuple(np.linspace(first, last, count)) if count > 1 else (0.5 * (first + last),)


def _alike(one: DrawnMotion, other: DrawnMotion) -> bool:
    """Whether two motions look the same: nothing a hundredth of a millimetre or a thousandth of a degree apart."""

    def near(a: NDArray[Any], b: NDArray[Any]) -> bool:
        return a.shape == b.shape and bool(np.allclose(a, b, rtol=0.0, atol=1e-5))

    pairs = [(one.placed[kind], other.placed[kind]) for kind in one.placed]
    placed = all(near(a.positions, b.positions) and near(a.wxyz, b.wxyz) for a, b in pairs)
    rods = all(near(a.points, b.points) for a, b in zip(one.rods, other.rods, strict=True))
    return placed and rods and near(one.strings, other.strings) and near(one.frames, other.frames)


def _laid(
    title: str,
    rows: list[tuple[str, Shot]],
    times: tuple[float, ...],
    across: int,
    dark: bool,
    wish: bool,
    step: Callable[[float], None],
) -> NDArray[np.uint8]:
    """The pictures on paper: a line of title, then the rows, the time below each moment."""
    from PIL import Image, ImageDraw

    theme = DARK if dark else LIGHT
    paper = tuple(int(part) for part in encoded(linear(theme.backdrop[1] if dark else (1.0, 1.0, 1.0))))
    width, height = rows[0][1].painter.width, rows[0][1].painter.height
    small, large = _font(max(11, height // 22)), _font(max(12, height // 18), bold=True)
    head, foot = round(2.0 * large.size), round(1.9 * small.size)
    bands = ceil(len(times) / across)
    tall = len(rows) * (height + GAP) + foot
    size = (across * (width + GAP) + GAP, head + bands * tall + GAP)
    page = Image.new("RGB", size, paper)
    pen = ImageDraw.Draw(page)
    _head(pen, title, rows, wish, size[0], head, (large, small), theme.ink)
    for n, time in enumerate(times):
        left, top = (n % across) * (width + GAP), (n // across) * tall
        for r, (_, scene) in enumerate(rows):
            page.paste(Image.fromarray(scene.picture(time)), (GAP + left, head + top + r * (height + GAP)))
        at = (GAP + left + width // 2, head + top + len(rows) * (height + GAP) + foot // 2 - 2)
        pen.text(at, f"{time:.2f} s", fill=theme.ink, font=small, anchor="mm")
        step((n + 1) / len(times))
    return np.asarray(page)


def _head(pen: Any, title: str, rows: list[tuple[str, Shot]], wish: bool, width: int, head: int, fonts: Any, ink: Any) -> None:
    """The title on the left, what colours mean on the right, as far as there is room."""
    large, small = fonts
    pen.text((GAP + 4, head // 2), title, fill=ink, font=large, anchor="lm")
    words = [*([("wish as it is", BEFORE)] if len(rows) > 1 else []), *([("wish", GHOST)] if wish else [])]
    right = width - GAP - 6
    left = GAP + 4 + pen.textlength(title, font=large) + 20
    for word, color in reversed(words):
        wide = pen.textlength(word, font=small)
        box = round(0.8 * small.size)
        if right - wide - 2 * box < left:
            return
        pen.text((right, head // 2), word, fill=ink, font=small, anchor="rm")
        right -= round(wide) + 6
        corner = (right - box, (head - box) // 2, right, (head + box) // 2)
        pen.rectangle(corner, fill=tuple(round(255 * part) for part in color))
        right -= box + 18


def _font(size: int, *, bold: bool = False) -> Any:
    """The sans serif font that comes with matplotlib."""
    import matplotlib
    from PIL import ImageFont

    name = "DejaVuSans-Bold.ttf" if bold else "DejaVuSans.ttf"
    return ImageFont.truetype(str(Path(matplotlib.get_data_path()) / "fonts" / "ttf" / name), size)
