"""Rows, Jacobian and Hessian of the Lagrangian as CasADi functions of z, put together from small ones.

Through the wide vector W(z) = (s_-1, ..., s_T, D) of all samples with their features: J = R_W W_z, and the Hessian of the
Lagrangian is W_zᵀ L_WW W_z + L_W . W_zz. Each factor is sparse and comes from one function of a sample (and its neighbours),
mapped over all.
"""

from __future__ import annotations

from functools import cached_property

import casadi as ca  # noqa: TID253
import numpy as np
import scipy.sparse as sp

from casadi_locomotion.statement import Statement


class Derivatives:
    """Expressions in z (n), multipliers lam (all rows) and sigma of the objective.

    ``rows``, ``objective``, ``slope`` of the objective, ``jacobian`` of the rows, ``hessian``; ``samples`` (ns, T + 2).
    """

    def __init__(self, statement: Statement) -> None:
        self.s = s = statement
        T, nv, nq = s.plan.T, s.robot.nv, s.robot.nq
        self.z, self.lam, self.sigma = ca.MX.sym("z", s.n), ca.MX.sym("lam", s.all_rows), ca.MX.sym("sigma")
        self._pieces()
        U = s.U(self.z)
        self.V = ca.reshape(U[:-3], nv, T + 2)
        self.samples = ca.vertcat(self.V, s.features.y.map(T + 2)(self.V[:nq, :]))
        self.W = ca.vertcat(ca.vec(self.samples), U[-3:])
        self.windows = [self.samples[:, :T], self.samples[:, 1 : T + 1], self.samples[:, 2:], ca.DM(s.p)]
        rows, objective = self.stage.map(T)(*self.windows)
        whole, targets = self.glob(self.W)
        self.rows = ca.vertcat(ca.vec(rows), whole)
        self.objective = ca.sum2(objective) + targets
        self.slope = ca.gradient(self.objective, self.z)
        self._first()

    def _pieces(self) -> None:
        """Small functions in SX: of a sample among its neighbours, of the whole, of kinematics, of the ends."""
        s, t = self.s, self.s.template
        triple = ca.vertcat(t.before, t.now, t.after)
        inputs = [t.before, t.now, t.after, t.p]
        rows = ca.vertcat(*t.kinds.values())
        self.stage = ca.Function("stage", inputs, [rows, t.objective])
        self.stage_J = ca.Function("stage_J", inputs, [ca.jacobian(rows, triple)])
        whole = ca.vertcat(*s.global_rows.values())
        self.glob = ca.Function("glob", [s.W], [whole, s.global_objective])
        self.glob_J = ca.Function("glob_J", [s.W], [ca.jacobian(whole, s.W)])
        q, z = ca.SX.sym("q", s.robot.nq), ca.SX.sym("z", s.n)
        self.K_J = ca.Function("K_J", [q], [ca.jacobian(s.features.y(q), q)])
        self.U_J = ca.Function("U_J", [z], [ca.jacobian(s.U(z), z)])

    def _second_pieces(self) -> tuple[ca.Function, ca.Function, ca.Function, ca.Function]:
        """Hessians of the small functions, weighted by multipliers; the first two with gradients."""
        s, t, sigma = self.s, self.s.template, ca.SX.sym("sigma")
        rows, whole = ca.vertcat(*t.kinds.values()), ca.vertcat(*s.global_rows.values())
        lam = ca.SX.sym("lam", s.m)
        H, g = ca.hessian(sigma * t.objective + ca.dot(lam, rows), ca.vertcat(t.before, t.now, t.after))
        stage = ca.Function("stage_H", [t.before, t.now, t.after, t.p, lam, sigma], [H, ca.densify(g)])
        lam = ca.SX.sym("lam", whole.numel())
        H, g = ca.hessian(sigma * s.global_objective + ca.dot(lam, whole), s.W)
        glob = ca.Function("glob_H", [s.W, lam, sigma], [H, ca.densify(g)])
        q, mu, z, nu = (ca.SX.sym(*pair) for pair in (("q", s.robot.nq), ("mu", s.features.ny), ("z", s.n), ("nu", self.NU)))
        K = ca.Function("K_H", [q, mu], [ca.hessian(ca.dot(mu, s.features.y(q)), q)[0]])
        U = ca.Function("U_H", [z, nu], [ca.hessian(ca.dot(nu, s.U(z)), z)[0]])
        return stage, glob, K, U

    def _first(self) -> None:
        s, T, ns, nv, nq = self.s, self.s.plan.T, self.s.features.ns, self.s.robot.nv, self.s.robot.nq
        self.NW, self.NU = (T + 2) * ns + 3, (T + 2) * nv + 3
        i, k = np.arange(T + 2), np.arange(nv)
        own_r = np.concatenate([(i[:, None] * ns + k).ravel(), (T + 2) * ns + np.arange(3)])
        own_c = np.arange(self.NU)
        self.JU = self.U_J(self.z)
        KJ = self.K_J.map(T + 2)(self.V[:nq, :])
        r, c = _triplets(self.K_J)
        rows, cols = [own_r, *(i[:, None] * ns + nv + r)], [own_c, *(i[:, None] * nv + c)]
        self.JWU = _assemble((self.NW, self.NU), rows, cols, ca.vertcat(ca.DM.ones(self.NU), KJ.nz[:]))
        self.JW = self.JWU @ self.JU
        r, c = _triplets(self.stage_J)
        gr, gc = _triplets(self.glob_J)
        i = np.arange(T)[:, None]
        values = ca.vertcat(self.stage_J.map(T)(*self.windows).nz[:], self.glob_J(self.W).nz[:])
        self.RW = _assemble((s.all_rows, self.NW), [*(i * s.m + r), T * s.m + gr], [*(i * ns + c), gc], values)
        self.jacobian = self.RW @ self.JW

    @cached_property
    def hessian(self) -> ca.MX:
        """Hessian (n, n) of sigma objective + lam . rows, made when first asked for."""
        s, T, ns, nv, nq = self.s, self.s.plan.T, self.s.features.ns, self.s.robot.nv, self.s.robot.nq
        stage_H, glob_H, K_H, U_H = self._second_pieces()
        lam = ca.reshape(self.lam[: T * s.m], s.m, T)
        H, g = stage_H.map(T)(*self.windows, lam, ca.repmat(self.sigma, 1, T))
        GH, gW = glob_H(self.W, self.lam[T * s.m :], self.sigma)
        r, c = _triplets(stage_H)
        gr, gc = _triplets(glob_H)
        i = np.arange(T)[:, None]
        HW = _assemble((self.NW, self.NW), [*(i * ns + r), gr], [*(i * ns + c), gc], ca.vertcat(H.nz[:], GH.nz[:]))
        into = (i * ns + np.arange(3 * ns)).ravel()
        scatter = sp.coo_matrix((np.ones(len(into)), (into, np.arange(len(into)))), (self.NW, len(into)))
        gW = gW + ca.DM(scatter.tocsc()) @ ca.vec(g)
        mu = ca.reshape(gW[:-3], ns, T + 2)[nv:, :]
        r, c = _triplets(K_H)
        i = np.arange(T + 2)[:, None]
        HU = _assemble((self.NU, self.NU), [*(i * nv + r)], [*(i * nv + c)], K_H.map(T + 2)(self.V[:nq, :], mu).nz[:])
        return self.JW.T @ (HW @ self.JW) + self.JU.T @ (HU @ self.JU) + U_H(self.z, self.JWU.T @ gW)


def _triplets(function: ca.Function) -> tuple[np.ndarray, np.ndarray]:
    rows, cols = function.sparsity_out(0).get_triplet()
    return np.asarray(rows, dtype=int), np.asarray(cols, dtype=int)


def _assemble(shape: tuple[int, int], rows: list[np.ndarray], cols: list[np.ndarray], values: ca.MX) -> ca.MX:
    """A sparse matrix of which ``values`` at (rows, cols) are the parts; those at the same place add up."""
    r, c = np.concatenate(rows).astype(int), np.concatenate(cols).astype(int)
    places, inverse = np.unique(c * shape[0] + r, return_inverse=True)
    sparsity = ca.Sparsity.triplet(*shape, (places % shape[0]).tolist(), (places // shape[0]).tolist())
    gather = sp.coo_matrix((np.ones(len(r)), (inverse.ravel(), np.arange(len(r)))), (len(places), len(r))).tocsc()
    return ca.MX(sparsity, ca.DM(gather) @ values)
