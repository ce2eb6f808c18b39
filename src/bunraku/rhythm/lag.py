"""How late a performance is against the wish."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput

_MOVES = 1e-3  # a joint that stays within a thousandth of a radian (or metre) does not move
_ALIKE = 0.05  # correlations within this share of each other say nothing about which shift is meant
_ROUNDING = 1e-12  # correlations this near are equal: a flat top is no row of peaks made of noise
_STILL = 0.05  # a window slower than this share of the whole says nothing about timing


@dataclass(frozen=True)
class Lag:
    """Delay of a performance against its wish, positive when late: of the whole, and the largest of any window [s]."""

    seconds: float
    worst_window_seconds: float


def lag(wish: Array, performed: Array, rate: float, *, window: float = 3.0, reach: float = 2.0) -> Lag:
    """Delay of a performance against the wish, of the whole and of the worst window.

    It is the shift T that maximises the normalised cross-correlation of velocities w (wish) and p (performed),

        C(T) = sum_kj w_kj p_(k+T)j / sqrt(sum_kj w_kj^2 sum_kj p_(k+T)j^2),

    sums over all joints j that move and all samples k that both have at that shift; between samples by a parabola
    through the three values around the largest. Identical motions give 0, and so does a motion that stands still.

    Args:
        wish: wished positions (n, k).
        performed: performed positions (m, k); it may be longer or shorter.
        rate: samples per second of both [Hz].
        window: length of the windows [s], one every half second, the same stretch of time in both motions. Windows in which
            the wish nearly rests (RMS velocity below 5 % of the whole's) are passed over.
        reach: largest shift looked for [s], and never more than half of what is compared.
    """
    wish, performed = np.asarray(wish, dtype=np.float64), np.asarray(performed, dtype=np.float64)
    if wish.ndim != 2 or performed.ndim != 2 or wish.shape[1] != performed.shape[1]:
        raise BadInput(f"motions of shapes {wish.shape} and {performed.shape} cannot be compared; give (n, k) and (m, k)")
    if not (np.isfinite(rate) and rate > 0.0 and window > 0.0 and reach > 0.0):
        raise BadInput(f"rate {rate} Hz, window {window} s and reach {reach} s must be above 0")
    if min(len(wish), len(performed)) < 4:
        return Lag(0.0, 0.0)
    moving = np.ptp(wish, axis=0) > _MOVES
    w, p = np.diff(wish[:, moving], axis=0) * rate, np.diff(performed[:, moving], axis=0) * rate
    whole = shift_between(w, p, max(1, int(reach * rate))) / rate
    size, hop = max(3, round(window * rate)), max(1, round(0.5 * rate))
    least = _STILL**2 * float((w * w).sum()) / len(w)
    worst = whole
    for first in range(0, min(len(w), len(p)) - size + 1, hop):
        part = w[first : first + size]
        if (part * part).sum() / size > least:
            late = shift_between(part, p[first : first + size], max(1, int(reach * rate))) / rate
            worst = late if abs(late) > abs(worst) else worst
    return Lag(whole, worst)


def shift_between(first: Array, second: Array, reach: int) -> float:
    """By how many samples ``second`` (m, k) comes after ``first`` (n, k), between samples; see :func:`lag`.

    Of several shifts at which the correlation peaks within 5 % of the largest (periodic motion) the smallest is taken; 0 when
    either is zero throughout.
    """
    reach = min(reach, min(len(first), len(second)) // 2)
    if first.shape[1] == 0 or reach < 1 or not first.any() or not second.any():
        return 0.0
    size = 1 << (len(first) + len(second) - 1).bit_length()
    spectrum = np.conj(np.fft.rfft(first, size, axis=0)) * np.fft.rfft(second, size, axis=0)
    shifts = np.arange(-reach, reach + 1)
    product = np.fft.irfft(spectrum.sum(axis=1), size)[shifts % size]
    energies = [np.concatenate([[0.0], np.cumsum((part * part).sum(axis=1))]) for part in (first, second)]
    start = np.maximum(0, -shifts)
    stop = np.minimum(len(first), len(second) - shifts)
    mass_first = energies[0][stop] - energies[0][start]
    mass_second = energies[1][stop + shifts] - energies[1][start + shifts]
    mass = np.sqrt(np.maximum(mass_first * mass_second, 0.0))
    enough = mass > 1e-3 * np.sqrt(energies[0][-1] * energies[1][-1])
    c = np.where(enough, product / np.where(enough, mass, 1.0), -1.0)
    before, after = np.append(-np.inf, c[:-1]) - _ROUNDING, np.append(c[1:], -np.inf) - _ROUNDING
    peaks = np.flatnonzero((c >= before) & (c >= after) & (c >= c.max() - _ALIKE * abs(c.max())))
    best = int(peaks[np.argmin(np.abs(shifts[peaks]))])
    if not 0 < best < len(c) - 1:
        return float(shifts[best])
    bend = c[best - 1] - 2.0 * c[best] + c[best + 1]
    offset = 0.5 * (c[best - 1] - c[best + 1]) / bend if bend < -_ROUNDING else 0.0
    return float(shifts[best] + np.clip(offset, -0.5, 0.5))
