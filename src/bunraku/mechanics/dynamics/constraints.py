"""Holonomic constraints h(q) = 0: strings, points held together, points on planes, directions held square.

Each gives one or more rows h = y.z - constant, where y is a difference of points or a direction, and z is y itself, a world
direction or a direction fixed to a body. Multipliers have the dimension of force over that of dh/dx: for a string, tension = 2
length x multiplier.
"""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.mechanics.dynamics.places import Vector, Where


@dataclass(frozen=True)
class Distance:
    """A taut string or massless rod: h = |p1 - p2|^2 - d^2, with ``length`` d [m] a number or a coordinate (a winch)."""

    first: Where
    second: Where
    length: float | str
    name: str = ""


@dataclass(frozen=True)
class PointToPoint:
    """Two points that coincide along some world axes: h = (p1 - p2) along each letter of ``axes`` ("x" ... "xyz"); 1 to 3 rows."""

    first: Where
    second: Where
    axes: str = "xyz"
    name: str = ""


@dataclass(frozen=True)
class PointOnPlane:
    """A point that stays on a plane fixed to a body: h = (p_plane - p_point).(R_plane n), ``normal`` n in the axes of ``plane``."""

    plane: Where
    normal: Vector
    point: Where
    name: str = ""


@dataclass(frozen=True)
class SquareDirections:
    """Two directions fixed to bodies that keep their angle: h = (R1 a).(R2 b) - ``cosine``. Two close a hinge."""

    first: Where
    first_direction: Vector
    second: Where
    second_direction: Vector
    cosine: float = 0.0
    name: str = ""


Constraint = Distance | PointToPoint | PointOnPlane | SquareDirections
