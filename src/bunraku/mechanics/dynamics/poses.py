"""Where places of a system stand, flexible segments bent: poses and velocity Jacobians."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics import lagrangian_layout as layout
from bunraku.mechanics.dynamics.places import Where, resolve
from bunraku.mechanics.dynamics.system import System


def find_pose(system: System, q: ArrayLike, where: Where) -> tuple[Array, Array]:
    """World rotation (3, 3) and position (3,) [m] of a place at q (nq,)."""
    _, R, p, _ = _locate(system, q, where)
    return R, p


def find_jacobian(system: System, q: ArrayLike, where: Where) -> tuple[Array, Array]:
    """Linear and angular velocity Jacobians (3, nq each), in world axes, of the origin of a place at q (nq,)."""
    slot, _, p, W = _locate(system, q, where)
    linear, angular = np.zeros((3, system.nq)), np.zeros((3, system.nq))
    while slot >= 0:
        c = system.model.node_i[slot, layout.COORDINATE]
        w, v = W[slot, layout.ANGULAR : layout.ANGULAR + 3], W[slot, layout.LINEAR : layout.LINEAR + 3]
        linear[:, c] += v + np.cross(w, p)
        angular[:, c] += w
        slot = int(system.model.node_i[slot, layout.PARENT])
    return linear, angular


def _locate(system: System, q: ArrayLike, where: Where) -> tuple[int, Array, Array, Array]:
    W: Array = kernels.poses(system.model, system.vector("q", q, system.nq))
    node, p, R = resolve(system.tree, where)
    if node < 0:
        return -1, R, p, W
    slot, turn, move = system.hang[node]
    p, R = move + turn @ p, turn @ R
    if slot < 0:
        return -1, R, p, W
    base = W[slot, layout.ROTATION : layout.ROTATION + 9].reshape(3, 3)
    return slot, base @ R, W[slot, layout.POSITION : layout.POSITION + 3] + base @ p, W
