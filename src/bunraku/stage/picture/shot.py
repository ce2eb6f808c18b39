"""A shot: a performance before a camera, ready to be drawn at any of its times; and films of it, drawn picture by picture."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import DrawnMotion, drawn
from bunraku.stage.film import Film
from bunraku.stage.picture.camera import nearer, standing
from bunraku.stage.picture.painter import DARK, LIGHT, Painter
from bunraku.stage.picture.triangles import TriangleModel

Played = Literal["performed", "wish"]

GHOST = (0.20, 0.72, 0.36)
"""Of what was wished."""
BEFORE = (0.74, 0.75, 0.77)
"""Of the wish played as it is."""

THREAD = 0.002
"""Radius of a string as it is drawn, over the size of the character."""
LOOKS = 48
"""At how many frames the camera makes sure of what it sees."""
FAR = 1.2
"""A character goes over the ground if its box moves farther than this times its size."""
EASE = 0.4
"""How far in time [s] the way of a camera that follows is smoothed."""


@dataclass(frozen=True, eq=False)
class Way:
    """How far ``gone`` (m, 3) [m] a camera that follows has at ``times`` (m,) [s]; before and after them it stands."""

    times: Array
    gone: Array

    def at(self, times: Array) -> Array:
        """How far (k, 3) [m] it has gone at any times (k,) [s]."""
        return np.column_stack([np.interp(times, self.times, self.gone[:, k]) for k in range(3)])


@dataclass(frozen=True, eq=False)
class Shot:
    """A painter with what it draws: a solid figure, and a see-through one or none.

    ``cloud`` (n, 3) [m]: points of all that is in the picture. ``way``: of a camera that follows; None if it stands.
    """

    painter: Painter
    solid: TriangleModel
    ghost: TriangleModel | None
    cloud: NDArray[np.float32]
    way: Way | None = None

    @property
    def proportion(self) -> float:
        """Width over height of all that is in the picture."""
        x, y, _ = self.painter.camera.seen(self.cloud, self.painter.width, self.painter.height)
        return float(np.ptp(x) / max(float(np.ptp(y)), 1e-6))

    def resized(self, width: int, height: int) -> Shot:
        """The same for a picture of another size, which it fills as well."""
        camera = nearer(self.painter.camera, self.cloud, aspect=width / height)
        return replace(self, painter=replace(self.painter, camera=camera, width=width, height=height, _kept={}))

    def of(self, motion: DrawnMotion) -> Shot:
        """Another motion of the character before the same camera, grey."""
        return replace(self, solid=TriangleModel(motion, tint=BEFORE, thread=THREAD * _size(motion)))

    def picture(self, time: float) -> NDArray[np.uint8]:
        """What the camera sees (height, width, 3) at a time [s]."""
        painter = self.painter
        if self.way is not None:
            way = self.way.at(np.array([time]))[0]
            middle = (painter.middle[0] + way[0], painter.middle[1] + way[1])
            painter = replace(painter, camera=painter.camera.moved(way), middle=middle, _kept={})
        return painter.draw(self.solid.at(time), None if self.ghost is None else self.ghost.at(time))


def goes(motion: DrawnMotion) -> bool:
    """Whether the character goes away from where it starts, farther than it is large."""
    middle = 0.5 * (motion.lower + motion.upper)
    return bool(np.linalg.norm(np.ptp(middle, axis=0)) > FAR * _size(motion))


def shot(performance: Performance, times: Array, *, motion: Played = "performed", wish: bool = False, **options: Any) -> Shot:
    """A performance before a camera that sees all of it at ``times`` (k,) [s].

    ``motion``: as "performed", or the "wish" played as it is: what a flexible character would do then, in grey. ``wish``: what was
    wished is seen too, green and see-through. Other options as of `arranged`.
    """
    figure = Figure(performance.character)
    seen = drawn(performance, which="motion" if motion == "performed" else "before", figure=figure, times=times)
    wished = drawn(performance, which="wish", figure=figure, times=times) if wish else None
    return arranged(seen, wished, grey=motion == "wish", **options)


def arranged(
    seen: DrawnMotion,
    wished: DrawnMotion | None = None,
    *,
    width: int = 640,
    height: int = 360,
    view: str = "three-quarter",
    follow: bool | None = None,
    dark: bool = False,
    grey: bool = False,
    marked: Collection[str] = (),
    samples: int = 2,
    also: Sequence[DrawnMotion] = (),
    alike: Sequence[DrawnMotion] = (),
) -> Shot:
    """A drawn motion before a camera, ``wished`` over it in green, in a picture of ``width`` x ``height`` pixels.

    ``view``: from where it is seen; one of `camera.DIRECTIONS`. ``follow``: whether the camera goes along with the character; by
    default with one that goes farther than it is large. ``dark``: the stage. ``marked``: bodies in red, such as those beyond a
    limit. ``grey``: all in that colour. ``samples``: a pixel, in each direction. ``also``: other motions that the camera has to
    see. ``alike``: those that have shots of their own, whose cameras are to stand as this one does or to follow in the same way.
    """
    follows = any(goes(one) for one in (seen, *alike)) if follow is None else follow
    way = _way(seen) if follows else None
    here = [seen, *([] if wished is None else [wished]), *also]
    ways = [*(way for _ in here), *(_way(one) if follows else None for one in alike)]
    boxes = [_box(one, gone) for one, gone in zip([*here, *alike], ways, strict=True)]
    low, high = np.min([box[0] for box in boxes], axis=0), np.max([box[1] for box in boxes], axis=0)
    size, thread = float(np.linalg.norm(high - low)), THREAD * _size(seen)
    solid = TriangleModel(seen, tint=BEFORE if grey else None, marked=marked, thread=thread)
    ghost = None if wished is None else TriangleModel(wished, tint=GHOST, thread=None)
    models = [solid, *([] if ghost is None else [ghost]), *(TriangleModel(one) for one in (*also, *alike))]
    cloud = np.vstack([_cloud(one, gone) for one, gone in zip(models, ways, strict=True)])
    camera = nearer(standing(low, high, view=view, aspect=width / height), cloud, aspect=width / height)
    middle = 0.5 * (low + high)
    painter = Painter(
        camera, width, height, size, _floor(seen), (float(middle[0]), float(middle[1])), DARK if dark else LIGHT, samples
    )
    return Shot(painter, solid, ghost, cloud, way)


def _cloud(model: TriangleModel, way: Way | None) -> NDArray[np.float32]:
    """Points (n, 3) of the character at some of its frames, seen from a camera that goes along the way."""
    count = len(model.motion.times)
    times = model.motion.times[np.linspace(0, count - 1, min(count, LOOKS)).astype(np.int64)]
    points = [model.at(float(time)).points[model.own] for time in times]
    if way is not None:
        points = [one - gone for one, gone in zip(points, way.at(times).astype(np.float32), strict=True)]
    return np.vstack(points)


def _box(motion: DrawnMotion, way: Way | None) -> tuple[Array, Array]:
    """Corners (3,) of the box around all that happens, seen from a camera that goes along the way."""
    gone = np.zeros((len(motion.times), 3)) if way is None else way.at(motion.times)
    return (motion.lower - gone).min(axis=0), (motion.upper - gone).max(axis=0)


def _size(motion: DrawnMotion) -> float:
    """The diagonal [m] of the character's box, the middle one over time."""
    return max(float(np.median(np.linalg.norm(motion.upper - motion.lower, axis=1))), 1e-3)


def _floor(motion: DrawnMotion) -> float:
    """The height of the ground [m]: 0 where the character stands on it or above it, else just below the lowest that it comes."""
    lowest, size = float(motion.lower[:, 2].min()), _size(motion)
    return 0.0 if -0.05 * size <= lowest <= 0.8 * size else lowest - 0.02 * size


def _way(motion: DrawnMotion) -> Way:
    """How far the middle of the character has gone over the ground, smoothed."""
    middle = 0.5 * (motion.lower + motion.upper)
    middle[:, 2] = 0.0
    if len(middle) < 3:
        return Way(motion.times, middle - middle[0])
    from scipy.ndimage import gaussian_filter1d

    even = np.linspace(motion.times[0], motion.times[-1], 2 * len(middle))
    path = np.column_stack([np.interp(even, motion.times, middle[:, k]) for k in range(3)])
    straight = path[0] + np.linspace(0.0, 1.0, len(even))[:, None] * (path[-1] - path[0])
    smooth = straight + gaussian_filter1d(path - straight, EASE / (even[1] - even[0]), axis=0, mode="nearest")
    places = np.column_stack([np.interp(motion.times, even, smooth[:, k]) for k in range(3)])
    return Way(motion.times, places - places[0])


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
