"""Solids with mass: boxes, printed shells, wheels; their inertia, moved, turned and added up.

About its centre of mass a solid has the inertia I (3, 3) [kg·m²]. Moved by d from the common centre it counts
I + m (|d|² 1 - d dᵀ) (parallel axes). All of this is smooth in every length.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Body, Shape


@dataclass(frozen=True)
class Solid:
    """A mass [kg] with its centre (3,) [m] and the inertia (3, 3) [kg·m²] about it, in the axes of the body it is fixed to."""

    mass: float
    center: Array
    inertia: Array


def box(mass: float, center: ArrayLike, size: ArrayLike, axes: ArrayLike | None = None) -> Solid:
    """A homogeneous box of ``size`` (full lengths) along ``axes`` (columns of R): R diag(m (b² + c²) / 12, ...) Rᵀ."""
    squares = np.asarray(size, dtype=float) ** 2
    inertia = np.diag(mass / 12.0 * (squares.sum() - squares))
    if axes is not None:
        R = np.asarray(axes, dtype=float)
        inertia = R @ inertia @ R.T
    return Solid(mass, np.asarray(center, dtype=float), inertia)


def box_shell(density: float, wall: float, center: ArrayLike, size: ArrayLike) -> Solid:
    """A hollow box: the outer box less the one that is a ``wall`` smaller on every side; ``density`` [kg/m³]."""
    outer = np.asarray(size, dtype=float)
    inner = outer - 2.0 * wall
    whole = box(density * float(np.prod(outer)), center, outer)
    hollow = box(density * float(np.prod(inner)), center, inner)
    return Solid(whole.mass - hollow.mass, whole.center, whole.inertia - hollow.inertia)


def cylinder(mass: float, center: ArrayLike, axis: ArrayLike, radius: float, length: float) -> Solid:
    """A homogeneous cylinder about ``axis`` a: I = m (r²/4 + l²/12) (1 - a aᵀ) + m r²/2 a aᵀ."""
    a = _unit(axis)
    along = np.outer(a, a)
    across = mass * (radius**2 / 4.0 + length**2 / 12.0)
    return Solid(mass, np.asarray(center, dtype=float), across * (np.eye(3) - along) + mass * radius**2 / 2.0 * along)


def sphere(mass: float, center: ArrayLike, radius: float) -> Solid:
    """A homogeneous ball: I = 2/5 m r² 1."""
    return Solid(mass, np.asarray(center, dtype=float), 0.4 * mass * radius**2 * np.eye(3))


def capsule_shell(density: float, wall: float, start: ArrayLike, end: ArrayLike, radius: float) -> Solid:
    """A thin capsule: a tube of ``radius`` from ``start`` to ``end`` with half a spherical shell at both ends.

    With a the direction and l the length of the tube, m_t = 2 π r l w ρ its mass and m_s = 4 π r² w ρ that of both caps (w wall):
    along a: m_t r² + 2/3 m_s r²; across: m_t (r²/2 + l²/12) + m_s (2/3 r² + l²/4 + l r/2), the centre of a half shell being r/2
    from its rim.
    """
    p, q = np.asarray(start, dtype=float), np.asarray(end, dtype=float)
    length = float(np.linalg.norm(q - p))
    a = _unit(q - p) if length > 0.0 else np.array([0.0, 0.0, 1.0])
    tube, caps = 2.0 * np.pi * radius * length * wall * density, 4.0 * np.pi * radius**2 * wall * density
    along = (tube + 2.0 / 3.0 * caps) * radius**2
    across = tube * (radius**2 / 2.0 + length**2 / 12.0)
    across += caps * (2.0 / 3.0 * radius**2 + length**2 / 4.0 + length * radius / 2.0)
    inertia = across * (np.eye(3) - np.outer(a, a)) + along * np.outer(a, a)
    return Solid(tube + caps, (p + q) / 2.0, inertia)


def solid_of(body: Body) -> Solid:
    """The mass of a body, with its centre and inertia."""
    xx, yy, zz, xy, xz, yz = body.inertia
    return Solid(body.mass, np.array(body.center_of_mass), np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))


def solid_body(name: str, solid: Solid, shapes: Sequence[Shape], *, dust: float = 0.0) -> Body:
    """A body with the mass, centre and inertia of a solid; of the inertia less than ``dust`` times its trace counts as zero."""
    I = solid.inertia  # noqa: E741
    parts = (float(I[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2)))
    inertia = tuple(part if dust == 0.0 or abs(part) > dust * abs(np.trace(I)) else 0.0 for part in parts)
    return Body(name=name, mass=solid.mass, center_of_mass=three(solid.center), inertia=inertia, shapes=tuple(shapes))


def three(vector: Array) -> tuple[float, float, float]:
    """A vector as three plain numbers."""
    return (float(vector[0]), float(vector[1]), float(vector[2]))


def joined(solids: list[Solid]) -> Solid:
    """Several solids as one: masses added, the common centre of mass, inertias by parallel axes."""
    mass = sum(solid.mass for solid in solids)
    if mass <= 0.0:
        return Solid(0.0, np.zeros(3), np.zeros((3, 3)))
    center = sum((solid.mass * solid.center for solid in solids), np.zeros(3)) / mass
    inertia = np.zeros((3, 3))
    for solid in solids:
        d = solid.center - center
        inertia += solid.inertia + solid.mass * (d @ d * np.eye(3) - np.outer(d, d))
    return Solid(float(mass), center, inertia)


def _unit(axis: ArrayLike) -> Array:
    a = np.asarray(axis, dtype=float)
    return a / np.linalg.norm(a)
