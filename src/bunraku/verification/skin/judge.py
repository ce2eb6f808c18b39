"""A skinned character on its soles: each promise computed again from what is sent, what was planned, what MuJoCo made of it."""

from __future__ import annotations

from collections.abc import Sequence
from functools import cached_property

import numpy as np

from bunraku.motion import Check
from bunraku.optimization.monitor import Monitor
from bunraku.verification.ground.judge import (
    ContactJudge,
    ahead_checks,
    asides,
    clearance_of_others,
    line_check,
    outcome,
    torque_checks,
)
from bunraku.verification.ground.plan import SWINGS, GroundPlan
from bunraku.verification.ground.replay import GroundReplay
from bunraku.verification.ground.replays import GroundReplays
from bunraku.verification.limits import limit_figures, planned_limits
from bunraku.verification.replay_checks import limbs_in_replay
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.skin.distance import DISTANCE_ERROR, Walk, spacing_of, walk_between
from bunraku.verification.skin.plan import skin_plan
from bunraku.verification.skin.recomputed import skin_promises
from bunraku.verification.verifier import Findings
from bunraku.verification.worlds import World, fixed_worlds

SAME_WALK = 0.01
"""The certificate's distance is that of rigid bodies which carry the skin to this [m]: the skin's sag at both ends differs."""


class SkinJudge(ContactJudge):
    """The skin's mass is in the bodies of the foreign model and its stiffness in the joints."""

    @cached_property
    def plan(self) -> GroundPlan:
        """With bodies that carry their skin."""
        return skin_plan(self.performance)

    @property
    def worlds(self) -> Sequence[World]:
        """Those of everything that goes over the ground."""
        return fixed_worlds(ServoBank.of(self.plan.character), self.performance.rate)

    def recompute(self, monitor: Monitor) -> Findings:
        """Limits, torques, parts against the ground, distance against the certificate."""
        performance, plan = self.performance, self.plan
        limits = planned_limits(performance)
        speed = np.vstack([np.zeros((1, plan.angle.shape[1])), np.diff(plan.angle, axis=0) * plan.rate])
        checks = [
            *limits,
            *ahead_checks(performance, plan, needed=True),
            line_check(plan, plan.torque[:-1], speed[:-1], 1.0 + 1e-9),
            clearance_of_others(plan),
        ]
        way = plan.com[-1, :2] - plan.com[0, :2]
        stated = performance.certificate.figures.get("distance_m")
        if stated is not None:
            walked = float(np.linalg.norm(way))
            note = f"distance_m: the certificate says {stated:.4g}, bodies that carry the skin go {walked:.4g}"
            checks.append(Check("certificate against recomputation", abs(stated - walked), "m", SAME_WALK, note=note))
        checks += skin_promises(performance, plan, checks)
        return checks, limit_figures(limits) | {"distance_m": float(np.hypot(way[0], way[1]))}

    def judge(self, replay: GroundReplays) -> Findings:
        """What the replays promise, the worst of all worlds, with the world in the note."""
        worst = max(replay.replays, key=lambda one: replayed_walk(one).error)
        walk = replayed_walk(worst)
        went = f"{walk.distance:.3f} m of {walk.planned:.3f} m; {worst.described}"
        missed = float(max(missed_swings(one) for one in replay.replays))
        checks = [
            *outcome(replay),
            Check("distance error", walk.error, walk.unit, DISTANCE_ERROR, note=went),
            Check("planned swings that stay on the ground", missed, threshold=0.0),
            *asides(replay),
            *torque_checks(replay, promised=False),
            limbs_in_replay(),
        ]
        return checks, replay.figures | {
            "replay_distance_m": walk.distance,
            "planned_distance_m": walk.planned,
            "replay_distance_error": walk.error,
            "replay_end_apart_m": max(replayed_walk(one).apart for one in replay.replays),
            "replay_missed_swings": missed,
        }


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
