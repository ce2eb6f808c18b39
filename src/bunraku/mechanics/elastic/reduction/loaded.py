"""Rest and small vibrations of a part under dead loads, held by its grip: once in full, once reduced, to compare them.

Dead loads are constant nodal forces p (3 n,): weight, forces at the centroids of interfaces, and couples int P d (P constant).

    full:     dV/du + C' lambda = p, C u = 0;     (K(u) - omega^2 (M + carried(u))) phi = 0 on C phi = 0
    reduced:  J's = Phi p;                        (J'J + s.Q - omega^2 Phi (M + carried(u)) Phi') x = 0

of a part with Neo-Hookean points their force and stiffness in place of J's and J'J + s.Q.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.linalg import eigh

from bunraku.arrays import Array
from bunraku.mechanics.dynamics.flexible.cubature_kernels import points_force, points_stiffness
from bunraku.mechanics.dynamics.flexible.segment import FlexibleSegment
from bunraku.mechanics.elastic.grip import GripFactor
from bunraku.mechanics.elastic.modes import CarriedBody, Inertia, grip_modes
from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid
from bunraku.optimization.linear import NotFactorizable


@dataclass(frozen=True, eq=False)
class LoadedState:
    """Displacements ``u`` at rest, the lowest ``frequencies`` [Hz] about it, the ``share`` of the load reached (1: all of it).

    Displacements are those of the solid (3 n,) or modal (r,).
    """

    u: Array
    frequencies: Array
    share: float


def load_full(bench: Workbench, load: ArrayLike, *, count: int = 4) -> LoadedState:
    """The state of the whole solid under the ``load`` (3 n,) [N]: full Newton steps in load steps that halve when they fail."""
    p = np.asarray(load, dtype=np.float64)
    u, share, step = np.zeros(bench.solid.size), 0.0, 1.0
    factor = bench.factor
    while share < 1.0 and step > 1.0 / 64.0:
        next_share = min(1.0, share + step)
        solved = _newton(bench, next_share * p, u)
        if solved is None:
            step *= 0.5
            continue
        (u, factor), share = solved, next_share
    if not factor.stable:
        return LoadedState(u, np.full(count, np.nan), share)
    modes = grip_modes(factor, Inertia(bench.solid, bench.carried, u), bench.solid.size, count)
    return LoadedState(u, modes.frequencies, share)


def _newton(bench: Workbench, p: Array, start: Array) -> tuple[Array, GripFactor] | None:
    u, extent = start.copy(), float(np.ptp(bench.solid.mesh.nodes, axis=0).max())
    for _ in range(25):
        try:
            f, K = bench.solid.force_and_stiffness(u)
            factor = bench.grip.factorize(K)
        except (Collapsed, NotFactorizable):
            return None
        du = factor.solve(p - f)
        longest = float(np.abs(du).max())
        if not longest <= 10.0 * extent:
            return None
        u = u + du
        if longest <= 1e-9 * extent:
            return u, factor
    return None


def elastic_terms(segment: FlexibleSegment, u: Array) -> tuple[Array, Array]:
    """The elastic force f = J's (r,) (or that of the points) and its derivative (r, r) at modal coordinates u (r,)."""
    r = segment.r
    if segment.points is not None:
        data = np.concatenate([part.ravel() for part in segment.points.packed])
        f, K, zero, count = np.zeros(r), np.zeros((r, r)), np.int64(0), np.int64(len(segment.points.weights))
        points_force(data, zero, count, np.int64(r), u, zero, f)
        points_stiffness(data, zero, count, np.int64(r), u, zero, K)
        return -f, -K
    s, J = strain_and_slope(segment, u)
    a, b = segment.pairs.T
    curve = np.zeros((r, r))
    curve[a, b] = curve[b, a] = np.asarray(segment.Qp) @ s
    return J @ s, J @ J.T + curve


def strain_and_slope(segment: FlexibleSegment, u: Array) -> tuple[Array, Array]:
    """The reduced strain s (k,) at modal coordinates u (r,) and its derivative J (r, k)."""
    a, b = segment.pairs.T
    Q, J, other = np.asarray(segment.Qp), segment.L1.copy(), a != b
    np.add.at(J, a, u[b, None] * Q)
    np.add.at(J, b[other], u[a[other], None] * Q[other])
    return 0.5 * (u @ segment.L1 + u @ J), J


def load_reduced(
    solid: ElasticSolid, segment: FlexibleSegment, shapes: Array, load: ArrayLike, carried: Sequence[CarriedBody], *, count: int = 4
) -> LoadedState:
    """The state of the reduced part under the nodal ``load`` (3 n,), with as many as possible of ``count`` frequencies."""
    p = shapes @ np.asarray(load, dtype=np.float64)
    u, share, step = np.zeros(segment.r), 0.0, 1.0
    while share < 1.0 and step > 1.0 / 1024.0:
        next_share = min(1.0, share + step)
        solved = _reduced_newton(segment, next_share * p, u)
        if solved is None:
            step *= 0.5
            continue
        u, share = solved, next_share
    _, K = elastic_terms(segment, u)
    whole = Inertia(solid, carried, u @ shapes)
    M = shapes @ (whole @ np.ascontiguousarray(shapes.T))
    squares = eigh(0.5 * (K + K.T), 0.5 * (M + M.T), eigvals_only=True)[:count]
    return LoadedState(u, np.sign(squares) * np.sqrt(np.abs(squares)) / (2.0 * np.pi), share)


def _reduced_newton(segment: FlexibleSegment, p: Array, start: Array) -> Array | None:
    u = start.copy()
    for _ in range(60):
        f, K = elastic_terms(segment, u)
        try:
            du = np.linalg.solve(K, p - f)
        except np.linalg.LinAlgError:
            return None
        longest = float(np.abs(du).max())
        if not longest <= 1e3 * (1.0 + float(np.abs(u).max())):
            return None
        u = u + du
        if longest <= 1e-10 * (1e-3 + float(np.abs(u).max())):
            return u
    return None
