"""The oracle: rows, objective, the augmented energy with exact derivatives, and IPOPT's solution of the same problem."""

from __future__ import annotations

from functools import cached_property
from typing import Any

import casadi as ca  # noqa: TID253
import numpy as np
import scipy.sparse as sp

from bunraku.character import Character
from casadi_locomotion.data import PlanData
from casadi_locomotion.derivatives import Derivatives
from casadi_locomotion.ipopt import NEAR, Ipopt, IpoptResult
from casadi_locomotion.rows import HIDDEN, INEQUALITIES
from casadi_locomotion.statement import SHIFTED, Statement

Shifts = dict[str, np.ndarray]


class Oracle:
    """The planning problem of a character (`data.PlanData`). Rows come by kind, unscaled, at ``places[kind]`` (sample, column)."""

    def __init__(self, character: Character, plan: PlanData) -> None:
        self.plan = plan
        self.statement = s = Statement(character, plan)
        self.robot, self.features, self.n = s.robot, s.features, s.n
        self.derivatives = d = Derivatives(s)
        self.index, self.places = s.index, s.places
        self.kinds = tuple(kind for kind in s.index if kind not in HIDDEN and len(s.index[kind]))
        self.f_rows = ca.Function("rows", [d.z], [d.rows, d.objective])
        self.f_first = ca.Function("first", [d.z], [d.rows, d.slope, d.jacobian])
        self.f_samples = ca.Function("samples", [d.z], [d.samples])

    @cached_property
    def f_hessian(self) -> ca.Function:
        """Hessian of sigma objective + lam . rows, a function of z, sigma and lam."""
        d = self.derivatives
        return ca.Function("hessian", [d.z, d.sigma, d.lam], [d.hessian])

    def rows(self, z: np.ndarray) -> dict[str, np.ndarray]:
        """Values of all rows asked, by kind."""
        return self._by_kind(self.f_rows(z)[0])

    def objective(self, z: np.ndarray) -> float:
        """The sum of squares that is minimised."""
        return float(self.f_rows(z)[1])

    def energy(self, z: np.ndarray, w: float, shifts: Shifts) -> float:
        """Objective + w sum (scale (r + s))² + w sum max(0, scale (g + s))²."""
        values, objective = self.f_rows(z)
        return float(objective) + self._pull(self._by_kind(values), w, shifts)[0]

    def gradient(self, z: np.ndarray, w: float, shifts: Shifts) -> np.ndarray:
        """Gradient (n) of the energy."""
        values, slope, J = self.f_first(z)
        return np.asarray(slope).ravel() + J.sparse().T @ self._pull(self._by_kind(values), w, shifts)[1]

    def hessian(self, z: np.ndarray, w: float, shifts: Shifts) -> sp.csc_matrix:
        """Exact Hessian (n, n) of the energy."""
        values, _, J = self.f_first(z)
        J = J.sparse()
        _, first, second = self._pull(self._by_kind(values), w, shifts)
        return (self.f_hessian(z, 1.0, first).sparse() + J.T @ sp.diags(second) @ J).tocsc()

    def violation(self, z: np.ndarray) -> float:
        """The largest scaled row that is not met."""
        worst = 0.0
        for kind, r in self.rows(z).items():
            x = self.statement.template.scale[kind] * r
            worst = max(worst, float(np.max(x if kind in INEQUALITIES else np.abs(x), initial=0.0)))
        return worst

    def rest(self) -> np.ndarray:
        """The rest pose in all samples, no forces, no shift."""
        v = np.concatenate([self.robot.home, np.zeros(3 * self.robot.ne)])
        if "gauge" in self.index:
            v[list(SHIFTED)] = 0.0
        return np.concatenate([np.tile(v, self.plan.T), np.zeros(3)])

    def unpack(self, z: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        """Coordinates (T, nq), forces (T, ne, 3), shift (3)."""
        v = z[:-3].reshape(self.plan.T, self.robot.nv)
        return v[:, : self.robot.nq], v[:, self.robot.nq :].reshape(self.plan.T, self.robot.ne, 3), z[-3:]

    def toes(self, z: np.ndarray) -> np.ndarray:
        """Headings (T, ne) [rad] of the wheels at ``z``."""
        samples = self.f_samples(z)
        axles = [self.features.sample(samples[:, i + 1]).a for i in range(self.plan.T)]
        return np.array([[np.arctan2(-float(a[0]), float(a[1])) for a in row] for row in axles])

    @cached_property
    def ipopt(self) -> Ipopt:
        """The solver, built when first asked for."""
        return Ipopt(self.statement, self.derivatives)

    def solve_ipopt(self, z0: np.ndarray) -> IpoptResult:
        """IPOPT from ``z0`` (n), rows as hard constraints."""
        return self._judged(*self.ipopt.solve(z0))

    def polish_ipopt(self, z0: np.ndarray) -> IpoptResult:
        """IPOPT from a ``z0`` that is thought to be the answer: where it stays is one."""
        return self._judged(*Ipopt(self.statement, self.derivatives, **NEAR).solve(z0))

    def _judged(self, z: np.ndarray, stats: dict[str, Any]) -> IpoptResult:
        inside = sum(value for key, value in stats.items() if key.startswith("t_proc_nlp_"))
        return IpoptResult(
            z, self.objective(z), int(stats["iter_count"]), stats["cpu"], inside, self.violation(z), str(stats["return_status"])
        )

    def _by_kind(self, values: ca.DM) -> dict[str, np.ndarray]:
        values = np.asarray(values).ravel()
        return {kind: values[self.index[kind]] for kind in self.kinds}

    def _pull(self, rows: dict[str, np.ndarray], w: float, shifts: Shifts) -> tuple[float, np.ndarray, np.ndarray]:
        """Penalty, its slope over every row, and its curvature (0 where an inequality sleeps)."""
        total, slope, curve = 0.0, np.zeros(self.statement.all_rows), np.zeros(self.statement.all_rows)
        for kind, r in rows.items():
            scale = self.statement.template.scale[kind]
            x = scale * (r + shifts.get(kind, 0.0))
            on = x > 0.0 if kind in INEQUALITIES else np.ones(len(x), dtype=bool)
            total += w * float(np.sum(x[on] ** 2))
            slope[self.index[kind][on]] = 2.0 * w * scale * x[on]
            curve[self.index[kind][on]] = 2.0 * w * scale**2
        return total, slope, curve
