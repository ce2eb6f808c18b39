"""How the skin as it was made answers, linearly: to joints that turn, to forces on its patches, to its own inertia.

All of it with the glue in place and K the stiffness at rest, by one factorization of K_ff::

    joints    Psi = -K_ff^-1 K_fg J        the free nodes follow a turn, nothing loads them
    patches   Phi_p = K_ff^-1 P' C, C = (P K_ff^-1 P')^-1     mean displacement one of a patch, the others in place
    inertia   Phi_a from K_ff^-1 M (T, Psi, Phi_p)    what sways when shares (T: rigidly), joints or patches are accelerated

Psi does no work on the others (K Psi = 0 on free nodes), and Phi_a none on Phi_p (their patches do not move): the energy is that of
the joints, plus p'Cp/2, plus a'(w²)a/2, with Phi_a turned to be modes of frequencies w.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import eigh

from bunraku.mechanics.coupled.share import SkinShare
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.optimization.condensation.condenser import Backend, condenser

Array: TypeAlias = NDArray[np.float64]

INDEPENDENT = 1e-9
"""Share of the largest below which a field's own motion counts as none."""


@dataclass(frozen=True)
class SkinFields:
    """Displacements in the world at home, base at rest.

    ``joints`` (3 n, nj) per turn of each joint [m/rad]; ``patches`` (3 n, 3 P) [m/m]; ``modes`` (3 n, m), of mass one, and their
    angular ``frequencies`` (m,) [rad/s]; ``torque`` (nj, nj) the stiffness of joints [N·m/rad], ``stiff`` (3 P, 3 P) of
    patches [N/m].
    """

    joints: Array
    patches: Array
    modes: Array
    frequencies: Array
    torque: Array
    stiff: Array


def skin_fields(model: SkinnedModel, share: SkinShare, *, modes: int = 120, backend: Backend = "auto") -> SkinFields:
    """The fields of a skin; the ``modes`` of lowest frequency are kept."""
    _, K = model.solid.force_and_stiffness(np.zeros(model.solid.size))
    free = np.zeros(model.solid.size, dtype=bool)
    free[model.free] = True
    solver = condenser(K, model.mesh.nodes, backend, free=free)
    solver.factorize(K.data)
    nj = model.nq - 6
    moved = np.zeros((model.solid.size, nj))
    moved[model.held] = model.glue_at(model.home)[1][:, 6:]
    Psi = moved - solver.solve(np.asarray(K @ moved))
    torque = moved.T @ np.asarray(K @ Psi)
    Phi, C = _patch_fields(model, solver.solve(np.asarray(model.patches.T.todense(), dtype=np.float64)))
    sway = solver.solve(np.asarray(model.mass @ np.hstack([_rigid_motions(model, share), Psi, Phi])))
    sway -= Phi @ np.asarray(model.patches @ sway)
    shapes, frequencies = _ritz(sway, np.asarray(K @ sway), np.asarray(model.mass @ sway), modes)
    return SkinFields(Psi, Phi, shapes, frequencies, 0.5 * (torque + torque.T), C)


def _patch_fields(model: SkinnedModel, answers: Array) -> tuple[Array, Array]:
    """Phi_p and C from the ``answers`` K_ff^-1 P'."""
    compliance = np.asarray(model.patches @ answers)
    C = np.linalg.inv(0.5 * (compliance + compliance.T))
    return answers @ C, 0.5 * (C + C.T)


def _rigid_motions(model: SkinnedModel, share: SkinShare) -> Array:
    """T (3 n, 6 k): the nodes of one share moved along an axis, or turned about one through its body."""
    n, k = model.solid.nodes, len(share.bodies)
    at = model.tree.configuration(model.home).position[share.nodes[share.owner]]
    T = np.zeros((n, 3, k, 6))
    i, arm = np.arange(n), model.mesh.nodes - at
    for a in range(3):
        b, c = (a + 1) % 3, (a + 2) % 3
        T[i, a, share.owner, a] = 1.0
        T[i, c, share.owner, 3 + a], T[i, b, share.owner, 3 + a] = arm[:, b], -arm[:, c]
    return T.reshape(model.solid.size, 6 * k)


def _ritz(fields: Array, stiff: Array, heavy: Array, most: int) -> tuple[Array, Array]:
    """Modes of mass one spanned by ``fields``, given K and M times them, and their frequencies; the lowest ``most``."""
    M, K = fields.T @ heavy, fields.T @ stiff
    scale = 1.0 / np.sqrt(np.maximum(np.diag(M), 1e-300))
    w, V = np.linalg.eigh(scale[:, None] * (0.5 * (M + M.T)) * scale)
    kept = w > INDEPENDENT * w[-1]
    B = scale[:, None] * V[:, kept] / np.sqrt(w[kept])
    squares, U = eigh(B.T @ (0.5 * (K + K.T)) @ B)
    chosen = slice(0, min(most, len(squares)))
    return np.asarray(fields @ (B @ U[:, chosen])), np.sqrt(np.maximum(squares[chosen], 0.0))
