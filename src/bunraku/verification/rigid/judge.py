"""Characters on a fixed base or on planted feet, moved by servos: limits, certificate, and the replay on a floor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.motion import Check
from bunraku.optimization.monitor import Monitor
from bunraku.verification.agreement import common_checks
from bunraku.verification.limits import limit_figures
from bunraku.verification.replay_checks import completed, fallen, limbs_in_replay, saturation_checks
from bunraku.verification.rigid.model import ForeignModel
from bunraku.verification.rigid.replay import RigidReplay, model_for
from bunraku.verification.rigid.replays import RigidReplays, play_all
from bunraku.verification.rigid.weightless import weighed
from bunraku.verification.servos.heat import heat_checks
from bunraku.verification.verifier import Findings, Judge, Picture, Replay
from bunraku.verification.worlds import still_worlds

TRACKING_RMS = 0.05
"""A replay follows the performance when its RMS error over all motors, pure delay removed, is at most this [rad] (2.9 degrees)."""

WORST_MOTOR = 2.0
"""No motor alone may be farther off than this many times as much: among many that hold still one that is lost hardly shows."""

SLIDE_TRACKING_RMS = 0.01
"""The same for motors that slide [m]."""

MOST_SLIP = 0.01
"""No sole may move farther [m] from where it stood: the certificate's balance takes the feet as planted."""


BOLTED = "it is bolted down"


class RigidJudge(Judge[ForeignModel, RigidReplays]):
    """Replays with the servos as the motors state them, softer and stiffer."""

    recomputed = (
        "Limits, deviation, lag, balance, self-collision and the predicted motion were recomputed from the channels at the motor "
        "rate."
    )
    replayed = (
        "What the motors are sent was replayed in MuJoCo through their servos, as they are stated, softer and stiffer; the worst "
        "counts."
    )

    def recompute(self, monitor: Monitor) -> Findings:
        """Limits at the motor rate; the certificate and the predicted motion."""
        checks = common_checks(self.performance)
        return checks, limit_figures(checks)

    def build(self) -> ForeignModel:
        """The character on a floor with its servos."""
        return model_for(self.performance)

    def replay(self, foreign: ForeignModel, monitor: Monitor) -> RigidReplays:
        """From rest at home through the channels, in every world."""
        return play_all(self.performance, foreign, still_worlds(foreign.servos), monitor=monitor)

    def judge(self, replay: RigidReplays) -> Findings:
        """It stood, did not slip, followed, and had torque to spare."""
        figures, stands = replay.figures, bool(replay.usual.tilt_max or replay.usual.foot_slip) or replay.fell
        checks = [
            completed(replay.complete),
            *(_standing(replay) if stands else _bolted()),
            *_tracking_checks(replay.usual),
            *torque_checks(replay),
            limbs_in_replay(),
        ]
        return weighed(self.performance.character, checks), figures

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Voice and joints."""
        from bunraku.verification.plots.joints import draw_joints, draw_overview

        yield Picture("overview", draw_overview(self.performance), "The voice and the joints most affected")
        words = "Wish and performance; dashed: limits; shaded: phrases"
        yield Picture("joints", draw_joints(self.performance), words, last=True)


def _standing(replay: RigidReplays) -> list[Check]:
    """It stood, and its feet where they were put."""
    slid = replay.worst("foot_slip_m")
    return [
        fallen(replay.figures["fell"], replay.reason, unit=f"of {len(replay.replays)} replays", otherwise="none did"),
        Check("foot slip", slid.foot_slip, "m", MOST_SLIP, note=slid.described),
        Check("largest tilt", replay.figures["tilt_max_rad"], "rad"),
    ]


def _bolted() -> list[Check]:
    return [Check.not_applicable("fell", BOLTED), Check.not_applicable("foot slip", BOLTED)]


def torque_checks(replay: RigidReplays) -> list[Check]:
    """How long motors were at their torque limit, the largest torque, and how warm they become."""
    servos, saturated = replay.usual.servos, replay.worst("saturation_share")
    stated = bool(np.isfinite(servos.stall).any())
    stall = Check(
        "peak torque", replay.figures["peak_torque_share"], "of stall", note="cut at the torque-speed line; see saturation"
    )
    return [
        *saturation_checks(servos, saturated.saturation, saturated.described),
        *([stall] if stated else []),
        *heat_checks(servos, replay.usual.heat),
    ]


def _tracking_checks(replay: RigidReplay) -> list[Check]:
    """RMS error of all and of the worst against their thresholds and the largest error, of motors that turn and that slide."""
    checks = []
    for suffix, unit, threshold, chosen in (
        ("", "rad", TRACKING_RMS, ~replay.slides),
        (" of slides", "m", SLIDE_TRACKING_RMS, replay.slides),
    ):
        if chosen.any():
            j = int(np.where(chosen, replay.tracking_rms, -1.0).argmax())
            worst, off = replay.motors[j], float(replay.tracking_rms[j])
            checks.append(Check(f"tracking rms{suffix}", replay.figures[f"tracking_rms_{unit}"], unit, threshold))
            checks.append(Check(f"tracking rms of the worst motor{suffix}", off, unit, WORST_MOTOR * threshold, note=worst))
            checks.append(Check(f"largest tracking error{suffix}", replay.figures[f"tracking_max_{unit}"], unit))
    return checks
