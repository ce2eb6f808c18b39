"""Curves of motors, drawn at random: from pose to pose with rests, or a sum of slow waves. No question of its own."""

from __future__ import annotations

import numpy as np

MOVE, PAUSE, REST = (0.3, 0.9), (0.0, 0.4), 0.3
"""A move and a pause last from and to [s]; every drawn clip begins and ends at rest for so long."""

WAVES, BAND = 4, (0.2, 1.5)
"""A sum of so many waves, their frequencies from and to [Hz]."""


def pose_to_pose(rng: np.random.Generator, t: np.ndarray, low: float, high: float, start: float, fastest: float) -> np.ndarray:
    """From pose to pose within the range: minimum jerk, whose top speed is 15/8 of the mean, ``fastest`` [1/s] at most."""
    here, now = start, REST
    out = np.full(len(t), here)
    while fastest > 0.0:
        goal = rng.uniform(low, high)
        lasts = max(rng.uniform(*MOVE), 15.0 / 8.0 * abs(goal - here) / fastest)
        if now + lasts > t[-1] - REST:
            return out
        s = np.clip((t - now) / lasts, 0.0, 1.0)
        out += (goal - here) * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
        here, now = goal, now + lasts + rng.uniform(*PAUSE)
    return out


def waves(rng: np.random.Generator, t: np.ndarray, low: float, high: float, start: float, fastest: float) -> np.ndarray:
    """A sum of waves of the band about ``start`` that fades in and out, as large as range and ``fastest`` [1/s] allow."""
    frequencies, phases = rng.uniform(*BAND, WAVES), rng.uniform(0.0, 2.0 * np.pi, WAVES)
    shares = rng.uniform(0.2, 1.0, WAVES)
    wave = (shares * np.sin(2.0 * np.pi * np.outer(t, frequencies) + phases)).sum(axis=1)
    s = np.clip(np.minimum(t - REST, t[-1] - REST - t) / 0.8, 0.0, 1.0)
    wave = wave * s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    room = [(high - start) / max(wave.max(), 1e-9), (start - low) / max(-wave.min(), 1e-9)]
    speed = fastest / max(float(np.abs(np.gradient(wave, t)).max()), 1e-9)
    return start + wave * max(min(*room, speed), 0.0)
