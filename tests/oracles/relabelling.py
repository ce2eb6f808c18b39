"""Baseline: torques and forces from quadratic programs in which each patch is told to break, stick or slide, then told anew.

First all touching patches stick. After each program a patch whose force pulls is told to break, one on the rim of its cone to slide
along its friction, one that broke but sank to stick, one that slides along its friction to stick again; until no label changes or
after ten programs. Nothing makes the last answer obey the law of contact: judge it by `FrameProblem.check`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.contact.coulomb import OPEN, SLIDE, STICK
from bunraku.optimization.quadratic import QuadraticProgram, QuadraticSolution, solve_quadratic
from bunraku.optimization.solution import Status
from bunraku.performers.skin.frame.problem import FrameProblem, FrameStep

Labels = NDArray[np.int64]

PROGRAMS = 10
"""Quadratic programs after which the method stops."""

FORCE = 1e-6
"""Force [N] that counts as none."""

STIFF = 1e4
"""Rows about displacements are written in units of 0.1 mm, so that they are of the size of the others."""

PYRAMID = np.array([[1.0, 1.0], [1.0, -1.0], [-1.0, 1.0], [-1.0, -1.0]])


def step_by_relabelling(problem: FrameProblem, F0: Array | None = None) -> FrameStep:
    """The torques and forces of a frame by at most ten programs; ``F0`` (P, 3) of the last frame says which patches carry now.

    ``outer`` counts programs, ``contact_solves`` is zero. CONVERGED: the labels settled. INFEASIBLE: the labels contradict each
    other or a limit, and the answer is the point that violates them least.
    """
    carried = np.zeros(problem.patches, bool) if F0 is None else np.asarray(F0).reshape(-1, 3)[:, 2] > FORCE
    labels = np.where(carried | (problem.gap <= 0.0), STICK, OPEN).astype(np.int64)
    direction = np.zeros((problem.patches, 2))
    costs: list[float] = []
    na, status = problem.torques, Status.MAX_ITERATIONS
    tau, F = np.zeros(na), np.zeros((problem.patches, 3))
    for _ in range(PROGRAMS):
        solution = _solve(problem, labels, direction)
        tau, F = np.clip(solution.x[:na], problem.lo, problem.hi), solution.x[na:].reshape(-1, 3)
        costs.append(problem.cost(tau, F))
        if not solution.status.good:
            status = Status.INFEASIBLE
            break
        told = _relabel(problem, tau, F, labels, direction)
        if (told == labels).all():
            status = Status.CONVERGED
            break
        labels = told
    violation = problem.row_violation(tau, F)
    return FrameStep(tau, F, labels, costs[-1], violation, status, len(costs), 0, tuple(costs))


def _solve(problem: FrameProblem, labels: Labels, direction: Array) -> QuadraticSolution:
    """The program of the labels over z: open F = 0; loaded gap + u_n = 0, F_n >= 0; stick u_t = 0; slide F_t = mu F_n e."""
    na, n, P = problem.torques, len(problem.g), problem.patches
    moved = np.hstack([problem.R, problem.W])
    rows, lower, upper = [problem.C], [np.full(len(problem.d), -np.inf)], [problem.d]
    low, high = np.concatenate([problem.lo, np.full(3 * P, -np.inf)]), np.concatenate([problem.hi, np.full(3 * P, np.inf)])
    for p in range(P):
        i = 3 * p
        if labels[p] == OPEN:
            low[na + i : na + i + 3] = high[na + i : na + i + 3] = 0.0
            continue
        low[na + i + 2] = 0.0
        held = [i + 2] if labels[p] == SLIDE else [i, i + 1, i + 2]
        target = -problem.u0[held] - np.where(np.array(held) == i + 2, problem.gap[p], 0.0)
        rows.append(STIFF * moved[held])
        lower.append(STIFF * target)
        upper.append(STIFF * target)
        cone = np.zeros((4 if labels[p] == STICK else 2, n))
        cone[:, na + i : na + i + 2] = PYRAMID if labels[p] == STICK else np.eye(2)
        cone[:, na + i + 2] = -problem.mu[p] * (np.ones(4) if labels[p] == STICK else direction[p])
        rows.append(cone)
        upper.append(np.zeros(len(cone)))
        lower.append(np.full(4, -np.inf) if labels[p] == STICK else np.zeros(2))
    H = problem.H + 1e-10 * max(float(np.trace(problem.H)) / n, 1e-300) * np.eye(n)
    H = 0.5 * (H + H.T)
    return solve_quadratic(QuadraticProgram(H, problem.g, np.vstack(rows), np.concatenate(lower), np.concatenate(upper), low, high))


def _relabel(problem: FrameProblem, tau: Array, F: Array, labels: Labels, direction: Array) -> Labels:
    """The labels for the next program; ``direction`` (P, 2) gets that of the friction of patches told to slide."""
    u = (problem.free(tau) + problem.W @ F.reshape(-1)).reshape(-1, 3)
    told = labels.copy()
    for p in range(problem.patches):
        size, limit = float(np.hypot(F[p, 0], F[p, 1])), problem.mu[p] * F[p, 2]
        if labels[p] == OPEN:
            told[p] = STICK if problem.gap[p] + u[p, 2] < 0.0 else OPEN
        elif F[p, 2] <= FORCE:
            told[p] = OPEN
        elif labels[p] == STICK and float(np.abs(F[p, :2]).sum()) >= limit - FORCE:
            told[p] = SLIDE
            direction[p] = F[p, :2] / max(size, 1e-12)
        elif labels[p] == SLIDE and float(direction[p] @ u[p, :2]) > 0.0:
            told[p] = STICK
    return told
