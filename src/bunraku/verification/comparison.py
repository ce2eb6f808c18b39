"""One wish through several performers: the figures of a row."""

from __future__ import annotations

import numpy as np

from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.motion import MotionLimits, Performance
from bunraku.rhythm.lag import lag


def comparison_row(performance: Performance) -> dict[str, float]:
    """Duration, violations, deviation from the wish and lag, all recomputed from motion and wish; without a wish nothing deviates.

    Where physics moves the character, violations are samples at which a carriage or winch is too fast or out of its range.
    """
    positions = performance.followed()
    wish = performance.wish_or_plan()
    fast, outside = _violations(performance)
    gap = positions.values - wish.values
    delay = lag(wish.values, positions.values, positions.rate)
    return {
        "duration_s": positions.duration,
        "velocity_violations": fast,
        "range_violations": outside,
        "rms_deviation": float(np.sqrt(np.mean(gap**2))),
        "max_deviation": float(np.abs(gap).max()),
        "lag_ms": 1e3 * delay.seconds,
        "worst_lag_ms": 1e3 * delay.worst_window_seconds,
    }


def _violations(performance: Performance) -> tuple[int, int]:
    """How many samples exceed a velocity, how many a range."""
    character = performance.character
    if not performance.dynamic:
        positions = performance.positions()
        excess = MotionLimits.of(character).chosen(positions.names).excess(positions.values, positions.rate)
        return excess.count("velocity"), excess.count("range")
    k, limits = performance.commands(character.prescribed), CarriageLimits.of(character)
    if not k.size or len(k) < 2:
        return 0, 0
    motion = limits.motion(k, 1.0 / performance.rate)
    fast = np.count_nonzero(motion.speed > limits.speed * (1.0 + 1e-9))
    fast += np.count_nonzero(motion.winch_speed > limits.winch_speed * (1.0 + 1e-9))
    return int(fast), int(np.count_nonzero((k > limits.upper + 1e-9) | (k < limits.lower - 1e-9)))
