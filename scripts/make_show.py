"""Make the closing show: the clip ``full-show`` for the drummer, with its music and the spoken count before it.

    python scripts/make_show.py        # writes src/bunraku/assets/clips/full-show.clip.yaml and full-show.wav

Score, music and motion are in `scripts/show`; the count is spoken by the library of espeak-ng as in make_clips.py. The same
espeak-ng makes the same bytes; without it the clip's file alone can be made anew, the voice cannot.
"""

from __future__ import annotations

import wave
from dataclasses import dataclass
from math import gcd
from pathlib import Path

import numpy as np
from numpy.typing import NDArray
from scipy.signal import resample_poly
from show.motion import motion
from show.music import RATE, music
from show.score import BEAT, COUNT, COUNT_FROM

OUT = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips"
SOURCE = "made by this project: music and motion by scripts/make_show.py, the count spoken by espeak-ng"
MANNER = {"voice": "en-us", "speed": 170, "pitch": 38, "range": 70}


@dataclass(frozen=True)
class Counted:
    """A spoken number: samples at RATE and where they start; the word's start and end [s] in the clip."""

    text: str
    samples: NDArray[np.float64]
    at: float
    start: float
    end: float
    beat: float


def count_in() -> list[Counted]:
    """The four numbers, each placed so that its beat is on the beat."""
    from make_clips import speak

    found = []
    for k, text in enumerate(COUNT):
        spoken = speak(f"*{text}*", MANNER)
        word, beat = spoken.words[0], COUNT_FROM + k * BEAT
        up, down = RATE // gcd(RATE, spoken.rate), spoken.rate // gcd(RATE, spoken.rate)
        samples = resample_poly(spoken.samples, up, down)
        at = beat - word.beat
        found.append(Counted(text, 0.5 * samples / np.abs(samples).max(), at, at + word.start, at + word.end, beat))
    return found


def clip_text(words: list[tuple[str, float, float, float]]) -> str:
    """The clip's file; ``words``: text, start, end, beat [s]."""
    text, _, _ = motion().written(f"For the drummer. {(motion.__doc__ or '').strip()}").rpartition("source:")
    lines = [f"  - {{text: {word}, start_s: {a:.3f}, end_s: {b:.3f}, stroke_s: {beat:.3f}}}\n" for word, a, b, beat in words]
    return f'{text}audio: {{file: full-show.wav}}\nwords:\n{"".join(lines)}source: "{SOURCE}"\n'


def main() -> None:
    """Write both files."""
    sound = music()
    numbers = count_in()
    for number in numbers:
        first = round(number.at * RATE)
        sound[first : first + len(number.samples)] += number.samples
    with wave.open(str(OUT / "full-show.wav"), "wb") as file:
        file.setnchannels(1)
        file.setsampwidth(2)
        file.setframerate(RATE)
        file.writeframes(np.round(sound * 32767.0).astype("<i2").tobytes())
    words = [(number.text, number.start, number.end, number.beat) for number in numbers]
    (OUT / "full-show.clip.yaml").write_text(clip_text(words), encoding="utf-8")
    print(f"{len(sound) / RATE:.1f} s; " + ", ".join(f"{number.text} {number.start:.3f} to {number.end:.3f}" for number in numbers))


if __name__ == "__main__":
    main()
