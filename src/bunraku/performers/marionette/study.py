"""A performance of a puppet beside what could be had without optimal control."""

from __future__ import annotations

import numpy as np

from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.measures.driven_motion import tracked_frames
from bunraku.mechanics.systems.character_system import character_system
from bunraku.motion import Performance
from bunraku.performers.marionette.baselines import QuasiStatic, best_quasi_static
from bunraku.performers.marionette.static_poses import StaticWeights

CUTOFFS = (0.25, 0.35, 0.5, 1.0, 2.0)
"""Cut-offs [Hz] of the low-pass that are tried."""

STATICS = tuple(StaticWeights(vertical=vertical) for vertical in (0.1, 0.3, 1.0))
"""Weights of vertical strings that are tried."""


def baseline_of(performance: Performance, *, frames: tuple[str, ...] = (), point_weight: float = 100.0) -> QuasiStatic:
    """The best quasi-static imitation of the wish of a performance, from the pose that it starts in.

    The wish is the same, fade from hanging included, and so are the points it is judged by (``frames``; see `tracked_frames`).
    Of fifteen attempts, ``CUTOFFS`` by ``STATICS``, the one whose points come nearest; nobody looks after tension and limits.
    """
    character, wish, motion = performance.character, performance.wish, performance.motion
    if not character.strings:
        raise BadInput(f"{character.name!r} hangs on no strings; poses at rest on strings are what this compares with")
    system = character_system(character, torques=True)
    start = np.array([motion.column(name)[0] for name in system.names])
    q = np.tile(start, (len(wish.values), 1))
    q[:, [system.index(name) for name in wish.names]] = wish.values
    points = Points(system, frames or tracked_frames(character))
    weights = np.full(len(points.names), point_weight)
    return best_quasi_static(character, system, q, points, weights, rate=wish.rate, cutoffs=CUTOFFS, q_start=start, statics=STATICS)
