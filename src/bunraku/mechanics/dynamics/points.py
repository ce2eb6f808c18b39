"""Points fixed to bodies of a system, seen along a whole motion: positions, Jacobians, curvature."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics import points_kernels as kernels
from bunraku.mechanics.dynamics.places import Where, find_place
from bunraku.mechanics.dynamics.system import System


class Points:
    """The origins of ``frames`` (names of frames or bodies, or places on them) of a system.

    Configurations are q (m, nq) of the system: coordinates that the tree does not know (string lengths) move no point, and
    coordinates that follow others are filled in.
    """

    def __init__(self, system: System, frames: Sequence[Where]) -> None:
        tree = system.tree
        located = [find_place(frame) for frame in frames]
        places = [(tree.node(place.body), np.array(place.position)) for place in located]
        self.names = tuple(place.body for place in located)
        self._arrays = tree.arrays
        self._node = np.array([node for (node, _, _), _ in places], dtype=np.int64)
        self._local = np.array([at + turn @ there for (_, at, turn), there in places], dtype=np.float64).reshape(-1, 3)
        column = {name: i for i, name in enumerate(system.names)}
        self._map, self._offset = np.zeros((tree.nq, system.nq)), np.zeros(tree.nq)
        for i, name in enumerate(tree.names):
            if name in column:
                self._map[i, column[name]] = 1.0
        for driver, follower, ratio, offset in tree.couplings:
            self._map[follower] = ratio * self._map[driver]
            self._offset[follower] = ratio * self._offset[driver] + offset
        self._nq = system.nq

    def positions(self, q: ArrayLike) -> Array:
        """World positions (m, points, 3) [m]."""
        positions: Array = kernels.positions(self._arrays, self._tree(q), self._node, self._local)
        return positions

    def jacobians(self, q: ArrayLike) -> Array:
        """Their derivatives (m, points, 3, nq)."""
        jacobians: Array = kernels.jacobians(self._arrays, self._tree(q), self._node, self._local) @ self._map
        return jacobians

    def curvature(self, q: ArrayLike, weights: ArrayLike) -> Array:
        """Second derivatives (m, nq, nq) of sum weights.position, ``weights`` (m, points, 3)."""
        w = np.ascontiguousarray(weights, dtype=np.float64)
        H: Array = self._map.T @ kernels.curvature(self._arrays, self._tree(q), self._node, self._local, w) @ self._map
        return H

    def _tree(self, q: ArrayLike) -> Array:
        values = np.asarray(q, dtype=np.float64)
        if values.ndim != 2 or values.shape[1] != self._nq:
            raise BadInput(f"configurations of shape {values.shape} arrived; (m, {self._nq}) is needed")
        return np.ascontiguousarray(values @ self._map.T + self._offset)
