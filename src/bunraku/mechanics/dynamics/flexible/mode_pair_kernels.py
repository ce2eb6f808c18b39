"""What two modes of one flexible segment add to the second derivatives of a feature beyond it.

For a point x and a direction z, z.d2x/du_a du_b = om_a.(dx/du_b x z) + H_ab(x x z; z): the first term is the one of rigid joints.
"""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.flexible.layout import (
    BASE,
    COORDINATE_0,
    COUNT,
    FIRST_SLOT,
    INTERFACE_ROW,
    MODE,
    OM,
    ROW,
    SEGMENT,
)
from bunraku.mechanics.dynamics.flexible.recursion_kernels import local_wrench
from bunraku.mechanics.dynamics.flexible.segment_kernels import wrench_arms
from bunraku.mechanics.dynamics.lagrangian_kernels import cross
from bunraku.mechanics.dynamics.lagrangian_layout import ANGULAR, KIND, LINEAR, PARENT, PLAIN


@kernel
def wrench_pairs(model, i, n0, n1, n2, f0, f1, f2, W, H):
    """``H`` (r, r) = dT_a/du_b . h of interface ``i`` for the wrench h = (n; f) about the world origin."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    g, row = interface_i[i, SEGMENT], interface_i[i, INTERFACE_ROW]
    r, base = segment_i[g, COUNT], segment_i[g, ROW]
    s, t = np.empty((3, r), W.dtype), np.empty((3, r), W.dtype)
    n0, n1, n2, f0, f1, f2 = local_wrench(W, base, n0, n1, n2, f0, f1, f2)
    wrench_arms(W, row, r, n0, n1, n2, f0, f1, f2, s, t)
    for a in range(r):
        for b in range(r):
            total = s[0, a] * W[row + 1 + b, OM] + W[row + 1 + a, OM] * t[0, b]
            for k in range(1, 3):
                total += s[k, a] * W[row + 1 + b, OM + k] + W[row + 1 + a, OM + k] * t[k, b]
            H[a, b] = total


@kernel
def bend_modes(model, f, x, z, scale, W, H):
    """Adds scale H_ab(x x z; z) of all segments before the feature ``f`` with value x to ``H`` (nq, nq)."""
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    point = 1.0 if model.feature_i[f, 1] == 1 else 0.0
    (x0, x1, x2), (z0, z1, z2) = x, z
    n0, n1, n2 = cross(x0, x1, x2, z0, z1, z2)
    node = model.feature_i[f, 0]
    while node >= 0:
        if model.node_i[node, KIND] != MODE:
            node = model.node_i[node, PARENT]
            continue
        i = model.node_i[node, PLAIN]
        g = interface_i[i, SEGMENT]
        r, c = segment_i[g, COUNT], segment_i[g, COORDINATE_0]
        P = np.empty((r, r), W.dtype)
        wrench_pairs(model, i, n0, n1, n2, point * z0, point * z1, point * z2, W, P)
        for b in range(r):
            for a in range(b + 1):
                H[c + a, c + b] += scale * P[a, b]
                if a != b:
                    H[c + b, c + a] += scale * P[a, b]
        node = segment_i[g, BASE]


@kernel
def wrench_modes(model, f, spatial, x, torque, force, W, Fq):
    """Corrects dF_a/du_b of a wrench (torque n; force f) at x on ``f``, for pairs of modes, from the rigid rule to the true one.

    ``spatial``: about the world origin, dF_a/du_b = H_ab(n; f) instead of [S_b, S_a].(n; f) for b < a. Otherwise H(x x f; f) of the
    ordered pair and H_ab(n; 0) are added, and the rigid w_b x w_a . n, b < a, is taken away.
    """
    segment_i, interface_i = model.segments.segment_i, model.segments.interface_i
    (x0, x1, x2), (n0, n1, n2), (f0, f1, f2) = x, torque, force
    m0, m1, m2 = cross(x0, x1, x2, f0, f1, f2)
    node = model.feature_i[f, 0]
    while node >= 0:
        if model.node_i[node, KIND] != MODE:
            node = model.node_i[node, PARENT]
            continue
        i = model.node_i[node, PLAIN]
        g, first = interface_i[i, SEGMENT], interface_i[i, FIRST_SLOT]
        r, c = segment_i[g, COUNT], segment_i[g, COORDINATE_0]
        P, M = np.zeros((r, r), W.dtype), np.empty((r, r), W.dtype)
        if spatial:
            wrench_pairs(model, i, n0, n1, n2, f0, f1, f2, W, M)
        else:
            wrench_pairs(model, i, n0, n1, n2, 0.0 * f0, 0.0 * f1, 0.0 * f2, W, M)
            wrench_pairs(model, i, m0, m1, m2, f0, f1, f2, W, P)
        for a in range(r):
            s = first + a
            w0, w1, w2 = W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2]
            for b in range(r):
                cell = M[a, b] + (P[b, a] if b <= a else P[a, b])
                if b < a:
                    t = first + b
                    y0, y1, y2 = W[t, ANGULAR], W[t, ANGULAR + 1], W[t, ANGULAR + 2]
                    e0, e1, e2 = cross(y0, y1, y2, w0, w1, w2)
                    cell -= e0 * n0 + e1 * n1 + e2 * n2
                    if spatial:
                        e0, e1, e2 = cross(y0, y1, y2, W[s, LINEAR], W[s, LINEAR + 1], W[s, LINEAR + 2])
                        d0, d1, d2 = cross(W[t, LINEAR], W[t, LINEAR + 1], W[t, LINEAR + 2], w0, w1, w2)
                        cell -= (e0 + d0) * f0 + (e1 + d1) * f1 + (e2 + d2) * f2
                Fq[c + a, c + b] += cell
        node = segment_i[g, BASE]
