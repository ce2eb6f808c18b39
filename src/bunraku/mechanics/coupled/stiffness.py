"""How the skin resists the joints: its stiffness seen from the skeleton, free nodes following without inertia."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.optimization.condensation.condenser import Backend, condenser


def joint_stiffness(model: SkinnedModel, *, backend: Backend = "auto") -> Array:
    """The torques per turn (nq, nq) [N·m/rad] of the skin as it was made: J' K_gg J - E' K_ff^-1 E, E = K_fg J.

    Rows and columns of the base are zero but for rounding: a skin carried about whole resists nothing.
    """
    _, K = model.solid.force_and_stiffness(np.zeros(model.solid.size))
    _, J = model.glue_at(model.home)
    moved = np.zeros((model.solid.size, model.nq))
    moved[model.held] = J
    KJ = np.asarray(K @ moved)
    free = np.zeros(model.solid.size, dtype=bool)
    free[model.free] = True
    eliminated = condenser(K, model.mesh.nodes, backend, free=free)
    eliminated.factorize(K.data)
    S = eliminated.condense(KJ)
    stiffness = J.T @ KJ[model.held] - S
    return np.asarray(0.5 * (stiffness + stiffness.T))
