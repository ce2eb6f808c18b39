"""One time step of skeleton and reduced skin: what `mechanics.coupled.frame` does with every node, with some hundred numbers.

Unknowns are the steps of q and of s = (patches in the frames of their feet, modes). In body frames mass and stiffness of s are
constant, so that A = M_ss/h² + (1 + beta/h) K_ss is inverted once for all frames. Per frame, with y = (theta, s),

    H_qq = M(q)/h² + (1 + beta/h) V''(theta) + ...      M of the skeleton with its shares, and of the folds
    H_qs = sum_k (J_k' R_k B_k + W_k' R_k C_k) / h² + M_ths / h²

(J_k, W_k Jacobians of a body's origin and turning, B_k, C_k of `integrals`), V the energy of folds. Elimination of s leaves
dq = (H_qq - H_qs A^-1 H_sq)^-1 (r + tau + G' F) with G the patches' motion by q when s follows, and their motion by F on top:
W = G H^-1 G' + R_f A_pp^-1 R_f'.

Loads of the skin turn with its bodies (`loads`), which takes from H_qq and H_qs. Left out: velocity products of the skin's
deformation, the bending of soles' stiffness by folds next to them, self-collision.
"""

from __future__ import annotations

from typing import NamedTuple, TypeAlias

import numpy as np
from numpy.typing import NDArray
from scipy.linalg import LinAlgError, cho_factor, cho_solve
from scipy.sparse import csr_array

from bunraku.errors import BadInput
from bunraku.mechanics.coupled import carried_point_kernels as kernels
from bunraku.mechanics.coupled.frame import Frame
from bunraku.mechanics.coupled.reduced.loads import turning_of_forces
from bunraku.mechanics.coupled.reduced.model import ReducedModel, ReducedState
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.mechanics.tree.tree import Configuration
from bunraku.mechanics.tree.tree_kernels import HINGE
from bunraku.optimization.linear import NotFactorizable

Array: TypeAlias = NDArray[np.float64]


class _Kept(NamedTuple):
    """Of the step linearized last: A^-1 r_s (ns,), A^-1 H_sq (ns, nq), the feet's R_f of patches (P, 3, 3), places (P, 3)."""

    free: Array
    by_q: Array
    feet: Array
    places: Array


class _Moving(NamedTuple):
    """At a state: kinematics, J and W (k, 3, nq) of the shares' bodies, the patches' J (3 P, nq), folds and their slopes."""

    at: Configuration
    J: Array
    W: Array
    patches: Array
    folds: Array
    slopes: Array


class ReducedFrames:
    """Steps of ``h`` [s] of a character with a reduced skin; the interface of `CoupledFrames`. No step is ever ``shortened``."""

    def __init__(self, model: ReducedModel, h: float = 0.005, *, gravity: float = GRAVITY) -> None:
        self.model, self.h = model, h
        red, nj = model.reduction, model.nq - 6
        self._stiffening = 1.0 + model.damping / h
        self._gravity = gravity
        self._inverse = np.linalg.inv(red.mass[nj:, nj:] / h**2 + self._stiffening * red.stiff)
        self._nodes, self._feet = model.full_share.nodes, model.feet
        self._on_path, self._turner = _paths(model)
        self._points = np.concatenate([self._nodes, self._feet])
        self._moments = _sparse(red.load_moments)
        self.shortened = 1.0
        self._kept: _Kept | None = None

    def linearize(self, state: ReducedState, extra: Array | None = None, skeleton_extra: Array | None = None) -> Frame:
        """The step from a state; ``skeleton_extra`` (nq,) forces on the coordinates. There are no nodes for ``extra`` to act on."""
        if extra is not None:
            raise BadInput("a reduced skin has no nodes; give forces on coordinates (skeleton_extra) or take the whole skin")
        model, h, red, nq = self.model, self.h, self.model.reduction, self.model.nq
        nj, P = nq - 6, self.model.n_patches
        now = self._moving(state)
        Mqq, Mqs, bias = self._inertia(state, now)
        pull_q, pull_s = self._weights(state, now)
        V1, V2 = now.folds[:, 0] + red.coupling @ (state.q - model.home)[6:], red.coupling + np.diag(now.slopes[:, 0])
        r_q = (Mqq @ state.v + Mqs @ state.r) / h - bias + pull_q
        r_q[6:] -= V1
        if skeleton_extra is not None:
            r_q = r_q + skeleton_extra
        r_s = (Mqs.T @ state.v + red.mass[nj:, nj:] @ state.r) / h + pull_s - red.stiff @ state.s
        factor, Hsq, by_q, shift = self._eliminated(state, now, (Mqq, Mqs), V2)
        free, Rf = self._inverse @ r_s, now.at.rotation[self._feet]
        G = now.patches - (Rf @ by_q[: 3 * P].reshape(P, 3, nq)).reshape(3 * P, nq)
        na = len(model.driven)
        right = np.zeros((nq, na + 3 * P + 1))
        right[model.driven, np.arange(na)] = 1.0
        right[:, na:-1], right[:, -1] = G.T, r_q - Hsq.T @ free
        found = cho_solve(factor, right)
        Qt, Qf, q0 = found[:, :na], found[:, na:-1], found[:, -1]
        drift = (Rf @ free[: 3 * P].reshape(P, 3, 1)).ravel()
        W = G @ Qf + self._pushed(Rf)
        places = state.x[:P]
        self._kept = _Kept(free, by_q, Rf, places)
        return Frame(q0, Qt, Qf, G @ q0 + drift, G @ Qt, 0.5 * (W + W.T), places[:, 2].copy(), shift)

    def advance(self, state: ReducedState, frame: Frame, tau: Array, F: Array) -> ReducedState:
        """The state after the step that was linearized last; patches are exactly where the linear step has them."""
        if self._kept is None:
            raise RuntimeError("advance follows linearize")
        model, h, P = self.model, self.h, self.model.n_patches
        kept = self._kept
        dq = frame.step(tau, F)
        q = state.q + dq
        inside = np.einsum("pji,pj->pi", kept.feet, F.reshape(P, 3))
        s = state.s + kept.free + self._inverse[:, : 3 * P] @ inside.ravel() - kept.by_q @ dq
        s[: 3 * P] = 0.0
        at = model.tree.configuration(q)
        folded = model.reduction.law.at((q - model.home)[6:])[0].sum(axis=0)
        target = kept.places + frame.patches(tau, F)
        k = len(self._nodes)
        inside = np.einsum("pji,pj->pi", at.rotation[self._feet], target - at.position[self._feet])
        s[: 3 * P] = (inside - model.reduction.patch_place - folded[1 + 3 * k :].reshape(P, 3)).ravel()
        x = model.points_at(at, folded, s)
        return ReducedState(q, dq / h, x, (x - state.x) / h, s, (s - state.s) / h)

    def _pushed(self, Rf: Array) -> Array:
        """How patches give way to forces while q stays, R_f A^-1 R_f' (3 P, 3 P)."""
        P = len(Rf)
        one = (Rf @ self._inverse[: 3 * P, : 3 * P].reshape(P, 3, 3 * P)).reshape(3 * P, 3 * P)
        return np.asarray((Rf @ one.T.reshape(P, 3, 3 * P)).reshape(3 * P, 3 * P))

    def _eliminated(
        self, state: ReducedState, now: _Moving, mass: tuple[Array, Array], V2: Array
    ) -> tuple[tuple[Array, bool], Array, Array, float]:
        """The factor of H_qq - H_qs A^-1 H_sq, H_sq (ns, nq), A^-1 H_sq, and whether something had to be left out (1) or not (0).

        Left out, where the matrix is indefinite otherwise: the turning of loads, and the negative slopes of folds that snap.
        """
        h, stiffening = self.h, self._stiffening
        Tqq, Tqs = self._turning(state, now)
        for part in (1.0, 0.0):
            Hsq = mass[1].T / h**2 - part * stiffening * Tqs.T
            by_q = self._inverse @ Hsq
            H = mass[0] / h**2 - part * stiffening * Tqq - Hsq.T @ by_q
            for softer, stiff in enumerate((V2, V2 - np.diag(np.minimum(np.diag(V2), 0.0)))):
                whole = 0.5 * (H + H.T)
                whole[6:, 6:] += stiffening * stiff
                try:
                    factor: tuple[Array, bool] = cho_factor(whole)
                except LinAlgError:
                    continue
                return factor, Hsq, by_q, float(part == 0.0 or softer > 0)
        raise NotFactorizable("the matrix of skeleton and reduced skin is indefinite; take a smaller step", 0)

    def _moving(self, state: ReducedState) -> _Moving:
        """Kinematics of a state."""
        model, P, k = self.model, self.model.n_patches, len(self._nodes)
        tree, at = model.tree, model.tree.configuration(state.q)
        local = np.zeros((k + P, 3))
        local[k:] = np.einsum("pji,pj->pi", at.rotation[self._feet], state.x[:P] - at.position[self._feet])
        places, J = np.empty_like(local), np.zeros((3 * (k + P), model.nq))
        kernels.glue(
            tree.parent, tree.kind, tree.coordinate, at.rotation, at.position, at.world_axis, self._points, local, places, J
        )
        W = self._on_path[:, None, :] * at.world_axis[self._turner].T
        folds, slopes = model.reduction.law.at((state.q - model.home)[6:])
        patches = J[3 * k :]
        bent = slopes[:, 1 + 3 * k :].reshape(-1, P, 3)
        patches[:, 6:] += np.einsum("pab,jpb->paj", at.rotation[self._feet], bent).reshape(3 * P, -1)
        return _Moving(at, J[: 3 * k].reshape(k, 3, -1), W, patches, folds, slopes)

    def _moved(self, state: ReducedState, now: _Moving) -> Array:
        """By how much (k, 3) the deformed shares' moments differ from the undeformed ones, in world axes [kg·m]."""
        red, k, nj = self.model.reduction, len(self._nodes), self.model.nq - 6
        moment = now.folds[:, 1 : 1 + 3 * k].sum(axis=0).reshape(k, 3) + red.first[:, :, nj:] @ state.s
        return np.asarray(np.einsum("kij,kj->ki", now.at.rotation[self._nodes], moment))

    def _inertia(self, state: ReducedState, now: _Moving) -> tuple[Array, Array, Array]:
        """M_qq (nq, nq) and M_qs (nq, ns) of the deformed character, and the skeleton's bias (nq,)."""
        model, red, k, nj = self.model, self.model.reduction, len(self._nodes), self.model.nq - 6
        M, bias = model.skeleton(state.q, state.v)
        R = now.at.rotation[self._nodes]
        JR, WR = now.J.transpose(0, 2, 1) @ R, now.W.transpose(0, 2, 1) @ R
        first = red.first.copy()
        first[:, :, :nj] = now.slopes[:, 1 : 1 + 3 * k].reshape(nj, k, 3).transpose(1, 2, 0)
        carried = (JR @ first + WR @ red.second).sum(axis=0)
        swung = np.cross(now.W, self._moved(state, now)[:, :, None], axis=1)
        turned = (now.J.transpose(0, 2, 1) @ swung).sum(axis=0)
        M = M + turned + turned.T
        M[:, 6:] += carried[:, :nj]
        M[6:] += carried[:, :nj].T
        M[6:, 6:] += red.mass[:nj, :nj]
        Mqs = carried[:, nj:]
        Mqs[6:] += red.mass[:nj, nj:]
        return M, Mqs, bias

    def _turning(self, state: ReducedState, now: _Moving) -> tuple[Array, Array]:
        """What the loads of the skin take from the stiffness as they turn: of q (nq, nq), and of q with s (nq, ns)."""
        red, k, ns = self.model.reduction, len(self._nodes), len(state.s)
        R = now.at.rotation[self._nodes]
        force = np.einsum("kij,kj->ki", R, red.load_sum @ state.s)
        virial = R @ (red.load_virial @ state.s) @ R.transpose(0, 2, 1)
        arm = now.at.position[self._nodes][:, :, None] - now.at.position[self._turner].T
        moments = (self._moments @ state.s[: 3 * self.model.n_patches]).reshape(k, 3, ns)
        return turning_of_forces(force, virial, now.W, arm), (now.W.transpose(0, 2, 1) @ R @ moments).sum(axis=0)

    def _weights(self, state: ReducedState, now: _Moving) -> tuple[Array, Array]:
        """What gravity adds where the skin is deformed: on q (nq,) and on s (ns,)."""
        red, k, nj = self.model.reduction, len(self._nodes), self.model.nq - 6
        g = np.array([0.0, 0.0, -self._gravity])
        on_q = np.einsum("kaq,ka->q", now.W, np.cross(self._moved(state, now), g))
        down = np.einsum("kij,i->kj", now.at.rotation[self._nodes], g)
        on_q[6:] += now.slopes[:, 1 : 1 + 3 * k] @ down.ravel()
        return on_q, np.asarray(np.einsum("kas,ka->s", red.first[:, :, nj:], down))


def _paths(model: ReducedModel) -> tuple[Array, NDArray[np.int64]]:
    """Which coordinates turn each share's body (k, nq; 1 or 0), and the tree's node of each coordinate (nq,)."""
    tree, nodes = model.tree, model.full_share.nodes
    turner = np.zeros(tree.nq, dtype=np.int64)
    for i, c in enumerate(tree.coordinate):
        if c >= 0:
            turner[c] = i
    on = np.zeros((len(nodes), tree.nq))
    for k, node in enumerate(nodes):
        i = int(node)
        while i >= 0:
            if tree.kind[i] == HINGE:
                on[k, tree.coordinate[i]] = 1.0
            i = int(tree.parent[i])
    return on, turner


def _sparse(moments: Array) -> csr_array:
    """``moments`` (k, 3, ns, 3 P) as a matrix of 3 P columns without what is as good as nothing."""
    kept = np.where(np.abs(moments) > 1e-6 * np.abs(moments).max(initial=0.0), moments, 0.0)
    return csr_array(kept.reshape(-1, moments.shape[-1]))
