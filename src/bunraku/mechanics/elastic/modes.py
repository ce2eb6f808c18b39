"""Small vibrations of an elastic solid, held at its base, with rigid bodies on its interfaces; shapes orthonormal in its inertia.

(K(u) - (2 pi f)^2 (M + sum_b B_b' I_b B_b)) phi = 0, where B_b maps nodal velocities to the angular velocity and velocity of
interface b and I_b is the inertia of the body it carries, about the interface's centroid:

    I_b = [[J_b - m_b [d]x [d]x, m_b [d]x], [-m_b [d]x, m_b I]]     (J_b about the centre of mass, which is d from the centroid)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from bunraku.arrays import Array
from bunraku.errors import BadInput, BunrakuError
from bunraku.geometry.rotations import cross_matrix
from bunraku.mechanics.elastic.grip import GripFactor
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.solid import ElasticSolid


@dataclass(frozen=True)
class CarriedBody:
    """A rigid body on an interface: mass [kg] and inertia (3, 3) [kg m^2] about its centre of mass.

    ``center_of_mass`` (3,) [m] from the interface's centroid, at rest; all in the axes of the solid.
    """

    interface: Interface
    mass: float
    inertia: ArrayLike = 0.0
    center_of_mass: ArrayLike = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        J = self.inertia_matrix
        if not self.mass >= 0.0 or not np.isfinite(J).all() or np.linalg.eigvalsh(J)[0] < -1e-12 * np.abs(J).max(initial=1e-300):
            raise BadInput(f"the body on {self.interface.name!r} has mass {self.mass:g} kg; mass and inertia must not be negative")
        d = np.asarray(self.center_of_mass, dtype=np.float64)
        if d.shape != (3,) or not np.isfinite(d).all():
            raise BadInput(f"the centre of mass of the body on {self.interface.name!r} is {d}; three finite numbers are needed [m]")

    @property
    def inertia_matrix(self) -> Array:
        """The inertia as a matrix; one number stands for a sphere."""
        J = np.asarray(self.inertia, dtype=np.float64)
        return J * np.eye(3) if J.ndim == 0 else J

    def spatial(self, rotation: ArrayLike) -> Array:
        """I_b (6, 6), angular part first, about the centroid of an interface turned by ``rotation`` (3, 3)."""
        R = np.asarray(rotation, dtype=np.float64)
        lever = cross_matrix(R @ np.asarray(self.center_of_mass, dtype=np.float64))
        whole = np.zeros((6, 6))
        whole[:3, :3] = R @ self.inertia_matrix @ R.T - self.mass * lever @ lever
        whole[:3, 3:], whole[3:, :3], whole[3:, 3:] = self.mass * lever, -self.mass * lever, self.mass * np.eye(3)
        return whole

    def matrix(self, u: Array) -> Array:
        """B' I B (3 k, 3 k) at the interface's unknowns."""
        B = self.interface.jacobian(u)
        return np.asarray(B.T @ self.spatial(self.interface.rotation(u)) @ B)


class Inertia:
    """M + sum_b B_b' I_b B_b at the displacements ``u`` (3 n,) of a solid (rest unless given)."""

    def __init__(self, solid: ElasticSolid, carried: Sequence[CarriedBody] = (), u: ArrayLike | None = None) -> None:
        at = np.zeros(solid.size) if u is None else np.asarray(u, dtype=np.float64).ravel()
        self._mass = solid.mass
        self._bodies = [(body.interface.unknowns, body.matrix(at)) for body in carried]

    def __matmul__(self, x: ArrayLike) -> Array:
        """The product with x (3 n,) or (3 n, m)."""
        given = np.asarray(x, dtype=np.float64)
        y = np.asarray(self._mass @ given)
        for where, block in self._bodies:
            y[where] += block @ given[where]
        return y


@dataclass(frozen=True)
class Modes:
    """``frequencies`` (k,) [Hz], rising, and ``shapes`` (k, 3 n) of unit modal mass.

    A frequency is negative where the state is unstable: the root of a negative square.
    """

    frequencies: Array
    shapes: Array


def grip_modes(factor: GripFactor, inertia: Inertia, size: int, count: int) -> Modes:
    """The ``count`` lowest modes under the conditions of a grip; shapes (count, 3 n) with unit modal mass."""
    mass = LinearOperator((size, size), matvec=lambda x: inertia @ x.ravel(), dtype=np.float64)
    invert = LinearOperator((size, size), matvec=lambda x: factor.solve(x.ravel()), dtype=np.float64)
    stiff = LinearOperator((size, size), matvec=lambda x: x, dtype=np.float64)
    first = factor.solve(inertia @ np.random.default_rng(0).normal(size=size))
    try:
        squares, vectors = eigsh(stiff, count, M=mass, sigma=0.0, OPinv=invert, v0=first / np.linalg.norm(first), tol=1e-12)
    except ArpackNoConvergence as error:
        raise BunrakuError(f"the search for {count} modes did not converge; ask for fewer") from error
    order = np.argsort(squares)
    omega = np.sign(squares[order]) * np.sqrt(np.abs(squares[order]))
    return Modes(omega / (2.0 * np.pi), np.ascontiguousarray(vectors.T[order]))


def orthonormalize(
    inertia: Inertia, new: ArrayLike, old: ArrayLike | None = None, *, tolerance: float = 1e-6
) -> tuple[Array, list[int]]:
    """The shapes ``new`` (m, 3 n) made orthonormal, in the inertia, to the orthonormal ``old`` and to each other; which were kept.

    One is dropped when less than ``tolerance`` of it (in the norm of the inertia) is not in the span of those before it.
    """
    given = np.asarray(new, dtype=np.float64)
    shapes = np.zeros((0, given.shape[1])) if old is None else np.asarray(old, dtype=np.float64)
    already, kept = len(shapes), []
    weighed = (inertia @ shapes.T).T
    for i, shape in enumerate(given):
        whole = float(np.sqrt(max(shape @ (inertia @ shape), 0.0)))
        if whole == 0.0:
            continue
        x = shape / whole
        for _ in range(3):
            x = x - (weighed @ x) @ shapes
            image = inertia @ x
            left = float(np.sqrt(max(x @ image, 0.0)))
            if left <= tolerance:
                break
        if left <= tolerance:
            continue
        shapes, weighed = np.vstack([shapes, x / left]), np.vstack([weighed, image / left])
        kept.append(i)
    return shapes[already:], kept
