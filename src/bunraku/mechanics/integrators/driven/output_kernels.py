"""Errors of tracked places and their Jacobians, one frame or many."""

# mypy: allow-untyped-defs, allow-incomplete-defs, allow-untyped-calls, no-check-untyped-defs
from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.compiled import kernel
from bunraku.mechanics.dynamics.element_kernels import make_room
from bunraku.mechanics.dynamics.flexible.dispatch_kernels import pose
from bunraku.mechanics.dynamics.lagrangian_kernels import cross
from bunraku.mechanics.dynamics.lagrangian_layout import ANGULAR, COORDINATE, LINEAR, PARENT, POSITION, ROTATION


class TrackedPlaces(NamedTuple):
    """Slot (m,), position and rotation in it (m, 12), and whether the rows are of orientation (m,)."""

    slots: NDArray[np.int64]
    local: Array
    turning: NDArray[np.bool_]


class Tracking(NamedTuple):
    """``places`` against targets at every ``stride``-th node: (frames, m, 3), (frames, m, 3, 3); ``weight`` (frames, rows)."""

    places: TrackedPlaces
    positions: Array
    rotations: Array
    weight: Array
    stride: int


@kernel
def stand(slot, local, W, R, p):
    """World rotation ``R`` (3, 3) and position ``p`` (3,) of a place with ``local`` (12,) position and rotation in a slot."""
    for i in range(3):
        p[i] = local[i]
        for j in range(3):
            R[i, j] = local[3 + 3 * i + j]
    if slot >= 0:
        for i in range(3):
            a, b, c = W[slot, ROTATION + 3 * i], W[slot, ROTATION + 3 * i + 1], W[slot, ROTATION + 3 * i + 2]
            p[i] = W[slot, POSITION + i] + a * local[0] + b * local[1] + c * local[2]
            for j in range(3):
                R[i, j] = a * local[3 + j] + b * local[6 + j] + c * local[9 + j]


@kernel
def observe(model, places, Q):
    """Positions (F, m, 3) and rotations (F, m, 3, 3) of the places in every configuration of ``Q`` (F, nq)."""
    slots, local, F = places.slots, places.local, Q.shape[0]
    m, W = slots.shape[0], make_room(model, Q).W
    p, R = np.empty((F, m, 3)), np.empty((F, m, 3, 3))
    for f in range(F):
        pose(model, Q[f], W)
        for k in range(m):
            stand(slots[k], local[k], W, R[f, k], p[f, k])
    return p, R


@kernel
def errors(model, places, q, target_p, target_R, W, e, D, want):
    """Errors ``e`` (3 m,) and, if want, their Jacobian ``D`` (3 m, nq) at q; targets (m, 3), (m, 3, 3).

    Of a position p - t; of an orientation r_x.t_z, r_y.t_z, r_z.t_x: dr = w x r for a screw with angular part w.
    """
    pose(model, q, W)
    slots, local, turning = places.slots, places.local, places.turning
    R, p = np.empty((3, 3)), np.empty(3)
    for k in range(slots.shape[0]):
        stand(slots[k], local[k], W, R, p)
        for i in range(3):
            if turning[k]:
                a, b = (2, 0) if i == 2 else (i, 2)
                e[3 * k + i] = R[0, a] * target_R[k, 0, b] + R[1, a] * target_R[k, 1, b] + R[2, a] * target_R[k, 2, b]
            else:
                e[3 * k + i] = p[i] - target_p[k, i]
        if not want:
            continue
        for i in range(3):
            for j in range(D.shape[1]):
                D[3 * k + i, j] = 0.0
        s = slots[k]
        while s >= 0:
            c = model.node_i[s, COORDINATE]
            w0, w1, w2 = W[s, ANGULAR], W[s, ANGULAR + 1], W[s, ANGULAR + 2]
            if turning[k]:
                for i in range(3):
                    a, b = (2, 0) if i == 2 else (i, 2)
                    x0, x1, x2 = cross(R[0, a], R[1, a], R[2, a], target_R[k, 0, b], target_R[k, 1, b], target_R[k, 2, b])
                    D[3 * k + i, c] += w0 * x0 + w1 * x1 + w2 * x2
            else:
                x0, x1, x2 = cross(w0, w1, w2, p[0], p[1], p[2])
                D[3 * k, c] += x0 + W[s, LINEAR]
                D[3 * k + 1, c] += x1 + W[s, LINEAR + 1]
                D[3 * k + 2, c] += x2 + W[s, LINEAR + 2]
            s = model.node_i[s, PARENT]


@kernel
def all_errors(model, places, Q, target_p, target_R):
    """Errors (F, 3 m) of every configuration of ``Q`` (F, nq)."""
    F, W, none = Q.shape[0], make_room(model, Q).W, np.empty((0, 0))
    e = np.empty((F, 3 * places.slots.shape[0]))
    for f in range(F):
        errors(model, places, Q[f], target_p[f], target_R[f], W, e[f], none, False)
    return e
