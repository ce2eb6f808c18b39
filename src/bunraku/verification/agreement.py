"""The certificate against recomputation: every number that can be computed again from the performance is.

Limits, deviation, balance, self-collision and static torque come from channels, wish and character; lag and strokes from channels,
wish and words; the predicted motion from channels and character. What tells how the performer solved (its status, the travel it
gave up, the scale of gestures) and the wish itself cannot be recomputed from the performance; the verdict lists such numbers.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence

import numpy as np

from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Check, JointCurves, Performance
from bunraku.rhythm.timing import timing_checks
from bunraku.verification.limits import position_curves

AGREEMENT = 1e-9
"""Numbers of a certificate agree with the recomputed ones when they differ by no more than this, relative to max(1, |number|)."""

_SHOWN = 3


def agreement_checks(performance: Performance) -> tuple[Check, Check]:
    """The largest disagreement between a performance and its recomputation, and what only the performer can know.

    "certificate against recomputation" is infinite when a check or figure is missing, is there twice, or is another promise (bar,
    direction, unit); its note names the worst. "numbers not recomputed" counts and lists the others, as information.
    """
    curves, tree = position_curves(performance), compile_tree(performance.character)
    measured = measure_motion(performance.character, performance.wish, curves, tree)
    expected = (*measured.checks, *timing_checks(performance.wish, curves, performance.words))
    certificate = performance.certificate
    moved = motion_difference(performance.motion, predicted_motion(performance.character, curves, tree))
    worst, note = certificate_differences(certificate, expected, measured.figures, (moved,))
    known = {check.name for check in expected}
    others = [check.name for check in certificate.checks if check.name not in known]
    others += [name for name in certificate.figures if name not in measured.figures]
    return (
        Check("certificate against recomputation", worst, "relative", AGREEMENT, note=note),
        Check("numbers not recomputed", len(others), note=", ".join(others) and f"the performer's own word: {', '.join(others)}"),
    )


def certificate_differences(
    certificate: Certificate,
    expected: Sequence[Check],
    figures: Mapping[str, float],
    found: Sequence[tuple[float, str]] = (),
) -> tuple[float, str]:
    """The largest relative difference between a certificate and the ``expected`` checks and ``figures``, and the worst in words.

    Infinite when a check or figure is missing, is there twice, or is another promise. ``found``: further differences to report.
    """
    pairs = list(found)
    for check in expected:
        carried = [other for other in certificate.checks if other.name == check.name]
        says = " and ".join(_said(other) for other in carried) or "nothing"
        difference = _check_difference(carried[0], check) if len(carried) == 1 else math.inf
        pairs.append((difference, f"{check.name}: the certificate says {says}, recomputed {_said(check)}"))
    for name, value in figures.items():
        given = certificate.figures.get(name)
        difference = math.inf if given is None else _difference(given, value)
        pairs.append((difference, f"figure {name}: the certificate says {given}, recomputed {value:.9g}"))
    wrong = sorted((pair for pair in pairs if not pair[0] <= AGREEMENT), key=lambda pair: -pair[0])
    note = "; ".join(words for _, words in wrong[:_SHOWN]) or "every number agrees with the one recomputed"
    note += f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    return max((pair[0] for pair in pairs), default=0.0), note


def motion_difference(carried: JointCurves, predicted: JointCurves) -> tuple[float, str]:
    """How far the carried motion of the body is from the one that the channels make, relative to max(1, |number|), and where."""
    if carried.names != predicted.names or carried.values.shape != predicted.values.shape or carried.rate != predicted.rate:
        return math.inf, "motion: it does not hold every coordinate of the character at the times of the channels"
    difference = np.abs(carried.values - predicted.values) / np.maximum(1.0, np.abs(predicted.values))
    if not difference.size:
        return 0.0, ""
    k, j = np.unravel_index(int(np.argmax(difference)), difference.shape)
    given, computed = carried.values[k, j], predicted.values[k, j]
    where = f"{carried.names[j]} at {k / carried.rate:.3f} s"
    return float(difference[k, j]), f"motion: {where} is {given:.9g}, the channels make it {computed:.9g}"


def _said(check: Check) -> str:
    return f"{check.value:.9g} {check.unit} (bar {check.bar})"


def _check_difference(found: Check, check: Check) -> float:
    """How far a carried check is from the recomputed one, in value and in bar; infinite when it is not the same promise."""
    if found.at_least != check.at_least or found.unit != check.unit or (found.bar is None) != (check.bar is None):
        return math.inf
    bars = 0.0 if found.bar is None or check.bar is None else _difference(found.bar, check.bar)
    return max(_difference(found.value, check.value), bars)


def _difference(a: float, b: float) -> float:
    if a == b:
        return 0.0
    difference = abs(a - b) / max(1.0, abs(b))
    return difference if math.isfinite(difference) else math.inf
