"""What the frames of a motion show: torques against limits, pressure against polygons, soles that slip, clear, carry."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import ConvexHull

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.performers.skin.tracking import TrackedFrames, motor_limits

LOADED = 0.02
"""A sole that carries this share of the weight stands."""


@dataclass(frozen=True)
class SkinMeasures:
    """Worst figures over all frames of a motion. Lengths in m, forces relative to the weight.

    ``torque`` the largest [N·m], ``torque_use`` against the limit at its speed (1: on it); ``cop_violation`` how far the centre of
    pressure lies outside the polygon of the soles that should stand; ``complementarity`` of the
    contact's independent check; ``clearance`` the least, over swings, of the greatest height of a sole's lowest patch; ``slip``
    the most that a sole moves while it carries; ``support_error`` |mean of forces - weight - momentum gained| / weight.
    """

    torque: float
    torque_use: float
    cop_violation: float
    complementarity: float
    clearance: float
    slip: float
    support_error: float
    glue_drift: float
    shifted: int


def measure(model: SkinnedModel, tracked: TrackedFrames, h: float) -> SkinMeasures:
    """Measure a pass."""
    tau = tracked.torques
    use = 0.0
    for i, record in enumerate(tracked.records):
        low, high = motor_limits(model, (tracked.q[i] - tracked.q[i - 1]) / h if i else np.zeros(model.nq))
        limit = np.where(record.tau >= 0.0, high, -low)
        use = max(use, float(np.max(np.abs(record.tau) / np.maximum(limit, 1e-9))))
    return SkinMeasures(
        float(np.abs(tau).max()),
        use,
        pressure_outside(tracked),
        max(record.check.complementarity for record in tracked.records),
        clearance(tracked),
        slip(tracked, model.total_mass * GRAVITY),
        support_error(model, tracked, h),
        float(np.abs(tracked.state.x[model.glue] - model.glue_at(tracked.state.q)[0]).max()),
        sum(record.shift > 0.0 or record.shortened < 1.0 for record in tracked.records),
    )


def pressure(tracked: TrackedFrames) -> Array:
    """The centre of pressure (N, 2) of each frame, NaN in flight."""
    F = tracked.forces[:, :, 2]
    total = F.sum(axis=1)
    moment = np.einsum("np,npa->na", F, tracked.patches[:-1, :, :2])
    return np.where(total[:, None] > 1e-6, moment / np.maximum(total, 1e-6)[:, None], np.nan)


def pressure_outside(tracked: TrackedFrames) -> float:
    """How far [m] the centre of pressure ever lies outside the polygon of the soles that should stand."""
    worst = 0.0
    for point, stands, places in zip(pressure(tracked), tracked.stands, tracked.patches[:-1, :, :2], strict=True):
        if np.isfinite(point).all() and stands.any():
            hull = ConvexHull(places[np.repeat(stands, PATCHES)])
            worst = max(worst, float((hull.equations[:, :2] @ point + hull.equations[:, 2]).max()))
    return worst


def clearance(tracked: TrackedFrames) -> float:
    """The least over swings of the greatest height [m] that the lowest patch of the swinging sole reaches; NaN without swings."""
    lowest = tracked.patches[1:, :, 2].reshape(len(tracked.records), -1, PATCHES).min(axis=2)
    highest = [float(lowest[span, j].max()) for j in range(lowest.shape[1]) for span in _spans(~tracked.stands[:, j])]
    return min(highest, default=float("nan"))


def slip(tracked: TrackedFrames, weight: float) -> float:
    """The longest way [m] that a sole goes over the ground while it carries, from first to last frame of each stance."""
    n = len(tracked.records)
    F = tracked.forces[:, :, 2].reshape(n, -1, PATCHES).sum(axis=2)
    places = tracked.patches[1:, :, :2].reshape(n, -1, PATCHES, 2).mean(axis=2)
    worst = 0.0
    for j in range(F.shape[1]):
        for span in _spans(F[:, j] > LOADED * weight):
            way = places[span, j] - places[span[0], j]
            worst = max(worst, float(np.linalg.norm(way, axis=1).max()))
    return worst


def support_error(model: SkinnedModel, tracked: TrackedFrames, h: float) -> float:
    """|mean support - weight - momentum gained per time| / weight over the motion: what a force lost on the way would show."""
    weight = model.total_mass * GRAVITY
    v = np.diff(tracked.com[:, 2]) / h
    gained = model.total_mass * (v[-1] - v[0]) / (h * (len(v) - 1))
    return float(abs(tracked.forces[1:, :, 2].sum(axis=1).mean() - weight - gained) / weight)


def _spans(flags: NDArray[np.bool_]) -> list[NDArray[np.int64]]:
    """Runs of frames in which a flag is set."""
    where = np.flatnonzero(flags)
    return [run for run in np.split(where, np.flatnonzero(np.diff(where) > 1) + 1) if len(run)]


def steady_speed(com: NDArray[np.float64], stands: NDArray[np.bool_], h: float) -> float:
    """Mean speed [m/s] over the ground in the middle half of the time between the first lift-off and the last touch-down.

    ``com`` (N + 1, 3) at frames of ``h`` [s], ``stands`` (N, s).
    """
    air = np.flatnonzero(~stands.all(axis=1))
    if len(air) < 4:
        return 0.0
    first, last = int(air[0]), int(air[-1]) + 1
    quarter = (last - first) // 4
    a, b = first + quarter, last - quarter
    return float(np.hypot(*(com[b] - com[a])[:2]) / (h * (b - a)))
