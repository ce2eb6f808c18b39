"""Slip that is already in a plan: how far end effectors on the ground move more than they roll, from the motion alone."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.ground.heights import ground_normal
from bunraku.verification.ground.plan import GroundPlan, contact_points


def planned_slides(plan: GroundPlan) -> Array:
    """Way (n - 1, e) [m] that each end effector slides from sample to sample, 0 unless it is on the ground at both.

    With e the lowest point, de its move and means of both samples for axle a, normal n and t = a x n / |a x n|: a wheel that spins
    slides by de along n x t; a welded disc also by de . t - r (phi . a - a_z dyaw), phi the turn of its body and dyaw that of its
    heading; a ball by de - r phi x n along the ground; a sole by the move of its middle.
    """
    e = contact_points(plan.character, plan.terrain, plan.tip_center, plan.tip_axis)
    de = np.diff(e, axis=0)
    normal = ground_normal(plan.terrain, plan.tip_center[..., 0], plan.tip_center[..., 1])
    n = _unit(normal[1:] + normal[:-1])
    a = _unit(plan.tip_axis[1:] + plan.tip_axis[:-1])
    phi = _turns(plan.tip_rotation)
    on = plan.standing[1:] & plan.standing[:-1]
    out = np.zeros(de.shape[:2])
    for j, tip in enumerate(plan.character.end_effectors):
        if tip.kind in ("ball", "sole"):
            rolled = tip.radius * np.cross(phi[:, j], n[:, j])
            slide = np.diff(plan.tip_center[:, j], axis=0) if tip.kind == "sole" else de[:, j] - rolled
            slide = slide - np.sum(slide * n[:, j], axis=1, keepdims=True) * n[:, j]
            out[:, j] = np.linalg.norm(slide, axis=1)
            continue
        t = _unit(np.cross(a[:, j], n[:, j]))
        sideways = np.sum(de[:, j] * np.cross(n[:, j], t), axis=1)
        along = np.zeros(len(de))
        if tip.kind == "welded":
            yaw = np.unwrap(np.arctan2(-plan.tip_axis[:, j, 0], plan.tip_axis[:, j, 1]))
            spun = np.sum(phi[:, j] * a[:, j], axis=1) - a[:, j, 2] * np.diff(yaw)
            along = np.sum(de[:, j] * t, axis=1) - tip.radius * spun
        out[:, j] = np.hypot(sideways, along)
    return out * on


def _turns(rotation: Array) -> Array:
    """Small turns (n - 1, e, 3) between successive rotations (n, e, 3, 3): phi = vee(R+ R' - R R+') / 2."""
    D = rotation[1:] @ np.swapaxes(rotation[:-1], -1, -2)
    return 0.5 * np.stack([D[..., 2, 1] - D[..., 1, 2], D[..., 0, 2] - D[..., 2, 0], D[..., 1, 0] - D[..., 0, 1]], axis=-1)


def _unit(vector: Array) -> Array:
    return np.asarray(vector / np.maximum(np.linalg.norm(vector, axis=-1, keepdims=True), 1e-12))
