"""The certificate against recomputation: every number that can be computed again from the performance is.

Limits, deviation, balance, self-collision and static torque come from channels, wish and character; lag and strokes from channels,
wish and words; the predicted motion from channels and character. A promise that tells how the performer solved cannot be computed
again from the performance: the verdict says of each that it was not checked.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bunraku.mechanics.measures.coverage import coverage_checks, limbs_in
from bunraku.mechanics.measures.motion import measure_motion
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Certificate, Check, JointCurves, Performance
from bunraku.rhythm.timing import timing_checks
from bunraku.verification.limits import command_checks

AGREEMENT = 1e-9
"""Numbers of a certificate agree with the recomputed ones when they differ by no more than this, relative to max(1, |number|)."""

_SHOWN = 3


def common_checks(performance: Performance) -> list[Check]:
    """What is promised of the plan of servos, computed again; what they are sent; and the certificate against all that.

    Recomputed are limits, deviation, the share of the wish, shaking, balance, self-collision, static torque, timing and the
    predicted motion. Where parts bend, the lag of the motors is no promise: they move ahead so that what they carry is on time.
    Modal coordinates, which a performance with feedback adds to its motion, are not compared: the channels alone do not tell them.
    """
    character, curves, feedback = performance.character, performance.positions(), performance.feedback
    tree = compile_tree(character)
    measured = measure_motion(character, performance.wish, curves, tree)
    timing = timing_checks(performance.wish, curves, performance.words)
    if character.flexibles:
        timing = tuple(replace(check, threshold=None) if check.name == "lag" else check for check in timing)
    predicted, carried = predicted_motion(character, curves, tree), performance.motion
    kept = len(predicted.names)
    if feedback is not None and set(carried.names[kept:]) <= set(feedback.coordinates):
        carried = JointCurves(carried.names[:kept], carried.rate, carried.values[:, :kept])
    moved = motion_difference(carried, predicted)
    own = (*measured.checks, *timing, *coverage_checks(performance, limbs_in(performance.certificate.figures)))
    sent, said = command_checks(performance), {check.name for check in performance.certificate.checks}
    expected = (*own, *(check for check in sent if check.name in said))
    return [*own, *sent, *agreement(performance.certificate, expected, measured.figures, (moved,))]


def agreement(
    certificate: Certificate,
    expected: Sequence[Check],
    figures: Mapping[str, float],
    others: Sequence[tuple[float, str]] = (),
) -> tuple[Check, ...]:
    """A certificate against the ``expected`` checks and ``figures``, and ``others``: further differences, in number and words.

    "certificate against recomputation": the largest relative difference, with the worst in words; infinite when a check or figure
    is missing, is there twice, or is another promise (threshold, direction, unit). Then each promise of the certificate that was
    not recomputed, as one that was not checked.
    """
    pairs = list(others)
    for check in expected:
        carried = [other for other in certificate.checks if other.name == check.name]
        says = " and ".join(_value_words(other) for other in carried) or "nothing"
        difference = _check_difference(carried[0], check) if len(carried) == 1 else math.inf
        pairs.append((difference, f"{check.name}: the certificate says {says}, recomputed {_value_words(check)}"))
    for name, value in figures.items():
        given = certificate.figures.get(name)
        difference = math.inf if given is None else _difference(given, value)
        pairs.append((difference, f"figure {name}: the certificate says {given}, recomputed {value:.9g}"))
    wrong = [pair for pair in others if not pair[0] <= AGREEMENT]
    wrong += sorted((pair for pair in pairs[len(others) :] if not pair[0] <= AGREEMENT), key=lambda pair: -pair[0])
    note = "; ".join(words for _, words in wrong[:_SHOWN]) or "every number agrees with the one recomputed"
    note += f"; and {len(wrong) - _SHOWN} more" if len(wrong) > _SHOWN else ""
    worst = max((pair[0] for pair in pairs), default=0.0)
    known = {check.name for check in expected}
    rest = [check for check in certificate.checks if check.name not in known and check.state in ("holds", "broken")]
    return (
        Check("certificate against recomputation", math.inf if math.isnan(worst) else worst, "relative", AGREEMENT, note=note),
        *(own_word(check) for check in rest),
    )


def own_word(check: Check) -> Check:
    """A promise of the certificate that the file alone does not tell: broken as the performer says it is, else not checked."""
    said = f"the performer's own word: {check.value:.4g}{' ' + check.unit if check.unit else ''}"
    if check.broken:
        return replace(check, note=f"{check.note}; {said}" if check.note else said)
    return Check.not_checked(check.name, "perform it again, for the file does not hold what tells it", said)


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


def _value_words(check: Check) -> str:
    if check.state in ("does not apply", "not checked"):
        return check.state
    return f"{check.value:.9g} {check.unit} (threshold {check.threshold})"


def _check_difference(carried: Check, check: Check) -> float:
    """How far a carried check is from the recomputed one, in value and in threshold; infinite when it is not the same promise."""
    if carried.applies != check.applies or bool(carried.missing) != bool(check.missing):
        return math.inf
    if check.missing or not check.applies:
        return 0.0
    if carried.at_least != check.at_least or carried.unit != check.unit or (carried.threshold is None) != (check.threshold is None):
        return math.inf
    apart = 0.0 if carried.threshold is None or check.threshold is None else _difference(carried.threshold, check.threshold)
    return max(_difference(carried.value, check.value), apart)


def _difference(a: float, b: float) -> float:
    if a == b:
        return 0.0
    difference = abs(a - b) / max(1.0, abs(b))
    return difference if math.isfinite(difference) else math.inf
