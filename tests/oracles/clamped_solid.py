"""A clamped elastic solid by itself: rest under dead loads and small vibrations, some nodes held, by SuperLU and nothing of ours.

The product holds parts by the mean motion of an interface (`mechanics.elastic.grip`); beams in textbooks are clamped.
"""

from __future__ import annotations

import numpy as np
from scipy.sparse import csc_array
from scipy.sparse.linalg import LinearOperator, eigsh, splu


def free_unknowns(solid, held):
    """Which of the (3 n,) displacements are free when the nodes ``held`` are not."""
    free = np.ones((solid.nodes, 3), dtype=bool)
    free[held] = False
    return np.flatnonzero(free)


def find_rest(solid, load, held, steps=8):
    """Displacements (3 n,) at rest under a ``load`` (3 n,) [N], by full Newton steps in load steps; None if that fails."""
    free, u = free_unknowns(solid, held), np.zeros(solid.size)
    extent = float(np.ptp(solid.mesh.nodes, axis=0).max())
    for share in np.arange(1, steps + 1) / steps:
        for _ in range(25):
            f, K = solid.force_and_stiffness(u)
            du = splu(csc_array(K[free][:, free])).solve((share * load - f)[free])
            u[free] += du
            if np.abs(du).max() <= 1e-10 * extent:
                break
        else:
            return None
    return u


def find_modes(solid, count, held, carried=(), u=None):
    """Frequencies (count,) [Hz], rising, and shapes (count, 3 n) of unit modal mass, about the displacement ``u`` or rest."""
    at, free = np.zeros(solid.size) if u is None else u, free_unknowns(solid, held)
    n = len(free)
    K = splu(csc_array(solid.stiffness(at)[free][:, free]))
    bodies = [(body.interface.unknowns, body.matrix(at)) for body in carried]

    def inertia(x):
        full = np.zeros(solid.size)
        full[free] = x.ravel()
        y = solid.mass @ full
        for where, block in bodies:
            y[where] += block @ full[where]
        return y[free]

    mass, invert = (LinearOperator((n, n), matvec=f, dtype=np.float64) for f in (inertia, lambda x: K.solve(x.ravel())))
    stiff = LinearOperator((n, n), matvec=lambda x: x, dtype=np.float64)
    first = np.random.default_rng(0).normal(size=n)
    squares, vectors = eigsh(stiff, count, M=mass, sigma=0.0, OPinv=invert, v0=first, tol=1e-10)
    order = np.argsort(squares)
    shapes = np.zeros((count, solid.size))
    shapes[:, free] = vectors.T[order]
    return np.sqrt(squares[order]) / (2.0 * np.pi), shapes
