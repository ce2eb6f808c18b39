"""Where an elastic solid comes to rest under dead loads: Newton's method in load steps that adapt themselves."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray
from scipy.sparse import csr_array

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid
from bunraku.optimization.linear import EliminationPlan, Factorization, NotFactorizable, analyse
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Rest:
    """Displacements ``u`` (3 n,) [m] at rest, the largest unbalanced force [N], Newton iterations, load steps, and how it ended.

    When it did not converge, ``u`` is at rest under the ``share`` of the load that was reached. ``stable``: the last stiffness
    was positive definite.
    """

    u: Array
    residual: float
    iterations: int
    load_steps: int
    share: float
    stable: bool
    status: Status


def free_unknowns(solid: ElasticSolid, held: ArrayLike) -> NDArray[np.bool_]:
    """Which of the (3 n,) displacements are free when the nodes ``held`` are not."""
    nodes = np.asarray(held, dtype=np.int64)
    if nodes.size and (nodes.min() < 0 or nodes.max() >= solid.nodes):
        raise BadInput(
            f"node {int(nodes[(nodes < 0) | (nodes >= solid.nodes)][0])} is held; the solid has nodes 0 to {solid.nodes - 1}"
        )
    X = solid.mesh.nodes[nodes.ravel()]
    if len(X) < 3 or np.linalg.svd(X - X.mean(axis=0), compute_uv=False)[1] <= 1e-9 * float(np.ptp(solid.mesh.nodes, axis=0).max()):
        raise BadInput(f"too few nodes are held ({len(X)}, or all on one line): the solid can move without deforming; hold a face")
    free = np.ones((solid.nodes, 3), dtype=bool)
    free[nodes] = False
    return free.ravel()


def find_rest(
    solid: ElasticSolid,
    load: ArrayLike,
    *,
    held: ArrayLike,
    start: ArrayLike | None = None,
    load_steps: int = 1,
    tolerance: float = 1e-10,
    max_iterations: int = 25,
) -> Rest:
    """Solve dV/du = load (3 n,) [N] with the nodes ``held`` at zero displacement, from ``start`` (rest without load unless given).

    A load step that does not converge within ``max_iterations`` full Newton steps is halved, down to 1/1024 of the load.
    ``tolerance`` is that of the last Newton step, relative to the size of the solid. Full steps on purpose: the energy of slender
    parts rises for a moment when they bend (the tangent ignores the axial strain of the second order), and a line search on it
    would crawl.
    """
    p = np.asarray(load, dtype=np.float64).ravel()
    if p.shape != (solid.size,) or not np.isfinite(p).all():
        raise BadInput(f"the load has shape {np.shape(load)}; ({solid.size},) finite numbers are needed")
    free = free_unknowns(solid, held)
    plan = analyse(solid.pattern.matrix(solid.pattern.zeros()), free=free)
    u = np.zeros(solid.size) if start is None else np.array(start, dtype=np.float64).ravel()
    scale = max(float(np.linalg.norm(p[free])), 1e-300)
    share, step, total, steps, residual, stable = 0.0, 1.0 / max(load_steps, 1), 0, 0, float(np.linalg.norm(p[free])), True
    while share < 1.0:
        aim = min(1.0, share + step)
        found, residual_new, used, stable_new = _newton(solid, aim * p, u, free, plan, (scale, tolerance), max_iterations)
        total += used
        if found is None:
            step *= 0.5
            if step < 1.0 / 1024.0:
                return Rest(u, residual, total, steps, share, stable, Status.STALLED)
            continue
        u, share, residual, stable, steps = found, aim, residual_new, stable_new, steps + 1
        if 1.0 - share < 1e-12:
            break
    return Rest(u, residual, total, steps, share, stable, Status.CONVERGED)


def _newton(
    solid: ElasticSolid,
    p: Array,
    start: Array,
    free: NDArray[np.bool_],
    plan: EliminationPlan,
    bar: tuple[float, float],
    limit: int,
) -> tuple[Array | None, float, int, bool]:
    """Full Newton steps: the last u, largest unbalanced force, iterations, stability; None for u when they do not converge.

    Rounding of u leaves forces of eps |K| |u|, which for slender parts is far above any small share of the load, so the end is
    read from the length of the step (relative to the solid's), while the unbalanced force need only be below a thousandth of the
    load.
    """
    u, extent = start.copy(), float(np.ptp(solid.mesh.nodes, axis=0).max())
    for iteration in range(limit):
        try:
            f, K = solid.force_and_stiffness(u)
            r = np.where(free, p - f, 0.0)
            factor, stable = _factorized(plan, K)
        except (Collapsed, NotFactorizable):
            return None, np.inf, iteration + 1, False
        du = factor.solve(r)
        longest = float(np.abs(du).max())
        if not longest <= 1e3 * extent:
            return None, np.inf, iteration + 1, False
        u = u + du
        if longest <= bar[1] * extent and float(np.linalg.norm(r)) <= 1e-3 * bar[0]:
            return u, float(np.abs(r).max()), iteration + 1, stable
    return None, np.inf, limit, False


def _factorized(plan: EliminationPlan, K: csr_array) -> tuple[Factorization, bool]:
    try:
        return plan.factorize(K, definite=True), True
    except NotFactorizable:
        return plan.factorize(K), False
