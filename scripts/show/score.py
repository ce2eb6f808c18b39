"""The score of the show: when somebody counts, when which hand hits, which notes go with it. Everything else is made from this."""

from __future__ import annotations

from dataclasses import dataclass

DURATION = 8.4  # [s]
BEAT = 0.56  # [s]
COUNT = ("one", "two", "three", "four")
COUNT_FROM = 0.6  # [s]: the first word's beat
START = COUNT_FROM + len(COUNT) * BEAT  # [s]: the first bar
BARS = ("R.L.RLR.", "RLRLRLR.")
"""Two bars of eight quavers: R and L hit, a dot is a rest. Both hands hit once more on the first beat after them."""

CHORDS = ((57, 60, 64), (55, 59, 62), (57, 60, 64))
"""The chord of each bar and of the end, as MIDI notes; the bass plays the first, an octave below."""

TUNE = (
    (76, 0.0, 1.5), (74, 1.5, 0.5), (72, 2.0, 1.0), (69, 3.0, 1.0), (71, 4.0, 1.0), (74, 5.0, 0.5), (76, 5.5, 0.5), (77, 6.0, 1.0),
    (76, 7.0, 1.0), (69, 8.0, 2.0),
)  # fmt: skip
"""Notes of the tune: MIDI note, beat it starts on, beats it lasts."""


@dataclass(frozen=True)
class Hit:
    """A hit of one hand at ``time`` [s], ``power`` 0 to 1."""

    side: str
    time: float
    power: float


def hits() -> tuple[Hit, ...]:
    """All hits in order of time; both hands hit last."""
    found = []
    for bar, pattern in enumerate(BARS):
        for k, letter in enumerate(pattern):
            if letter in "RL":
                power = 1.0 if k == 0 else 0.8 if k % 2 == 0 else 0.7
                time = START + (4 * bar + 0.5 * k) * BEAT
                found.append(Hit("right" if letter == "R" else "left", round(time, 3), power))
    end = round(START + 4 * len(BARS) * BEAT, 3)
    return (*found, Hit("right", end, 1.0), Hit("left", end, 1.0))
