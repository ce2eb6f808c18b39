"""Small vibrations of an elastic solid about rest or about a loaded state, with rigid bodies on its interfaces.

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
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.rest import free_unknowns
from bunraku.mechanics.elastic.solid import ElasticSolid
from bunraku.optimization.linear import NotFactorizable, analyse


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


@dataclass(frozen=True)
class Modes:
    """``frequencies`` (k,) [Hz], rising (negative.

    Unstable, the root of a negative square), and ``shapes`` (k, 3 n), unit modal mass.
    """

    frequencies: Array
    shapes: Array


def find_modes(
    solid: ElasticSolid, count: int, *, held: ArrayLike, carried: Sequence[CarriedBody] = (), u: ArrayLike | None = None
) -> Modes:
    """The ``count`` modes nearest to zero frequency about the displacement ``u`` (no load: zero), with the nodes ``held`` fixed."""
    at = np.zeros(solid.size) if u is None else np.asarray(u, dtype=np.float64).ravel()
    free = free_unknowns(solid, held)
    n = int(free.sum())
    if not 0 < count < n:
        raise BadInput(f"{count} modes were asked for; between 1 and {n - 1} exist")
    K = solid.stiffness(at)
    plan = analyse(K, free=free)
    try:
        factor = plan.factorize(K, definite=True)
    except NotFactorizable:
        try:
            factor = plan.factorize(K)
        except NotFactorizable as error:
            raise BadInput(
                "the stiffness is singular here: the solid is about to buckle; find its modes at another state"
            ) from error
    places = np.flatnonzero(free)
    bodies = [(body.interface.unknowns, body.matrix(at)) for body in carried]

    def inertia(x: Array) -> Array:
        full = np.zeros(solid.size)
        full[places] = x.ravel()
        y = solid.mass @ full
        for where, block in bodies:
            y[where] += block @ full[where]
        return np.asarray(y[places])

    def inverse(x: Array) -> Array:
        full = np.zeros(solid.size)
        full[places] = x.ravel()
        return factor.solve(full)[places]

    mass, invert = (LinearOperator((n, n), matvec=f, dtype=np.float64) for f in (inertia, inverse))
    stiff = LinearOperator((n, n), matvec=lambda x: x, dtype=np.float64)
    first = np.random.default_rng(0).normal(size=n)
    try:
        squares, vectors = eigsh(stiff, count, M=mass, sigma=0.0, OPinv=invert, v0=first, tol=1e-10)
    except ArpackNoConvergence as error:
        raise BunrakuError(f"the search for {count} modes did not converge; ask for fewer") from error
    order = np.argsort(squares)
    shapes = np.zeros((count, solid.size))
    shapes[:, places] = vectors.T[order]
    omega = np.sign(squares[order]) * np.sqrt(np.abs(squares[order]))
    return Modes(omega / (2.0 * np.pi), shapes)
