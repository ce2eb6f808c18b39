"""What a pull on a place adds to the curvature of an energy in the coordinates: the pull times the place's second derivatives.

With a coordinate a at or above b in the tree, turning about A_a, the second derivative of any place that b moves is
d2 P / da db = A_a x dP/db; of slides it is zero.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from numba import njit

from bunraku.mechanics.tree.tree_kernels import HINGE


@njit(cache=True)
def bend(n, model, pull, K, nv, L):
    """Curvature that the pulls (3, n_e + 1, 3) at end effectors and centre of mass of samples n - 1, n, n + 1 add."""
    chain = model.tips.chain
    for b in range(3):
        i = n + b - 1
        for j in range(chain.shape[0]):
            if pull[b, j, 0] != 0.0 or pull[b, j, 1] != 0.0 or pull[b, j, 2] != 0.0:
                bend_tip(pull[b, j], model.tree.kind, model.nodes, chain[j], K.A[i], K.Je[i, j], b * nv, L)
        last = pull[b, chain.shape[0]]
        if last[0] != 0.0 or last[1] != 0.0 or last[2] != 0.0:
            bend_com(last, model, K.A[i], K.Jx[i], b * nv, L)


@njit(cache=True)
def bend_tip(pull, kind, nodes, chain, A, Je, o, L):
    """Add ``pull``.d2e to L (lower) from row and column ``o`` on: e fixed in its body, Je (3, k) over its ``chain`` (k,)."""
    for k in range(chain.shape[0]):
        b = chain[k]
        if b < 0:
            break
        # pull.(A x J) = A.(J x pull)
        v0 = Je[1, k] * pull[2] - Je[2, k] * pull[1]
        v1 = Je[2, k] * pull[0] - Je[0, k] * pull[2]
        v2 = Je[0, k] * pull[1] - Je[1, k] * pull[0]
        for q in range(k + 1):
            node = nodes[chain[q]]
            if kind[node] == HINGE:
                L[o + b, o + chain[q]] += A[node, 0] * v0 + A[node, 1] * v1 + A[node, 2] * v2


@njit(cache=True)
def bend_com(pull, model, A, Jx, o, L):
    """The same for the centre of mass, Jx (3, nq)."""
    kind, nodes, moves = model.tree.kind, model.nodes, model.moves
    for b in range(nodes.shape[0]):
        v0 = Jx[1, b] * pull[2] - Jx[2, b] * pull[1]
        v1 = Jx[2, b] * pull[0] - Jx[0, b] * pull[2]
        v2 = Jx[0, b] * pull[1] - Jx[1, b] * pull[0]
        for a in range(b + 1):
            node = nodes[a]
            if kind[node] == HINGE and moves[a, nodes[b]] != 0:
                L[o + b, o + a] += A[node, 0] * v0 + A[node, 1] * v1 + A[node, 2] * v2
