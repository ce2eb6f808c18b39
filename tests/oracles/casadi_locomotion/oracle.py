"""The whole problem: rows, objective, augmented energy with exact derivatives, and IPOPT on the same rows as hard constraints.

Unknowns z = [q_0, f_0, q_1, f_1, ..., D]. Derivatives go through the wide vector W(z) = (s_-1, ..., s_T, D) of all samples with their
features and neighbours beyond the ends: J = R_W W_z, and the Hessian of the Lagrangian is W_zᵀ L_WW W_z + L_W . W_zz.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from functools import cached_property

import casadi as ca  # noqa: TID253
import numpy as np
import scipy.sparse as sp
from casadi_locomotion.data import BASE, COM, PlanData, Robot
from casadi_locomotion.features import Features
from casadi_locomotion.rows import INEQUALITIES, Rows

from bunraku.character import Character

SHIFTED = (0, 1, 3)
"""Coordinates that a shift D moves: x, y and yaw of the base."""


@dataclass(frozen=True)
class IpoptResult:
    """What IPOPT found. ``cpu`` [s] in all, ``functions`` [s] of it in CasADi's functions; ``violation`` the largest scaled row."""

    z: np.ndarray
    objective: float
    iterations: int
    cpu: float
    functions: float
    violation: float
    status: str


class Oracle:
    """The planning problem of a character; see `data.PlanData`. Rows come by kind, in the order of ``places`` (sample, column)."""

    def __init__(self, character: Character, plan: PlanData) -> None:
        self.plan, self.robot = plan, Robot(character)
        self.features = Features(self.robot)
        self.template = Rows(self.features, plan)
        self.n = plan.T * self.robot.nv + 3
        self._neighbours()
        self._globals()
        self._select()
        self._functions()

    # ---- the problem ------------------------------------------------------------------------------------------------------------
    def _neighbours(self) -> None:
        """Samples beyond the ends, contacts there, and the numbers p of every sample."""
        plan, robot, T = self.plan, self.robot, self.plan.T
        z = ca.SX.sym("z", self.n)
        v = [z[i * robot.nv : (i + 1) * robot.nv] for i in range(T)]
        D = z[T * robot.nv :]
        contacts = np.asarray(plan.contacts, dtype=bool)
        if plan.periodic:
            first, last = self._mirrored(self._unshift(v[T - 1], D)), self._shift(self._mirrored(v[0]), D)
            tips = np.arange(robot.ne)
            if plan.mirror is not None:
                tips = (np.asarray(plan.mirror[0])[robot.nq :: 3] - robot.nq) // 3
            before, after = contacts[-1][tips], contacts[0][tips]
            self.has_before = self.has_after = True
        else:
            self.has_before, self.has_after = plan.before is not None, plan.after is not None
            first = ca.vertcat(ca.DM(plan.before), v[0][robot.nq :]) if self.has_before else v[0]
            last = self._shift(ca.DM(plan.after), D) if self.has_after else v[T - 1]
            before, after = contacts[0], contacts[-1]
        self.U = ca.Function("U", [z], [ca.vertcat(first, *v, last, D)])
        self.contacts = np.vstack([before, contacts, after])
        self.prev = np.array([self.has_before] + [True] * (T - 1))
        self.next = np.array([True] * (T - 1) + [self.has_after])
        c = self.contacts.astype(float)
        back, forth = c[:-2] * c[1:-1] * self.prev[:, None], c[2:] * c[1:-1] * self.next[:, None]
        both = np.maximum(back + forth, 1.0)
        n = (T if plan.periodic else T - 1) / 12.0
        weights = np.stack(
            [0.1 * n**3 * (self.prev & self.next), np.full(T, 1e-3 / n), np.full(T, 1e-4 / n), 1e-3 * n * self.next], axis=1
        )
        self.p = np.hstack([plan.heights, back / both, forth / both, weights]).T

    def _shift(self, v: ca.SX, D: ca.SX) -> ca.SX:
        return self._moved(v, D[0], D[1], D[2], 0.0, 0.0)

    def _unshift(self, v: ca.SX, D: ca.SX) -> ca.SX:
        return self._moved(v, 0.0, 0.0, -D[2], D[0], D[1])

    def _moved(self, v: ca.SX, x: ca.SX, y: ca.SX, yaw: ca.SX, x0: ca.SX, y0: ca.SX) -> ca.SX:
        """Coordinates and forces turned about z after taking (x0, y0) off, then moved by (x, y)."""
        c, s = ca.cos(yaw), ca.sin(yaw)
        tx, ty = v[0] - x0, v[1] - y0
        parts = [c * tx - s * ty + x, s * tx + c * ty + y, v[2], v[3] + yaw, v[4 : self.robot.nq]]
        for j in range(self.robot.nq, self.robot.nv, 3):
            parts += [c * v[j] - s * v[j + 1], s * v[j] + c * v[j + 1], v[j + 2]]
        return ca.vertcat(*parts)

    def _mirrored(self, v: ca.SX) -> ca.SX:
        if self.plan.mirror is None:
            return v
        return ca.DM(np.asarray(self.plan.mirror[1], dtype=float)) * v[[int(k) for k in self.plan.mirror[0]]]

    def _globals(self) -> None:
        """Rows and objective of the motion as a whole: goals, gauge, ends, targets."""
        plan, robot, ns, T = self.plan, self.robot, self.features.ns, self.plan.T
        W = ca.SX.sym("W", (T + 2) * ns + 3)
        D = W[(T + 2) * ns :]
        sample = [self.features.sample(W[i * ns : (i + 1) * ns]) for i in range(T + 2)]
        first, last = sample[1], sample[T]
        rows: dict[str, list[ca.SX]] = {"goal": [], "yaw goal": [], "gauge": [], "start": [], "end": []}
        if plan.periodic:
            c, s = ca.cos(D[2]), ca.sin(D[2])
            x, y = first.x[0], first.x[1]
            gone = ca.vertcat(c * x - s * y + D[0] - x, s * x + c * y + D[1] - y)
            rows["gauge"] = [first.q[k] for k in SHIFTED]
        else:
            gone = (last.x - first.x)[:2]
            if plan.start is not None:
                rows["start"] = [first.q - ca.DM(plan.start)]
            if plan.end is not None:
                shifted = self._shift(ca.vertcat(ca.DM(plan.end), ca.DM.zeros(3 * robot.ne)), D)
                rows["end"] = [last.q - shifted[: robot.nq]]
        rows["goal"] = [gone[k] - wish for k, wish in enumerate(plan.goal_xy) if wish is not None]
        if plan.goal_yaw is not None:
            rows["yaw goal"] = [(D[2] if plan.periodic else last.q[3] - first.q[3]) - plan.goal_yaw]
        objective = ca.SX(0)
        for target in plan.targets:
            ends = [self._place(sample[target.index + 1 + k], target.what) for k in (0, 1)]
            at = (1.0 - target.share) * ends[0] + target.share * ends[1] if target.share > 0.0 else ends[0]
            for k in range(3):
                if np.isfinite(target.place[k]):
                    objective += target.weight[k] * (at[k] - target.place[k]) ** 2
        self.W = W
        self.global_rows = {kind: ca.vertcat(*parts) for kind, parts in rows.items() if parts}
        self.global_objective = objective

    def _place(self, sample, what: int) -> ca.SX:
        return sample.x if what == COM else sample.base if what == BASE else self.template.contact(sample, what)

    # ---- which rows -------------------------------------------------------------------------------------------------------------
    def _asked(self, kind: str, width: int) -> np.ndarray:
        """Which rows of the template are asked: (T, width)."""
        here = self.contacts[1:-1]
        on = here & self.contacts[2:] & self.next[:, None]
        tips = self.robot.effectors
        T = self.plan.T
        if kind in ("newton", "euler", "torque", "torque line"):
            return np.repeat((self.prev & self.next)[:, None], width, axis=1)
        if kind == "slip":
            return np.repeat(on, [1 if tip.spins else 2 for tip in tips], axis=1)
        if kind == "resistance":
            return here[:, [tip.kind == "passive" for tip in tips]]
        if kind == "swing force":
            return np.repeat(~here, 3, axis=1)
        if kind in ("friction", "normal"):
            return here
        if kind == "speed":
            return np.repeat(self.next[:, None], width, axis=1)
        if kind == "wheel speed":
            limited = [tip.kind == "active" and np.isfinite(self.plan.wheel_speeds[j]) for j, tip in enumerate(tips)]
            return np.repeat(on[:, limited], 2, axis=1)
        return np.ones((T, width), dtype=bool)

    def _select(self) -> None:
        """Number the rows asked: ``places`` and ``index`` (into all rows of template and globals) by kind."""
        T, start = self.plan.T, 0
        m = sum(rows.numel() for rows in self.template.kinds.values())
        self.places, self.index = {}, {}
        for kind, rows in self.template.kinds.items():
            i, col = np.nonzero(self._asked(kind, rows.numel()))
            self.places[kind] = np.stack([i, col], axis=1)
            self.index[kind] = i * m + start + col
            start += rows.numel()
        start = T * m
        for kind, rows in self.global_rows.items():
            self.places[kind] = np.stack([np.zeros(rows.numel(), dtype=int), np.arange(rows.numel())], axis=1)
            self.index[kind] = start + np.arange(rows.numel())
            start += rows.numel()
        self.m, self.all_rows = m, start

    def scales(self, kind: str) -> np.ndarray:
        """The scale of each row of a kind."""
        scale = np.asarray(self.template.scale[kind])
        return np.full(len(self.places[kind]), float(scale)) if scale.ndim == 0 else scale[self.places[kind][:, 1]]

    # ---- functions of z ---------------------------------------------------------------------------------------------------------
    def _functions(self) -> None:
        T, t, ns, nv, nq = self.plan.T, self.template, self.features.ns, self.robot.nv, self.robot.nq
        NW, NU = (T + 2) * ns + 3, (T + 2) * nv + 3
        triple = ca.vertcat(t.before, t.now, t.after)
        rows = ca.vertcat(*t.kinds.values())
        lam, sigma = ca.SX.sym("lam", self.m), ca.SX.sym("sigma")
        inputs = [t.before, t.now, t.after, t.p]
        total = sigma * t.objective + ca.dot(lam, rows)
        H, g = ca.hessian(total, triple)
        stage = ca.Function("stage", inputs, [rows, t.objective])
        stage_J = ca.Function("stage_J", inputs, [ca.jacobian(rows, triple)])
        stage_H = ca.Function("stage_H", [*inputs, lam, sigma], [H, g])
        W = self.W
        whole = ca.vertcat(*self.global_rows.values())
        glam = ca.SX.sym("glam", self.all_rows - T * self.m)
        GH, gg = ca.hessian(sigma * self.global_objective + ca.dot(glam, whole), W)
        glob = ca.Function("glob", [W], [whole, self.global_objective])
        glob_J = ca.Function("glob_J", [W], [ca.jacobian(whole, W)])
        glob_H = ca.Function("glob_H", [W, glam, sigma], [GH, gg])
        q, mu = ca.SX.sym("q", nq), ca.SX.sym("mu", self.features.ny)
        y = self.features.y(q)
        K_J = ca.Function("K_J", [q], [ca.jacobian(y, q)])
        K_H = ca.Function("K_H", [q, mu], [ca.hessian(ca.dot(mu, y), q)[0]])
        zs, nu = ca.SX.sym("z", self.n), ca.SX.sym("nu", NU)
        U_J = ca.Function("U_J", [zs], [ca.jacobian(self.U(zs), zs)])
        U_H = ca.Function("U_H", [zs, nu], [ca.hessian(ca.dot(nu, self.U(zs)), zs)[0]])

        z = ca.MX.sym("z", self.n)
        U = self.U(z)
        V = ca.reshape(U[:-3], nv, T + 2)
        S = ca.vertcat(V, self.features.y.map(T + 2)(V[:nq, :]))
        Wz = ca.vertcat(ca.vec(S), U[-3:])
        p = ca.DM(self.p)
        windows = [S[:, :T], S[:, 1 : T + 1], S[:, 2:], p]
        r, o = stage.map(T)(*windows)
        gr, go = glob(Wz)
        allrows = ca.vertcat(ca.vec(r), gr)
        objective = ca.sum2(o) + go
        # W_z
        KJ = K_J.map(T + 2)(V[:nq, :])
        JU = U_J(z)
        one = [(i * ns + k, i * nv + k) for i in range(T + 2) for k in range(nv)] + [((T + 2) * ns + k, (T + 2) * nv + k) for k in range(3)]
        kr, kc = _triplets(K_J.sparsity_out(0))
        place_r = [np.array([a for a, _ in one])] + [i * ns + nv + kr for i in range(T + 2)]
        place_c = [np.array([b for _, b in one])] + [i * nv + kc for i in range(T + 2)]
        JWU = _assemble((NW, NU), place_r, place_c, ca.vertcat(ca.DM.ones(len(one)), _nonzeros(KJ)))
        JW = JWU @ JU
        # rows' Jacobian, in W then z
        SJ = stage_J.map(T)(*windows)
        GJ = glob_J(Wz)
        sr, sc = _triplets(stage_J.sparsity_out(0))
        gr_, gc_ = _triplets(glob_J.sparsity_out(0))
        RW = _assemble(
            (self.all_rows, NW),
            [i * self.m + sr for i in range(T)] + [T * self.m + gr_],
            [i * ns + sc for i in range(T)] + [gc_],
            ca.vertcat(_nonzeros(SJ), _nonzeros(GJ)),
        )
        # Hessian of sigma objective + lam . rows
        lam_all, sig = ca.MX.sym("lam", self.all_rows), ca.MX.sym("sigma")
        lam_stage = ca.reshape(lam_all[: T * self.m], self.m, T)
        SH, sg = stage_H.map(T)(*windows, lam_stage, ca.repmat(sig, 1, T))
        GHz, ggz = glob_H(Wz, lam_all[T * self.m :], sig)
        hr, hc = _triplets(stage_H.sparsity_out(0))
        gr2, gc2 = _triplets(glob_H.sparsity_out(0))
        HW = _assemble(
            (NW, NW),
            [i * ns + hr for i in range(T)] + [gr2],
            [i * ns + hc for i in range(T)] + [gc2],
            ca.vertcat(_nonzeros(SH), _nonzeros(GHz)),
        )
        gW = ca.densify(ggz)
        scatter = sp.coo_matrix(
            (np.ones(3 * ns * T), ((np.arange(T)[:, None] * ns + np.arange(3 * ns)).ravel(), np.arange(3 * ns * T))), (NW, 3 * ns * T)
        )
        gW = gW + ca.DM(scatter.tocsc()) @ ca.vec(ca.densify(sg))
        gS = ca.reshape(gW[:-3], ns, T + 2)
        KH = K_H.map(T + 2)(V[:nq, :], gS[nv:, :])
        kr2, kc2 = _triplets(K_H.sparsity_out(0))
        HU = _assemble((NU, NU), [i * nv + kr2 for i in range(T + 2)], [i * nv + kc2 for i in range(T + 2)], _nonzeros(KH))
        HZ = JW.T @ (HW @ JW) + JU.T @ (HU @ JU) + U_H(z, JWU.T @ gW)
        self._z, self._lam, self._sig = z, lam_all, sig
        self._objective, self._rows, self._JW, self._RW, self._HZ = objective, allrows, JW, RW, HZ
        self.f_rows = ca.Function("rows", [z], [allrows, objective])
        self.f_first = ca.Function("first", [z], [allrows, objective, RW @ JW, ca.gradient(objective, z)])
        self.f_hessian = ca.Function("hessian", [z, sig, lam_all], [HZ])
        self.f_wide = ca.Function("wide", [z], [S])

    # ---- what is asked of an oracle ---------------------------------------------------------------------------------------------
    @cached_property
    def kinds(self) -> tuple[str, ...]:
        """The kinds of rows of this problem ("torque line" is IPOPT's form of "torque" and not among them)."""
        return tuple(kind for kind in self.index if kind != "torque line" and len(self.index[kind]))

    def rows(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Values of all rows asked, by kind, unscaled."""
        values = np.asarray(self.f_rows(z)[0]).ravel()
        return {kind: values[self.index[kind]] for kind in self.kinds}

    def objective(self, z: np.ndarray) -> float:
        """The sum of squares that is minimised."""
        return float(self.f_rows(z)[1])

    def pull(self, rows: dict[str, np.ndarray], w: float, shifts: dict[str, np.ndarray]) -> tuple[float, np.ndarray, np.ndarray]:
        """Penalty, its slope over every row, and its curvature (0 where an inequality sleeps)."""
        value, slope, curve = 0.0, np.zeros(self.all_rows), np.zeros(self.all_rows)
        for kind, r in rows.items():
            scale = self.scales(kind)
            x = scale * (r + shifts.get(kind, 0.0))
            on = x > 0.0 if kind in INEQUALITIES else np.ones(len(x), dtype=bool)
            value += w * float(np.sum(x[on] ** 2))
            slope[self.index[kind][on]] = (2.0 * w * scale * x)[on]
            curve[self.index[kind][on]] = (2.0 * w * scale**2)[on]
        return value, slope, curve

    def energy(self, z: np.ndarray, w: float, shifts: dict[str, np.ndarray]) -> float:
        """Objective + w sum (scale (r + s))² + w sum max(0, scale (g + s))²."""
        return self.objective(z) + self.pull(self.rows(z), w, shifts)[0]

    def gradient(self, z: np.ndarray, w: float, shifts: dict[str, np.ndarray]) -> np.ndarray:
        """Gradient (n) of the energy."""
        values, _, J, g = self.f_first(z)
        values = np.asarray(values).ravel()
        _, slope, _ = self.pull({kind: values[self.index[kind]] for kind in self.kinds}, w, shifts)
        return np.asarray(g).ravel() + J.sparse().T @ slope

    def hessian(self, z: np.ndarray, w: float, shifts: dict[str, np.ndarray]) -> sp.csc_matrix:
        """Exact Hessian (n, n) of the energy."""
        values, _, J, _ = self.f_first(z)
        values, J = np.asarray(values).ravel(), J.sparse()
        _, slope, curve = self.pull({kind: values[self.index[kind]] for kind in self.kinds}, w, shifts)
        return (self.f_hessian(z, 1.0, slope).sparse() + J.T @ sp.diags(curve) @ J).tocsc()

    def jacobian(self, z: np.ndarray, kind: str) -> sp.csr_matrix:
        """Jacobian (rows of a kind, n), unscaled."""
        return self.f_first(z)[2].sparse().tocsr()[self.index[kind]]

    def violation(self, z: np.ndarray) -> float:
        """The largest scaled row that is not met."""
        worst = 0.0
        for kind, r in self.rows(z).items():
            x = self.scales(kind) * r
            worst = max(worst, float(np.max(x if kind in INEQUALITIES else np.abs(x), initial=0.0)))
        return worst

    def rest(self) -> np.ndarray:
        """The rest pose in all samples, no forces, no shift."""
        v = np.concatenate([self.robot.home, np.zeros(3 * self.robot.ne)])
        z = np.concatenate([np.tile(v, self.plan.T), np.zeros(3)])
        if self.plan.periodic:
            for k in SHIFTED:
                z[k : -3 : self.robot.nv] = 0.0
        return z

    def unpack(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """q (T, nq), f (T, ne, 3), D (3)."""
        v = z[:-3].reshape(self.plan.T, self.robot.nv)
        return v[:, : self.robot.nq], v[:, self.robot.nq :].reshape(self.plan.T, self.robot.ne, 3), z[-3:]

    def _hard(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Rows IPOPT is given (index, scale, upper and lower bounds): not those that others imply; ranges and ends become bounds."""
        T, nv, nq = self.plan.T, self.robot.nv, self.robot.nq
        low, high = np.full(self.n, -np.inf), np.full(self.n, np.inf)
        index, scale, lower = [], [], []
        pinned = [i for i, pose in ((0, self.plan.start), (T - 1, self.plan.end)) if pose is not None and not self.plan.periodic]
        for kind in self.index:
            rows, places = self.index[kind], self.places[kind]
            keep = np.ones(len(rows), dtype=bool)
            if kind in ("torque", "range", "gauge", "start") or not len(rows):
                continue
            if kind in ("height", "apart"):
                keep = ~np.isin(places[:, 0], pinned)
            index.append(rows[keep])
            scale.append(self.scales(kind)[keep])
            lower.append(np.full(keep.sum(), -np.inf if kind in INEQUALITIES else 0.0))
        if self.plan.ranges is not None:
            for i in set(range(T)) - set(pinned):
                low[i * nv + 6 : i * nv + nq], high[i * nv + 6 : i * nv + nq] = np.asarray(self.plan.ranges).T
        if self.plan.periodic:
            low[list(SHIFTED)] = high[list(SHIFTED)] = 0.0
        elif self.plan.start is not None:
            low[:nq] = high[:nq] = self.plan.start
        for i in range(T):
            for j in np.flatnonzero(~self.contacts[i + 1]):
                at = i * nv + nq + 3 * j
                low[at : at + 3] = high[at : at + 3] = 0.0
        skip = set(self.index.get("swing force", np.zeros(0, dtype=int)).tolist())
        rows_ = np.concatenate(index)
        keep = np.array([k not in skip for k in rows_])
        return rows_[keep], np.concatenate(scale)[keep], np.concatenate(lower)[keep], low, high, np.zeros(keep.sum())

    @cached_property
    def solver(self):
        """IPOPT on the hard problem with exact derivatives, and the bounds it takes."""
        index, scale, lower, low, high, upper = self._hard()
        picks = sp.coo_matrix((scale, (np.arange(len(index)), index)), (len(index), self.all_rows)).tocsc()
        P = ca.DM(picks)
        x, par = self._z, ca.MX.sym("p", 0)
        lam = ca.MX.sym("lam_g", len(index))
        g = P @ self._rows
        H = ca.Function("H", [self._z, self._sig, self._lam], [ca.triu(self._HZ)])
        options = {
            "grad_f": ca.Function("nlp_grad_f", [x, par], [self._objective, ca.gradient(self._objective, x)], ["x", "p"], ["f", "grad:f:x"]),
            "jac_g": ca.Function("nlp_jac_g", [x, par], [g, (P @ self._RW) @ self._JW], ["x", "p"], ["g", "jac:g:x"]),
            "hess_lag": ca.Function(
                "nlp_hess_l", [x, par, self._sig, lam], [H(x, self._sig, P.T @ lam)],
                ["x", "p", "lam:f", "lam:g"], ["triu:hess:gamma:x:x"],
            ),
            "print_time": False,
            "ipopt": {"print_level": 0, "max_iter": 500, "linear_solver": "mumps", "tol": 1e-8, "sb": "yes"},
        }  # fmt: skip
        nlp = {"x": x, "p": par, "f": self._objective, "g": g}
        return ca.nlpsol("solver", "ipopt", nlp, options), {"lbx": low, "ubx": high, "lbg": lower, "ubg": upper}

    def solve_ipopt(self, z0: np.ndarray) -> IpoptResult:
        """IPOPT from ``z0`` (n)."""
        solver, bounds = self.solver
        at = time.process_time()
        found = solver(x0=z0, **bounds)
        cpu = time.process_time() - at
        stats = solver.stats()
        inside = sum(value for key, value in stats.items() if key.startswith("t_proc_nlp_"))
        z = np.asarray(found["x"]).ravel()
        return IpoptResult(z, self.objective(z), int(stats["iter_count"]), cpu, inside, self.violation(z), str(stats["return_status"]))


def _triplets(sparsity: ca.Sparsity) -> tuple[np.ndarray, np.ndarray]:
    rows, cols = sparsity.get_triplet()
    return np.asarray(rows, dtype=int), np.asarray(cols, dtype=int)


def _nonzeros(matrix: ca.MX) -> ca.MX:
    return matrix.nz[:]


def _assemble(shape: tuple[int, int], rows: list[np.ndarray], cols: list[np.ndarray], values: ca.MX) -> ca.MX:
    """A sparse matrix of which ``values`` at (rows, cols) are the parts; those at the same place add up."""
    r, c = np.concatenate(rows).astype(int), np.concatenate(cols).astype(int)
    places, inverse = np.unique(c * shape[0] + r, return_inverse=True)
    sparsity = ca.Sparsity.triplet(*shape, (places % shape[0]).tolist(), (places // shape[0]).tolist())
    gather = sp.coo_matrix((np.ones(len(r)), (inverse.ravel(), np.arange(len(r)))), (len(places), len(r))).tocsc()
    return ca.MX(sparsity, ca.DM(gather) @ values)
