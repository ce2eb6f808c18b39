"""Intrinsic Delaunay flips: faces are known by the lengths of their sides; side 3 f + i runs from corner i of face f on."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

import numpy as np
from numba import njit


@njit(cache=True)
def _half(opposite, left, right):  # pragma: no cover
    """tan(C / 2) of the angle C opposite one side of a triangle by the lengths of its sides; huge when it is flat there."""
    above = max((opposite - left + right) * (opposite + left - right), 0.0)
    below = (opposite + left + right) * (left + right - opposite)
    if below <= 1e-30 * (above + 1e-300):
        return 1e15
    return np.sqrt(above / below)


@njit(cache=True)
def flipped(start, twin, length, tolerance, most):  # pragma: no cover
    """Flip sides, in place, until opposite angles add up to no more than π + ``tolerance``; how many flips, at most ``most``."""
    n = start.shape[0]
    waiting = np.ones(n, dtype=np.int64)
    stack = np.empty(n, dtype=np.int64)
    for h in range(n):
        stack[h] = h
    top, count = n, 0
    old_twin = np.empty(4, dtype=np.int64)
    slots = np.empty(4, dtype=np.int64)
    new = np.empty(4, dtype=np.int64)
    sizes = np.empty(4)
    while top > 0 and count < most:
        top -= 1
        h = stack[top]
        waiting[h] = 0
        t = twin[h]
        f, g = h // 3, t // 3
        if f == g:
            continue
        h1, h2 = 3 * f + (h + 1) % 3, 3 * f + (h + 2) % 3
        t1, t2 = 3 * g + (t + 1) % 3, 3 * g + (t + 2) % 3
        ab, bc, ca, ad, db = length[h], length[h1], length[h2], length[t1], length[t2]
        if 2.0 * (np.arctan(_half(ab, bc, ca)) + np.arctan(_half(ab, ad, db))) <= np.pi + tolerance:
            continue
        turn = 2.0 * (np.arctan(_half(bc, ab, ca)) + np.arctan(_half(db, ab, ad)))
        # |c - d|² with the cosine written so that nothing cancels when the three points lie almost on a line.
        cd = np.sqrt(max((ca - ad) * (ca - ad) + 4.0 * ca * ad * np.sin(0.5 * turn) ** 2, 0.0))
        if not cd > 0.0:
            continue
        a, b, c, d = start[h], start[t], start[h2], start[t2]
        slots[0], slots[1], slots[2], slots[3] = t1, h2, t2, h1
        new[0], new[1], new[2], new[3] = 3 * f, 3 * f + 2, 3 * g, 3 * g + 1
        for k in range(4):
            sizes[k] = length[slots[k]]
            old_twin[k] = twin[slots[k]]
            for m in range(4):
                if old_twin[k] == slots[m]:
                    old_twin[k] = -1 - new[m]
        start[3 * f], start[3 * f + 1], start[3 * f + 2] = a, d, c
        start[3 * g], start[3 * g + 1], start[3 * g + 2] = d, b, c
        for k in range(4):
            length[new[k]] = sizes[k]
            if old_twin[k] < 0:
                twin[new[k]] = -1 - old_twin[k]
            else:
                twin[new[k]] = old_twin[k]
                twin[old_twin[k]] = new[k]
        length[3 * f + 1], length[3 * g + 2] = cd, cd
        twin[3 * f + 1], twin[3 * g + 2] = 3 * g + 2, 3 * f + 1
        count += 1
        for k in range(4):
            if waiting[new[k]] == 0 and top < n:
                waiting[new[k]] = 1
                stack[top] = new[k]
                top += 1
    return count


@njit(cache=True)
def cotangents(length):  # pragma: no cover
    """For every side half the cotangent weight: cot C = (1 - x²) / (2 x) with x = tan(C / 2) of the angle opposite."""
    n = length.shape[0]
    values = np.empty(n)
    for h in range(n):
        f = h // 3
        x = _half(length[h], length[3 * f + (h + 1) % 3], length[3 * f + (h + 2) % 3])
        values[h] = (1.0 - x * x) / (2.0 * x) if x > 1e-15 else 1e15
    return values
