"""The same behaviour, stronger or weaker."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import JointCurves

WEAKEST, STRONGEST = 0.3, 1.5
_SHARPNESS = 4.0  # p: how late, and how suddenly, growth gives way to the range


def with_intensity(
    curves: JointCurves, factor: float, neutral: Array, lower: Array | None = None, upper: Array | None = None
) -> JointCurves:
    """The same behaviour with ``factor`` times the deviation from a neutral pose, saturating softly within the range.

    Weaker (f <= 1): y = n + f (x - n). Stronger (f > 1): with R the room between the neutral value n and the end of the range on
    the side of x, and u = |x - n| / R,

        y = n +- R f u / (1 + (f^p - 1) u^p)^(1/p),   p = 4,

    which grows by f near the neutral pose, keeps the end of the range where it is, rises strictly with u (so every extreme stays at
    its time, and no peak is cut flat) and with f (so amplitude is monotone), and is the identity at f = 1. Where the wish leaves
    the range by itself, R is the wish's own largest deviation. Without a range y = n + f (x - n).

    This is the paper's future work: times of gestures, and so their words, do not change with intensity.

    Args:
        curves: the behaviour at intensity 1.
        factor: f in [0.3, 1.5].
        neutral: the pose n (k,) that deviations are measured from.
        lower: lower ends of the ranges (k,), infinite or absent where there is none.
        upper: upper ends (k,).
    """
    if not WEAKEST <= factor <= STRONGEST:
        raise BadInput(f"an intensity of {factor} is not offered; give one from {WEAKEST} to {STRONGEST}")
    k = len(curves.names)
    n = np.asarray(neutral, dtype=np.float64)
    low = np.full(k, -np.inf) if lower is None else np.asarray(lower, dtype=np.float64)
    high = np.full(k, np.inf) if upper is None else np.asarray(upper, dtype=np.float64)
    if n.shape != (k,) or low.shape != (k,) or high.shape != (k,):
        raise BadInput(
            f"neutral pose and ranges have shapes {n.shape}, {low.shape}, {high.shape}; each needs {k} numbers, one a joint"
        )
    if factor == 1.0:
        return curves
    deviation = curves.values - n
    if factor < 1.0:
        return JointCurves(curves.names, curves.rate, n + factor * deviation)
    above = np.maximum(high - n, deviation.max(axis=0))
    below = np.maximum(n - low, -deviation.min(axis=0))
    room = np.maximum(np.where(deviation >= 0.0, above, below), 1e-300)
    u = np.abs(deviation) / room
    growth = factor / (1.0 + (factor**_SHARPNESS - 1.0) * u**_SHARPNESS) ** (1.0 / _SHARPNESS)
    return JointCurves(curves.names, curves.rate, n + growth * deviation)
