"""Shifts over the ground: samples carried by one, shifts one after the other."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.performers.locomotion.plan import MotionPlan


def carried(samples: ArrayLike, nq: int, shift: ArrayLike) -> Array:
    """Samples (..., nv) moved by the shift D = (dx, dy, dyaw).

    (tx, ty) becomes Rz(dyaw) (tx, ty) + (dx, dy), the yaw grows by dyaw, the forces behind the ``nq`` coordinates turn by Rz(dyaw).
    """
    v, D = np.array(samples, dtype=np.float64), np.asarray(shift, dtype=np.float64)
    c, s = np.cos(D[2]), np.sin(D[2])
    for k in (0, *range(nq, v.shape[-1], 3)):
        x, y = v[..., k].copy(), v[..., k + 1].copy()
        v[..., k], v[..., k + 1] = c * x - s * y, s * x + c * y
    v[..., 0] += D[0]
    v[..., 1] += D[1]
    v[..., 3] += D[2]
    return v


def after(first: ArrayLike, second: ArrayLike) -> Array:
    """The shift (3,) of doing ``second``, then ``first``: what is carried by the one and then by the other is carried by it."""
    F, S = np.asarray(first, dtype=np.float64), np.asarray(second, dtype=np.float64)
    c, s = np.cos(F[2]), np.sin(F[2])
    return np.array([c * S[0] - s * S[1] + F[0], s * S[0] + c * S[1] + F[1], F[2] + S[2]])


def between_poses(source: ArrayLike, target: ArrayLike) -> Array:
    """The shift (3,) that carries the base of pose ``source`` (nq,) to the place and heading of the base of ``target``."""
    a, b = np.asarray(source, dtype=np.float64), np.asarray(target, dtype=np.float64)
    yaw = b[3] - a[3]
    c, s = np.cos(yaw), np.sin(yaw)
    return np.array([b[0] - c * a[0] + s * a[1], b[1] - s * a[0] - c * a[1], yaw])


def cycle_shift(plan: MotionPlan) -> Array:
    """The shift (3,) of one whole cycle."""
    return between_poses(plan.sample(0), plan.sample(plan.cycle))
