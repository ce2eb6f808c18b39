"""The verdict on a performance: are its promises true? Limits recomputed, the certificate checked, the motion replayed."""

from __future__ import annotations

import math
from dataclasses import dataclass

from bunraku.errors import BadInput
from bunraku.mechanics.measures import measure_motion
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.limits import position_curves, recomputed_limits
from bunraku.verification.replay import ReplayResult
from bunraku.verification.replay import replay as replay_performance

__all__ = ["AGREEMENT", "MOST_SATURATION", "TRACKING_RMS", "Verdict", "verify"]

AGREEMENT = 1e-9
"""Numbers of a certificate agree with the recomputed ones when they differ by no more than this, relative to max(1, |number|)."""

TRACKING_RMS = 0.05
"""A replay follows the performance when its RMS error over all motors, pure delay removed, is at most this [rad] (2.9 degrees)."""

MOST_SATURATION = 0.05
"""No motor may spend more than this share of the time at its torque limit."""


@dataclass(frozen=True)
class Verdict:
    """Whether every promise holds, the checks, the replay if there was one, and flat figures."""

    holds: bool
    checks: tuple[Check, ...]
    replay: ReplayResult | None
    figures: dict[str, float]

    @property
    def sentence(self) -> str:
        """The verdict in words."""
        broken = [check.name for check in self.checks if not check.holds]
        return "Every promise holds." if self.holds else f"Not kept: {', '.join(broken)}."


def verify(performance: Performance, *, replay: bool = True, monitor: Monitor = SILENT) -> Verdict:
    """Judge a performance by itself: nothing is believed that can be computed again.

    Checks: motor limits at the rate of the channels; the convergence status; the certificate's numbers against the same measures
    recomputed from channels and wish; its promises; and, with ``replay``, in MuJoCo: did it stand, did it follow, torque to spare.
    A replay that cannot be made or was cancelled is a check that does not hold.
    """
    certificate = performance.certificate
    checks = list(recomputed_limits(performance))
    checks.append(Check("status", 0.0 if certificate.status.good else 1.0, bar=0.0, note=certificate.status.sentence))
    checks.append(_agreement(performance))
    broken = [check.name for check in certificate.checks if not check.holds]
    checks.append(Check("promises broken in the certificate", len(broken), bar=0, note=", ".join(broken)))
    figures = {"worst_limit_violation": next(check.value for check in checks if check.name == "worst limit violation")}
    result = None
    if replay:
        try:
            result = replay_performance(performance, monitor=monitor)
            checks += _replay_checks(result)
            figures |= result.figures
        except BadInput as error:
            checks.append(Check("replay", math.nan, bar=0.0, note=str(error)))
    holds = all(check.holds for check in checks)
    return Verdict(holds, tuple(checks), result, figures | {"verified": float(holds)})


def _agreement(performance: Performance) -> Check:
    """The largest difference between a number or bar in the certificate and the same recomputed; infinite when one is missing."""
    measured = measure_motion(performance.character, performance.wish, position_curves(performance))
    carried = {check.name: check for check in performance.certificate.checks}
    worst, where = 0.0, "every number agrees with the one recomputed"
    for check in measured.checks:
        found = carried.get(check.name)
        difference = _disagreement(found, check)
        if difference > max(worst, AGREEMENT):
            says = "nothing" if found is None else f"{found.value:.9g} (bar {found.bar})"
            where = f"{check.name}: the certificate says {says}, recomputed {check.value:.9g} (bar {check.bar})"
        worst = max(worst, difference)
    for name, value in measured.figures.items():
        difference = _difference(performance.certificate.figures.get(name, math.nan), value)
        if difference > max(worst, AGREEMENT):
            where = f"figure {name}: the certificate says {performance.certificate.figures.get(name)}, recomputed {value:.9g}"
        worst = max(worst, difference)
    return Check("certificate against recomputation", worst, "relative", AGREEMENT, note=where)


def _disagreement(found: Check | None, check: Check) -> float:
    """How far a carried check is from the recomputed one, in value and in bar; infinite when it is not the same promise."""
    if found is None or found.at_least != check.at_least or (found.bar is None) != (check.bar is None):
        return math.inf
    bars = 0.0 if found.bar is None or check.bar is None else _difference(found.bar, check.bar)
    return max(_difference(found.value, check.value), bars)


def _difference(a: float, b: float) -> float:
    if a == b:
        return 0.0
    difference = abs(a - b) / max(1.0, abs(b))
    return difference if math.isfinite(difference) else math.inf


def _replay_checks(result: ReplayResult) -> tuple[Check, ...]:
    figures = result.figures
    worst = int(result.tracking_rms.argmax())
    busiest = int(result.saturation.argmax())
    hottest = int((result.rms_torque / result.continuous_torque).argmax())
    stood = "it stood" if not result.fell else result.reason
    return (
        Check("replay completed", float(result.complete), bar=1.0, at_least=True, note="" if result.complete else "cancelled"),
        Check("fell", float(result.fell), bar=0.0, note=stood),
        Check("tracking rms", figures["tracking_rms_rad"], "rad", TRACKING_RMS, note=f"worst: {result.motors[worst]}"),
        Check("largest tracking error", figures["tracking_max_rad"], "rad"),
        Check("torque saturation", figures["saturation_share"], "of the time", MOST_SATURATION, note=result.motors[busiest]),
        Check("peak torque", figures["peak_torque_share"], "of stall"),
        Check("rms torque", figures["rms_torque_share"], "of continuous torque", note=result.motors[hottest]),
        Check("foot slip", figures["foot_slip_m"], "m"),
        Check("largest tilt", figures["tilt_max_rad"], "rad"),
    )
