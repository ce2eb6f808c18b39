"""Replays on servos in several worlds: as stated, softer, stiffer. What is promised is promised of the worst.

But how closely a motion is followed and how warm its motors become depends on their stiffness: that is promised at their usual one.
"""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Monitor, SilentMonitor
from bunraku.verification.many import replay_many
from bunraku.verification.replays import WorldReplays, worst_replay
from bunraku.verification.rigid.model import ForeignModel
from bunraku.verification.rigid.replay import RigidReplay, play
from bunraku.verification.worlds import World

WORST = ("saturation_share", "foot_slip_m", "tilt_max_rad", "tilt_final_rad", "peak_torque_share")
"""Figures of the verdict that are the largest of all replays; the others are those of the usual one."""


class RigidReplays(WorldReplays[RigidReplay]):
    """Replays of a performance on servos."""

    COMPARED = ("tracking_rms_rad", "saturation_share", "winding_heat", "foot_slip_m", "tilt_max_rad", "fell")

    def worst(self, name: str) -> RigidReplay:
        """The replay in which a figure is largest."""
        return worst_replay(self.replays, name)

    @property
    def figures(self) -> dict[str, float]:
        """Those of the usual replay, the worst of what is promised in every world, how many fell."""
        worst = {name: self.worst(name).figures[name] for name in WORST}
        return self.usual.figures | worst | {"fell": float(sum(replay.fell for replay in self.replays))}


def play_all(
    performance: Performance, foreign: ForeignModel, worlds: Sequence[World], *, threads: int | None = None,
    monitor: Monitor = SILENT,
) -> RigidReplays:  # fmt: skip
    """A performance in every world, each in a copy of its foreign model, on ``threads`` threads (None: one for each core)."""
    patient = SilentMonitor(lambda: monitor.cancelled)
    replays = replay_many(
        lambda world: play(performance, foreign, world, patient), worlds, threads=threads, monitor=monitor
    )  # fmt: skip
    return RigidReplays(replays, len(replays) == len(worlds) and all(replay.complete for replay in replays))
