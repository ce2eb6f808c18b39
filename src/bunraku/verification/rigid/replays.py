"""Replays on servos in several worlds: as stated, softer, stiffer. What is promised is promised of the worst.

But how closely a motion is followed and how warm its motors become depends on their stiffness: that is promised at their usual one.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bunraku.motion import JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Monitor, SilentMonitor
from bunraku.verification.many import replay_many
from bunraku.verification.rigid.model import ForeignModel
from bunraku.verification.rigid.replay import RigidReplay, play
from bunraku.verification.verifier import Replay
from bunraku.verification.worlds import World

ROW = ("tracking_rms_rad", "saturation_share", "winding_heat", "foot_slip_m", "tilt_max_rad", "fell")
"""The figures by which replays are compared."""

WORST = ("saturation_share", "foot_slip_m", "tilt_max_rad", "tilt_final_rad", "peak_torque_share")
"""Figures of the verdict that are the largest of all replays; the others are those of the usual one."""


@dataclass(frozen=True)
class RigidReplays(Replay):
    """Replays in all worlds, first the usual one; ``complete``: none missing."""

    replays: tuple[RigidReplay, ...]
    complete: bool

    @property
    def usual(self) -> RigidReplay:
        """The replay with everything as stated."""
        return self.replays[0]

    @property
    def motion(self) -> JointCurves | None:
        """The motion with everything as stated."""
        return self.usual.motion

    @property
    def rows(self) -> list[tuple[str, dict[str, float]]]:
        """Every replay."""
        return [(one.described, {key: one.figures[key] for key in ROW}) for one in self.replays]

    @property
    def fell(self) -> bool:
        """Whether one of them fell."""
        return any(replay.fell for replay in self.replays)

    @property
    def reason(self) -> str:
        """Why the first that fell did, in which world; or nothing."""
        return next((f"{replay.reason} ({replay.described})" for replay in self.replays if replay.fell), "")

    def worst(self, name: str) -> RigidReplay:
        """The replay in which a figure is largest."""
        return max(self.replays, key=lambda replay: replay.figures[name])

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
