"""Footfalls edited by hand: a cell of the cycle toggled between ground and air, an end of a swing dragged.

The cycle (or the duration of a motion that happens once) is drawn in N cells; a foot is in the air in a cell when it is at the
middle of it. A named pattern that is edited becomes "custom" with the swings it had; with everything on the ground it is "roll".
With half-cycle symmetry the mirrored foot is edited along, half a cycle later.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.gait.feet import feet_of
from bunraku.gait.patterns import footfalls
from bunraku.gait.symmetry import mirror_partners
from bunraku.motion import Gait, Swing

CELLS = 24
"""Cells that a cycle, or a motion that happens once, is drawn in."""
NEAR = 1e-9

Piece = tuple[float, float]


@dataclass(frozen=True)
class FootRow:
    """One row of the footfall editor: end effectors that swing together, by index, and their ``swings`` (start, end) as phases.

    ``clickable``: whether it can leave the ground; end effectors on the base body cannot.
    """

    name: str
    effectors: tuple[int, ...]
    swings: tuple[Piece, ...]
    clickable: bool


def foot_rows(character: Character, gait: Gait, *, flight: bool = False) -> tuple[FootRow, ...]:
    """The rows: feet that can leave the ground from front left to back right, then the end effectors that never do.

    A foot of several end effectors is one row, named by its body, as long as they swing together.
    """
    feet, names = feet_of(character), [tip.name for tip in character.end_effectors]
    swings = footfalls(character, gait, flight=flight).swings
    own = {j: tuple((start, end) for k, start, end in swings if k == j) for j in range(len(names))}
    rows = []
    for foot in sorted(feet.feet, key=lambda foot: (foot.row, -foot.place[1])):
        together = len({own[j] for j in foot.effectors}) == 1
        groups: Sequence[tuple[int, ...]] = [foot.effectors] if together else [(j,) for j in foot.effectors]
        for group in groups:
            rows.append(FootRow(names[group[0]] if len(group) == 1 else foot.body, group, own[group[0]], True))
    rows += [FootRow(names[j], (j,), own[j], False) for j in feet.fixed]
    return tuple(rows)


def cells_in_air(swings: Sequence[Piece], cells: int, periodic: bool) -> NDArray[np.bool_]:
    """Whether the middle of each of the ``cells`` lies in a swing; (cells,)."""
    middle = (np.arange(cells) + 0.5) / cells
    air = np.zeros(cells, dtype=bool)
    for start, end in swings:
        air |= (middle > start) & (middle < end)
        if periodic:
            air |= (middle + 1.0 > start) & (middle + 1.0 < end)
    return air


def toggled(character: Character, gait: Gait, foot: str, cell: int, cells: int = CELLS, *, flight: bool = False) -> Gait:
    """The gait with one cell of a foot put into the air, or back on the ground.

    Swings are created, lengthened, joined, shortened, split or removed. Toggled twice every cell is as before. Footfalls that no
    body can make raise BadInput. ``flight``: all feet may be in the air at once.
    """
    if not 0 <= cell < cells <= 1000:
        raise BadInput(f"cell {cell} of {cells} arrived; give one from 0 on, of at most 1000 cells")
    row = _row(character, gait, foot, flight)
    swings = _toggled(row.swings, cell, cells, gait.periodic)
    if gait.symmetric and _partners(character, row) == row.effectors:
        swings = _toggled(swings, (cell + cells // 2) % cells, cells, gait.periodic)
    return _with(character, gait, row, swings, flight)


def moved_swing(
    character: Character, gait: Gait, foot: str, swing: int, end: str, phase: float, *, least: float = 0.0, flight: bool = False
) -> Gait:
    """The gait with the "start" or "end" of a foot's swing (by its place in the row's list) moved to a phase in [0, 1].

    It stops before its other end and before the next swing, ``least`` away (0: half a cell). A cycle's swing may run past 1.
    """
    row = _row(character, gait, foot, flight)
    if not 0 <= swing < len(row.swings) or end not in ("start", "end"):
        raise BadInput(f"the {end} of swing {swing} of {foot!r} arrived; it has {len(row.swings)} swings, each with start and end")
    if not math.isfinite(phase):
        raise BadInput(f"the {end} of a swing of {foot!r} goes to {phase}; give a phase from 0 to 1")
    gap = least or 0.5 / CELLS
    a, b = row.swings[swing]
    now = a if end == "start" else b
    to = now + (phase - now + 0.5) % 1.0 - 0.5 if gait.periodic else min(1.0, max(0.0, phase))
    low, high = _room(row.swings, swing, gait.periodic, gap)
    if end == "start":
        a = min(max(to, low), b - min(gap, b - a))
    else:
        b = max(min(to, high), a + min(gap, b - a))
    swings = [*row.swings[:swing], (a, b), *row.swings[swing + 1 :]]
    if gait.symmetric and _partners(character, row) == row.effectors:
        raise BadInput(f"{foot!r} mirrors itself; with half-cycle symmetry toggle its cells, or drop the symmetry")
    return _with(character, gait, row, _ordered(swings, gait.periodic), flight)


def _row(character: Character, gait: Gait, foot: str, flight: bool) -> FootRow:
    rows = foot_rows(character, gait, flight=flight)
    row = next((row for row in rows if row.name == foot), None)
    if row is None:
        raise BadInput(f"there is no foot {foot[:60]!r}; there are {', '.join(row.name for row in rows[:12])}")
    if not row.clickable:
        raise BadInput(f"{foot[:60]!r} sits on the base body and never leaves the ground by itself; choose a foot on a leg")
    return row


def _room(swings: Sequence[Piece], index: int, periodic: bool, gap: float) -> Piece:
    """From where to where a swing may reach: to the neighbours, ``gap`` away from them."""
    a, b = swings[index]
    shifts = (-1.0, 0.0, 1.0) if periodic else (0.0,)
    others = [(s + k, e + k) for i, (s, e) in enumerate(swings) for k in shifts if (i, k) != (index, 0.0)]
    low = max((e for _, e in others if e <= a + NEAR), default=-math.inf)
    high = min((s for s, _ in others if s >= b - NEAR), default=math.inf)
    if not periodic:
        low, high = max(low, -gap), min(high, 1.0 + gap)
    return min(a, low + gap), max(b, high - gap)


def _toggled(swings: Sequence[Piece], cell: int, cells: int, periodic: bool) -> list[Piece]:
    """The swings of one foot with the cell's other state; slivers that reach no middle of a cell go, gaps that hold none close."""
    a, b, half = cell / cells, (cell + 1) / cells, 0.5 / cells
    lifted = not cells_in_air(swings, cells, periodic)[cell]
    shifts = (-1.0, 0.0, 1.0) if periodic else (0.0,)
    pieces = []
    for start, end in swings:
        shift = next((k for k in shifts if start + k < b - NEAR and end + k > a + NEAR), None)
        if lifted and shift is None:
            shift = next((k for k in shifts if start + k < b + half - NEAR and end + k > a - half + NEAR), None)
        if shift is None:
            pieces.append((start, end))
            continue
        s, e = start + shift, end + shift
        if lifted:
            a, b = min(a, s), max(b, e)
            continue
        pieces += [(u, v) for u, v in ((s, a), (b, e)) if v - u > NEAR and cells_in_air([_home(u, v)], cells, periodic).any()]
    if lifted:
        if b - a >= 1.0 - NEAR:
            raise BadInput("the foot would be in the air for the whole cycle; leave a cell of it on the ground")
        pieces.append((a, b))
    return _ordered(pieces, periodic)


def _home(start: float, end: float) -> Piece:
    """The same swing, starting in [0, 1)."""
    turns = math.floor(start + NEAR)
    return max(0.0, start - turns), end - turns


def _ordered(pieces: Sequence[Piece], periodic: bool) -> list[Piece]:
    """In order of their starts; starts in [0, 1), rounded so that equal cells give equal numbers."""
    placed = [_home(s, e) if periodic else (max(0.0, s), min(1.0, e)) for s, e in pieces]
    return sorted((round(s, 12), round(e, 12)) for s, e in placed)


def _partners(character: Character, row: FootRow) -> tuple[int, ...]:
    feet, names = feet_of(character), [tip.name for tip in character.end_effectors]
    partners = mirror_partners(feet, names)
    return tuple(sorted(partners[j] for j in row.effectors))


def _with(character: Character, gait: Gait, row: FootRow, swings: Sequence[Piece], flight: bool) -> Gait:
    """The gait with those swings of a row's end effectors, all others as they were, checked."""
    names = [tip.name for tip in character.end_effectors]
    changed = {j: list(swings) for j in row.effectors}
    if gait.symmetric:
        later = _ordered([(s + 0.5, e + 0.5) for s, e in swings], True)
        changed |= {j: later for j in _partners(character, row) if j not in row.effectors}
    kept = [(j, s, e) for j, s, e in footfalls(character, gait, flight=flight).swings if j not in changed]
    kept += [(j, s, e) for j, own in changed.items() for s, e in own]
    if not kept:
        return gait.changed(pattern="roll", swings=(), air=None)
    own_swings = tuple(Swing(names[j], s, e) for j, s, e in sorted(kept, key=lambda one: (one[1], one[0])))
    edited = gait.changed(pattern="custom", swings=own_swings, air=None)
    footfalls(character, edited, flight=flight)
    return edited
