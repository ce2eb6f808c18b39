"""The loudness of a sound over time."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.sound import Audio


def envelope(audio: Audio, rate: float = 100.0, window: float = 0.03) -> Array:
    """Loudness envelope: the root mean square of the sound around each time k / ``rate``.

    E_k = sqrt(mean of s(t)^2 for |t - k / rate| <= window / 2), s the samples; at the ends the mean runs over what is there.

    Args:
        audio: the sound.
        rate: envelope samples per second [Hz].
        window: length of the stretch averaged [s].

    Returns:
        Envelope (m,), the last sample at or before the end of the sound; samples of full scale give at most 1.
    """
    if not 0.0 < rate <= 10_000.0 or not 0.0 < window <= 10.0:
        raise BadInput(f"an envelope at {rate} Hz over {window} s cannot be made; give a rate up to 10000 and a window up to 10")
    n = len(audio.samples)
    if n == 0:
        return np.zeros(0)
    count = int(np.floor((n - 1) / audio.rate * rate + 1e-9)) + 1
    center = np.arange(count) * (audio.rate / rate)
    half = max(0.5, 0.5 * window * audio.rate)
    first = np.clip(np.ceil(center - half), 0, n - 1).astype(np.int64)
    last = np.clip(np.floor(center + half), first, n - 1).astype(np.int64)
    energy = np.concatenate([[0.0], np.cumsum(audio.samples**2)])
    mean = (energy[last + 1] - energy[first]) / (last + 1 - first)
    return np.asarray(np.sqrt(np.maximum(mean, 0.0)))
