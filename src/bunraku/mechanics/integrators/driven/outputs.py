"""Tracked outputs of a motion: where chosen places stand and how they are turned, as errors against targets.

A tracked place gives three rows. Position: p - t [m]. Orientation, with r the columns of its rotation and t those of the target:
r_x.t_z, r_y.t_z, r_z.t_x, zero where both agree. Their Jacobians over q come from the screws of the tree, segments bent.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.element_kernels import make_room
from bunraku.mechanics.dynamics.places import Where, find_place, resolve
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.driven import output_kernels as kernels
from bunraku.mechanics.integrators.driven.output_kernels import TrackedPlaces, Tracking


@dataclass(frozen=True, eq=False)
class OutputTargets:
    """Where the m tracked places shall be in F frames: positions (F, m, 3) [m], rotations (F, m, 3, 3)."""

    positions: Array
    rotations: Array

    def __len__(self) -> int:
        return len(self.positions)


@dataclass(frozen=True, eq=False)
class Outputs:
    """Tracked places of a system, three rows each: first the positions, then the orientations. Make them with :func:`track`."""

    system: System
    names: tuple[str, ...]
    tracked: TrackedPlaces

    @property
    def rows(self) -> int:
        """Rows of a frame, three for each place."""
        return 3 * len(self.names)

    def observe(self, q: ArrayLike) -> OutputTargets:
        """Poses of the places in the configurations q (F, nq): the targets a motion would meet exactly."""
        p, R = kernels.observe(self.system.model, self.tracked, self._table(q))
        return OutputTargets(p, R)

    def errors(self, q: ArrayLike, targets: OutputTargets) -> Array:
        """Errors (F, rows) of the configurations q (F, nq) against F targets."""
        Q = self._table(q)
        self.check(targets, len(Q))
        e: Array = kernels.all_errors(self.system.model, self.tracked, Q, targets.positions, targets.rotations)
        return e

    def jacobian(self, q: ArrayLike, targets: OutputTargets, frame: int = 0) -> tuple[Array, Array]:
        """Errors (rows,) at q (nq,) against one frame of the targets, and their Jacobian (rows, nq)."""
        Q = self._table(np.atleast_2d(np.asarray(q, dtype=np.float64)))
        e, D = np.empty(self.rows), np.empty((self.rows, self.system.nq))
        W = make_room(self.system.model, e).W
        kernels.errors(self.system.model, self.tracked, Q[0], targets.positions[frame], targets.rotations[frame], W, e, D, True)
        return e, D

    def tracking(self, targets: OutputTargets, weight: Array, stride: int) -> Tracking:
        """The outputs at every ``stride``-th node against targets, as the kernels take them."""
        self.check(targets, len(weight))
        return Tracking(self.tracked, targets.positions, targets.rotations, weight, stride)

    def weights(self, given: ArrayLike | None, frames: int) -> Array:
        """Weights (frames, rows), 0 or more: from one number, one a place, one a row, or either for each frame."""
        w = np.asarray(1.0 if given is None else given, dtype=np.float64)
        if w.ndim and w.shape[-1] == len(self.names) != self.rows:
            w = np.repeat(w, 3, axis=-1)
        try:
            full = np.ascontiguousarray(np.broadcast_to(w, (frames, self.rows)))
        except ValueError as error:
            accepted = f"({frames}, {self.rows}) or ({frames}, {len(self.names)})"
            raise BadInput(f"the weights of the outputs have shape {w.shape}; they must broadcast to {accepted}") from error
        if not np.isfinite(full).all() or full.min(initial=0.0) < 0.0:
            raise BadInput("the weights of the outputs must be finite and 0 or more")
        return full

    def check(self, targets: OutputTargets, frames: int) -> None:
        """BadInput when the targets do not fit the places and the number of frames."""
        m = len(self.names)
        if targets.positions.shape != (frames, m, 3) or targets.rotations.shape != (frames, m, 3, 3):
            raise BadInput(f"the targets are of shape {targets.positions.shape}; {frames} frames of {m} places are needed")

    def _table(self, q: ArrayLike) -> Array:
        Q = np.ascontiguousarray(q, dtype=np.float64)
        if Q.ndim != 2 or Q.shape[1] != self.system.nq:
            raise BadInput(f"the configurations have shape {Q.shape}; they must be (frames, {self.system.nq})")
        return Q


def track(system: System, positions: Sequence[Where] = (), orientations: Sequence[Where] = ()) -> Outputs:
    """Outputs for the positions and the orientations of chosen places of a system."""
    places = [*positions, *orientations]
    slots, local = np.full(len(places), -1, dtype=np.int64), np.zeros((len(places), 12))
    for k, place in enumerate(places):
        node, p, R = resolve(system.tree, place)
        if node >= 0:
            slots[k], turn, move = system.hang[node]
            p, R = move + turn @ p, turn @ R
        local[k, :3], local[k, 3:] = p, R.ravel()
    turning = np.arange(len(places)) >= len(positions)
    return Outputs(system, tuple(find_place(place).body for place in places), TrackedPlaces(slots, local, turning))
