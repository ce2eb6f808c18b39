"""Replays on the ground in many worlds: single replays of marginal plans scatter, what counts is the worst of all.

How far a motion gets and how warm its motors become depends on how stiff they are: that is promised at their usual stiffness, on
every floor and at every rate. That it stays on its feet is promised in all worlds.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.ground.model import GroundModel
from bunraku.verification.ground.plan import GroundPlan
from bunraku.verification.ground.replay import GroundReplay, plan_model, replay_plan
from bunraku.verification.many import replay_many
from bunraku.verification.replays import WorldReplays, worst_replay
from bunraku.verification.worlds import World

USUAL = {
    "replay_velocity_error": "velocity_error",
    "replay_distance_error": "distance_error",
    "replay_yaw_error_deg": "yaw_error_deg",
    "replay_tracking_rms_rad": "tracking_rms_rad",
    "winding_heat": "winding_heat",
}
"""Figures of the verdict that are the largest of the replays with servos of their usual stiffness."""

WORST = {
    "replay_velocity_error_of_all": "velocity_error",
    "replay_slip_m": "slip_m",
    "torque_utilisation": "torque_utilisation",
    "saturation_share": "saturation_share",
}
"""Figures of the verdict that are the largest of all replays."""


class GroundReplays(WorldReplays[GroundReplay]):
    """Replays of a plan; the usual world has stated stiffness, most friction and rate."""

    COMPARED = ("velocity_error", "distance_error", "yaw_error_deg", "slip_m", "torque_utilisation", "fell")

    @property
    def stiff_as_usual(self) -> tuple[GroundReplay, ...]:
        """Those whose servos are as stiff as in the usual one."""
        return tuple(one for one in self.replays if np.array_equal(one.world.gain, self.usual.world.gain))

    def worst(self, name: str, *, usual: bool = False) -> GroundReplay:
        """The replay in which a figure is largest, of all or of those with servos of the ``usual`` stiffness."""
        return worst_replay(self.stiff_as_usual if usual else self.replays, name)

    @property
    def figures(self) -> dict[str, float]:
        """The worst of each; of displacements the one that is farthest from the planned one; how many fell."""
        each, usual = ([one.figures for one in some] for some in (self.replays, self.stiff_as_usual))
        farthest = max(usual, key=lambda one: abs(one["distance_m"] - one["planned_distance_m"]))
        return {
            **{name: max(one[key] for one in usual) for name, key in USUAL.items()},
            **{name: max(one[key] for one in each) for name, key in WORST.items()},
            "replay_distance_m": farthest["distance_m"],
            "planned_distance_m": each[0]["planned_distance_m"],
            "planned_utilisation": each[0]["planned_utilisation"],
            "fell": float(sum(one["fell"] for one in each)),
        }


def replay_all(
    plan: GroundPlan, worlds: Sequence[World], *, model: GroundModel | None = None, threads: int | None = None,
    monitor: Monitor = SILENT,
) -> GroundReplays:  # fmt: skip
    """A plan in every world, each in a copy of one foreign model, on ``threads`` threads (None: one for each core)."""
    model = plan_model(plan) if model is None else model
    replays = replay_many(lambda world: replay_plan(plan, world, model=model), worlds, threads=threads, monitor=monitor)
    return GroundReplays(replays, len(replays) == len(worlds) and all(replay.complete for replay in replays))
