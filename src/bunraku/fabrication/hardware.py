"""Bought parts that hold printed ones together: screws, ball bearings, and the fits they need. Millimetres."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.errors import BadInput

CLEARANCE = 0.2
"""Play [mm] between a printed wall and the servo beside it."""


@dataclass(frozen=True)
class Screw:
    """A socket head screw of ISO 4762: thread diameter, diameter and height of its head [mm]."""

    name: str
    diameter: float
    head_diameter: float
    head_height: float


_SCREWS = {
    entry.name: entry
    for entry in (
        Screw("M1.2", 1.2, 2.0, 0.8),
        Screw("M2", 2.0, 3.8, 2.0),
        Screw("M2.5", 2.5, 4.5, 2.5),
        Screw("M3", 3.0, 5.5, 3.0),
        Screw("M4", 4.0, 7.0, 4.0),
        Screw("M5", 5.0, 8.5, 5.0),
    )
}
_LENGTHS = (3, 4, 5, 6, 8, 10, 12, 16, 20, 25, 30, 35, 40, 45, 50)


def screw(name: str) -> Screw:
    """The screw of a thread; raises BadInput naming those that are known."""
    if name not in _SCREWS:
        raise BadInput(f"no screw {name!r}; there are {', '.join(_SCREWS)}")
    return _SCREWS[name]


def screw_length(name: str, clamped: float) -> int:
    """The shortest usual length [mm] that goes through ``clamped`` [mm] and 0.8 diameters of thread beyond."""
    wanted = clamped + 0.8 * screw(name).diameter
    return next((length for length in _LENGTHS if length >= wanted - 1e-9), _LENGTHS[-1])


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
