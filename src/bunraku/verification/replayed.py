"""The motion of a replay as curves of the character's coordinates, to be drawn beside the plan."""

from __future__ import annotations

import numpy as np

from bunraku.mechanics.systems.character_system import character_system
from bunraku.motion import JointCurves, Performance
from bunraku.verification.ground.perturbations import GroundVerdict
from bunraku.verification.rigid.replay import ReplayResult
from bunraku.verification.strings.replay import StringReplay
from bunraku.verification.verify import Verdict


def replayed_curves(performance: Performance, verdict: Verdict) -> JointCurves | None:
    """What the character did in MuJoCo, from the first sample of the performance on; None where nothing was replayed or kept.

    Of several replays the usual one (on the ground), the one that counts (strings). A replay that fell ends early. Of a character
    with flexible parts the replay keeps no coordinates.
    """
    replay = verdict.replay
    if isinstance(replay, ReplayResult):
        first = max(int((replay.times < -0.5 / replay.coordinates.rate).sum()), 0)
        values = replay.coordinates.values[first:]
        return JointCurves(replay.coordinates.names, replay.coordinates.rate, values) if len(values) else None
    if isinstance(replay, GroundVerdict):
        return replay.usual.coordinates if replay.replays else None
    if isinstance(replay, StringReplay):
        torques = any(channel.kind == "torque" for channel in performance.channels)
        names, q = character_system(performance.character, torques=torques).names, replay.best.q
        whole = int(np.isfinite(q).all(axis=1).cumprod().sum())
        return JointCurves(names, performance.rate, q[:whole]) if whole else None
    return None
