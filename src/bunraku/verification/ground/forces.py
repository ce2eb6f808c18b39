"""Whether the ground can give the forces that a motion takes: its dynamics computed again from the motion alone.

At a sample the character takes the force m (a - g) and about its centre of mass the moment dL/dt, with L its angular momentum, from
centred differences of the motion. The ground gives forces at the points that stand, each inside its friction cone (as a pyramid of
eight sides inside it). The residual is what is left of both when the forces are the best ones (non-negative least squares),

    |(F - sum f, (M - sum p x f) / h)| / (m g),  h the height of the centre of mass above the points.

Nothing of the plan's own forces is used. Between the samples of a plan the motion is a spline, so that a small part is left always.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from scipy.optimize import nnls

from bunraku.arrays import Array
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.verification.ground.heights import ground_normal
from bunraku.verification.ground.plan import STANDS, GroundPlan, contact_points

SIDES = 8
"""Sides of the pyramid inside a friction cone."""

RIM = 6
"""Points on the rim of a sole."""

DEFAULT_FRICTION = 0.8
"""Friction of the ground where the plan does not say what it counts on."""


class ForceResidual(NamedTuple):
    """What the ground cannot give (n,), as a part of the weight, NaN where it was not found; the times (n,) [s] of the samples."""

    share: Array
    times: Array


def force_residual(plan: GroundPlan, stride: int = 2, near: float = STANDS) -> ForceResidual:
    """The residual at every ``stride``-th sample but the first and last ones; what is ``near`` [m] the ground stands on it."""
    tree, dt = plan.tree, 1.0 / plan.rate
    momentum, spin = _momenta(plan)
    mass = float(tree.mass.sum())
    force = np.gradient(momentum, dt, axis=0)
    force[:, 2] += mass * GRAVITY
    moment = np.gradient(spin, dt, axis=0)
    points = _support_points(plan)
    normal = ground_normal(plan.terrain, points[..., 0], points[..., 1])
    standing = np.repeat(plan.clearance <= near, points.shape[1] // max(plan.clearance.shape[1], 1), axis=1)
    mu = plan.friction or DEFAULT_FRICTION
    at = np.arange(2, len(plan.q) - 2, stride)
    share = np.empty(len(at))
    for i, k in enumerate(at.tolist()):
        on = np.flatnonzero(standing[k])
        height = max(float((plan.com[k, 2] - points[k, on, 2]).mean()) if len(on) else 1.0, 1e-3)
        aim = np.concatenate([force[k], moment[k] / height]) / (mass * GRAVITY)
        if not len(on):
            share[i] = float(np.linalg.norm(aim))
            continue
        rays = np.concatenate([_cone(normal[k, e], mu) for e in on.tolist()])
        arms = np.repeat(points[k, on] - plan.com[k], SIDES, axis=0)
        try:
            share[i] = float(nnls(np.concatenate([rays, np.cross(arms, rays) / height], axis=1).T, aim)[1])
        except RuntimeError:  # too many iterations: nobody knows
            share[i] = np.nan
    return ForceResidual(share, np.asarray(at * dt, dtype=np.float64))


def _support_points(plan: GroundPlan) -> Array:
    """The points (n, e or e RIM, 3) [m] where end effectors press: where they touch, or around soles."""
    middle = contact_points(plan.character, plan.terrain, plan.tip_center, plan.tip_axis)
    angle = 2.0 * np.pi * np.arange(RIM) / RIM
    radius = np.array([tip.radius if tip.kind == "sole" else 0.0 for tip in plan.character.end_effectors])
    ring = np.stack([np.cos(angle), np.sin(angle), np.zeros(RIM)], axis=1)
    points = middle[:, :, None] + radius[:, None, None] * ring
    points = points if radius.any() else middle[:, :, None]
    return np.asarray(points.reshape(len(middle), -1, 3))


def _momenta(plan: GroundPlan) -> tuple[Array, Array]:
    """Momentum (n, 3) [kg·m/s] and angular momentum (n, 3) [kg·m²/s] about the centre of mass."""
    tree, dt = plan.tree, 1.0 / plan.rate
    rotation, position = tree.poses(plan.q)
    centers = position + np.einsum("nijk,ik->nij", rotation, tree.center_of_mass)
    velocity = np.gradient(centers, dt, axis=0)
    turning = np.gradient(rotation, dt, axis=0) @ np.swapaxes(rotation, -1, -2)
    omega = np.stack([turning[..., 2, 1], turning[..., 0, 2], turning[..., 1, 0]], axis=-1)
    omega -= np.stack([turning[..., 1, 2], turning[..., 2, 0], turning[..., 0, 1]], axis=-1)
    inertia = rotation @ tree.inertia @ np.swapaxes(rotation, -1, -2)
    own = np.einsum("nijk,nik->nij", inertia, 0.5 * omega)
    carried = tree.mass[:, None] * np.cross(centers - plan.com[:, None], velocity)
    return np.einsum("i,nij->nj", tree.mass, velocity), (own + carried).sum(axis=1)


def _cone(normal: Array, friction: float) -> Array:
    """Edges (SIDES, 3) of a pyramid inside the friction cone about a unit ``normal``."""
    across = np.cross(normal, [0.0, 1.0, 0.0] if abs(normal[1]) < 0.9 else [1.0, 0.0, 0.0])
    across /= np.linalg.norm(across)
    angle = 2.0 * np.pi * np.arange(SIDES) / SIDES
    around = np.cos(angle)[:, None] * across + np.sin(angle)[:, None] * np.cross(normal, across)
    return np.asarray(normal + friction * around)
