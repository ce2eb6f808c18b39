"""Worst moments: for every kind of limit when a performance comes nearest to it, or exceeds it most, so that one can look there.

Range, velocity, acceleration, jerk and the torque-speed line are computed from the channels; planned slip from the motion over the
ground. What the certificate already says with its time (tension, balance, self-collision, ...) is taken from its words.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.measures.limits import LIMIT_TOLERANCE
from bunraku.motion import Check, JointCurves, MotionLimits, Performance
from bunraku.verification.fits import goes_over_ground
from bunraku.verification.ground.plan import ground_plan
from bunraku.verification.ground.slide import planned_slides

MOST_MARKS = 200
_AT = re.compile(r"\bat (\d+(?:\.\d+)?) s\b")


@dataclass(frozen=True)
class WorstMoment:
    """The worst moment of one kind of limit: ``what`` (a joint, string, pair of bodies) at ``time`` [s] has ``value`` [``unit``].

    It must not exceed ``threshold`` (with ``at_least``: not fall below it); None: information.
    """

    name: str
    what: str
    time: float
    value: float
    unit: str
    threshold: float | None
    at_least: bool = False

    @property
    def state(self) -> str:
        """As of a check: "holds" or "broken"; nothing where there is no threshold."""
        return "" if self.threshold is None else "holds" if self.holds else "broken"

    @property
    def holds(self) -> bool:
        """Whether the limit is kept there, to `LIMIT_TOLERANCE`; true where there is none."""
        if self.threshold is None:
            return True
        slack = LIMIT_TOLERANCE
        return self.value >= self.threshold - slack if self.at_least else self.value <= self.threshold + slack


def moment_of(check: Check) -> float | None:
    """The time [s] at which a check is worst, if its note says it ("LKnee at 1.230 s")."""
    times = _AT.findall(check.note)
    return float(times[-1]) if times else None


def worst_moments(performance: Performance) -> tuple[WorstMoment, ...]:
    """One moment for each kind of limit that the performance has."""
    moments = [*_motor_moments(performance), *_torque_moments(performance), *_slip_moments(performance)]
    known = {moment.name.removesuffix(" margin") for moment in moments}
    for check in performance.certificate.checks:
        time = moment_of(check)
        kind = check.name.removesuffix(" of slides").removesuffix(" excess")
        if time is None or kind in known or time > performance.duration + 1e-3:
            continue
        what = _AT.split(check.note)[0].strip() or check.name
        moments.append(WorstMoment(check.name, what, time, check.value, check.unit, check.threshold, check.at_least))
    return tuple(moments)


def violated_times(performance: Performance) -> tuple[tuple[float, str], ...]:
    """(time [s], words) of the middle of every stretch in which a motor's range, velocity, acceleration or jerk is exceeded.

    At most 200; joined with the broken promises of the certificate that say when.
    """
    marks: list[tuple[float, str]] = []
    curves = _planned(performance)
    if curves is not None:
        limits = MotionLimits.of(performance.character)
        excess = limits.excess(limits.completed(curves.names, curves.values), curves.rate)
        for order, kind in enumerate(("range", "velocity", "acceleration", "jerk")):
            over = getattr(excess, kind) > LIMIT_TOLERANCE
            for j in np.flatnonzero(over.any(axis=0)):
                for a, b in _stretches(over[:, j]):
                    marks.append(((0.5 * (a + b - 1) + 0.5 * order) / curves.rate, f"{kind} of {limits.names[j]}"))
    for check in performance.certificate.checks:
        time = moment_of(check)
        if check.stands_against and time is not None and time <= performance.duration and not check.name.endswith("excess"):
            marks.append((time, check.name))
    return tuple(sorted(marks)[:MOST_MARKS])


def _planned(performance: Performance) -> JointCurves | None:
    """The planned places of the position channels that belong to motors, if there are any."""
    driven = performance.character.driven
    chosen = [channel.name for channel in performance.channels if channel.kind == "position" and channel.name in driven]
    return performance.motion.chosen(chosen) if chosen else None


def _motor_moments(performance: Performance) -> list[WorstMoment]:
    """Where range, velocity, acceleration and jerk are nearest to their limits, or beyond them by the largest share."""
    curves = _planned(performance)
    if curves is None or len(curves.values) < 4:
        return []
    limits = MotionLimits.of(performance.character)
    values = limits.completed(curves.names, curves.values)
    lower, upper = limits.bounds(values)
    moments = []
    beyond = np.maximum(values - upper, lower - values)
    width = limits.upper - limits.lower
    share = np.where(np.isfinite(beyond), beyond / np.where(np.isfinite(width) & (width > 0.0), width, 1.0), -np.inf)
    share[:, [name not in curves.names for name in limits.names]] = -np.inf
    if np.isfinite(share).any():
        k, j = _largest(share)
        what = limits.names[j]
        moments.append(
            WorstMoment("range margin", what, k / curves.rate, -float(beyond[k, j]), performance.unit_of(what), 0.0, at_least=True)
        )
    for order, kind in ((1, "velocity"), (2, "acceleration"), (3, "jerk")):
        limit = getattr(limits, kind)
        if not np.isfinite(limit).any():
            continue
        rate = np.abs(np.diff(values, n=order, axis=0)) * curves.rate**order
        k, j = _largest(np.where(np.isfinite(limit), rate / limit, -np.inf))
        unit = f"{performance.unit_of(limits.names[j])}/s{'' if order == 1 else f'^{order}'}"
        moments.append(
            WorstMoment(kind, limits.names[j], (k + 0.5 * order) / curves.rate, float(rate[k, j]), unit, float(limit[j]))
        )
    return moments


def _torque_moments(performance: Performance) -> list[WorstMoment]:
    """Where a planned torque uses most of its motor's torque-speed line, a share that is 1 on the line.

    It is |tau| / tau_0 + max(0, sign(tau) v) / v_0 with tau_0 the torque at rest and v_0 the no-load speed: a motor that brakes has
    all of tau_0.
    """
    torques = {channel.name: channel for channel in performance.channels if channel.kind == "torque"}
    best: WorstMoment | None = None
    for motor in performance.character.motors:
        channel = torques.get(motor.coordinate) or torques.get(motor.name)
        if channel is None or motor.stall_torque is None or motor.coordinate not in performance.motion.names:
            continue
        tau, angle = channel.values, performance.motion.column(motor.coordinate)
        speed = np.gradient(angle, 1.0 / channel.rate) if len(angle) > 1 else np.zeros(len(angle))
        driving = 0.0 if motor.no_load_speed is None else np.maximum(0.0, np.sign(tau) * speed) / motor.no_load_speed
        share = np.abs(tau) / (motor.torque_fraction * motor.stall_torque) + driving
        k = int(share.argmax())
        if best is None or share[k] > best.value:
            best = WorstMoment("peak torque", motor.name, k / channel.rate, float(share[k]), "of the torque-speed line", 1.0)
    return [] if best is None else [best]


def _slip_moments(performance: Performance) -> list[WorstMoment]:
    """The stance in which an end effector is planned to slide farthest, at its middle; information."""
    if performance.dynamic or performance.character.skin is not None or not goes_over_ground(performance):
        return []
    try:
        plan = ground_plan(performance)
    except BadInput:
        return []
    slides = planned_slides(plan)
    on = plan.standing[1:] & plan.standing[:-1]
    best: WorstMoment | None = None
    for j, tip in enumerate(performance.character.end_effectors):
        for a, b in _stretches(on[:, j]):
            way = float(slides[a:b, j].sum())
            if best is None or way > best.value:
                best = WorstMoment("planned slip", tip.name, 0.5 * (a + b) / plan.rate, way, "m in a stance", None)
    return [] if best is None else [best]


def _stretches(flags: NDArray[np.bool_]) -> list[tuple[int, int]]:
    """Where flags (n,) are true without a break: from, to (not included)."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return list(zip(edges[::2].tolist(), edges[1::2].tolist(), strict=True))


def _largest(values: Array) -> tuple[int, int]:
    k, j = np.unravel_index(int(np.argmax(values)), values.shape)
    return int(k), int(j)
