"""Characters with flexible parts, bending: their bodies and the surfaces of their parts over time.

A performance of such a character says what its motors do; how the parts swing is computed again from that with the reduced model.
This takes a second or two for a long clip, so whoever must not wait calls it in a process of its own.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.prediction import motor_nodes
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.motion import JointCurves
from bunraku.stage.figure.parts import PartSurface

How = Literal["swinging", "resting"]

STEP = 2e-3
"""Step [s] of the simulation that is drawn; points of the drummer and the dancer are within 0.06 mm of those of 0.5 ms."""

REST_STEP = 0.04
"""Every so long [s] the rest is computed; between, it goes along a spline."""


@dataclass(frozen=True, eq=False)
class Bent:
    """Bodies ``R`` (m, bodies, 3, 3), ``p`` (m, bodies, 3), points (m, v, 3) of each part, mass times centre (m, 3) of them."""

    R: Array
    p: Array
    surfaces: tuple[NDArray[np.float32], ...]
    moment: Array


def bend(
    model: FlexibleCharacterSystem,
    bodies: Sequence[str],
    surfaces: Sequence[PartSurface],
    curves: JointCurves,
    times: Array,
    how: How,
) -> Bent:
    """The character under motor curves at some ``times`` (m,) [s]: swinging as it does, or at rest in every pose of the curves.

    Swinging, the curves are commands, which motors follow after the delay they state; BadInput when that cannot be simulated.
    """
    if how == "swinging":
        motion = simulate(model.system, motor_nodes(model, curves, STEP, late=True), STEP)
        motion.require()
        return standing(model, bodies, surfaces, _between(motion.q, times / STEP))
    nodes = motor_nodes(model, curves, 1.0 / curves.rate)  # all of them, however few are drawn: each rest is found from the last
    rest = rest_motion(model.system, nodes, start=model.home, stride=max(1, round(REST_STEP * curves.rate)))
    if not rest.status.good:
        raise BadInput(f"the poses cannot be held at rest: {rest.message}")
    return standing(model, bodies, surfaces, _between(rest.q, times * curves.rate))


def _between(rows: Array, place: Array) -> Array:
    """Rows at fractional places (m,), straight between two, held after the last."""
    at = np.clip(place, 0.0, len(rows) - 1)
    low = np.minimum(np.floor(at + 1e-9).astype(np.int64), len(rows) - 1)
    high = np.minimum(low + 1, len(rows) - 1)
    share = np.clip(at - low, 0.0, 1.0)[:, None]
    return np.asarray((1.0 - share) * rows[low] + share * rows[high])


def standing(model: FlexibleCharacterSystem, bodies: Sequence[str], surfaces: Sequence[PartSurface], q: Array) -> Bent:
    """The character at configurations ``q`` (m, nq) of its system, modal coordinates and all."""
    seen = track(model.system, positions=tuple(bodies)).observe(np.ascontiguousarray(q))
    R, p = seen.rotations, seen.positions
    points, moment = [], np.zeros((len(q), 3))
    for surface in surfaces:
        reduction = model.parts[surface.name].reduction
        u = q[:, model.coordinates(surface.name)]
        shapes = surface.moved(reduction.shapes)
        local = surface.vertices + (u @ shapes.reshape(len(shapes), -1)).reshape(len(u), -1, 3)
        R_F, p_F = _stand(surface, bodies, R, p)
        points.append(_points(local, R_F, p_F))
        N = reduction.segment.N
        moment += reduction.segment.mass * p_F + np.einsum("mij,mj->mi", R_F, N[:, 0] + u @ N[:, 1:].T)
    return Bent(R, p, tuple(points), moment)


def unbent(bodies: Sequence[str], surfaces: Sequence[PartSurface], R: Array, p: Array) -> Bent:
    """The character with bodies at ``R``, ``p`` and its parts as if rigid."""
    points, moment = [], np.zeros((len(p), 3))
    for surface in surfaces:
        R_F, p_F = _stand(surface, bodies, R, p)
        points.append(_points(np.broadcast_to(surface.vertices, (len(p), *surface.vertices.shape)), R_F, p_F))
        moment += surface.mass * (p_F + R_F @ surface.center)
    return Bent(R, p, tuple(points), moment)


def _stand(surface: PartSurface, bodies: Sequence[str], R: Array, p: Array) -> tuple[Array, Array]:
    """The pose (m, 3, 3), (m, 3) of a part's frame in the world."""
    if surface.base == WORLD:
        return np.tile(surface.rotation, (len(p), 1, 1)), np.tile(surface.position, (len(p), 1))
    at = list(bodies).index(surface.base)
    return R[:, at] @ surface.rotation, p[:, at] + R[:, at] @ surface.position


def _points(local: Array, R: Array, p: Array) -> NDArray[np.float32]:
    """Points (m, v, 3) of a frame, in the world."""
    return np.ascontiguousarray(local @ np.swapaxes(R, -1, -2) + p[:, None], dtype=np.float32)
