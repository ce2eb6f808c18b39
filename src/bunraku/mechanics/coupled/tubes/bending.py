"""Bending a tube about a pivot, slowly: one clamped end stands still, the other turns; the torque it takes.

At every angle the free nodes are where the elastic energy V(u) (and that of contacts, if any) is least. Newton's method finds the
place: du from (K + s D) du = -dV/du with the least shift s >= 0 (D = diag K) for which Cholesky succeeds, which makes du a descent
direction even where the wall buckles and K is indefinite; then a line search on the energy, which is infinite where det F <= 0, so
that no cell turns inside out. The angle advances by steps that adapt to how hard the last one was.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from scipy.sparse import csr_array

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.geometry.tet_mesh import TetMesh
from bunraku.mechanics.coupled.collisions.surface import Pairs, SurfaceCollisions
from bunraku.mechanics.coupled.tubes.blocks import GrowingPattern
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid
from bunraku.optimization.linear import NotFactorizable
from bunraku.optimization.solution import Status

AXIS = np.array([0.0, 1.0, 0.0])
"""What tubes are bent about."""
MAX_ITERATIONS = 60


@dataclass(frozen=True)
class Bend:
    """What bending took: ``angle`` (k,) [rad], ``torque`` (k,) [N·m] about the pivot, displacements ``u`` (k, n, 3) [m].

    ``energy`` (k,) [J] is that of the solid and its contacts: its slope over the angle is the torque. ``residual`` (k,) are
    unbalanced forces relative to the clamp's; ``iterations`` counts Newton steps of all angles. When the ``status`` is not good
    the last angle asked for was not reached; what is listed was.
    """

    angle: Array
    torque: Array
    u: Array
    energy: Array
    residual: Array
    iterations: int
    status: Status

    def angle_at(self, torque: float) -> float:
        """The first angle [rad] at which the torque [N·m] is reached, between listed ones by proportion; NaN when it is not."""
        over = np.flatnonzero(np.abs(self.torque) >= torque)
        if not len(over):
            return float("nan")
        i = int(over[0])
        a, t = np.concatenate([[0.0], self.angle]), np.concatenate([[0.0], np.abs(self.torque)])
        return float(a[i] + (a[i + 1] - a[i]) * (torque - t[i]) / (t[i + 1] - t[i]))


@dataclass(frozen=True)
class Clamps:
    """How a piece of skin is held: nodes ``low`` (k,) stand still, ``high`` (l,) turn about AXIS at ``pivot`` (3,)."""

    low: Indices
    high: Indices
    pivot: Array


def clamps(mesh: TetMesh, clamp: float = 0.005) -> Clamps:
    """The clamps of a tube along z: nodes within ``clamp`` [m] of its ends; the upper ones turn at half the height."""
    z = mesh.nodes[:, 2]
    low, high = float(z.min()), float(z.max())
    if not 0.0 <= 2.0 * clamp < high - low:
        raise BadInput(f"clamps of {clamp:g} m do not fit on a tube of {high - low:g} m")
    slack = 1e-9 * (high - low)
    pivot = np.array([0.0, 0.0, 0.5 * (low + high)])
    ends = np.flatnonzero(z <= low + clamp + slack), np.flatnonzero(z >= high - clamp - slack)
    return Clamps(*ends, pivot)


def bend_tube(
    solid: ElasticSolid,
    angles: Sequence[float],
    *,
    held: Clamps | None = None,
    contact: SurfaceCollisions | None = None,
    step: float = np.radians(4.0),
    tolerance: float = 1e-6,
    torque_limit: float = np.inf,
) -> Bend:
    """Turn the upper end of a tube (or what ``held`` says) to each of the ``angles`` [rad]; between them at most ``step`` a time.

    Stops early when a torque exceeds ``torque_limit`` [N·m] (that angle is still listed).
    """
    path = _Path(solid, clamps(solid.mesh) if held is None else held, contact, tolerance)
    states: list[tuple[float, float, Array, float, float]] = []
    at, u, stride, status = 0.0, np.zeros(solid.size), float(step), Status.CONVERGED
    for bent_to in np.asarray(angles, dtype=np.float64):
        while abs(bent_to - at) > 1e-12:
            towards = at + np.clip(bent_to - at, -stride, stride)
            solved = path.advance(u, at, towards)
            if solved is None:
                stride *= 0.5
                if stride < step / 64.0:
                    status = Status.STALLED
                    break
                continue
            u, used = solved
            at = towards
            stride = min(step, 1.5 * stride) if used < 12 else stride
        if not status.good:
            break
        torque, residual = path.torque(u)
        states.append((at, torque, u.reshape(-1, 3), path.energy(u), residual))
        if abs(torque) > torque_limit:
            break
    angle, torques, x, energy, residuals = (np.array([state[i] for state in states]) for i in range(5))
    return Bend(angle, torques, x.reshape(len(states), solid.nodes, 3), energy, residuals, path.iterations, status)


class _Path:
    """What stays the same while a tube is bent."""

    def __init__(self, solid: ElasticSolid, held: Clamps, contact: SurfaceCollisions | None, tolerance: float) -> None:
        self.solid, self.contact, self.tolerance = solid, contact, tolerance
        self.X = solid.mesh.nodes
        self.low, self.high, self.pivot = held.low, held.high, held.pivot
        free = np.ones((solid.nodes, 3), dtype=bool)
        free[self.low] = free[self.high] = False
        self.free = free.ravel()
        self.pattern = GrowingPattern(solid, self.free)
        self.iterations, self.shift = 0, 0.0

    def held(self, angle: float) -> Array:
        """Displacements (k, 3) of the upper clamp."""
        d = self.X[self.high] - self.pivot
        return _turned(d, np.full(len(d), angle)) - d

    def torque(self, u: Array) -> tuple[float, float]:
        """Torque [N·m] about the axis of the forces on the upper clamp, and the relative residual."""
        f = self.forces(u).reshape(-1, 3)
        arm = (self.X + u.reshape(-1, 3))[self.high] - self.pivot
        moment = np.cross(arm, f[self.high]).sum(axis=0)
        return float(moment @ AXIS), self.residual(f.ravel())

    def residual(self, f: Array) -> float:
        """Unbalanced force relative to the force on the clamps."""
        return float(np.linalg.norm(f[self.free]) / max(float(np.linalg.norm(f[~self.free])), 1e-30))

    def pushed(self, u: Array) -> tuple[Array, float, Pairs | None]:
        """Forces (3 n,) of what touches, their energy [J], and who touches whom."""
        if self.contact is None:
            return np.zeros(len(u)), 0.0, None
        x = self.X + u.reshape(-1, 3)
        pairs = self.contact.find(x)
        force, energy = self.contact.force(x, pairs)
        return force.ravel(), energy, pairs

    def energy(self, u: Array) -> float:
        """All energy [J]; infinite when a cell has collapsed."""
        V = self.solid.energy(u)
        return V + self.pushed(u)[1] if np.isfinite(V) else V

    def forces(self, u: Array) -> Array:
        """All forces (3 n,)."""
        return self.solid.force(u) - self.pushed(u)[0]

    def tangent(self, u: Array) -> tuple[Array, Array]:
        """Forces and the numbers of the stiffness on the pattern."""
        f, K = self.solid.force_and_stiffness(u)
        push, _, pairs = self.pushed(u)
        none: Indices = np.zeros(0, dtype=np.int64)
        if self.contact is None or pairs is None:
            return f, self.pattern.total(K, none, none, np.zeros((0, 3, 3)))
        return f - push, self.pattern.total(K, *self.contact.stiffness(self.X + u.reshape(-1, 3), pairs))

    def factorize(self, data: Array) -> None:
        """Factorise K + s D with the least shift tried for which it is positive definite."""
        shift = 0.25 * self.shift if self.shift > 1e-6 else 0.0
        places = self.pattern.diagonal
        diagonal = np.maximum(np.abs(data[places]), 1e-30)
        while True:
            shifted = data.copy()
            shifted[places] += shift * diagonal
            try:
                self.pattern.solver.factorize(shifted)
            except NotFactorizable:
                shift = max(4.0 * shift, 1e-4)
                if shift > 1e3:
                    raise
                continue
            self.shift = shift
            self.iterations += 1
            return

    def advance(self, u: Array, at: float, towards: float) -> tuple[Array, int] | None:
        """Equilibrium at the next angle from that at this one, and how many Newton steps; None when it was not found."""
        moved = u.reshape(-1, 3).copy()
        moved[self.high] = self.held(towards)
        jump = moved.ravel() - u
        try:
            _, data = self.tangent(u)
            pattern = self.pattern.pattern
            K = csr_array((data, pattern.indices, pattern.indptr), shape=pattern.shape)
            self.factorize(data)
            predicted = moved.ravel() + self.pattern.solver.solve(-np.asarray(K @ jump) * self.free)
            for start in (predicted, self._carried(u, at, towards)):
                if np.isfinite(self.energy(start)):
                    return self.newton(start)
        except (Collapsed, NotFactorizable):
            pass
        return None

    def _carried(self, u: Array, at: float, towards: float) -> Array:
        """Displacements of nodes that turn along with the upper end, the more the nearer to it they are."""
        x = self.X + u.reshape(-1, 3)
        low, high = self.X[self.low].mean(axis=0), self.X[self.high].mean(axis=0)
        share = np.clip((self.X - low) @ (high - low) / ((high - low) ** 2).sum(), 0.0, 1.0)
        moved = _turned(x - self.pivot, share * (towards - at)) + self.pivot - self.X
        moved[self.low], moved[self.high] = 0.0, self.held(towards)
        return np.asarray(moved.ravel())

    def newton(self, u: Array) -> tuple[Array, int] | None:
        """Newton's method with shift and line search from u; None when it does not converge."""
        V = self.energy(u)
        for used in range(MAX_ITERATIONS):
            f, data = self.tangent(u)
            before = self.residual(f)
            if before <= self.tolerance:
                return u, used
            self.factorize(data)
            du = self.pattern.solver.solve(-f * self.free)
            slope, t = float(f @ du), 1.0
            while True:
                trial = u + t * du
                W = self.energy(trial)
                if V + 1e-4 * t * slope >= W:
                    break
                if np.isfinite(W) and abs(W - V) <= 1e-10 * abs(V) and self.residual(self.forces(trial)) < before:
                    break  # rounding of the energy hides the gain
                t *= 0.5
                if t < 1e-6:
                    return None
            u, V = trial, W
        return None


def _turned(d: Array, angle: Array) -> Array:
    """Vectors d (k, 3) turned by angle (k,) about the axis."""
    c, s = np.cos(angle)[:, None], np.sin(angle)[:, None]
    return np.asarray(c * d + s * np.cross(AXIS, d) + (1.0 - c) * (d @ AXIS)[:, None] * AXIS)
