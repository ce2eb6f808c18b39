"""What energies of motions over the ground share: the system of one sample, from empty to put into the blocks; regularizers."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit

from bunraku.mechanics.centroidal.arrays import LocalSystem
from bunraku.optimization.blocks.residual_kernels import fold, put, scatter


@njit(cache=True, forceinline=True)
def clear(blocks):
    """Blocks and gradient are zero."""
    blocks.H[:] = 0.0
    blocks.B[:] = 0.0
    blocks.C[:] = 0.0
    blocks.g[:] = 0.0
    blocks.gD[:] = 0.0


@njit(cache=True, forceinline=True)
def local_room(nv):
    """Room for one sample after the other: matrix (3 nv, 3 nv), gradient and columns of D, places and values of derivatives."""
    L, g, LD = np.zeros((3 * nv, 3 * nv)), np.zeros(3 * nv), np.zeros((3, 3 * nv))
    return L, g, LD, np.empty(3 * nv + 8, dtype=np.int64), np.empty(3 * nv + 8)


@njit(cache=True, forceinline=True)
def local_system(room, jac, w, scale, s, held, r):
    """The system of a sample, empty."""
    L, g, LD, idx, co = room
    if jac:
        L[:] = 0.0
        g[:] = 0.0
        LD[:] = 0.0
    return LocalSystem(jac, w, scale, s, held, r, L, g, idx, co)


@njit(cache=True, forceinline=True)
def assemble(i, T, room, M, N, blocks):
    """Put the system of sample i into the blocks; what it says of samples beyond the ends is brought home with M and N."""
    L, g, LD, _, _ = room
    nv = blocks.g.shape[1]
    if i == 0 or i == T - 1:
        for a in range(3 * nv):
            for b in range(a):
                L[b, a] = L[a, b]
        b = 0 if i == 0 else 1
        fold(L, g, 2 * b, M[b], N[b], LD, blocks.C, blocks.gD)
    scatter(i, T, nv, L, g, LD, blocks.H, blocks.B, blocks.g)


@njit(cache=True, forceinline=True)
def smoothness(i, before, after, nq, weights, v, local):
    """Second differences of q, sizes of the unknowns and their differences at sample i (`Regularizers`); returns their sum."""
    smooth, size, rate, rest = weights.smooth, weights.size, weights.rate, weights.rest
    L, g, idx, co = local.L, local.g, local.idx, local.co
    nv = v.shape[1]
    total = 0.0
    if before and after:
        for c in range(nq):
            value = v[i - 1, c] - 2.0 * v[i, c] + v[i + 1, c]
            total += smooth * value * value
            if local.jac:
                idx[0], co[0], idx[1], co[1], idx[2], co[2] = c, 1.0, nv + c, -2.0, 2 * nv + c, 1.0
                put(L, g, idx, co, 3, 2.0 * smooth, value)
    for c in range(nv):
        if size[c] != 0.0:
            value = v[i, c] - rest[c]
            total += size[c] * value * value
            if local.jac:
                g[nv + c] += 2.0 * size[c] * value
                L[nv + c, nv + c] += 2.0 * size[c]
        if after and rate[c] != 0.0:
            value = v[i + 1, c] - v[i, c]
            total += rate[c] * value * value
            if local.jac:
                idx[0], co[0], idx[1], co[1] = nv + c, -1.0, 2 * nv + c, 1.0
                put(L, g, idx, co, 2, 2.0 * rate[c], value)
    return total
