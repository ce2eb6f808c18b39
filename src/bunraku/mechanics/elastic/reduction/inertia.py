"""The inertia of a part and of the rigid bodies it carries, as one operator; shapes made orthonormal in it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackNoConvergence, LinearOperator, eigsh

from bunraku.arrays import Array
from bunraku.errors import BunrakuError
from bunraku.mechanics.elastic.modes import CarriedBody, Modes
from bunraku.mechanics.elastic.reduction.grip import GripFactor
from bunraku.mechanics.elastic.solid import ElasticSolid


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
