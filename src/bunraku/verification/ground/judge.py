"""What goes over the ground on wheels or feet: each promise computed again from what is sent, what is planned, what replays did."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.centroidal.clearance import clearance_check
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Monitor
from bunraku.verification.ground.clearance import least_clearance
from bunraku.verification.ground.model import GroundModel
from bunraku.verification.ground.plan import GroundPlan, ground_plan
from bunraku.verification.ground.recomputed import recomputed_promises
from bunraku.verification.ground.replay import plan_model
from bunraku.verification.ground.replays import GroundReplays, replay_all
from bunraku.verification.ground.slide import planned_slides
from bunraku.verification.limits import limit_figures, planned_limits, wheel_check
from bunraku.verification.replay_checks import completed, fallen, limbs_in_replay, saturation_checks
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.heat import heat_checks, some
from bunraku.verification.verifier import Findings, Judge, Picture, Replay
from bunraku.verification.worlds import World, fixed_worlds

VELOCITY_ERROR = 0.06
"""A replay follows when its velocity error (`ground.measures`) is at most this, with servos as stiff as usual in every world."""

DISTANCE_ERROR = 0.05
"""And ends at most this share of the planned travel away from where it should."""

PENETRATION = 0.001
"""No end effector is planned to go deeper into the ground than this [m]."""

PLANNED_SLIP = 0.02
"""No end effector is planned to slide farther than this share of the travel."""

LITTLE = 0.01
"""Slip is relative to the travel [m], but to no less than this."""

SAME_WAY = 0.001
"""Speeds of wheels add up to the planned way to this [m]."""

SAME_DISTANCE = 1e-4
"""Distance [m] and turn [rad] of the certificate are those of the motion, which may end between two samples, to this."""


class ContactJudge(Judge[GroundModel, GroundReplays]):
    """What judges of motion over the ground share: one foreign model, replayed in every one of the ``worlds``."""

    recomputed = "Limits, channels, slip, depth and torques of the plan were recomputed from channels and motion."
    replayed = (
        "What the motors are sent was replayed in MuJoCo with real contact, in worlds of other servo stiffness, floor friction and "
        "command rate; the worst counts."
    )

    @property
    @abstractmethod
    def plan(self) -> GroundPlan:
        """The performance as arrays."""

    @property
    @abstractmethod
    def worlds(self) -> Sequence[World]:
        """The fixed worlds, the usual one first."""

    def build(self) -> GroundModel:
        """The plan's character on its ground."""
        return plan_model(self.plan)

    def replay(self, foreign: GroundModel, monitor: Monitor) -> GroundReplays:
        """One replay for each world."""
        return replay_all(self.plan, self.worlds, model=foreign, monitor=monitor)

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Where it went, its footfalls and its motors; nothing without a replay."""
        from bunraku.verification.plots.film import draw_strip
        from bunraku.verification.plots.ground import draw_footfalls, draw_motors, draw_way

        if isinstance(replay, GroundReplays):
            usual = replay.usual
            yield Picture("strip", draw_strip(usual), "The replay in MuJoCo; lines on the ground are 5 cm apart")
            words = "Where it goes and how fast: plan (grey), usual replay (red), all others (pale)"
            yield Picture("way", draw_way(replay), words)
            words = "Feet and wheels on the ground: planned (grey bars), force in the replay (red)"
            yield Picture("footfalls", draw_footfalls(usual), words)
            words = "Torques of plan (grey) and replay (red) against the motors' line (dashed)"
            yield Picture("motors", draw_motors(usual), words)


class GroundJudge(ContactJudge):
    """Wheels and feet without a skin."""

    @cached_property
    def plan(self) -> GroundPlan:
        """On the performance's own terrain."""
        return ground_plan(self.performance)

    @property
    def worlds(self) -> Sequence[World]:
        """Those of the plan's friction, at the performance's own rate and half of it."""
        return fixed_worlds(ServoBank.of(self.plan.character), self.performance.rate, self.plan.friction)

    def recompute(self, monitor: Monitor) -> Findings:
        """Limits, plan and certificate."""
        limits = _limit_checks(self.performance)
        checks = [*limits, *_plan_checks(self.performance, self.plan), _agreement(self.performance, self.plan)]
        checks += recomputed_promises(self.performance, self.plan, checks)
        return checks, limit_figures(limits) | planned_figures(self.plan)

    def judge(self, replay: GroundReplays) -> Findings:
        """What the replays promise, the worst of all worlds, with the world in the note."""
        checks = [
            *outcome(replay),
            worst_of(replay, "velocity error", "velocity_error", "of mean speed", VELOCITY_ERROR),
            worst_of(replay, "distance error", "distance_error", "of travel", DISTANCE_ERROR),
            *asides(replay),
            *torque_checks(replay),
            limbs_in_replay(),
        ]
        return checks, replay.figures


def worst_of(replays: GroundReplays, name: str, figure: str, unit: str, threshold: float | None = None) -> Check:
    """A check of the replay in which a figure is largest, of those with servos as stiff as usual; its world in the note."""
    worst = replays.worst(figure, usual=True)
    return Check(name, worst.figures[figure], unit, threshold, note=worst.described)


def torque_checks(replays: GroundReplays, *, promised: bool = True) -> list[Check]:
    """How much of the motors' line is used, how long they are on it, and how warm they become."""
    servos, saturated, hot = (
        replays.usual.ground.servos,
        replays.worst("saturation_share"),
        replays.worst("winding_heat", usual=True),
    )
    return [
        *saturation_checks(servos, saturated.measures.saturation, saturated.described, promised=promised),
        *heat_checks(servos, hot.measures.heat, hot.described),
    ]


def outcome(replays: GroundReplays) -> list[Check]:
    """Whether all replays came to the end without a fall."""
    falls, count = replays.figures["fell"], f"of {len(replays.replays)} replays"
    return [
        completed(replays.complete, fell=replays.fell, name="replays completed"),
        fallen(falls, replays.reason, unit=count, otherwise="none did"),
    ]


def asides(replays: GroundReplays) -> list[Check]:
    """Information: heading, slip and tracking."""
    rows = (
        ("heading error at the end", "yaw_error_deg", "deg"),
        ("slip", "slip_m", "m"),
        ("tracking rms", "tracking_rms_rad", "rad"),
    )
    soft = replays.worst("velocity_error")
    return [
        *(worst_of(replays, *row) for row in rows),
        Check("velocity error, softer or stiffer servos", soft.figures["velocity_error"], "of mean speed", note=soft.described),
    ]


def ahead_checks(performance: Performance, plan: GroundPlan, *, needed: bool = False) -> list[Check]:
    """How far the commands of servos are from the planned angles, for information; ``needed``: there must be position channels."""
    wheel = ServoBank.of(plan.character).wheel
    if not any(channel.kind == "position" for channel in performance.channels):
        note = "there is no position channel: nothing is sent to the servos"
        return [Check("commands", np.nan, "rad", 0.0, note=note)] if needed else []
    apart = np.where(wheel, 0.0, np.abs(plan.sent.values - plan.angle).max(axis=0))
    worst = int(apart.argmax())
    note = f"{plan.character.driven[worst]}; what makes its servo give the planned torque"
    return [Check("commands ahead of planned angles", float(apart[worst]), "rad", note=note)]


def line_check(plan: GroundPlan, torque: Array, speed: Array, threshold: float) -> Check:
    """The largest share of a motor's line that planned torques (n, k) at these speeds use; not checked where none states one."""
    servos, name = ServoBank.of(plan.character), "planned torque on the motor's line"
    if not np.isfinite(servos.stall).any():
        return Check.not_checked(name, f"add stall_torque_n_m of {some(servos.names)} to the character")
    share = servos.utilisation(torque, speed).max(axis=0, initial=0.0)
    return Check(name, float(share.max()), "of it", threshold, note=servos.names[int(share.argmax())])


def clearance_of_others(plan: GroundPlan) -> Check:
    """The least distance between the ground and what must not touch it."""
    least, where = least_clearance(plan)
    return Check("planned clearance of other parts", least, "m", 0.0, at_least=True, note=where)


def planned_figures(plan: GroundPlan) -> dict[str, float]:
    """Displacement of the centre of mass from above [m] and turn of the base [deg]: of a cycle, or of all that does not repeat."""
    end = min(plan.period, plan.duration) if plan.repeats else plan.duration
    moved = [float(np.interp(end, plan.times, plan.com[:, a]) - plan.com[0, a]) for a in (0, 1)]
    turned = float(np.interp(end, plan.times, plan.yaw) - plan.yaw[0])
    return {"distance_m": float(np.hypot(moved[0], moved[1])), "turn_deg": float(np.degrees(turned))}


def _limit_checks(performance: Performance) -> list[Check]:
    """Limits of the position channels at their rate and of the speeds of wheels; "worst limit violation" covers both."""
    wheels = wheel_check(performance, "excess speed of wheels")
    if not any(channel.kind == "position" for channel in performance.channels):
        return [replace(wheels, name="worst limit violation"), wheels]
    limits = planned_limits(performance)
    at = next(i for i, check in enumerate(limits) if check.name == "worst limit violation")
    if wheels.value > limits[at].value:
        limits[at] = replace(wheels, name="worst limit violation")
    return [*limits, wheels]


def _plan_checks(performance: Performance, plan: GroundPlan) -> list[Check]:
    """Channels against motion, and the motion against the ground and the motors' lines."""
    slid = planned_slides(plan).sum(axis=0)
    path = float(np.linalg.norm(np.diff(plan.com[:, :2], axis=0), axis=1).sum())
    travel = max(path, plan.reach * abs(float(plan.yaw[-1] - plan.yaw[0])))
    tips = plan.character.end_effectors
    share = float(slid.max()) / max(travel, LITTLE)
    return [
        *ahead_checks(performance, plan),
        Check("way of wheels against velocity channels", _way_difference(plan), "m", SAME_WAY),
        line_check(plan, plan.torque, plan.speed, 1.0),
        Check("planned depth in the ground", max(0.0, -float(plan.clearance.min())), "m", PENETRATION),
        clearance_of_others(plan),
        clearance_check(plan.character, plan.tree, plan.q, plan.rate),
        Check("planned slip", share, "of travel", PLANNED_SLIP, note=tips[int(slid.argmax())].name),
    ]


def _way_difference(plan: GroundPlan) -> float:
    """How far the way of a wheel that its commands make is from the planned one [m], at most; what its torque needs taken off."""
    servos = ServoBank.of(plan.character)
    axle = {joint.child: joint.name for joint in plan.character.joints}
    radius = {axle[tip.body]: tip.radius for tip in plan.character.end_effectors if tip.spins}
    known = servos.wheel & servos.gains.stated
    made = plan.sent.values - np.where(known, plan.torque / np.where(known, servos.gains.damping, 1.0), 0.0)
    rolled = np.concatenate([np.zeros((1, made.shape[1])), np.cumsum(0.5 * (made[1:] + made[:-1]), axis=0)]) / plan.rate
    off = np.abs(rolled - (plan.angle - plan.angle[0])).max(axis=0)
    return max((off[j] * radius.get(servos.coordinates[j], 1.0) for j in np.flatnonzero(servos.wheel)), default=0.0)


def _agreement(performance: Performance, plan: GroundPlan) -> Check:
    """Distance and turn of the certificate against those of the motion, where it states them."""
    stated, worst, note = performance.certificate.figures, 0.0, "distance and turn agree with those of the motion"
    for name, value in planned_figures(plan).items():
        if name in stated:
            off = abs(stated[name] - value) * (1.0 if name.endswith("_m") else float(np.radians(1.0)))
            if off > worst:
                worst, note = off, f"figure {name}: the certificate says {stated[name]:.9g}, recomputed {value:.9g}"
    return Check("certificate against recomputation", worst, "m or rad", SAME_DISTANCE, note=note)
