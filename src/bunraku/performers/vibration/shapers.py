"""Input shapers and low-pass filters: what is done about vibration without a model of the whole motion.

A shaper sums delayed copies of the command, sum_i a_i theta(t - t_i), sum_i a_i = 1, so that the vibrations each would leave
cancel. For a mode of damped period T and damping ratio zeta, K = exp(-zeta pi / sqrt(1 - zeta^2)):

    ZV   a = (1, K)/(1 + K)             at t = 0, T/2           (Smith 1957; Singer and Seering 1990)
    ZVD  a = (1, 2 K, K^2)/(1 + K)^2    at t = 0, T/2, T        (insensitive to the frequency to first order)

Offline they may act ahead of time: "advanced" shapers start half their length early, so that on the whole nothing is late.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import exp, pi, sqrt

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput


@dataclass(frozen=True)
class Shaper:
    """Impulses of ``amplitudes`` (k,), sum 1, at ``times`` (k,) [s]."""

    times: Array
    amplitudes: Array

    @property
    def length(self) -> float:
        """The time [s] between its first and last impulse."""
        return float(self.times[-1] - self.times[0])

    def after(self, other: Shaper) -> Shaper:
        """Both shapers, one after the other: their convolution."""
        t = (self.times[:, None] + other.times).ravel()
        a = (self.amplitudes[:, None] * other.amplitudes).ravel()
        order = np.argsort(t, kind="stable")
        return Shaper(t[order], a[order])

    def advanced(self) -> Shaper:
        """The same shaper started half its length early."""
        return Shaper(self.times - 0.5 * self.length, self.amplitudes)

    def shaped(self, t: Array, values: Array) -> Array:
        """The command ``values`` (n, m) at rising times ``t`` (n,) shaped; before and after it the end values are held."""
        out = np.zeros_like(values)
        for delay, share in zip(self.times, self.amplitudes, strict=True):
            for j in range(values.shape[1]):
                out[:, j] += share * np.interp(t - delay, t, values[:, j])
        return out


def zero_vibration(frequency: float, damping: float = 0.0) -> Shaper:
    """The ZV shaper of a mode: undamped ``frequency`` [Hz], ``damping`` ratio."""
    half, K = _half_period(frequency, damping)
    return Shaper(np.array([0.0, half]), np.array([1.0, K]) / (1.0 + K))


def zero_vibration_derivative(frequency: float, damping: float = 0.0) -> Shaper:
    """The ZVD shaper of a mode: undamped ``frequency`` [Hz], ``damping`` ratio."""
    half, K = _half_period(frequency, damping)
    return Shaper(np.array([0.0, half, 2.0 * half]), np.array([1.0, 2.0 * K, K * K]) / (1.0 + K) ** 2)


def low_pass(values: Array, rate: float, cutoff: float) -> Array:
    """``values`` (n, m) at ``rate`` [Hz] low-passed without delay (Butterworth of second order, forward and back), ends held."""
    if not 0.0 < cutoff < 0.5 * rate:
        raise BadInput(
            f"a low-pass at {cutoff:g} Hz of samples at {rate:g} Hz is not possible; choose between 0 and {0.5 * rate:g} Hz"
        )
    from scipy.signal import butter, sosfiltfilt  # half a second to import

    hold = int(np.ceil(3.0 * rate / cutoff))
    padded = np.pad(values, ((hold, hold), (0, 0)), mode="edge")
    filtered = sosfiltfilt(butter(2, cutoff, fs=rate, output="sos"), padded, axis=0, padlen=0)
    return np.asarray(filtered, dtype=np.float64)[hold : hold + len(values)]


def _half_period(frequency: float, damping: float) -> tuple[float, float]:
    if not frequency > 0.0 or not 0.0 <= damping < 1.0:
        raise BadInput(f"a mode of {frequency:g} Hz with damping ratio {damping:g} cannot be shaped; frequency > 0, 0 <= ratio < 1")
    root = sqrt(1.0 - damping**2)
    return 0.5 / (frequency * root), exp(-damping * pi / root)
