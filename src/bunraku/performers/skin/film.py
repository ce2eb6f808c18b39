"""The outer surface of a skin kept while its frames are computed, a few times a second, so that it can be shown afterwards."""

from __future__ import annotations

from math import ceil

import numpy as np
from numpy.typing import NDArray

from bunraku.character import SkinMesh
from bunraku.mechanics.coupled.outer_surface import outer_surface
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.motion import SurfaceMotion
from bunraku.motion.surface import MAX_FAR, MAX_NUMBERS

SURFACE_RATE = 25.0
"""The most frames a second that are kept."""


class SurfaceFilm:
    """Keeps every so many states of each pass over frames of ``frame`` [s]; the first state of a pass has number 1."""

    def __init__(self, mesh: SkinMesh, frame: float) -> None:
        self._nodes, self._faces = outer_surface(mesh)
        self._every = max(1, ceil(1.0 / (SURFACE_RATE * frame) - 1e-9))
        self._rate = 1.0 / (self._every * frame)
        self._passes: list[list[NDArray[np.float32]]] = []

    def show(self, number: int, state: SkinnedState) -> None:
        """See the state after frame ``number`` of a pass."""
        if number == 1:
            self._passes.append([])
        if number % self._every == 0:
            self._passes[-1].append(self._seen(state))

    def surface(self, number: int, start: SkinnedState) -> SurfaceMotion | None:
        """The surface in pass ``number`` (the first is 0), which began at ``start``; None of a skin that flew apart.

        Of a motion too long to keep whole every second frame, every fourth and so on is taken.
        """
        kept = self._passes[number] if number < len(self._passes) else []
        points = np.stack([self._seen(start), *kept])
        if not np.isfinite(points).all() or np.abs(points).max() > MAX_FAR:
            return None
        every = 1
        while points[::every].size > MAX_NUMBERS:
            every *= 2
        return SurfaceMotion(self._faces.astype(np.int32), self._rate / every, points[::every])

    def _seen(self, state: SkinnedState) -> NDArray[np.float32]:
        return state.x[self._nodes].astype(np.float32)
