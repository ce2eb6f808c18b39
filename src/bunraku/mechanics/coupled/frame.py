"""One time step of skeleton and skin together, condensed onto torques and forces of the ground.

Implicit Euler, linearized once (the paper's appendix A with the corrections of its equations 28 to 30): with the steps dq and du,

    skin       A du = b + P' F,     A = M/h² + (1 + beta/h) K,  b = M w/h + g - f
    skeleton   A_r dq = b_r + tau,  A_r = M_r/h² + D_r/h,       b_r = M_r v/h - bias
    glue       du_g = J dq + c,     c = r(q) - x_g

where f is the elastic force, K its stiffness, g gravity and collisions, P' F the ground's forces F on the patches. Glue is put in:
the forces of the skin on glued nodes act on the skeleton as J' times them. With E = A_fg J and r = b_f - A_fg c, elimination of the
free nodes leaves (S_XY = X' A_ff^-1 Y)

    (A_r + J' A_gg J - S_EE) dq = b_r + J' (b_g - A_gg c) - S_Er + tau - S_EP F
    u = P du = S_Pr + S_PP F - S_PE dq

so that dq and the patches' displacement u are linear in the torques tau and F.

What touches inside may come with a stiffness N of its nodes, which resists changes of their velocity. It acts between each node and
the body that carries that part of the skin, whose place at the node has the Jacobian J_t: the body is pulled by
N (du - J_t dq - h (w - J_t v)), the node by the opposite. So A gains N, E loses N J_t and A_r gains J_t' N J_t, and the momentum of
the whole is changed by weight and ground alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.mechanics.coupled.share import skin_share
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.optimization.condensation.condenser import Backend, condenser
from bunraku.optimization.condensation.interface import Condenser
from bunraku.optimization.linear import NotFactorizable

SHIFTS = (0.0, 1e-3, 1e-2, 1e-1, 1.0)
"""Shares of the diagonal added, one after the other, until a matrix that compression made indefinite can be factorised."""

BASE = 6
"""Coordinates of the free base, which come first."""

PARTS = (1.0, 0.7, 0.5, 0.3, 0.15)
"""Parts of their step that free nodes may take before a frame is given up."""


@dataclass(frozen=True)
class CoupledFrame:
    """A step as a function of torques tau (na,) and forces F (3 P,): dq = q0 + Qt tau + Qf F, u = u0 + R tau + W F.

    ``heights`` (P,) of the patches before the step. ``shift`` is what the diagonal needed (0: the matrix was definite).
    """

    q0: Array
    Qt: Array
    Qf: Array
    u0: Array
    R: Array
    W: Array
    heights: Array
    shift: float

    def step(self, tau: Array, F: Array) -> Array:
        """The skeleton's step dq (nq,)."""
        return np.asarray(self.q0 + self.Qt @ tau + self.Qf @ F)

    def patches(self, tau: Array, F: Array) -> Array:
        """The displacement u (P, 3) of the patches."""
        return np.asarray(self.u0 + self.R @ tau + self.W @ F).reshape(-1, 3)


class _Damped(NamedTuple):
    """Nodes whose changes of velocity are resisted: N (n, 3, 3), their ``rows`` (3 t,), J_t (3 t, nq), N J_t, h N (w - J_t v)."""

    stiffness: Array
    rows: NDArray[np.int64]
    jacobian: Array
    coupling: Array
    pull: Array


class CoupledFrames:
    """Steps of ``h`` [s] of a skinned character; what depends on the mesh alone is done once."""

    def __init__(self, model: SkinnedModel, h: float = 0.005, *, gravity: float = GRAVITY, backend: Backend = "auto") -> None:
        self.model, self.h = model, h
        solid, held = model.solid, model.held
        self._weight = solid.weight([0.0, 0.0, -gravity])
        self._inertia = model.mass.data / h**2
        mask = np.zeros(solid.size, dtype=bool)
        mask[model.free] = True
        pattern = solid.pattern.matrix(solid.pattern.zeros())
        self._condenser: Condenser = condenser(pattern, model.mesh.nodes, backend, free=mask)
        self._border = np.zeros((solid.size, model.nq + 3 * model.n_patches + 1))
        self._border[:, model.nq : -1] = model.patches.T.todense()
        self._held = held
        row = np.repeat(np.arange(solid.size), np.diff(solid.pattern.indptr))
        self._own = np.flatnonzero(row // 3 == solid.pattern.indices // 3)
        self._diagonal = np.flatnonzero(row == solid.pattern.indices)
        self.shortened = 1.0
        self._linearized = False

    def linearize(
        self,
        state: SkinnedState,
        extra: Array | None = None,
        skeleton_extra: Array | None = None,
        stiffness: Array | None = None,
    ) -> CoupledFrame:
        """The step from a state, with ``extra`` forces (n, 3) on nodes, (nq,) on the skeleton, a node stiffness (n, 3, 3)."""
        model, h, nq, P3 = self.model, self.h, self.model.nq, 3 * self.model.n_patches
        f, K = model.solid.force_and_stiffness((state.x - model.mesh.nodes).ravel())
        data = self._inertia + (1.0 + model.damping / h) * K.data
        b = np.asarray(model.mass @ state.w.ravel()) / h + self._weight - f
        if extra is not None:
            b += extra.ravel()
        damped = None if stiffness is None else self._damped(state, stiffness)
        if damped is not None:
            data[self._own] += damped.stiffness.ravel()
            b[damped.rows] += damped.pull
        A = model.solid.pattern.matrix(data)
        places, J = model.glue_at(state.q)
        c = places.ravel() - state.x[model.glue].ravel()
        columns = np.zeros((model.solid.size, nq + 1))
        columns[self._held, :nq], columns[self._held, nq] = J, c
        AJ = np.asarray(A @ columns)
        B = self._border
        B[:, :nq] = AJ[:, :nq]
        B[:, -1] = b - AJ[:, nq]
        M, bias = model.skeleton(state.q, state.v)
        own = M / h**2 + J.T @ AJ[self._held, :nq]
        if damped is not None:
            B[damped.rows, :nq] -= damped.coupling
            own += damped.jacobian.T @ damped.coupling
        S, factor, shift, held_back = self._condense(A, B, own, state)
        rhs = M @ state.v / h - bias + J.T @ (b[self._held] - AJ[self._held, nq]) - S[:nq, -1] + held_back
        if skeleton_extra is not None:
            rhs = rhs + skeleton_extra
        if damped is not None:
            rhs = rhs - damped.jacobian.T @ damped.pull
        SEP = S[:nq, nq : nq + P3]
        right = np.zeros((nq, len(model.driven) + P3 + 1))
        right[model.driven, np.arange(len(model.driven))] = 1.0
        right[:, len(model.driven) : -1], right[:, -1] = -SEP, rhs
        G = cho_solve(factor, right)
        na = len(model.driven)
        Qt, Qf, q0 = G[:, :na], G[:, na:-1], G[:, -1]
        W = S[nq:-1, nq:-1] - SEP.T @ Qf
        heights = np.asarray(model.patches @ state.x.ravel())[2::3]
        self._linearized = True
        return CoupledFrame(q0, Qt, Qf, S[nq:-1, -1] - SEP.T @ q0, -SEP.T @ Qt, 0.5 * (W + W.T), heights, shift)

    def advance(self, state: SkinnedState, frame: CoupledFrame, tau: Array, F: Array) -> SkinnedState:
        """The state after the step that was linearized last, with these torques and forces. Raises :class:`Collapsed`.

        Glued nodes are put exactly where the skeleton has them. Where one linearization of a strongly folded skin would turn a
        cell inside out, the free nodes go only a part of their step (`shortened` says which part; the next frame makes up for it).
        """
        return self._moved(state, frame.step(tau, F), F)

    def carry(self, state: SkinnedState, dq: Array) -> SkinnedState:
        """The state after the step that was linearized last, the skeleton moved by ``dq`` (nq,) whatever it takes, no ground."""
        return self._moved(state, dq, np.zeros(3 * self.model.n_patches))

    def _moved(self, state: SkinnedState, dq: Array, F: Array) -> SkinnedState:
        if not self._linearized:
            raise RuntimeError("a step is taken after it was linearized")
        model, h = self.model, self.h
        du = self._condenser.combine(np.concatenate([-dq, F, [1.0]])).reshape(-1, 3)
        q = state.q + dq
        places = model.glue_at(q)[0]
        for part in PARTS:
            x = state.x + part * du
            x[model.glue] = places
            if np.isfinite(model.solid.energy((x - model.mesh.nodes).ravel())):
                self.shortened = part
                return SkinnedState(q, dq / h, x, (x - state.x) / h)
        raise Collapsed(-1)

    @cached_property
    def _carrier(self) -> NDArray[np.int64]:
        """The tree's node (n,) that carries each node of the skin."""
        share = skin_share(self.model)
        return np.ascontiguousarray(share.nodes[share.owner])

    def _damped(self, state: SkinnedState, stiffness: Array) -> _Damped | None:
        """The force that resists changes of velocity against the bodies, of the free nodes that have a stiffness (n, 3, 3)."""
        own = stiffness.copy()
        own[self.model.glue] = 0.0
        nodes = np.flatnonzero(own.any(axis=(1, 2)))
        if not len(nodes):
            return None
        J, N = self.model.jacobian_at(state.q, self._carrier[nodes], state.x[nodes]), own[nodes]
        coupling = (N @ J.reshape(len(nodes), 3, -1)).reshape(J.shape)
        pull = self.h * (np.einsum("nij,nj->ni", N, state.w[nodes]).ravel() - coupling @ state.v)
        return _Damped(own, (3 * nodes[:, None] + np.arange(3)).ravel(), J, coupling, pull)

    def _condense(self, A: csr_array, B: Array, own: Array, state: SkinnedState) -> tuple[Array, tuple[Array, bool], float, Array]:
        """S = B' A^-1 B over the free nodes, the Cholesky factor of the skeleton's ``own`` (nq, nq) - S_qq, shift, forces (nq,).

        A strongly folded skin may snap through: its matrix, or that of the skeleton with it, is then not positive definite. Free
        nodes are made stiffer against changes of their velocity relative to their bodies, and joints against changes of theirs, by
        the least ``shift`` of the diagonal with which both are; all of it acts from inside. The forces act on the skeleton.
        """
        nq, forces = len(own), np.zeros(len(own))
        E, right = np.empty((0, nq)), np.empty(0)
        for shift in SHIFTS:
            data, H = A.data, own
            if shift > 0.0:
                if not len(right):
                    E, right = B[:, :nq].copy(), B[:, -1].copy()
                diagonal = shift * A.data[self._diagonal].reshape(-1, 3, 1) * np.eye(3)
                joints = shift * np.where(np.arange(nq) < BASE, 0.0, np.diag(own))
                H, forces, data = own + np.diag(joints), self.h * joints * state.v, A.data.copy()
                damped = self._damped(state, diagonal)
                if damped is not None:
                    data[self._own] += damped.stiffness.ravel()
                    B[damped.rows, :nq] = E[damped.rows] - damped.coupling
                    B[damped.rows, -1] = right[damped.rows] + damped.pull
                    H = H + damped.jacobian.T @ damped.coupling
                    forces = forces - damped.jacobian.T @ damped.pull
            try:
                S = self._condenser.factorize_and_condense(data, B)
                H = H - S[:nq, :nq]
                return S, cho_factor(0.5 * (H + H.T)), shift, forces
            except (NotFactorizable, LinAlgError):
                continue
        raise NotFactorizable("skin and skeleton stay unstable under any shift of the skin's diagonal; take a smaller step", 0)
