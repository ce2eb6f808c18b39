"""Forces that are no potentials: damping, motors, wrenches."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from bunraku.mechanics.dynamics.places import Where

Entry = float | str


@dataclass(frozen=True)
class Damping:
    """Viscous damping at coordinates: F_i = -c_i v_i, ``coefficients`` by coordinate [N·m·s/rad or N·s/m]."""

    coefficients: Mapping[str, float]


@dataclass(frozen=True)
class PointDamper:
    """A damper between two places: F = -c l' dl/dq, l = |p1 - p2|, ``damping`` c [N·s/m]."""

    first: Where
    second: Where
    damping: float


@dataclass(frozen=True)
class CoordinateForce:
    """An input acting on a coordinate (a motor's torque, a slider's force): F_coordinate += gain u_input."""

    coordinate: str
    input: str
    gain: float = 1.0


@dataclass(frozen=True)
class Wrench:
    """A force [N] and torque [N·m] on a place; each entry is a number or the name of an input.

    ``axes``: ``body`` in the axes of the place, acting at its origin; ``hybrid`` in world axes, acting at its origin; ``world``
    in world axes, about the world origin.
    """

    place: Where
    force: tuple[Entry, Entry, Entry] = (0.0, 0.0, 0.0)
    torque: tuple[Entry, Entry, Entry] = (0.0, 0.0, 0.0)
    axes: Literal["body", "hybrid", "world"] = "body"


Force = Damping | PointDamper | CoordinateForce | Wrench
