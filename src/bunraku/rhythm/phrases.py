"""Phrases of a voice, found by its energy."""

from __future__ import annotations

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion.sound import Audio, Mark
from bunraku.rhythm.envelope import envelope

_RATE = 200.0  # envelope samples per second: 5 ms steps
_SPAN = 60.0  # dB below the speech level, nothing is heard


def find_phrases(
    audio: Audio,
    *,
    minimal_pause: float = 0.2,
    minimal_phrase: float = 0.12,
    opens: float = 0.55,
    closes: float = 0.45,
) -> tuple[Mark, ...]:
    """Speech phrases: stretches of sound between pauses, by energy with hysteresis.

    Levels are placed between the floor F (0) and the speech level L (1), in decibels: L is the 95th percentile of the
    envelope, F its 5th, brought into [L - 60 dB, L - 20 dB]. A phrase opens where the level rises
    through ``opens`` and reaches back, and on, to where it falls through ``closes``; pauses shorter than ``minimal_pause`` [s]
    do not part phrases, and phrases shorter than ``minimal_phrase`` [s] are noises.

    Returns:
        Marks "phrase 1", "phrase 2", ... in order of time; none for silence.
    """
    if not 0.0 < closes <= opens < 1.0:
        raise BadInput(f"phrases that open at {opens} and close at {closes} cannot be found; give 0 < closes <= opens < 1")
    loudness = envelope(audio, _RATE, 0.03)
    if loudness.size == 0 or loudness.max() < 1e-4:
        return ()
    level = np.maximum(20.0 * np.log10(np.maximum(loudness, 1e-30)), -120.0)  # dB, full scale 0
    speech = float(np.percentile(level, 95))
    floor = float(np.clip(np.percentile(level, 5), speech - _SPAN, speech - 20.0))
    height = (level - floor) / (speech - floor)
    stretches = [run for run in _runs(height > closes) if height[run[0] : run[1]].max() >= opens]
    joined: list[tuple[int, int]] = []
    for first, last in stretches:
        if joined and first - joined[-1][1] < minimal_pause * _RATE:
            joined[-1] = (joined[-1][0], last)
        else:
            joined.append((first, last))
    kept = [(first, last) for first, last in joined if last - first >= minimal_phrase * _RATE]
    return tuple(
        Mark(f"phrase {i}", first / _RATE, min((last - 1) / _RATE, audio.duration)) for i, (first, last) in enumerate(kept, 1)
    )


def _runs(flags: np.ndarray[tuple[int], np.dtype[np.bool_]]) -> list[tuple[int, int]]:
    """Stretches [first, last) where the flags are true."""
    edges = np.flatnonzero(np.diff(np.concatenate([[0], flags.astype(np.int8), [0]])))
    return [(int(a), int(b)) for a, b in zip(edges[::2], edges[1::2], strict=True)]
