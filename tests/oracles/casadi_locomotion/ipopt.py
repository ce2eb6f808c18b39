"""IPOPT on the rows as hard constraints, with exact derivatives."""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

import casadi as ca  # noqa: TID253
import numpy as np
import scipy.sparse as sp

from casadi_locomotion.derivatives import Derivatives
from casadi_locomotion.rows import HIDDEN, INEQUALITIES, SMOOTH
from casadi_locomotion.statement import SHIFTED, Statement

OPTIONS = {
    "print_level": 0, "sb": "yes", "max_iter": 500, "linear_solver": "mumps", "tol": 1e-6, "nlp_scaling_method": "none",
}  # fmt: skip
"""The rows are scaled already; a tolerance of 1e-8 lets IPOPT wander for hundreds of iterations on a flat bottom."""

NEAR = {"mu_init": 1e-8} | dict.fromkeys(("bound_push", "bound_frac", "slack_bound_push", "slack_bound_frac"), 1e-9)
"""Options for a start that is thought to be the answer: neither pushed off its bounds nor off its path."""


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

    @property
    def solved(self) -> bool:
        """Whether IPOPT says so."""
        return self.status in ("Solve_Succeeded", "Solved_To_Acceptable_Level")


class Ipopt:
    """The hard problem, as easy for IPOPT as it can be said.

    Rows that fix an unknown or keep it between two numbers become bounds of z; rows that the pinned ends imply are left out; rows
    with corners are given as smooth ones (`rows.SMOOTH`).
    """

    def __init__(self, statement: Statement, derivatives: Derivatives, **options: Any) -> None:
        self.statement = statement
        index, scale, lower, upper = self._rows()
        P = ca.DM(sp.coo_matrix((scale, (np.arange(len(index)), index)), (len(index), statement.all_rows)).tocsc())
        d, p, lam = derivatives, ca.MX.sym("p", 0), ca.MX.sym("lam_g", len(index))
        g = P @ d.rows
        H = ca.Function("H", [d.z, d.sigma, d.lam], [ca.triu(d.hessian)])(d.z, d.sigma, P.T @ lam)
        settings = {
            "grad_f": ca.Function("nlp_grad_f", [d.z, p], [d.objective, d.slope], ["x", "p"], ["f", "grad:f:x"]),
            "jac_g": ca.Function("nlp_jac_g", [d.z, p], [g, (P @ d.RW) @ d.JW], ["x", "p"], ["g", "jac:g:x"]),
            "hess_lag": ca.Function(
                "nlp_hess_l", [d.z, p, d.sigma, lam], [H], ["x", "p", "lam:f", "lam:g"], ["triu:hess:gamma:x:x"]
            ),
            "print_time": False,
            "ipopt": OPTIONS | options,
        }
        self.solver = ca.nlpsol("solver", "ipopt", {"x": d.z, "p": p, "f": d.objective, "g": g}, settings)
        self.bounds = {"lbg": lower, "ubg": upper, **self._bounds()}

    def solve(self, z0: np.ndarray) -> tuple[np.ndarray, dict[str, Any]]:
        """From ``z0`` (n): where IPOPT ends, and its own statistics with ``cpu`` [s]."""
        at = time.process_time()
        found = self.solver(x0=z0, **self.bounds)
        stats = self.solver.stats() | {"cpu": time.process_time() - at}
        return np.asarray(found["x"]).ravel(), stats

    def _pinned(self) -> list[int]:
        plan = self.statement.plan
        ends = [] if plan.periodic else [(0, plan.start), (plan.T - 1, plan.end)]
        return [i for i, pose in ends if pose is not None]

    def _rows(self) -> tuple[np.ndarray, np.ndarray, np.ndarray, np.ndarray]:
        """Index, scale and bounds of the rows given."""
        s, parts = self.statement, []
        for kind, rows in s.index.items():
            if kind in SMOOTH or kind in ("range", "locked", "gauge", "start", "swing force"):
                continue
            keep = ~(np.isin(s.places[kind][:, 0], self._pinned()) & (kind in ("height", "apart", "clear")))
            low, high = (-1.0, 1.0) if kind in HIDDEN else (-np.inf, 0.0) if kind in INEQUALITIES else (0.0, 0.0)
            one = np.ones(int(keep.sum()))
            parts.append((rows[keep], s.template.scale[kind] * one, low * one, high * one))
        index, scale, lower, upper = (np.concatenate(part) for part in zip(*parts, strict=True))
        return index, scale, lower, upper

    def _bounds(self) -> dict[str, np.ndarray]:
        s, plan, nv, nq = self.statement, self.statement.plan, self.statement.robot.nv, self.statement.robot.nq
        low, high = np.full(s.n, -np.inf), np.full(s.n, np.inf)
        for i in range(plan.T):
            if plan.ranges is not None and i not in self._pinned():
                low[i * nv + 6 : i * nv + nq], high[i * nv + 6 : i * nv + nq] = np.asarray(plan.ranges).T
            for j in np.flatnonzero(~s.contacts[i + 1]):
                at = i * nv + nq + 3 * j
                low[at : at + 3] = high[at : at + 3] = 0.0
        if "gauge" in s.index:
            low[list(SHIFTED)] = high[list(SHIFTED)] = 0.0
        if "start" in s.index:
            low[:nq] = high[:nq] = plan.start
        if not plan.periodic and plan.end is None and plan.after is None:
            low[-3:] = high[-3:] = 0.0
        return {"lbx": low, "ubx": high}
