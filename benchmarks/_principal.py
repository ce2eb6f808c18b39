"""Principal shapes of recorded displacements, weighed by mass: the basis of the paper (Fig. 6), here without rigid motions.

Snapshots are taken in the frame of the base interface, in which its six conditions hold (:func:`base_frame` brings them there).
With an orthonormal basis V (in the inertia) of their span, snapshots = Y V, the principal shapes are W' V for the singular value
decomposition Y = U S W'; the first m of them leave out the least mass-weighted squares of any m shapes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.modes import orthonormalize
from bunraku.mechanics.elastic.reduction.basis import Basis, Workbench
from bunraku.mechanics.elastic.solid import ElasticSolid


def base_frame(solid: ElasticSolid, base: Interface, displacements: ArrayLike) -> Array:
    """Displacements (s, 3 n) relative to the moving frame of the base interface, in which its mean motion is zero.

    ``displacements`` (s, 3 n) are from the mesh's rest positions, in a fixed frame, with any rigid motion in them.
    """
    given = np.atleast_2d(np.asarray(displacements, dtype=np.float64))
    if given.shape[1] != solid.size:
        raise BadInput(f"the displacements have shape {given.shape}; (s, {solid.size}) is needed")
    X = solid.mesh.nodes
    result = np.empty_like(given)
    for row, u in enumerate(given):
        R, c = base.rotation(u), base.position(u)
        result[row] = (((X + u.reshape(-1, 3)) - c) @ R + base.centroid - X).ravel()
    return result


def mass_pca(bench: Workbench, snapshots: ArrayLike, count: int) -> Basis:
    """The ``count`` principal shapes of the snapshots (s, 3 n), or as many as there are above 1e-10 of the largest.

    All are primary: none is known to follow another.
    """
    given = np.atleast_2d(np.asarray(snapshots, dtype=np.float64))
    if given.shape[1] != bench.solid.size or not np.isfinite(given).all():
        raise BadInput(f"the snapshots have shape {given.shape}; (s, {bench.solid.size}) finite numbers are needed")
    if count < 1:
        raise BadInput(f"{count} principal shapes were asked for; at least 1 is needed")
    size = float(np.abs(given).max(initial=0.0))
    worst = max((bench.grip.violation(u) for u in given), default=0.0)
    if size == 0.0 or worst > 1e-6 * size:
        raise BadInput(
            f"the base interface moves by {worst:.3g} m in snapshots of {size:.3g} m; bring them to its frame with base_frame first"
        )
    order = np.argsort([-float(u @ (bench.inertia @ u)) for u in given], kind="stable")
    V, _ = orthonormalize(bench.inertia, given[order], tolerance=1e-12)
    Y = given @ (bench.inertia @ V.T)
    _, values, W = np.linalg.svd(Y, full_matrices=False)
    kept = min(count, int((values > 1e-10 * values[0]).sum()))
    return Basis(W[:kept] @ V, tuple(f"principal {i + 1}" for i in range(kept)), kept)
