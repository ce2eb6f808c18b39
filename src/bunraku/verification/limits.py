"""Motor limits, recomputed from what a performance would send to the motors, at the rate it is sent."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.errors import BadInput
from bunraku.mechanics.measures.limits import limit_checks
from bunraku.motion import Check, JointCurves, MotionLimits, Performance


def position_curves(performance: Performance) -> JointCurves:
    """The position channels as curves; they must belong to motors of the character."""
    curves, driven = performance.sent(), performance.character.driven
    for name in curves.names:
        if name not in driven:
            who = f"no motor of {performance.character.name!r}; motors drive {', '.join(driven[:12])}"
            raise BadInput(f"the channel {name!r} drives {who}")
    return curves


def limit_figures(limits: Sequence[Check]) -> dict[str, float]:
    """The figure of a verdict that sums up its limits."""
    return {"worst_limit_violation": next(check.value for check in limits if check.name == "worst limit violation")}


def recomputed_limits(performance: Performance) -> tuple[Check, ...]:
    """Excess over range, velocity, acceleration and jerk of the position channels, each at most 1e-9, at their own rate.

    Motors without a channel stand at home.
    """
    curves, limits = position_curves(performance), MotionLimits.of(performance.character)
    slides = [axis.name for axis in performance.character.axes if axis.kind == "slide"]
    return limit_checks(limits, limits.completed(curves.names, curves.values), curves.rate, slides)[0]
