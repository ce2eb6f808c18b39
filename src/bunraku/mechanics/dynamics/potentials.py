"""Potentials besides gravity: springs between points and at coordinates. They belong to the Lagrangian, L = T - V."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.mechanics.dynamics.places import Where


@dataclass(frozen=True)
class PointSpring:
    """A linear spring between two places: V = k/2 (|p1 - p2| - l0)^2, stiffness k [N/m], rest length l0 [m]."""

    first: Where
    second: Where
    stiffness: float
    rest_length: float = 0.0


@dataclass(frozen=True)
class CoordinateSpring:
    """A spring at one coordinate: V = k/2 (q - q0)^2, stiffness k [N·m/rad or N/m], rest q0 [rad or m]."""

    coordinate: str
    stiffness: float
    rest: float = 0.0


Potential = PointSpring | CoordinateSpring
