"""Promises as a table: each a number against its threshold, in words as well as in colour; a click goes to its worst moment."""

from __future__ import annotations

import math
from collections.abc import Sequence

from bunraku.motion import Check
from bunraku.motion.certificate import STATES
from bunraku.studio.widgets.notice import notice
from bunraku.studio.widgets.svg import BLUE, GREEN, GREY, RED, Markup, element
from bunraku.verification.moments import WorstMoment, moment_of

MOST_ROWS = 60
_ROOM = "padding:0 14px 0 8px"
_CELL = "padding:3px 6px;border-top:1px solid rgba(128,128,128,.25);vertical-align:top"
_TABLE = "width:100%;table-layout:fixed;border-collapse:collapse;font-size:12px;line-height:1.35;overflow-wrap:anywhere"
_COLUMNS = element(
    "colgroup", element("col", style="width:52%"), element("col", style="width:29%"), element("col", style="width:19%")
)


def checks_table(checks: Sequence[Check], heading: str = "") -> str:
    """Promises with their value, threshold and whether they hold, those that do not hold first; information below, paler.

    Where a check says when it is worst ("at 1.23 s"), its row is a click: time.jump (t).
    """
    if not checks:
        return notice("Nothing is promised yet: run the performer first.", "empty")
    promises = sorted((check for check in checks if check.state), key=lambda check: STATES.index(check.state))
    information = [check for check in checks if check.threshold is None]
    rows = []
    for check in (*promises, *information)[:MOST_ROWS]:
        note = element("div", check.cells[-1], style="opacity:.7") if check.cells[-1] else None
        rows.append(_jumping(_cells(check.name, note, check), moment_of(check), pale=check.threshold is None))
    left = len(checks) - len(rows)
    more = element("div", f"and {left} more", style="opacity:.65;font-size:12px") if left > 0 else None
    return element("div", _summary(heading, promises), _table(rows), more, class_="checks", style=_ROOM)


def moments_table(moments: Sequence[WorstMoment]) -> str:
    """The worst moment of each kind of limit: its value against its threshold, a click goes there: time.jump (t)."""
    if not moments:
        return notice("No limit of this motion has a worst moment.", "empty")
    rows = []
    for one in sorted(moments, key=lambda one: one.holds)[:MOST_ROWS]:
        where = element("div", f"{one.what} at {one.time:.2f}\u00a0s", style="opacity:.7")
        rows.append(_jumping(_cells(element("b", one.name), where, one), one.time))
    return element("div", _table(rows), class_="moments", style=_ROOM)


def _table(rows: Sequence[Markup]) -> Markup:
    return element("table", _COLUMNS, element("tbody", rows), style=_TABLE)


def _summary(heading: str, promises: Sequence[Check]) -> Markup:
    count = {state: sum(check.state == state for check in promises) for state in STATES}
    broken, unknown = count["broken"], count["not checked"]
    said = f"{broken} of {len(promises)} promises {'does' if broken == 1 else 'do'} not hold"
    said = said if broken else f"{count['holds']} promises hold"
    said += f", {unknown} not checked" if unknown else ""
    against = any(check.stands_against for check in promises)
    mark = element("span", "✕ " if against else "✓ ", style=f"color:{RED if against else GREEN};font-weight:700")
    return element("div", mark, element("b", f"{heading}: " if heading else ""), said, style="font-size:12px;margin:4px 0")


def _cells(name: object, more: object, one: Check | WorstMoment) -> list[Markup]:
    """Name, value against its threshold, verdict."""
    judged = one.threshold is not None and one.state in ("holds", "broken")
    threshold = f"{'≥' if one.at_least else '≤'} {one.threshold:.4g}" if judged else ""
    value = "" if math.isnan(one.value) else "∞" if math.isinf(one.value) else f"{one.value:.4g}"
    figures = (f"{value} {one.unit}".strip(), element("div", threshold, style="opacity:.7"))
    return [
        element("td", name, more, style=_CELL),
        element("td", *figures, style=f"{_CELL};text-align:right"),
        element("td", _verdict(one.state), style=f"{_CELL};white-space:nowrap"),
    ]


def _jumping(cells: Sequence[Markup], time: float | None, pale: bool = False) -> Markup:
    shade = "opacity:.75;" if pale else ""
    if time is None:
        return element("tr", cells, style=shade or None)
    go = element("span", "▸", style=f"color:{BLUE}", aria_hidden="true")
    last = Markup(cells[-1].replace("</td>", f" {go}</td>"))
    style = f"{shade}cursor:pointer"
    return element("tr", cells[:-1], last, data_click="time.jump", data_t=f"{time:.4f}", title=f"go to {time:.2f} s", style=style)


def _verdict(state: str) -> Markup:
    if state in ("holds", "broken"):
        holds = state == "holds"
        return element("span", "holds" if holds else "✕ fails", style=f"color:{GREEN if holds else RED};font-weight:600")
    return element("span", state or "info", style=f"color:{GREY}")
