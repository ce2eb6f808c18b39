"""What a certificate says about time: lag of the whole, of the worst window, and of the strokes. Computed from curves and words."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from bunraku.motion.certificate import Check
from bunraku.motion.curves import JointCurves
from bunraku.motion.sound import Mark
from bunraku.rhythm.lag import lag
from bunraku.rhythm.strokes import stroke_lags

LAG_THRESHOLD = 0.010
"""A performance may be this much [s] late or early: well below the 45 ms at which people notice (ITU-R BT.1359)."""


def timing_checks(wish: JointCurves | None, performed: JointCurves, words: Sequence[Mark]) -> tuple[Check, ...]:
    """How far ``performed`` is from the time of the ``wish``, late or early alike, at the same rate and with the same joints.

    Checks: "lag" of the whole, at most ``LAG_THRESHOLD``; as information "worst lag in 3 s", and where words have strokes the
    largest lag of a stroke against the wished one, and against the beat of its word. None where no joint is performed: a car has
    only wheels. Without a wish lag does not apply.
    """
    if not performed.names:
        return ()
    if wish is None:
        return (Check.not_applicable("lag", "nothing was wished of single joints"),)
    wished = np.column_stack([wish.column(name) for name in performed.names])
    delay = lag(wished, performed.values, performed.rate)
    checks = [
        Check("lag", abs(delay.seconds), "s", LAG_THRESHOLD, note=_which(delay.seconds)),
        Check("worst lag in 3 s", abs(delay.worst_window_seconds), "s", note=_which(delay.worst_window_seconds)),
    ]
    strokes = stroke_lags(wish, performed, words)
    if strokes:
        late = max(abs(stroke.lag) for stroke in strokes)
        off = max(abs(stroke.against_word) for stroke in strokes)
        checks.append(Check("largest stroke lag", late, "s", note="gesture strokes against the wished ones"))
        checks.append(Check("largest stroke offset", off, "s", note="gesture strokes against the beats of their words"))
    return tuple(checks)


def _which(seconds: float) -> str:
    return "late" if seconds > 0.0 else "early" if seconds < 0.0 else ""
