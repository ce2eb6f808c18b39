"""The free vibration in a record, by itself: frequency, decay and size, found without any model of what vibrates.

While the motor stands still the marker moves as y(t) = y0 + exp(-s t) (a cos w t + b sin w t), w = 2 pi f, with its own y0, a, b in
each stretch of stillness and one frequency f [Hz] and decay s [1/s] for all. For given (f, s) the rest is linear least squares; f
is searched on a grid finer than the resolution of the record, so that no cycle can be miscounted, then both are refined.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy import stats

from bunraku.arrays import Array
from bunraku.errors import BadInput

Window = tuple[float, float]
DAMPING_RATIOS = (0.0, 0.01, 0.05)
CHANCE = 1e-4
"""Probability, for all frequencies together, that noise alone passes for a vibration."""


@dataclass(frozen=True)
class DecayingOscillation:
    """A decaying oscillation: ``frequency`` [Hz], ``decay`` [1/s], and how many ``cycles`` of it were seen in all.

    ``amplitude`` where it is first seen and ``noise``, the standard deviation of what it leaves, are in units of the record.
    """

    frequency: float
    decay: float
    amplitude: float
    noise: float
    cycles: float

    @property
    def damping_ratio(self) -> float:
        """Fraction of critical damping."""
        w = 2.0 * np.pi * self.frequency
        return float(self.decay / np.hypot(w, self.decay))


def find_vibration(times: Array, points: Array, windows: Sequence[Window]) -> DecayingOscillation:
    """The vibration of points (M, d) at times (M,) [s] inside the stretches ``windows`` [s]; BadInput when there is none."""
    parts = []
    for begin, end in windows:
        inside = (times >= begin) & (times <= end)
        if inside.sum() >= 8:
            parts.append((times[inside] - times[inside][0], points[inside]))
    seconds = [float(t[-1]) for t, _ in parts]
    count = sum(len(t) for t, _ in parts)
    if count < 16:
        raise BadInput(
            f"only {count} samples of the marker lie where the motor stands still; record the vibration after the motor has stopped"
        )
    step = float(np.median(np.concatenate([np.diff(t) for t, _ in parts])))
    spectrum = np.arange(1.0 / max(seconds), 0.45 / step, 0.2 / max(seconds))
    if len(spectrum) < 2:
        raise BadInput(
            "the marker was seen too shortly or too rarely after the motor had stopped; record longer, or at a higher rate"
        )
    f, s = _search(parts, spectrum)
    f, s = _refined(parts, f, s, 0.2 / max(seconds))
    left = _misfit(parts, f, s)
    still = sum(float(((y - y.mean(axis=0)) ** 2).sum()) for _, y in parts)
    d = points.shape[1]
    free, used = d * (count - len(parts)), 2 * d * len(parts) + 2
    ratio = (still - left) / used / max(left / max(free - used, 1), 1e-300)
    if stats.f.sf(ratio, used, max(free - used, 1)) * len(spectrum) > CHANCE:
        raise BadInput(
            "no vibration stands out of the noise while the motor stands still; turn the motor faster, or put the marker at the tip"
        )
    t, y = parts[0]
    size = np.linalg.lstsq(_basis(t, f, s), y, rcond=None)[0][1:]
    amplitude = float(np.linalg.norm(size, 2))
    noise = float(np.sqrt(left / max(free - used, 1)))
    return DecayingOscillation(f, s, amplitude, noise, f * sum(seconds))


def _search(parts: Sequence[tuple[Array, Array]], spectrum: Array) -> tuple[float, float]:
    """The frequency of the spectrum and the decay, of a few, that explain most; all frequencies at once, by normal equations."""
    best = (-np.inf, float(spectrum[0]), 0.0)
    for ratio in DAMPING_RATIOS:
        w = 2.0 * np.pi * spectrum
        explained = np.zeros(len(w))
        for t, y in parts:
            angle = np.outer(w, t)
            envelope = np.exp(-ratio * angle)
            waves = np.stack([envelope * np.cos(angle), envelope * np.sin(angle)], axis=1)
            waves -= waves.mean(axis=2, keepdims=True)
            right = waves @ (y - y.mean(axis=0))
            explained += np.einsum("fij,fij->f", right, np.linalg.solve(waves @ waves.transpose(0, 2, 1), right))
        i = int(np.argmax(explained))
        best = max(best, (float(explained[i]), float(spectrum[i]), float(ratio * w[i])))
    return best[1], best[2]


def _basis(t: Array, f: float, s: float) -> Array:
    envelope, angle = np.exp(-s * t), 2.0 * np.pi * f * t
    return np.column_stack([np.ones_like(t), envelope * np.cos(angle), envelope * np.sin(angle)])


def _misfit(parts: Sequence[tuple[Array, Array]], f: float, s: float) -> float:
    """The squares that are left when the linear numbers are best."""
    total = 0.0
    for t, y in parts:
        B = np.linalg.qr(_basis(t, f, s))[0]
        r = y - B @ (B.T @ y)
        total += float(np.einsum("ij,ij->", r, r))
    return total


def _refined(parts: Sequence[tuple[Array, Array]], f: float, s: float, step: float) -> tuple[float, float]:
    """A pattern search from the grid's best point, the pattern halved whenever its middle is best."""
    df, ds = 0.5 * step, 2.0 * step
    value = _misfit(parts, f, s)
    for _ in range(200):
        if df < 1e-6 * f:
            break
        tried = [(_misfit(parts, f + a * df, s + b * ds), f + a * df, s + b * ds) for a, b in ((1, 0), (-1, 0), (0, 1), (0, -1))]
        near = min((row for row in tried if row[1] > 0.0), key=lambda row: row[0])
        if near[0] < value:
            value, f, s = near
        else:
            df, ds = 0.5 * df, 0.5 * ds
    return f, s
