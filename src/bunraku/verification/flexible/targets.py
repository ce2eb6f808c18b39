"""Where tracked places should be between the times at which poses at rest were solved for.

    target(t) = guide(t) + s(t),    s the cubic spline through (target - guide) at those times,

where the guide is the path of poses at rest of the reduced model (nothing, if there is none): how far two models of a rest differ
changes more slowly than the rest itself.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array

Guide = tuple[Array, Array]
"""Times (k,) [s], and positions (k, frames, 3) [m] of the tracked places at rest as another model has them."""


def between(times: Array, known: Array, samples: Array, guide: Guide | None) -> Array:
    """Targets (n, frames, 3) at ``times`` from ``samples`` at the ``known`` ones: a guide, moved by a spline of what it misses."""

    def led(at: Array) -> Array:
        if guide is None:
            return np.zeros((len(at), *samples.shape[1:]))
        path = [np.interp(at, guide[0], column) for column in guide[1].reshape(len(guide[1]), -1).T]
        return np.column_stack(path).reshape(len(at), *samples.shape[1:])

    if not len(times):
        return np.zeros((0, *samples.shape[1:]))
    missed = samples - led(known)
    return led(times) + (CubicSpline(known, missed)(times) if len(known) > 1 else missed)
