"""Inverse dynamics: d/dt L_v - L_q along a motion by one complex step, without a mass matrix."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np

from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import make_room
from bunraku.mechanics.dynamics.equation_kernels import TINY, gradient, stepped


@kernel
def inverse(model, q, v, a):
    """d/dt L_v - L_q (nq,) along the motion: what forces and constraints together must supply."""
    n = q.shape[0]
    x, y = stepped(q, v), stepped(v, a)
    Lv, Lq, out = np.empty(n, np.complex128), np.empty(n, np.complex128), np.empty(n)
    gradient(model, x, y, make_room(model, x), Lv, Lq)
    for i in range(n):
        out[i] = Lv[i].imag / TINY - Lq[i].real
    return out
