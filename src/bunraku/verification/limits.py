"""Motor limits, recomputed from what a performance would send to the motors, at the rate it is sent."""

from __future__ import annotations

from bunraku.errors import BadInput
from bunraku.mechanics.measures import limit_checks
from bunraku.motion import Check, JointCurves, MotionLimits, Performance

__all__ = ["position_curves", "recomputed_limits"]


def position_curves(performance: Performance) -> JointCurves:
    """The position channels as curves; they must belong to motors of the character and share rate and length."""
    chosen = [channel for channel in performance.channels if channel.kind == "position"]
    driven = performance.character.driven
    for channel in chosen:
        if channel.name not in driven:
            who = f"no motor of {performance.character.name!r}; motors drive {', '.join(driven[:12])}"
            raise BadInput(f"the channel {channel.name!r} drives {who}")
        if channel.rate != chosen[0].rate or len(channel.values) != len(chosen[0].values):
            raise BadInput(
                f"channel {channel.name!r} has {len(channel.values)} samples at {channel.rate:g} Hz, {chosen[0].name!r} has "
                f"{len(chosen[0].values)} at {chosen[0].rate:g} Hz; position channels share rate and length"
            )
    return performance.positions()


def recomputed_limits(performance: Performance) -> tuple[Check, ...]:
    """Excess over range, velocity, acceleration and jerk of the position channels, each at most 1e-9, at their own rate."""
    curves = position_curves(performance)
    limits = MotionLimits.of(performance.character).chosen(curves.names)
    return limit_checks(limits, curves.values, curves.rate)[0]
