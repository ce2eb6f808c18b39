"""Films of a pair: both before the same camera, so that nothing but the motion tells them apart."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.formats.study_yaml import ShownFilm
from bunraku.motion import Performance
from bunraku.stage.figure.motion import drawn
from bunraku.stage.film import Film
from bunraku.stage.picture.movie import Frames, span_of
from bunraku.stage.picture.shot import shot


def paired_film(performance: Performance, other: Performance, form: ShownFilm) -> Film:
    """A performance as a film with its voice; the camera stands where it sees all of this one and of the ``other`` of the pair.

    One that follows goes along with each in its own film, as near to both. The last pose is held until the voice ends.
    """
    times = _times(performance, form.fps)
    pair = drawn(other, times=_times(other, form.fps))
    scene = shot(performance, times, width=form.width, height=form.height, alike=(pair,))
    return Film(Frames(scene, times), form.fps, performance.audio)


def _times(performance: Performance, fps: float) -> NDArray[np.float64]:
    """The middle of the time [s] of each picture."""
    first, last = span_of(performance, None, None, voice=True)
    return np.asarray(first + (np.arange(max(1, round((last - first) * fps))) + 0.5) / fps, dtype=np.float64)
