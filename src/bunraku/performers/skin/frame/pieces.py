"""Pieces of the torque space: in each, every patch does one thing (open, stick, slide), and forces are smooth in the torques."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.contact.coulomb import OPEN, SLIDE, STICK
from bunraku.performers.skin.frame.problem import FrameProblem

Labels = NDArray[np.int64]


def piece_limits(problem: FrameProblem, F: Array, u: Array, labels: Labels, S: Array) -> tuple[Array, Array]:
    """Rows c + E p <= 0 (2 P,) that keep, to first order in the torque step p, what every patch does; two rows a patch.

    First rows (P): an open patch stays above ground, -(gap + u_n) <= 0; a loaded one stays loaded, -F_n <= 0. Second rows (P): a
    sticking patch stays in its cone, e.F_t - mu F_n <= 0; a sliding one goes on against its friction, e.u_t <= 0; e is the
    direction of friction. ``F`` and ``u`` (P, 3) at the present torques, ``S`` (3 P, na) the derivative of F in the piece.
    Forces are in newtons, displacements in newtons too by the stiffness of the patch.
    """
    P = problem.patches
    rho = 1.0 / problem.W.diagonal().reshape(P, 3).max(axis=1)
    dF = S.reshape(P, 3, -1)
    du = rho[:, None, None] * (problem.R + problem.W @ S).reshape(P, 3, -1)
    moved = rho[:, None] * u
    height = moved[:, 2] + rho * problem.gap
    pull = F[:, :2] - moved[:, :2]
    e = pull / np.maximum(np.linalg.norm(pull, axis=1), 1e-12)[:, None]
    is_open, is_stick, is_slide = labels == OPEN, labels == STICK, labels == SLIDE
    E, c = np.zeros((2 * P, S.shape[1])), np.zeros(2 * P)
    E[:P] = -np.where(is_open[:, None], du[:, 2], dF[:, 2])
    c[:P] = -np.where(is_open, height, F[:, 2])
    along_force = np.einsum("pa,pak->pk", e, dF[:, :2]) - problem.mu[:, None] * dF[:, 2]
    along_slip = np.einsum("pa,pak->pk", e, du[:, :2])
    E[P:] = is_stick[:, None] * along_force + is_slide[:, None] * along_slip
    c[P:] = is_stick * ((e * F[:, :2]).sum(axis=1) - problem.mu * F[:, 2]) + is_slide * (e * moved[:, :2]).sum(axis=1)
    return E, np.minimum(c, 0.0)


def beyond(labels: Labels, u: Array, pressed: NDArray[np.bool_]) -> Labels:
    """The piece on the other side of the limits (2 P,) that are ``pressed``.

    A patch that wants to land slides if it moves sideways and else sticks; one that wants to leave opens; one that wants out of
    its cone slides; one that wants to stop sticks.
    """
    P = len(labels)
    normal, tangent = pressed[:P], pressed[P:]
    moving = np.hypot(u[:, 0], u[:, 1]) > 1e-9
    changed = labels.copy()
    changed[tangent & (labels == STICK)] = SLIDE
    changed[tangent & (labels == SLIDE)] = STICK
    changed[normal & (labels != OPEN)] = OPEN
    changed[normal & (labels == OPEN) & moving] = SLIDE
    changed[normal & (labels == OPEN) & ~moving] = STICK
    return changed
