"""Movies: a performance as a film, its pictures drawn one by one as they are asked for."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.figure.motion import drawn
from bunraku.stage.film import Film
from bunraku.stage.picture.shot import Shot, shot

LONGEST = 3600.0
"""Longest film [s]."""


@dataclass(frozen=True, eq=False)
class Frames:
    """Pictures of a shot at ``times`` (k,) [s]; each is drawn when it is asked for."""

    scene: Shot
    times: NDArray[np.float64]

    def __len__(self) -> int:
        return len(self.times)

    def __iter__(self) -> Iterator[NDArray[np.uint8]]:
        return (self.scene.picture(float(time)) for time in self.times)


def movie(
    performance: Performance,
    *,
    fps: float = 30.0,
    start: float | None = None,
    end: float | None = None,
    audio: bool = True,
    beside: Performance | None = None,
    **view: Any,
) -> Film:
    """The performance as a film from ``start`` to ``end`` [s], all of it by default; the last pose is held until its voice ends.

    Args:
        performance: What is seen.
        fps: Pictures a second. Each shows the middle of its time, so that no moment is seen more than half a picture early or late.
        start: From this time of the performance on [s].
        end: Up to this time [s].
        audio: Whether its voice is heard; without, the film ends with the motion.
        beside: A performance with a film of its own: the camera stands where it sees all of both, or goes along with each as near.
        view: What is seen from where, as `shot.shot` takes it.
    """
    if not 0.0 < fps <= 240.0:
        raise BadInput(f"{fps} pictures a second were asked for; give from 1 to 240")
    times = _times(performance, fps, start, end, audio)
    if beside is not None:
        view["alike"] = (drawn(beside, times=_times(beside, fps, start, end, audio)),)
    first = 0.0 if start is None else start
    return Film(Frames(shot(performance, times, **view), times), fps, performance.audio if audio else None, first)


def _times(performance: Performance, fps: float, start: float | None, end: float | None, voice: bool) -> NDArray[np.float64]:
    """The middle of the time [s] of each picture."""
    first, last = span_of(performance, start, end, voice=voice)
    return np.asarray(first + (np.arange(max(1, round((last - first) * fps))) + 0.5) / fps, dtype=np.float64)


def span_of(performance: Performance, start: float | None, end: float | None, *, voice: bool = False) -> tuple[float, float]:
    """From when to when [s] a film goes; BadInput if that is nothing of the performance, or more than an hour.

    ``voice``: it goes on until the voice has ended, as the player does, where that is longer than the motion.
    """
    duration = max(performance.duration, performance.audio.duration if voice and performance.audio is not None else 0.0)
    first, last = 0.0 if start is None else start, duration if end is None else min(end, duration)
    if not (0.0 <= first < last or first == last == 0.0 == duration):
        whole = f"the performance goes from 0 to {duration:.3f} s"
        raise BadInput(f"a film from {first:g} to {last:g} s was asked for; {whole}, and the end comes after the start")
    if last - first > LONGEST:
        raise BadInput(f"a film of {last - first:.0f} s was asked for; give --start and --end at most {LONGEST:.0f} s apart")
    return first, last
