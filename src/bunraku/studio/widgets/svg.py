"""SVG and HTML elements as text: everything that is not an element is escaped, so that no name can become markup."""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Sequence
from html import escape

BLUE, GREEN, RED, AMBER, VIOLET, GREY = "#4c8dd6", "#3fae6c", "#e0524d", "#d99a2b", "#9a6fd0", "#8a9099"
"""Colours that are seen on light and on dark ground; text is in the page's own colour."""

FONT = 11
MARGIN = 9
"""Left and right of every picture [px]."""
LETTER = 6.6
"""Width [px] of a letter of the usual size, on average."""
_NARROW, _WIDE = frozenset("iljtfrI.,:;!'|()[] "), frozenset("mwMW@%…—")
_FORBIDDEN = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")


class Markup(str):
    """Text that is markup already and is not escaped again."""

    __slots__ = ()


def element(tag: str, *children: object, **attributes: object) -> Markup:
    """One element: children that are no `Markup` are escaped; ``data_foot=1`` is the attribute data-foot; None is left out.

    Numbers are written with at most two decimals; a trailing underscore (``class_``) is dropped.
    """
    written = "".join(
        f' {name.rstrip("_").replace("_", "-")}="{escape(_written(value), quote=True)}"'
        for name, value in attributes.items()
        if value is not None and value is not False
    )
    inside = "".join(child if isinstance(child, Markup) else escape(_clean(str(child)), quote=False) for child in _flat(children))
    return Markup(
        f"<{tag}{written}>{inside}</{tag}>" if inside or tag in ("div", "span", "td", "ul", "li") else f"<{tag}{written}/>"
    )


def rect(x: float, y: float, width: float, height: float, *children: object, **look: object) -> Markup:
    """A rectangle from its upper left corner."""
    return element("rect", *children, x=x, y=y, width=width, height=height, **look)


def grip(x: float, y: float, width: float, height: float, *children: object, **data: object) -> Markup:
    """A rectangle that is not seen, for the hand to meet."""
    return rect(x, y, width, height, *children, fill="transparent", **data)


def line(x1: float, y1: float, x2: float, y2: float, *children: object, **look: object) -> Markup:
    """A straight line from (x1, y1) to (x2, y2)."""
    return element("line", *children, x1=x1, x2=x2, y1=y1, y2=y2, **look)


def path(d: str, *children: object, **look: object) -> Markup:
    """A path by its data; see :func:`path_of`."""
    return element("path", *children, d=d, **look)


def draggable(*children: object, way: str = "ew", **data: object) -> Markup:
    """A group that a hand drags, east and west or ("ns") up and down; ``data_drag`` names the event."""
    return element("g", *children, **data, style=f"cursor:{way}-resize;touch-action:none")


def clickable(*children: object, **data: object) -> Markup:
    """A group that is clicked; ``data_click`` names the event."""
    return element("g", *children, **data, style="cursor:pointer")


def picture(width: float, height: float, *children: object, label: str = "", **attributes: object) -> Markup:
    """The whole SVG, as wide as the panel, its units those of ``width`` x ``height`` [px]; ``label`` says what it shows.

    A margin beside it keeps names off the panel's edges.
    """
    return element(
        "svg",
        *children,
        xmlns="http://www.w3.org/2000/svg",
        viewBox=f"{-MARGIN} 0 {_written(width + 2.0 * MARGIN)} {_written(height)}",
        width="100%",
        role="img",
        aria_label=label or None,
        style=f"display:block;font-family:inherit;font-size:{FONT}px;color:inherit;user-select:none;overflow:hidden",
        **attributes,
    )


def title(text: str) -> Markup:
    """The words shown when the pointer rests on an element, at most 300 signs."""
    return element("title", text if len(text) <= 300 else text[:299] + "…")


def words(x: float, y: float, text: str, room: float | None = None, **attributes: object) -> Markup:
    """A line of text in the page's colour; what does not fit into ``room`` [px] is cut, and shown whole on hovering."""
    bold = 1.1 if "font_weight" in attributes else 1.0
    shown = text if room is None else short(text, room / bold)
    hint = title(text) if shown != text else Markup("")
    return element(
        "text", shown, hint, x=x, y=y, fill="currentColor", pointer_events="none" if shown == text else None, **attributes
    )


def breadth(text: str) -> float:
    """About how wide a text of the usual size is [px]; a little more rather than less."""
    return sum(LETTER * (0.55 if sign in _NARROW else 1.5 if sign in _WIDE else 1.0) for sign in text)


def short(text: str, room: float) -> str:
    """The text cut to ``room`` [px], with an ellipsis; at least one sign."""
    if breadth(text) <= room:
        return text
    used, kept = LETTER, 0
    for sign in text:
        used += breadth(sign)
        if used > room:
            break
        kept += 1
    return text[:kept] + "…"


def path_of(points: Iterable[Sequence[float]]) -> str:
    """The path data of a polyline through points (x, y), in tenths of a unit."""
    return "M" + "L".join(f"{x:.1f} {y:.1f}" for x, y in points)


def _flat(children: Iterable[object]) -> Iterable[object]:
    for child in children:
        if isinstance(child, (list, tuple)):
            yield from _flat(child)
        elif child is not None:
            yield child


def _written(value: object) -> str:
    if isinstance(value, bool) or not isinstance(value, float):
        return _clean(str(value))
    if not math.isfinite(value):
        return "0"
    return f"{value:.2f}".rstrip("0").rstrip(".") if abs(value) < 1e7 else f"{value:.6g}"


def _clean(text: str) -> str:
    """Without the characters that XML does not allow."""
    return _FORBIDDEN.sub("�", text)
