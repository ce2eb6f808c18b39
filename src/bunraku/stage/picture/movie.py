"""Movies: a performance as a film, its pictures drawn one by one as they are asked for."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.film import Film
from bunraku.stage.picture.shot import Played, Shot, shot

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
    motion: Played = "performed",
    width: int = 640,
    height: int = 360,
    fps: float = 30.0,
    target: bool = False,
    start: float | None = None,
    end: float | None = None,
    audio: bool = True,
    view: str = "three-quarter",
    follow: bool | None = None,
    dark: bool = False,
    marked: Collection[str] = (),
) -> Film:
    """The performance as a film from ``start`` to ``end`` [s], all of it by default; the last pose is held until its voice ends.

    Args:
        performance: What is seen.
        motion: As "performed", or the "wish" played as it is: what a flexible character would do then, in grey.
        width: Of a picture [px].
        height: Of a picture [px].
        fps: Pictures a second. Each shows the middle of its time, so that no moment is seen more than half a picture early or late.
        target: Whether what was wished is seen too, green and see-through.
        start: From this time of the performance on [s].
        end: Up to this time [s].
        audio: Whether its voice is heard; without, the film ends with the motion.
        view: From where it is seen; one of `camera.DIRECTIONS`.
        follow: Whether the camera goes along with the character; by default with one that goes farther than it is large.
        dark: Whether the stage is dark.
        marked: Bodies in red, such as those beyond a limit.
    """
    if not 0.0 < fps <= 240.0:
        raise BadInput(f"{fps} pictures a second were asked for; give from 1 to 240")
    first, last = span_of(performance, start, end, voice=audio)
    count = max(1, round((last - first) * fps))
    times = np.asarray(first + (np.arange(count) + 0.5) / fps, dtype=np.float64)
    scene = shot(
        performance,
        times,
        motion=motion,
        target=target,
        width=width,
        height=height,
        view=view,
        follow=follow,
        dark=dark,
        marked=marked,
    )
    return Film(Frames(scene, times), fps, performance.audio if audio else None, first)


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
