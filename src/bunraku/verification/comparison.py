"""One wish through several performers: the figures of a row."""

from __future__ import annotations

import numpy as np

from bunraku.motion import MotionLimits, Performance
from bunraku.rhythm.lag import lag

__all__ = ["comparison_row"]


def comparison_row(performance: Performance) -> dict[str, float]:
    """Duration, violations, deviation from the wish and lag, all recomputed from positions and wish."""
    positions, wish = performance.positions(), performance.wish
    limits = MotionLimits.of(performance.character).chosen(positions.names)
    excess = limits.excess(positions.values, positions.rate)
    gap = positions.values - wish.values
    delay = lag(wish.values, positions.values, positions.rate)
    return {
        "duration_s": positions.duration,
        "velocity_violations": excess.count("velocity"),
        "range_violations": excess.count("range"),
        "rms_deviation": float(np.sqrt(np.mean(gap**2))),
        "max_deviation": float(np.abs(gap).max()),
        "lag_ms": 1e3 * delay.seconds,
        "worst_lag_ms": 1e3 * delay.worst_window_seconds,
    }
