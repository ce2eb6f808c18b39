"""How far a wish outruns its motors, and how large its gestures still are once they can follow."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Check, JointCurves, MotionLimits

LEAST_SCALE = 0.5
"""A gesture whose wish outruns its motor keeps at least this part of its size..."""

VISIBLE = 0.01
"""...if its joint carries this share of the motion's energy, sum (w - mean w)^2, or more."""

_LISTED = 6


def excess_travel(wish: Array, rate: float, limits: MotionLimits) -> Array:
    """How far the wish (n, k) outruns each motor in its worst stroke [rad or m], shape (k,).

    A stroke is a run of samples moving one way; the number is the largest sum over any part of it of |dr| - v h: the distance by
    which a motor at full speed falls short. It is the number Algorithm 1 of the paper leaves open ("large amplitude motion").
    """
    step = np.diff(wish, axis=0)
    worst = np.zeros(wish.shape[1])
    for j in np.flatnonzero(np.isfinite(limits.velocity)).tolist():
        d, budget = step[:, j], float(limits.velocity[j]) / rate
        if not (np.abs(d) > budget).any():
            continue
        sign = np.sign(d)
        edges = np.flatnonzero(np.concatenate([[True], sign[1:] != sign[:-1], [True]]))
        for a, b in zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True):
            total = np.concatenate([[0.0], np.cumsum(np.abs(d[a:b]) - budget)])
            worst[j] = max(worst[j], float((total - np.minimum.accumulate(total)).max()))
    return worst


def gesture_scales(wished: Array, values: Array) -> Array:
    """The size (k,) of each curve of ``values`` (n, k) in terms of the ``wished`` one: the factor a that fits x = a w best.

    Both about their means: a = sum (x - mean x) (w - mean w) / sum (w - mean w)^2; 1 for a wish that stands still.
    """
    w, x = wished - wished.mean(axis=0), values - values.mean(axis=0)
    own = (w**2).sum(axis=0)
    return np.asarray(np.where(own > 0.0, (x * w).sum(axis=0) / np.where(own > 0.0, own, 1.0), 1.0))


def travel_checks(positions: JointCurves, wished: Array, limits: MotionLimits, figures: dict[str, float]) -> tuple[Check, ...]:
    """How far the ``wished`` (n, k) curves outrun the motors, and how large those gestures are in ``positions``.

    ``limits``: of the same coordinates.
    """
    travel = excess_travel(wished, positions.rate, limits)
    fast = np.flatnonzero(travel > 0.0)
    figures["joints_too_fast"] = float(len(fast))
    if not len(fast):
        return (Check.not_applicable("least gesture scale", "no joint of the wish outruns its motor"),)
    order = fast[np.argsort(-travel[fast])]
    listed = ", ".join(f"{positions.names[j]} by {travel[j]:.2g}" for j in order[:_LISTED].tolist())
    more = f" and {len(order) - _LISTED} more" if len(order) > _LISTED else ""
    energy = ((wished - wished.mean(axis=0)) ** 2).sum(axis=0)
    outruns = Check("excess travel of the wish", float(travel.max()), "rad or m", note=f"what outruns its motor: {listed}{more}")
    fast = fast[energy[fast] >= VISIBLE * energy.sum()]
    if not len(fast):
        return outruns, Check.not_applicable("least gesture scale", "only joints that hardly move outrun their motors")
    scales = gesture_scales(wished[:, fast], positions.values[:, fast])
    least = int(np.argmin(scales))
    return (
        outruns,
        Check(
            "least gesture scale",
            float(scales[least]),
            "of the wish",
            LEAST_SCALE,
            at_least=True,
            note=positions.names[fast[least]],
        ),
    )
