"""Picking: which body of a drawn character a ray meets first, and where."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.stage.figure.motion import DrawnMotion


@dataclass(frozen=True, eq=False)
class Picked:
    """The ``body`` that was met, the ``point`` (3,) [m] in the world, and the same in the body's frame, ``local`` (3,)."""

    body: str
    point: Array
    local: Array


def picked(motion: DrawnMotion, frame: int, origin: ArrayLike, direction: ArrayLike) -> Picked | None:
    """What a ray meets first at a frame; None when it passes by.

    Every solid counts as its box, so a ball is met a little early at its corners. In the box's own axes, scaled to half lengths of
    one, the ray o + t d is between the faces of axis i for t from (-1 - o_i) / d_i to (1 - o_i) / d_i (or the other way round).
    """
    o, d = np.asarray(origin, dtype=np.float64), np.asarray(direction, dtype=np.float64)
    d = d / np.linalg.norm(d)
    best: tuple[float, Picked] | None = None
    for kind, placed in motion.placed.items():
        solids = motion.figure.solids[kind]
        if not len(solids):
            continue
        R = matrix_of_quaternion(placed.wxyz[frame].astype(np.float64))
        scale = np.maximum(solids.scale, 1e-9)
        local_o = np.einsum("nij,ni->nj", R, o - placed.positions[frame]) / scale
        local_d = np.einsum("nij,i->nj", R, d) / scale
        local_d = np.where(np.abs(local_d) < 1e-12, 1e-12, local_d)
        one, two = (-1.0 - local_o) / local_d, (1.0 - local_o) / local_d
        enter, leave = np.minimum(one, two).max(axis=1), np.maximum(one, two).min(axis=1)
        hit = np.flatnonzero((enter <= leave) & (leave > 0.0))
        if len(hit):
            first = hit[int(np.argmin(np.maximum(enter[hit], 0.0)))]
            t = float(max(enter[first], 0.0))
            if best is None or t < best[0]:
                point = o + t * d
                inside = R[first].T @ (point - placed.positions[frame, first])
                local = matrix_of_quaternion(solids.quaternion[first]) @ inside + solids.position[first]
                best = (t, Picked(motion.figure.bodies[int(solids.body[first])], point, local))
    return None if best is None else best[1]
