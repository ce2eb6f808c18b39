"""The same gait slower, or with other cycles: how far and how much turned in a second, and in how long a cycle."""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.motion import Gait


def way(gait: Gait) -> float:
    """The way [m] that is asked for, of a cycle or of the whole."""
    return math.hypot(*(part or 0.0 for part in gait.distance or ()))


def pace(gait: Gait) -> float:
    """The speed by which gaits are compared: [m/s], or [rad/s] of those that only turn; 0 where neither is asked for."""
    return (way(gait) or abs(gait.turn or 0.0)) / gait.duration


def at_pace(gait: Gait, wished: Gait, share: float) -> Gait:
    """The ``gait`` with a ``share`` of the speed and turn that were ``wished``, in the cycles that it has."""
    part = share * gait.duration / wished.duration
    return gait.changed(distance=_distance(wished, part), turn=None if wished.turn is None else part * wished.turn)


def with_cycles(gait: Gait, share: float) -> Gait:
    """The gait with cycles of a ``share`` of their length, more of them, and as much way and turn in a second."""
    targets = tuple(replace(target, time=share * target.time) for target in gait.targets)
    turn = None if gait.turn is None else share * gait.turn
    cycles = max(1, round(gait.cycles / share))
    return gait.changed(duration=share * gait.duration, cycles=cycles, distance=_distance(gait, share), turn=turn, targets=targets)


def _distance(gait: Gait, share: float) -> tuple[float | None, float | None] | None:
    """A share of the way ahead and aside; what is free stays free."""
    if gait.distance is None:
        return None
    ahead, aside = gait.distance
    return None if ahead is None else share * ahead, None if aside is None else share * aside
