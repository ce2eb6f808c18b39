"""A part while it is drawn: what is added, what is cut, where its screws go; and the bought screws and bearings. Millimetres."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.building.servos import HolePattern
from bunraku.errors import BadInput
from bunraku.fabrication.shaping import MM, Solid, bore, difference, union

CLEARANCE = 0.2
"""Play [mm] between a printed wall and the servo beside it."""


@dataclass(frozen=True)
class Screw:
    """A socket head screw of ISO 4762: diameters of its thread and head [mm]."""

    name: str
    diameter: float
    head_diameter: float


_HEADS = {"M1.2": (1.2, 2.0), "M2": (2.0, 3.8), "M2.5": (2.5, 4.5), "M3": (3.0, 5.5), "M4": (4.0, 7.0), "M5": (5.0, 8.5)}
_SCREWS = {name: Screw(name, *diameters) for name, diameters in _HEADS.items()}
_LENGTHS = (3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 35, 40, 45, 50)


def screw(name: str) -> Screw:
    """The screw of a thread; raises BadInput naming those that are known."""
    if name not in _SCREWS:
        raise BadInput(f"no screw {name!r}; there are {', '.join(_SCREWS)}")
    return _SCREWS[name]


def screw_length(name: str, clamped: float) -> int:
    """The shortest usual length [mm] that goes through ``clamped`` [mm] and 0.8 diameters of thread beyond."""
    needed = clamped + 0.8 * screw(name).diameter
    return next((length for length in _LENGTHS if length >= needed - 1e-9), _LENGTHS[-1])


@dataclass(frozen=True)
class Bearing:
    """A ball bearing: bore, outer diameter and width [mm], diameters of its seat and of a hole that leaves its inner ring free."""

    name: str
    bore: float
    outer: float
    width: float
    seat: float
    free: float


BEARING = Bearing("683ZZ 3x7x3", 3.0, 7.0, 3.0, 7.1, 5.2)
"""What the axles of passive wheels turn in, two a wheel."""


PLATE = 3.2
"""Thickness [mm] of the plates that screws go through."""
SEAT = 1.6
"""Material [mm] under the head of a screw."""
LEAST_WALL = 1.2
"""The thinnest wall [mm] that is drawn anywhere: three lines of a nozzle of 0.4 mm."""
HEAD_PLAY = 0.6
"""How much wider [mm] than the head of its screw a counterbore is."""
_REACH = 60.0


@dataclass(frozen=True)
class Hole:
    """A screw hole: ``center`` (3,) [mm] on the face that touches the other part, ``axis`` (3,) from there to the screw's head.

    ``diameter`` of the hole and ``seat``, the material under the head [mm]; ``screw`` its thread, None where only a shaft passes.
    ``pattern`` names the pattern it belongs to, and ``group`` the set of holes that this part has for it. A screw cuts its thread
    into a ``pilot`` hole; ``length`` [mm] is the screw's where it is not the usual one.
    """

    center: Array
    axis: Array
    diameter: float
    seat: float
    screw: str | None
    group: str
    pattern: HolePattern | None = None
    pilot: bool = False
    length: int | None = None


def holes_of(pattern: HolePattern, center: ArrayLike, u: ArrayLike, v: ArrayLike, axis: ArrayLike, group: str) -> list[Hole]:
    """The holes of a pattern about ``center`` [mm] with its first and second direction along ``u`` and ``v``."""
    known = pattern.screw if pattern.screw.startswith("M") else None
    n = np.asarray(axis, dtype=float)
    return [
        Hole(
            np.asarray(center) + MM * (a * np.asarray(u) + b * np.asarray(v)),
            n,
            MM * pattern.hole_diameter,
            SEAT,
            known,
            group,
            pattern,
        )
        for a, b in pattern.places()
    ]


@dataclass
class Draft:
    """A part in the making, in the frame of the body it belongs to [mm]. ``cases`` are the bought things that must fit."""

    name: str
    add: list[Solid] = field(default_factory=list)
    cut: list[Solid] = field(default_factory=list)
    holes: list[Hole] = field(default_factory=list)
    cases: list[tuple[str, Solid]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    def drill(self, holes: Iterable[Hole], *, thickness: float = _REACH) -> None:
        """Cut holes, and above the seat the channel through which the screw's head and the driver come."""
        for hole in holes:
            self.holes.append(hole)
            below = hole.center - 0.5 * hole.axis
            self.cut.append(bore(below, hole.center + (hole.seat + 0.5) * hole.axis, hole.diameter / 2.0))
            if hole.screw is None:
                self.cut.append(bore(below, hole.center + PLATE * 1.5 * hole.axis, hole.diameter / 2.0))
            elif not hole.pilot:
                radius = (screw(hole.screw).head_diameter + HEAD_PLAY) / 2.0
                self.cut.append(bore(hole.center + hole.seat * hole.axis, hole.center + thickness * hole.axis, radius))

    def solid(self) -> Solid:
        """What is added less what is cut."""
        return difference(union(self.add), self.cut)
