"""Characters on a fixed base or on planted feet, moved by servos: limits, certificate, and the replay on a floor."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from bunraku.motion import Check
from bunraku.optimization.monitor import Monitor
from bunraku.verification.agreement import common_checks
from bunraku.verification.limits import limit_figures
from bunraku.verification.replay_checks import completed, fallen, saturation
from bunraku.verification.rigid.model import ForeignModel
from bunraku.verification.rigid.replay import RigidReplay, model_for, play
from bunraku.verification.servo import CONTINUOUS_SHARE
from bunraku.verification.verifier import Findings, Judge, Picture, Replay

TRACKING_RMS = 0.05
"""A replay follows the performance when its RMS error over all motors, pure delay removed, is at most this [rad] (2.9 degrees)."""

SLIDE_TRACKING_RMS = 0.01
"""The same for motors that slide [m]."""

MOST_SLIP = 0.01
"""No sole may move farther [m] from where it stood: the certificate's balance takes the feet as planted."""


class RigidJudge(Judge[ForeignModel, RigidReplay]):
    """One replay, with the servos as the motors state them."""

    recomputed = (
        "Limits, deviation, lag, balance, self-collision and the predicted motion were recomputed from the channels at the motor "
        "rate."
    )
    replayed = "The motion was replayed in MuJoCo with the motors' delay and torque."

    def recompute(self, monitor: Monitor) -> Findings:
        """Limits at the motor rate; the certificate and the predicted motion."""
        checks = common_checks(self.performance)
        return checks, limit_figures(checks)

    def build(self) -> ForeignModel:
        """The character on a floor with its servos."""
        return model_for(self.performance)

    def replay(self, foreign: ForeignModel, monitor: Monitor) -> RigidReplay:
        """From rest at home through the channels."""
        return play(self.performance, foreign, monitor)

    def judge(self, replay: RigidReplay) -> Findings:
        """It stood, did not slip, followed, and had torque to spare."""
        figures = replay.figures
        stall = "cut at the torque-speed line; see saturation"
        checks = [
            completed(replay.complete),
            fallen(float(replay.fell), replay.reason, otherwise="it stood"),
            *_tracking_checks(replay),
            saturation(figures["saturation_share"], replay.motors[int(replay.saturation.argmax())]),
            Check("peak torque", figures["peak_torque_share"], "of stall", note=stall),
            *_heat_checks(replay),
            Check("foot slip", figures["foot_slip_m"], "m", MOST_SLIP),
            Check("largest tilt", figures["tilt_max_rad"], "rad"),
        ]
        return checks, figures

    def pictures(self, replay: Replay | None) -> Iterator[Picture]:
        """Voice and joints."""
        from bunraku.verification.plots.joints import draw_joints, draw_overview

        yield Picture("overview", draw_overview(self.performance), "The voice and the joints most affected")
        words = "Wish and performance; dashed: limits; shaded: phrases"
        yield Picture("joints", draw_joints(self.performance), words, last=True)


def _tracking_checks(replay: RigidReplay) -> list[Check]:
    """RMS error against its threshold and the largest error, of motors that turn and of those that slide."""
    checks = []
    for suffix, unit, threshold, chosen in (
        ("", "rad", TRACKING_RMS, ~replay.slides),
        (" of slides", "m", SLIDE_TRACKING_RMS, replay.slides),
    ):
        if chosen.any():
            worst = replay.motors[int(np.where(chosen, replay.tracking_rms, -1.0).argmax())]
            checks.append(
                Check(f"tracking rms{suffix}", replay.figures[f"tracking_rms_{unit}"], unit, threshold, note=f"worst: {worst}")
            )
            checks.append(Check(f"largest tracking error{suffix}", replay.figures[f"tracking_max_{unit}"], unit))
    return checks


def _heat_checks(replay: RigidReplay) -> list[Check]:
    """RMS torque over what a motor bears continuously: a promise where the motor states it, information where it is assumed."""
    share, stated = replay.rms_torque / replay.continuous_torque, replay.continuous_stated
    checks = []
    if stated.any():
        hottest = int(np.where(stated, share, -1.0).argmax())
        checks.append(Check("rms torque", float(share[hottest]), "of continuous torque", 1.0, note=replay.motors[hottest]))
    if not stated.all():
        hottest = int(np.where(stated, -1.0, share).argmax())
        note = f"{replay.motors[hottest]}; no continuous torque is stated, {CONTINUOUS_SHARE:.2g} of stall is assumed: no promise"
        checks.append(Check("rms torque, assumed", float(share[hottest]), "of assumed continuous torque", note=note))
    return checks
