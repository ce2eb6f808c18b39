"""Onsets: when sounds start sharply, as drums and plosives do."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.peaks import apart as far_apart
from bunraku.geometry.peaks import maxima
from bunraku.motion.sound import Audio

_FLOOR = 1e-4  # of the loudest window's energy: what is quieter than 40 dB below it is silence


def onsets(audio: Audio, *, rise: float = 9.0, window: float = 0.01, apart: float = 0.08) -> Array:
    """Times (m,) [s] at which the sound starts sharply, in order.

    With d the differences of successive samples, which favour the crack of a start over tones that go on, and E(a, b) the sum of
    d^2 from a to b, the rise at t is 10 log10((E(t, t + w) + e) / (E(t - w, t) + e)) decibels, w the ``window`` [s] and e a floor
    of 1e-4 of the loudest window. It peaks where a sound starts. Peaks of at least ``rise`` [dB] are onsets; of several within
    ``apart`` [s] the steepest is.
    """
    if not 0.0 < window <= 1.0 or not 0.0 <= apart <= 10.0 or not rise > 0.0:
        raise BadInput(
            f"a rise of {rise} dB within {window} s, {apart} s apart, is no onset; give numbers above 0, a window up to 1"
        )
    w = max(1, round(window * audio.rate))
    if len(audio.samples) < 2 * w + 2:
        return np.zeros(0)
    energy = np.concatenate([[0.0], np.cumsum(np.diff(audio.samples, prepend=0.0) ** 2)])
    at = np.arange(len(audio.samples))
    ahead = energy[np.minimum(at + w, len(audio.samples))] - energy[at]
    behind = energy[at] - energy[np.maximum(at - w, 0)]
    floor = _FLOOR * float(ahead.max())
    if floor <= 0.0:
        return np.zeros(0)
    level = 10.0 * np.log10((ahead + floor) / (behind + floor))
    padded = np.concatenate([[0.0], level, [0.0]])
    high = maxima(padded)
    high = far_apart(padded, high[padded[high] >= rise], max(1, round(apart * audio.rate)))
    return np.asarray((high - 1) / audio.rate)
