"""Promises of a performance that goes over the ground, each computed again: what is sent, what is planned, what the replays did."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.character import free_base
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.clearance import clearance_check
from bunraku.motion import Check, HeightField, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.ground.clearance import least_clearance
from bunraku.verification.ground.perturbations import GroundVerdict, described, judge_on_ground
from bunraku.verification.ground.plan import GroundPlan, ground_plan
from bunraku.verification.ground.servo import ground_servos, utilisation
from bunraku.verification.ground.slide import planned_slides
from bunraku.verification.limits import recomputed_limits

VELOCITY_ERROR = 0.06
"""A replay follows when its velocity error (`ground.measures`) is at most this, under every perturbation."""

DISTANCE_ERROR = 0.05
"""And ends at most this share of the planned travel away from where it should."""

SATURATION = 0.05
"""No motor may spend more than this share of the time on its torque-speed line."""

PENETRATION = 0.001
"""No end effector is planned to go deeper into the ground than this [m]."""

PLANNED_SLIP = 0.02
"""No end effector is planned to slide farther than this share of the travel."""

LITTLE = 0.01
"""Slip is relative to the travel [m], but to no less than this."""

SAME_ANGLE, SAME_WAY = 1e-9, 0.001
"""Position channels are the planned angles to this [rad]; speeds of wheels add up to the planned way to this [m]."""

SAME_DISTANCE = 1e-4
"""Distance [m] and turn [rad] of the certificate are those of the motion, which may end between two samples, to this."""


@dataclass(frozen=True)
class GroundJudgement:
    """The checks, flat figures, and the replays if there were any."""

    checks: tuple[Check, ...]
    figures: dict[str, float]
    verdict: GroundVerdict | None


def goes_over_ground(performance: Performance) -> bool:
    """Whether a performance is to be judged here: servos move a character with a free base and wheels or feet (end effectors)."""
    character = performance.character
    return bool(character.end_effectors) and free_base(character) is not None and not performance.dynamic


def verify_ground(
    performance: Performance,
    *,
    replay: bool = True,
    velocity_bar: float = VELOCITY_ERROR,
    terrain: HeightField | None = None,
    monitor: Monitor = SILENT,
) -> GroundJudgement:
    """Check limits, plan and certificate; with ``replay`` also what MuJoCo made of it under every perturbation.

    ``velocity_bar``: the velocity error allowed; ``terrain`` in place of the performance's own.
    """
    plan = ground_plan(performance, terrain)
    limits = _limit_checks(performance)
    worst = next(check.value for check in limits if check.name == "worst limit violation")
    checks = [*limits, *_plan_checks(performance, plan), _agreement(performance, plan)]
    figures = {"worst_limit_violation": worst, **planned_figures(plan)}
    if not replay:
        return GroundJudgement(tuple(checks), figures, None)
    try:
        verdict = judge_on_ground(performance, terrain=terrain, monitor=monitor)
    except BadInput as error:
        return GroundJudgement((*checks, Check("replay", np.nan, bar=0.0, note=str(error))), figures, None)
    checks += replay_checks(verdict, velocity_bar)
    return GroundJudgement(tuple(checks), figures | verdict.figures, verdict)


def planned_figures(plan: GroundPlan) -> dict[str, float]:
    """Displacement of the centre of mass from above [m] and turn of the base [deg]: of a cycle, or of all that does not repeat."""
    end = min(plan.period, plan.duration) if plan.repeats else plan.duration
    moved = [float(np.interp(end, plan.times, plan.com[:, a]) - plan.com[0, a]) for a in (0, 1)]
    turned = float(np.interp(end, plan.times, plan.yaw) - plan.yaw[0])
    return {"distance_m": float(np.hypot(moved[0], moved[1])), "turn_deg": float(np.degrees(turned))}


def replay_checks(verdict: GroundVerdict, velocity_bar: float = VELOCITY_ERROR) -> list[Check]:
    """What the replays promise, the worst of all perturbations, with the perturbation in the note."""
    figures = verdict.figures

    def worst(name: str) -> str:
        return described(verdict.worst(name))

    checks = [
        Check(
            "replays completed",
            float(verdict.complete),
            bar=1.0,
            at_least=True,
            note="" if verdict.complete else "some fell and were stopped" if verdict.fell else "cancelled",
        ),
        Check("fell", figures["fell"], f"of {len(verdict.replays)} replays", 0.0, note=verdict.reason or "none did"),
        Check("velocity error", figures["replay_velocity_error"], "of mean speed", velocity_bar, note=worst("velocity_error")),
        Check("distance error", figures["replay_distance_error"], "of travel", DISTANCE_ERROR, note=worst("distance_error")),
        Check("heading error at the end", figures["replay_yaw_error_deg"], "deg", note=worst("yaw_error_deg")),
        Check("slip", figures["replay_slip_m"], "m", note=worst("slip_m")),
        Check("tracking rms", figures["replay_tracking_rms_rad"], "rad", note=worst("tracking_rms_rad")),
        Check("torque on the motor's line", figures["torque_utilisation"], "of it", note=worst("torque_utilisation")),
        Check("torque saturation", figures["saturation_share"], "of the time", SATURATION, note=worst("saturation_share")),
    ]
    if verdict.usual.plan.character.motors:
        plan = verdict.usual.plan
        stated = bool(ground_servos(plan.character).bank.continuous_stated.all())
        once = plan.period >= plan.duration - 1e-6
        why = "; it happens once: no promise" if once else "" if stated else "; continuous torque partly assumed: no promise"
        promised, note = stated and not once, worst("rms_torque_share") + why
        checks.append(Check("rms torque", figures["rms_torque_share"], "of continuous", 1.0 if promised else None, note=note))
    return checks


def _limit_checks(performance: Performance) -> list[Check]:
    """Limits of the position channels at their rate and of the speeds of wheels; "worst limit violation" covers both."""
    checks: list[Check] = []
    if any(channel.kind == "position" for channel in performance.channels):
        checks += recomputed_limits(performance)
    else:
        checks.append(Check("worst limit violation", 0.0, "relative", 1e-9))
    motors = {motor.coordinate: motor for motor in performance.character.motors}
    excess, who = 0.0, ""
    for channel in performance.channels:
        most = motors[channel.name].velocity if channel.name in motors else None
        if channel.kind == "velocity" and most is not None:
            share = float(np.abs(channel.values).max()) / most - 1.0
            excess, who = (share, channel.name) if share > excess else (excess, who)
    checks.append(Check("excess speed of wheels", max(excess, 0.0), "relative", 1e-9, note=who))
    at = next(i for i, check in enumerate(checks) if check.name == "worst limit violation")
    if excess > checks[at].value:
        checks[at] = Check(checks[at].name, excess, checks[at].unit, checks[at].bar, note=who)
    return checks


def _plan_checks(performance: Performance, plan: GroundPlan) -> list[Check]:
    """Channels against motion, and the motion against the ground and the motors' lines."""
    place = {name: i for i, name in enumerate(plan.tree.names)}
    radius = _wheel_radii(plan)
    angle = way = 0.0
    for channel in performance.channels:
        if channel.kind == "position":
            angle = max(angle, float(np.abs(channel.values - plan.q[:, place[channel.name]]).max()))
        elif channel.kind == "velocity":
            told = np.concatenate([[0.0], np.cumsum(0.5 * (channel.values[1:] + channel.values[:-1]))]) / plan.rate
            turned = plan.q[:, place[channel.name]] - plan.q[0, place[channel.name]]
            way = max(way, float(np.abs(told - turned).max()) * radius.get(channel.name, 1.0))
    servos = ground_servos(plan.character)
    share = utilisation(servos, plan.torque, plan.speed).max(axis=0, initial=0.0)
    busiest = servos.bank.names[int(share.argmax())] if share.size else ""
    slid = planned_slides(plan).sum(axis=0)
    path = float(np.linalg.norm(np.diff(plan.com[:, :2], axis=0), axis=1).sum())
    travel = max(path, plan.reach * abs(float(plan.yaw[-1] - plan.yaw[0])))
    tips = plan.character.end_effectors
    least, where = least_clearance(plan)
    return [
        Check("motion against position channels", angle, "rad", SAME_ANGLE),
        Check("way of wheels against velocity channels", way, "m", SAME_WAY),
        Check("planned torque on the motor's line", float(share.max(initial=0.0)), "of it", 1.0, note=busiest),
        Check("planned depth in the ground", max(0.0, -float(plan.clearance.min())), "m", PENETRATION),
        Check("planned clearance of other parts", least, "m", 0.0, at_least=True, note=where),
        clearance_check(plan.character, plan.tree, plan.q, plan.rate),
        Check(
            "planned slip", float(slid.max()) / max(travel, LITTLE), "of travel", PLANNED_SLIP, note=tips[int(slid.argmax())].name
        ),
    ]


def _wheel_radii(plan: GroundPlan) -> dict[str, float]:
    """Radius [m] of the wheel on each axle."""
    axle = {joint.child: joint.name for joint in plan.character.joints}
    return {axle[tip.body]: tip.radius for tip in plan.character.end_effectors if tip.spins}


def _agreement(performance: Performance, plan: GroundPlan) -> Check:
    """Distance and turn of the certificate against those of the motion, where it states them."""
    stated, worst, note = performance.certificate.figures, 0.0, "distance and turn agree with those of the motion"
    for name, value in planned_figures(plan).items():
        if name in stated:
            off = abs(stated[name] - value) * (1.0 if name.endswith("_m") else float(np.radians(1.0)))
            if off > worst:
                worst, note = off, f"figure {name}: the certificate says {stated[name]:.9g}, recomputed {value:.9g}"
    return Check("certificate against recomputation", worst, "m or rad", SAME_DISTANCE, note=note)
