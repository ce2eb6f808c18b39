"""Places and Jacobian of points that the skeleton carries."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from numba import njit

from bunraku.mechanics.tree.tree_kernels import HINGE, SLIDE


@njit(cache=True)
def glue(parent, kind, coordinate, rotation, position, world_axis, node, local, place, J):
    """World ``place`` (g, 3) of points ``local`` (g, 3) on tree nodes ``node`` (g,), and J (3 g, nq), zero before."""
    for k in range(node.shape[0]):
        b = node[k]
        for a in range(3):
            s = position[b, a]
            for c in range(3):
                s += rotation[b, a, c] * local[k, c]
            place[k, a] = s
        i = b
        while i >= 0:
            c = coordinate[i]
            if kind[i] == HINGE:
                a0, a1, a2 = world_axis[i, 0], world_axis[i, 1], world_axis[i, 2]
                d0, d1, d2 = place[k, 0] - position[i, 0], place[k, 1] - position[i, 1], place[k, 2] - position[i, 2]
                J[3 * k, c] += a1 * d2 - a2 * d1
                J[3 * k + 1, c] += a2 * d0 - a0 * d2
                J[3 * k + 2, c] += a0 * d1 - a1 * d0
            elif kind[i] == SLIDE:
                for a in range(3):
                    J[3 * k + a, c] += world_axis[i, a]
            i = parent[i]
