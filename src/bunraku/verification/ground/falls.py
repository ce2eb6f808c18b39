"""Falls: when a replay on the ground counts as failed, and why."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.euler import turn_about
from bunraku.verification.ground.heights import ground_height
from bunraku.verification.ground.plan import GroundPlan
from bunraku.verification.ground.record import GroundRecord

STEEPEST = 0.7853981633974483
"""A base that leans more than this [rad] (45 degrees) away from how it was planned to lean has fallen."""

LOWEST = 0.5
"""So has a character whose centre of mass is lower above the ground than this share of what was planned."""


def tilts(plan: GroundPlan, record: GroundRecord) -> Array:
    """Angle (m,) [rad] between the base's planned and simulated up direction, the headings turned to agree."""
    m = len(record.times)
    turned = turn_about("z", record.yaw - plan.yaw[:m]) @ plan.rotation[:m, :, 2:]
    along = np.sum(turned[..., 0] * record.rotation[:, :, 2], axis=1)
    return np.asarray(np.arccos(np.clip(along, -1.0, 1.0)))


def fall(plan: GroundPlan, record: GroundRecord, toucher: str) -> str:
    """Why the character counts as fallen, or nothing: unstable, leaning, too low, or touching with the body ``toucher``."""
    m = len(record.times)
    if not np.isfinite(record.qpos).all() or (m > 2 and np.abs(record.qvel).max() > 1e4):
        return "the simulation became unstable"
    falls: list[tuple[float, str]] = []
    if np.isfinite(record.touched):
        falls.append((record.touched, f"{toucher}, which is no end effector, touches the ground at {record.touched:.2f} s"))
    lean = tilts(plan, record)
    if (lean > STEEPEST).any():
        at = int(np.argmax(lean > STEEPEST))
        leaning = f"the base leans {np.degrees(lean[at]):.0f} degrees from the plan"
        falls.append((record.times[at], f"{leaning} at {record.times[at]:.2f} s"))
    height = record.com[:, 2] - ground_height(plan.terrain, record.com[:, 0], record.com[:, 1])
    planned = plan.com[:m, 2] - ground_height(plan.terrain, plan.com[:m, 0], plan.com[:m, 1])
    low = height < LOWEST * planned
    if low.any():
        at = int(np.argmax(low))
        falls.append((record.times[at], f"the centre of mass sank to {height[at]:.3f} m at {record.times[at]:.2f} s"))
    return min(falls)[1] if falls else ""
