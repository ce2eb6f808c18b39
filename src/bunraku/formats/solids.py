"""Mass, centre of mass and inertia of primitive solids, and of several solids together."""

from __future__ import annotations

from math import pi

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.poses import Rigid


def volume(kind: str, size: tuple[float, ...]) -> float:
    """Volume [m³] of a shape; sizes as in `character.Shape`."""
    match kind:
        case "box":
            return 8.0 * size[0] * size[1] * size[2]
        case "sphere":
            return 4.0 / 3.0 * pi * size[0] ** 3
        case "cylinder":
            return 2.0 * pi * size[0] ** 2 * size[1]
        case "capsule":
            return 2.0 * pi * size[0] ** 2 * size[1] + 4.0 / 3.0 * pi * size[0] ** 3
        case "ellipsoid":
            return 4.0 / 3.0 * pi * size[0] * size[1] * size[2]
    return 0.0


def solid_inertia(kind: str, size: tuple[float, ...], mass: float) -> Array:
    """Principal moments (3,) [kg·m²] about the centre of a homogeneous solid of ``mass`` [kg], in the shape's axes.

    A capsule of radius r and half length h is a cylinder and two half spheres, by their volumes; a half sphere's centre of
    mass is 3r/8 from its flat side.
    """
    match kind:
        case "box":
            a, b, c = size
            return mass / 3.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        case "sphere":
            return np.full(3, 0.4 * mass * size[0] ** 2)
        case "ellipsoid":
            a, b, c = size
            return mass / 5.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
        case "cylinder":
            r, h = size
            across = mass * (r * r / 4.0 + h * h / 3.0)
            return np.array([across, across, mass * r * r / 2.0])
        case "capsule":
            r, h = size
            whole = volume(kind, size)
            tube = mass * volume("cylinder", size) / whole if whole else 0.0
            ends = mass - tube
            across = tube * (r * r / 4.0 + h * h / 3.0) + ends * (0.4 * r * r + h * h + 0.75 * h * r)
            return np.array([across, across, tube * r * r / 2.0 + ends * 0.4 * r * r])
    return np.zeros(3)


def combined(parts: list[tuple[float, Rigid, Array]]) -> tuple[float, Array, Array]:
    """Total mass, centre of mass (3,) and inertia (3, 3) about it, of parts (mass, pose, principal moments in that pose).

    I = sum_i R_i diag(J_i) R_iᵀ + m_i (|d_i|² 1 - d_i d_iᵀ), d_i from the common centre to the part's.
    """
    mass = sum(part[0] for part in parts)
    if mass <= 0.0:
        return 0.0, np.zeros(3), np.zeros((3, 3))
    com = np.sum([m * X[1] for m, X, _ in parts], axis=0) / mass
    inertia = np.zeros((3, 3))
    for m, (R, p), moments in parts:
        d = p - com
        inertia += (R * moments) @ R.T + m * (float(d @ d) * np.eye(3) - np.outer(d, d))
    return float(mass), com, inertia
