"""How a replay on the ground differs from its plan: velocity, distance, heading, slip, torques, tracking."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.ground.heights import ground_height, ground_normal
from bunraku.verification.ground.model import TIMESTEP
from bunraku.verification.ground.plan import GroundPlan, contact_points
from bunraku.verification.ground.record import GroundRecord
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.heat import winding_heat

WINDOW = 0.1
"""Velocities are means over windows of this length [s]; where feet leave the ground, over a twelfth of the cycle."""

ON_GROUND = 0.001
"""An end effector is on the ground when its lowest point is at most this [m] above it; what slides hops a little."""


@dataclass(frozen=True)
class GroundMeasures:
    """Differences between replay and plan.

    ``velocity_error``: RMS over time of the horizontal velocity of the centre of mass, simulated minus planned, over the mean
    planned speed. A character that mostly turns on the spot (reach times mean yaw rate above mean speed; reach: RMS distance of the
    end effectors from the centre of mass) is judged by sqrt(|dv|^2 + (reach d(yaw rate))^2) over reach times mean yaw rate.
    ``distance`` and ``planned_distance`` [m]: horizontal displacement of the centre of mass; ``distance_error``: how far the end
    points are apart, over the planned travel: the length of the planned path, or reach times turn if that is more. ``yaw_error``
    [rad] at the end. ``slip`` [m]: the longest way an end effector slid on the ground, sideways only for wheels that spin.
    ``tracking_rms`` [rad] of the joints' angles. Arrays (k,): ``heat`` of the windings (`servos.heat`; NaN where it is not known),
    ``peak_utilisation`` of the motor's line (cut at 1), ``planned_utilisation``, ``saturation``: share of the time on the line.
    """

    velocity_error: float
    distance: float
    planned_distance: float
    distance_error: float
    yaw_error: float
    slip: float
    tracking_rms: float
    heat: Array
    peak_utilisation: Array
    planned_utilisation: Array
    saturation: Array

    @property
    def figures(self) -> dict[str, float]:
        """The numbers one by one, the worst of each array; angles in degrees."""
        return {
            "velocity_error": self.velocity_error,
            "distance_m": self.distance,
            "planned_distance_m": self.planned_distance,
            "distance_error": self.distance_error,
            "yaw_error_deg": float(np.degrees(self.yaw_error)),
            "slip_m": self.slip,
            "tracking_rms_rad": self.tracking_rms,
            "winding_heat": float(np.nan_to_num(self.heat).max(initial=0.0)),
            "torque_utilisation": float(self.peak_utilisation.max(initial=0.0)),
            "planned_utilisation": float(self.planned_utilisation.max(initial=0.0)),
            "saturation_share": float(self.saturation.max(initial=0.0)),
        }


def window_of(plan: GroundPlan) -> float:
    """Length [s] of a plan's windows: a twelfth of the cycle where feet leave the ground, else ``WINDOW``; at least a sample."""
    length = min(plan.period / 12.0, WINDOW) if plan.swings else WINDOW
    return max(length, 1.0 / plan.rate)


def window_velocity(values: Array, rate: float, window: float) -> Array:
    """Mean velocities (m, ...) over windows of ``window`` [s] that slide by a sample: (x(t + w) - x(t)) / w."""
    w = max(1, min(round(window * rate), len(values) - 1))
    return np.asarray((values[w:] - values[:-w]) * (rate / w))


SLOW = 0.01
"""Errors of speed are relative to the mean speed [m/s], but to no less than this: a character that stands has none."""


def measure_ground(plan: GroundPlan, servos: ServoBank, record: GroundRecord) -> GroundMeasures:
    """Measure a record, over the part of the plan that it covers."""
    m = max(len(record.times), 2)
    com, yaw = plan.com[:m], plan.yaw[:m]
    done = np.unwrap(np.concatenate([yaw[:1], record.yaw]))[1:]
    window = window_of(plan)
    planned = window_velocity(np.column_stack([com[:, :2], plan.reach * yaw]), plan.rate, window)
    went = window_velocity(np.column_stack([record.com[:, :2], plan.reach * done]), plan.rate, window)
    speed, spin = float(np.linalg.norm(planned[:, :2], axis=1).mean()), float(np.abs(planned[:, 2]).mean())
    parts = 2 if speed >= spin else 3
    error = float(np.sqrt(np.mean(np.sum((went - planned)[:, :parts] ** 2, axis=1)))) / max(speed, spin, SLOW)
    path = float(np.linalg.norm(np.diff(com[:: max(1, round(window * plan.rate)), :2], axis=0), axis=1).sum())
    travel = max(path, plan.reach * float(np.abs(yaw[-1] - yaw[0])), float(np.linalg.norm(com[-1, :2] - com[0, :2])), 1e-9)
    apart = float(np.linalg.norm(record.com[-1, :2] - com[-1, :2]))
    off = (record.angle - plan.angle[:m])[:, ~servos.wheel]
    share = servos.utilisation(record.torque, record.torque_speed)
    return GroundMeasures(
        error,
        float(np.linalg.norm(record.com[-1, :2] - record.com[0, :2])),
        float(np.linalg.norm(com[-1, :2] - com[0, :2])),
        apart / travel,
        float(abs(done[-1] - yaw[-1])),
        float(slips(plan, record).max(initial=0.0)),
        float(np.sqrt(np.mean(off**2))) if off.size else 0.0,
        winding_heat(servos, record.torque, TIMESTEP, repeats=plan.repeats),
        np.minimum(share, 1.0).max(axis=0),
        servos.utilisation(plan.torque[:m], plan.speed[:m]).max(axis=0),
        np.mean(share >= 1.0 - 1e-6, axis=0),
    )


def slips(plan: GroundPlan, record: GroundRecord) -> Array:
    """Way (e,) [m] that each end effector slid over the ground while it was on it, at most ``ON_GROUND`` above.

    A ball or welded disc slides with the velocity of its lowest point, v + w x rho, along the ground; a wheel that spins only with
    the part of it along its axle: in its own direction it rolls; a sole with that of its middle, while the ground carries it.
    """
    normal = ground_normal(plan.terrain, record.center[..., 0], record.center[..., 1])
    touching = contact_points(plan.character, plan.terrain, record.center, record.axis)
    height = touching[..., 2] - ground_height(plan.terrain, touching[..., 0], touching[..., 1])
    out = np.zeros(record.center.shape[1])
    for j, tip in enumerate(plan.character.end_effectors):
        n, v, w = normal[:, j], record.linear[:, j], record.angular[:, j]
        sole = tip.kind == "sole"
        slide = v if sole else v + np.cross(w, touching[:, j] - record.center[:, j])
        slide = slide - np.sum(slide * n, axis=1, keepdims=True) * n
        if tip.spins:
            t = np.cross(record.axis[:, j], n)
            t /= np.maximum(np.linalg.norm(t, axis=1, keepdims=True), 1e-12)
            slide -= np.sum(slide * t, axis=1, keepdims=True) * t
        speed = np.linalg.norm(slide, axis=1) * (record.contact[:, j] if sole else height[:, j] <= ON_GROUND)
        out[j] = float(np.sum(0.5 * (speed[1:] + speed[:-1]))) / plan.rate
    return out
