"""The music of the show: two drums, a bass and a tune, synthesized. Only the drums start sharply, so that the beat can be found."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from show.score import BEAT, CHORDS, DURATION, START, TUNE, hits

RATE = 16_000
Array = NDArray[np.float64]


def music() -> Array:
    """Samples (n,) at RATE, at most 0.8; silent until the first bar."""
    sound = np.zeros(round(DURATION * RATE))
    random = np.random.default_rng(8)
    for hit in hits():
        _add(sound, hit.time, 0.42 * (0.4 + 0.6 * hit.power) * _drum(92.0 if hit.side == "right" else 124.0, random))
    for bar, chord in enumerate(CHORDS):
        first, beats = START + 4 * bar * BEAT, 4 if bar < len(CHORDS) - 1 else 2
        for half in range(beats // 2):
            _add(sound, first + 2 * half * BEAT, 0.16 * _note(chord[0] - 12, 1.8 * BEAT, (1.0, 0.35, 0.12)))
        for note in chord:
            _add(sound, first, 0.035 * _note(note, (beats - 0.2) * BEAT, (1.0, 0.2)))
    for note, beat, beats in TUNE:
        _add(sound, START + beat * BEAT, 0.1 * _note(note, 0.92 * beats * BEAT, (1.0, 0.3, 0.08)))
    return sound * (0.8 / np.abs(sound).max())


def _drum(pitch: float, random: np.random.Generator) -> Array:
    """A tom: a tone that falls to ``pitch`` [Hz] and dies within 0.3 s, and the crack of the stick; at full height at once."""
    t = np.arange(round(0.35 * RATE)) / RATE
    phase = 2.0 * np.pi * (pitch * t + 0.9 * pitch * 0.03 * (1.0 - np.exp(-t / 0.03)))
    skin = np.exp(-t / 0.09) * np.cos(phase)
    crack = np.exp(-t / 0.012) * random.uniform(-1.0, 1.0, len(t))
    return np.asarray(skin + 0.8 * crack)


def _note(note: int, duration: float, partials: tuple[float, ...]) -> Array:
    """A soft note: its partials swell for 60 ms, fade slowly and end in 80 ms."""
    t = np.arange(round(duration * RATE)) / RATE
    frequency = 440.0 * 2.0 ** ((note - 69) / 12.0)
    swell = 0.5 - 0.5 * np.cos(np.pi * np.clip(t / 0.06, 0.0, 1.0))
    end = 0.5 - 0.5 * np.cos(np.pi * np.clip((duration - t) / 0.08, 0.0, 1.0))
    tone = sum(share * np.sin(2.0 * np.pi * (k + 1) * frequency * t) for k, share in enumerate(partials))
    return np.asarray(swell * end * np.exp(-t / 1.2) * tone)


def _add(sound: Array, time: float, part: Array) -> None:
    first = round(time * RATE)
    last = min(len(sound), first + len(part))
    sound[first:last] += part[: last - first]
