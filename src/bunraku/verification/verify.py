"""The verdict on a performance: are its promises true? Everything recomputed that can be, the motion replayed."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion import Check, Performance, stated
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.threads import one_thread
from bunraku.verification.agreement import agreement_checks
from bunraku.verification.flexible.judge import FlexibleVerdict, common_agreement, verify_flexible
from bunraku.verification.ground.judge import goes_over_ground, verify_ground
from bunraku.verification.ground.perturbations import GroundVerdict
from bunraku.verification.limits import recomputed_limits
from bunraku.verification.rigid.replay import ReplayResult
from bunraku.verification.rigid.replay import replay as replay_performance
from bunraku.verification.servo import CONTINUOUS_SHARE
from bunraku.verification.skin.judge import is_skinned, verify_skin
from bunraku.verification.strings.checks import dynamic_checks, replay_checks, worst_violation
from bunraku.verification.strings.plan import plan_of
from bunraku.verification.strings.replay import StringReplay, replay_strings

TRACKING_RMS = 0.05
"""A replay follows the performance when its RMS error over all motors, pure delay removed, is at most this [rad] (2.9 degrees)."""

SLIDE_TRACKING_RMS = 0.01
"""The same for motors that slide [m]."""

MOST_SATURATION = 0.05
"""No motor may spend more than this share of the time at its torque limit."""

MOST_SLIP = 0.01
"""No sole may move farther [m] from where it stood: the certificate's balance takes the feet as planted."""


_FIGURES = {
    "minimum_tension_n": "least tension",
    "constraint_residual_m": "string length residual",
    "imitation_rms_m": "imitation error",
}


@dataclass(frozen=True)
class Verdict:
    """Whether every promise holds, the checks, the replay if there was one, and flat figures."""

    holds: bool
    checks: tuple[Check, ...]
    replay: ReplayResult | StringReplay | FlexibleVerdict | GroundVerdict | None
    figures: dict[str, float]

    def __repr__(self) -> str:
        return f"Verdict: {self.sentence}\n{stated(self.checks)}"

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        if self.holds:
            return "Every promise holds."
        broken = [check.name for check in self.checks if not check.holds and check.checked]
        missing = [check.name for check in self.checks if not check.checked]
        words = [f"{said}: {', '.join(names)}." for said, names in (("Not kept", broken), ("Not checked", missing)) if names]
        return " ".join(words)


@one_thread
def verify(performance: Performance, *, replay: bool = True, full_order: bool = False, monitor: Monitor = SILENT) -> Verdict:
    """Judge a performance by itself: nothing is believed that can be computed again.

    Checks: motor limits at the rate of the channels; the convergence status, which only the performer knows; the certificate's
    numbers and the predicted motion against the same recomputed (see `verification.agreement`); its promises; and, with ``replay``,
    in MuJoCo: did it stand without slipping, did it follow, torque to spare, and the RMS torque of motors that state what they
    bear continuously. A replay that cannot be made or was cancelled is a check that does not hold. A performance that physics
    carries out (strings, torques) is judged by `strings.checks` and replayed by `strings.replay`. One of a
    character with flexible parts is judged by `verification.flexible.judge`; with ``full_order`` also in the full elastic model.
    With ``replay`` it holds only if one of the two models that share nothing with the reduced one has replayed it. One that goes
    over the ground on wheels or feet is judged by `verification.ground.judge`: over a set of servos, floors and command rates;
    that of a character with a skin by `verification.skin.judge`, with the skin's mass and stiffness in its bodies and joints.
    """
    if full_order and not performance.character.flexibles:
        raise BadInput(
            f"no part of {performance.character.name!r} bends; the full-order model is for characters with flexible parts"
        )
    if performance.dynamic:
        return _verify_dynamic(performance, replay, monitor)
    if performance.character.flexibles:
        return _verify_bending(performance, replay, full_order, monitor)
    if is_skinned(performance):
        skinned = verify_skin(performance, replay=replay, monitor=monitor)
        return _verdict([*_word_checks(performance), *skinned.checks], skinned.figures, skinned.verdict)
    if goes_over_ground(performance):
        ground = verify_ground(performance, replay=replay, monitor=monitor)
        return _verdict([*_word_checks(performance), *ground.checks], ground.figures, ground.verdict)
    checks = [*recomputed_limits(performance), *_word_checks(performance), *agreement_checks(performance)]
    figures = {"worst_limit_violation": next(check.value for check in checks if check.name == "worst limit violation")}
    if not replay:
        return _verdict(checks, figures)
    try:
        result = replay_performance(performance, monitor=monitor)
    except BadInput as error:
        return _verdict([*checks, _not_replayed(error)], figures)
    return _verdict([*checks, *_replay_checks(result)], figures | result.figures, result)


def _verify_dynamic(performance: Performance, replay: bool, monitor: Monitor) -> Verdict:
    """The verdict on a performance of strings or torques."""
    plan = plan_of(performance)
    checks = [*dynamic_checks(performance, plan), *_word_checks(performance)]
    values = {check.name: check.value for check in checks}
    figures = {"worst_limit_violation": worst_violation(plan)}
    figures |= {key: values[name] for key, name in _FIGURES.items() if name in values}
    if not replay:
        return _verdict(checks, figures)
    try:
        result = replay_strings(performance, monitor=monitor)
    except BadInput as error:
        return _verdict([*checks, _not_replayed(error)], figures)
    return _verdict([*checks, *replay_checks(result)], figures | result.figures, result)


def _verify_bending(performance: Performance, replay: bool, full_order: bool, monitor: Monitor) -> Verdict:
    """The verdict on a performance of servos that move a flexible character."""
    limits = recomputed_limits(performance)
    result = verify_flexible(performance, replay=replay, full_order=full_order, monitor=monitor)
    figures = {"worst_limit_violation": next(check.value for check in limits if check.name == "worst limit violation")}
    checks = [*limits, *_word_checks(performance), common_agreement(performance), *result.checks]
    return _verdict(checks, figures | result.figures, result)


def _word_checks(performance: Performance) -> list[Check]:
    """What the performance says of itself: that it converged, and that no promise of its certificate is broken."""
    certificate = performance.certificate
    broken = [check.name for check in certificate.checks if not check.holds]
    return [
        Check("status", 0.0 if certificate.status.settled else 1.0, bar=0.0, note=certificate.status.sentence),
        Check("promises broken in the certificate", len(broken), bar=0, note=", ".join(broken)),
    ]


def _not_replayed(error: BadInput) -> Check:
    return Check("replay", math.nan, bar=0.0, note=str(error))


def _verdict(
    checks: list[Check],
    figures: dict[str, float],
    result: ReplayResult | StringReplay | FlexibleVerdict | GroundVerdict | None = None,
) -> Verdict:
    holds = all(check.holds for check in checks)
    return Verdict(holds, tuple(checks), result, figures | {"verified": float(holds)})


def _replay_checks(result: ReplayResult) -> tuple[Check, ...]:
    figures = result.figures
    busiest = int(result.saturation.argmax())
    stood = "it stood" if not result.fell else result.reason
    return (
        Check("replay completed", float(result.complete), bar=1.0, at_least=True, note="" if result.complete else "cancelled"),
        Check("fell", float(result.fell), bar=0.0, note=stood),
        *_tracking_checks(result),
        Check("torque saturation", figures["saturation_share"], "of the time", MOST_SATURATION, note=result.motors[busiest]),
        Check("peak torque", figures["peak_torque_share"], "of stall", note="cut at the torque-speed line; see saturation"),
        *_heat_checks(result),
        Check("foot slip", figures["foot_slip_m"], "m", MOST_SLIP),
        Check("largest tilt", figures["tilt_max_rad"], "rad"),
    )


def _tracking_checks(result: ReplayResult) -> list[Check]:
    """RMS error against its bar and the largest error, of motors that turn and of those that slide."""
    checks = []
    for suffix, unit, bar, chosen in (
        ("", "rad", TRACKING_RMS, ~result.slides),
        (" of slides", "m", SLIDE_TRACKING_RMS, result.slides),
    ):
        if chosen.any():
            worst = result.motors[int(np.where(chosen, result.tracking_rms, -1.0).argmax())]
            checks.append(Check(f"tracking rms{suffix}", result.figures[f"tracking_rms_{unit}"], unit, bar, note=f"worst: {worst}"))
            checks.append(Check(f"largest tracking error{suffix}", result.figures[f"tracking_max_{unit}"], unit))
    return checks


def _heat_checks(result: ReplayResult) -> list[Check]:
    """RMS torque over what a motor bears continuously: a promise where the motor states it, information where it is assumed."""
    share, stated = result.rms_torque / result.continuous_torque, result.continuous_stated
    checks = []
    if stated.any():
        hottest = int(np.where(stated, share, -1.0).argmax())
        checks.append(Check("rms torque", float(share[hottest]), "of continuous torque", 1.0, note=result.motors[hottest]))
    if not stated.all():
        hottest = int(np.where(stated, -1.0, share).argmax())
        note = f"{result.motors[hottest]}; no continuous torque is stated, {CONTINUOUS_SHARE:.2g} of stall is assumed: no promise"
        checks.append(Check("rms torque, assumed", float(share[hottest]), "of assumed continuous torque", note=note))
    return checks
