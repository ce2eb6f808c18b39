"""Where a skinned character is and how it moves: coordinates of the skeleton, places of the skin's nodes, and their rates."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.coupled.skinned import SkinnedModel


@dataclass(frozen=True)
class SkinnedState:
    """Coordinates ``q`` and their rates ``v`` (nq,), places ``x`` and velocities ``w`` of the nodes (n, 3)."""

    q: Array
    v: Array
    x: Array
    w: Array


def rest_state(model: SkinnedModel) -> SkinnedState:
    """The home pose at rest, the skin as it was made."""
    return SkinnedState(model.home.copy(), np.zeros(model.nq), model.mesh.nodes.copy(), np.zeros_like(model.mesh.nodes))
