"""Curves without what is faster than a frequency, and without delay."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import JointCurves


def smoothed(curves: JointCurves, cutoff: float) -> JointCurves:
    """The curves, each frequency f [Hz] times 1 / (1 + (f / cutoff)^4): a half at the ``cutoff``, phase zero everywhere.

    It is the gain of a Butterworth filter of order 2 that runs forward and backward. Curves are continued at both ends by
    themselves turned about the end point, so that neither end is moved.
    """
    if not cutoff > 0.0:
        raise BadInput(f"a low-pass at {cutoff} Hz leaves no motion; give a positive frequency")
    n = len(curves.values)
    if n < 3 or cutoff >= 0.499 * curves.rate:
        return curves
    x = curves.values
    wide = np.concatenate([2.0 * x[0] - x[:0:-1], x, 2.0 * x[-1] - x[-2::-1]])
    ramp = wide[0] + np.linspace(0.0, 1.0, len(wide))[:, None] * (wide[-1] - wide[0])
    spectrum = np.fft.rfft((wide - ramp)[:-1], axis=0)
    frequency = np.fft.rfftfreq(len(wide) - 1, 1.0 / curves.rate)
    gain = 1.0 / (1.0 + (frequency / cutoff) ** 4)
    smooth: Array = np.fft.irfft(gain[:, None] * spectrum, n=len(wide) - 1, axis=0) + ramp[:-1]
    return JointCurves(curves.names, curves.rate, smooth[n - 1 : 2 * n - 1])
