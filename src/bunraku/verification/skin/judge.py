"""Promises of a skinned character's performance, each computed again: what is sent, what was planned, what MuJoCo made of it."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.ground.clearance import least_clearance
from bunraku.verification.ground.judge import SAME_ANGLE, GroundJudgement
from bunraku.verification.ground.perturbations import GroundVerdict, Perturbation, described
from bunraku.verification.ground.plan import SWINGS, GroundPlan
from bunraku.verification.ground.replay import GroundReplay, replay_plan
from bunraku.verification.ground.servo import ground_servos, utilisation
from bunraku.verification.limits import recomputed_limits
from bunraku.verification.skin.distance import DISTANCE_ERROR, Walk, spacing_of, walk_between
from bunraku.verification.skin.plan import skin_plan

PERTURBATIONS = (
    Perturbation(1.0, 0.8, 200.0),
    Perturbation(0.5, 0.8, 200.0),
    Perturbation(2.0, 0.8, 200.0),
    Perturbation(1.0, 0.6, 200.0),
    Perturbation(1.0, 0.8, 100.0),
)
"""Servos as the motors state them, half and twice as stiff; less friction; commands half as often."""

SAME_WALK = 0.01
"""The certificate's distance is that of rigid bodies which carry the skin to this [m]: the skin's sag at both ends differs."""


def is_skinned(performance: Performance) -> bool:
    """Whether a performance is to be judged here: servos move a character with a skin that stands on soles."""
    character = performance.character
    return character.skin is not None and bool(character.end_effectors) and not performance.dynamic


def verify_skin(
    performance: Performance,
    *,
    replay: bool = True,
    perturbations: Sequence[Perturbation] = PERTURBATIONS,
    monitor: Monitor = SILENT,
) -> GroundJudgement:
    """Check limits, torques and certificate; with ``replay`` also how far it goes in MuJoCo and whether it falls."""
    plan = skin_plan(performance)
    limits = recomputed_limits(performance)
    checks = [*limits, *_plan_checks(performance, plan)]
    planned = plan.com[-1, :2] - plan.com[0, :2]
    figures = {
        "worst_limit_violation": next(check.value for check in limits if check.name == "worst limit violation"),
        "distance_m": float(np.hypot(planned[0], planned[1])),
    }
    if not replay:
        return GroundJudgement(tuple(checks), figures, None)
    replays: list[GroundReplay] = []
    try:
        for i, row in enumerate(perturbations):
            replays.append(replay_plan(plan, gain=row.gain, friction=row.friction, rate=row.rate))
            monitor.report(Event("replay", (i + 1) / len(perturbations), replays[-1].reason))
            if monitor.cancelled:
                break
    except BadInput as error:
        return GroundJudgement((*checks, Check("replay", np.nan, bar=0.0, note=str(error))), figures, None)
    verdict = GroundVerdict(tuple(replays), len(replays) == len(perturbations) and all(one.complete for one in replays))
    walk = max((replayed_walk(one) for one in replays), key=lambda one: one.error)
    figures |= verdict.figures | {
        "replay_distance_m": walk.distance,
        "planned_distance_m": walk.planned,
        "replay_distance_error": walk.error,
        "replay_end_apart_m": max(replayed_walk(one).apart for one in replays),
        "replay_missed_swings": float(max(missed_swings(one) for one in replays)),
    }
    return GroundJudgement((*checks, *_replay_checks(verdict)), figures, verdict)


def replayed_walk(replay: GroundReplay) -> Walk:
    """How far a replay went beside how far it should: displacement of the centre of mass, seen from above."""
    plan, record = replay.plan, replay.record
    done, planned = (path[-1, :2] - path[0, :2] for path in (record.com, plan.com))
    return walk_between(done, planned, spacing_of(plan.tip_center[0]))


def missed_swings(replay: GroundReplay) -> int:
    """How many of the planned swings, soles higher than `ground.plan.SWINGS`, never leave the ground in the replay."""
    high, free = replay.plan.clearance[: len(replay.record.times)] > SWINGS, ~replay.record.contact
    missed = 0
    for j in range(high.shape[1]):
        where = np.flatnonzero(high[:, j])
        spans = np.split(where, np.flatnonzero(np.diff(where) > 1) + 1)
        missed += sum(not free[span, j].any() for span in spans if len(span))
    return missed


def _plan_checks(performance: Performance, plan: GroundPlan) -> list[Check]:
    """Channels against motion, torques against the motors' lines, parts against the ground, distance against the certificate."""
    place = {name: i for i, name in enumerate(plan.tree.names)}
    told = [channel for channel in performance.channels if channel.kind == "position"]
    angle = max((float(np.abs(channel.values - plan.q[:, place[channel.name]]).max()) for channel in told), default=np.nan)
    servos = ground_servos(plan.character)
    speed = np.vstack([np.zeros((1, plan.angle.shape[1])), np.diff(plan.angle, axis=0) * plan.rate])
    share = utilisation(servos, plan.torque[:-1], speed[:-1]).max(axis=0, initial=0.0)
    busiest = servos.bank.names[int(share.argmax())]
    least, where = least_clearance(plan)
    checks = [
        Check("motion against position channels", angle, "rad", SAME_ANGLE),
        Check("planned torque on the motor's line", float(share.max()), "of it", 1.0 + 1e-9, note=busiest),
        Check("planned clearance of other parts", least, "m", 0.0, at_least=True, note=where),
    ]
    stated = performance.certificate.figures.get("distance_m")
    if stated is not None:
        walked = float(np.linalg.norm(plan.com[-1, :2] - plan.com[0, :2]))
        note = f"distance_m: the certificate says {stated:.4g}, bodies that carry the skin go {walked:.4g}"
        checks.append(Check("certificate against recomputation", abs(stated - walked), "m", SAME_WALK, note=note))
    return checks


def _replay_checks(verdict: GroundVerdict) -> list[Check]:
    """What the replays promise, the worst of all perturbations, with the perturbation in the note."""
    figures = verdict.figures
    worst = max(verdict.replays, key=lambda one: replayed_walk(one).error)
    walk = replayed_walk(worst)
    went = f"{walk.distance:.3f} m of {walk.planned:.3f} m; {described(worst)}"
    completed = "" if verdict.complete else "some fell and were stopped" if verdict.fell else "cancelled"

    def where(name: str) -> str:
        return described(verdict.worst(name))

    return [
        Check("replays completed", float(verdict.complete), bar=1.0, at_least=True, note=completed),
        Check("fell", figures["fell"], f"of {len(verdict.replays)} replays", 0.0, note=verdict.reason or "none did"),
        Check("distance error", walk.error, walk.unit, DISTANCE_ERROR, note=went),
        Check("planned swings that stay on the ground", float(max(missed_swings(one) for one in verdict.replays)), bar=0.0),
        Check("heading error at the end", figures["replay_yaw_error_deg"], "deg", note=where("yaw_error_deg")),
        Check("slip", figures["replay_slip_m"], "m", note=where("slip_m")),
        Check("tracking rms", figures["replay_tracking_rms_rad"], "rad", note=where("tracking_rms_rad")),
        Check("torque saturation", figures["saturation_share"], "of the time", note=where("saturation_share")),
    ]
