"""A string puppet's pose at rest that comes closest to a wish, followed from frame to frame.

Every frame is an equality-constrained least-squares problem over the configuration q = (joints d, carriages and string lengths k)
and the strings' multipliers lam: minimise

    sum_p w_p |p(q) - p*|² + w_a |q_d - q_d*|² + w_v |o(q) - o_0|² + w_c |k - k'|²

with p the tracked points, * the wish, o the horizontal way from the hooks of each carriage to the carriage, o_0 the same in the
start pose (so that a puppet wished to stay as it hangs stays), k' the frame before, subject to rest under gravity and strings

    e(q, lam) = (L_q(q, 0) + F(q, 0, 0) + Dh(q)' lam)_d = 0,        h(q) = 0.

Gauss-Newton on the cost, Newton on the equations (with exact derivatives), steps halved until cost + penalty |(e, h)|_1 falls.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System

TOLERANCE, MAX_ITERATIONS = 1e-9, 40
"""To which equations hold, and the steps of a frame at most."""


@dataclass(frozen=True, kw_only=True)
class StaticWeights:
    """What a pose at rest is chosen by, besides the points [1/m²]: see the formula above.

    ``angles`` w_a [1/rad², 1/m²] on the joints, ``vertical`` w_v [1/m²] on carriages away from above their hooks (as far
    beside the vertical as at the start), ``change`` w_c [1/m²] on carriages and lengths away from the frame before.
    """

    angles: float = 0.03
    vertical: float = 0.1
    change: float = 0.1


@dataclass(frozen=True)
class StaticPoses:
    """Poses at rest: q (M, nq), multipliers (M, nc) (continuous sign: a taut string's is negative), and how good they are.

    ``residual`` (M,): largest force left over [N, N·m] and ``violation`` (M,): largest |h| [m²] of each; ``iterations`` (M,);
    ``stiffness`` (M,): least second derivative of the potential energy along the strings' tangent, negative where rest is unstable.
    """

    q: Array
    multipliers: Array
    residual: Array
    violation: Array
    iterations: NDArray[np.int64]
    stiffness: Array


def equilibrium_residual(system: System, q: Array, multipliers: Array) -> Array:
    """(e, h) (nd + nc,): what is left of the forces on the dynamic coordinates at rest, and of the constraints."""
    zero, u = np.zeros(system.nq), np.zeros(system.nu)
    force = system.lagrangian_derivatives(q, zero).q + system.force(q, zero, u) + system.constraint_jacobian(q).T @ multipliers
    return np.concatenate([force[system.dynamic], system.constraint_values(q)])


def follow_statically(
    character: Character,
    system: System,
    wish: Array,
    points: Points,
    weights: Array,
    q_start: Array,
    *,
    static: StaticWeights | None = None,
) -> StaticPoses:
    """Follow the wish (M, nq; kinematic columns are ignored) through poses at rest, beginning the search at ``q_start`` (nq,).

    ``points`` are compared with the wish's by ``weights`` (points,) [1/m²]. A frame is done when the equations hold to
    TOLERANCE and the step is below 1e-6 rad or m.
    """
    solver = _Frame(character, system, points, np.repeat(weights, 3), static or StaticWeights(), q_start)
    targets = points.positions(wish).reshape(len(wish), -1)
    q, lam = q_start.copy(), _multipliers(system, q_start)
    rows = []
    for target, joints in zip(targets, wish[:, system.dynamic], strict=True):
        q, lam, used = solver.solve(q, lam, target, joints)
        left = np.abs(equilibrium_residual(system, q, lam))
        rows.append((q, lam, left[: system.nd].max(), left[system.nd :].max(initial=0.0), used, _stiffness(system, q, lam)))
    columns = [np.array(column) for column in zip(*rows, strict=True)]
    return StaticPoses(columns[0], columns[1], columns[2], columns[3], columns[4].astype(np.int64), columns[5])


class _Frame:
    """The problem of one frame, with everything that stays the same from frame to frame."""

    def __init__(
        self,
        character: Character,
        system: System,
        points: Points,
        weights: Array,
        static: StaticWeights,
        q_start: Array,
    ) -> None:
        self.system, self.points, self.static = system, points, static
        strings = [string.name for string in character.strings]
        self.rows = np.array([float(name in strings) for name in system.constraint_names])
        self.carriages = np.array([system.index(name) for c in character.carriages for name in c.coordinates], dtype=np.int64)
        held = [string.carriage for string in character.strings]
        self.share = np.repeat([0.5 / held.count(carriage.name) for carriage in character.carriages], 2)
        nq, d, k = system.nq, system.dynamic, system.kinematic
        self.scale = np.sqrt(
            np.concatenate(
                [
                    weights,
                    np.full(len(d), static.angles),
                    np.full(len(self.carriages), static.vertical),
                    np.full(len(k), static.change),
                ]
            )
        )
        self.fixed = np.vstack([np.eye(nq)[d], np.zeros((len(self.carriages), nq)), np.eye(nq)[k]])
        self.lean = self.offsets(q_start)

    def offsets(self, q: Array) -> Array:
        """o(q) (2 carriages,): from the middle of each carriage's hooks to the carriage, x and y; dh/dx of a carriage is 2 o_x."""
        return self.share * (self.rows @ self.system.constraint_jacobian(q))[self.carriages]

    def remainder(self, q: Array, before: Array, target: Array, joints: Array) -> Array:
        """The weighted residuals whose squares are the cost."""
        s = self.system
        place = self.points.positions(q[None])[0].ravel() - target
        return self.scale * np.concatenate([place, q[s.dynamic] - joints, self.offsets(q) - self.lean, q[s.kinematic] - before])

    def slopes(self, q: Array) -> Array:
        """Derivative (residuals, nq) of the remainder."""
        P, n = self.points.jacobians(q[None])[0].reshape(-1, self.system.nq), len(self.carriages)
        J = np.vstack([P, self.fixed])
        begin = len(P) + self.system.nd
        J[begin : begin + n] = self.share[:, None] * self.system.constraint_curvature(q, self.rows)[self.carriages]
        return self.scale[:, None] * J

    def equations(self, q: Array, lam: Array) -> Array:
        """Derivative (nd + nc, nq + nc) of (e, h) over (q, lam)."""
        s, zero = self.system, np.zeros(self.system.nq)
        Dh = s.constraint_jacobian(q)
        K = s.lagrangian_derivatives(q, zero).qq + s.force_derivatives(q, zero, np.zeros(s.nu))[1] + s.constraint_curvature(q, lam)
        return np.block([[K[s.dynamic], Dh[:, s.dynamic].T], [Dh, np.zeros((s.nc, s.nc))]])

    def solve(self, q: Array, lam: Array, target: Array, joints: Array) -> tuple[Array, Array, int]:
        """The frame's q (nq,), multipliers (nc,) and the iterations taken, from those of the frame before."""
        s, before, penalty = self.system, q[self.system.kinematic], 1e-3
        nq, nz, m = s.nq, s.nq + s.nc, s.nd + s.nc
        r, c = self.remainder(q, before, target, joints), equilibrium_residual(s, q, lam)
        used = MAX_ITERATIONS
        for iteration in range(MAX_ITERATIONS):
            J, A = self.slopes(q), self.equations(q, lam)
            KKT, right = np.zeros((nz + m, nz + m)), np.zeros(nz + m)
            KKT[:nq, :nq], KKT[nz:, :nz], KKT[:nz, nz:] = J.T @ J, A, A.T
            KKT[range(nq, nz), range(nq, nz)] = 1e-12
            right[:nq], right[nz:] = -J.T @ r, -c
            try:
                step = np.linalg.solve(KKT, right)
            except np.linalg.LinAlgError:
                break
            move, penalty = step[:nz], max(penalty, 1.5 * float(np.abs(step[nz:]).max()))
            largest = float(np.abs(move[:nq]).max())
            if largest < 1e-6 and np.abs(c).max() < TOLERANCE:
                used = iteration
                break
            scale, merit = 0.3 / max(0.3, largest), 0.5 * r @ r + penalty * np.abs(c).sum()
            for _ in range(12):
                trial, pull = q + scale * move[:nq], lam + scale * move[nq:]
                r_new, c_new = self.remainder(trial, before, target, joints), equilibrium_residual(s, trial, pull)
                if 0.5 * r_new @ r_new + penalty * np.abs(c_new).sum() <= merit + 1e-12:
                    break
                scale *= 0.5
            else:
                break
            q, lam, r, c = trial, pull, r_new, c_new
        return *self.settle(q, lam, c), used

    def settle(self, q: Array, lam: Array, c: Array) -> tuple[Array, Array]:
        """Newton on (e, h) over joints and multipliers alone, should the frame have ended off equilibrium."""
        s = self.system
        free = np.concatenate([s.dynamic, np.arange(s.nq, s.nq + s.nc)])
        for _ in range(8):
            if np.abs(c).max() < TOLERANCE:
                break
            move = np.linalg.lstsq(self.equations(q, lam)[:, free], -c, rcond=1e-12)[0]
            trial, pull = q.copy(), lam + move[s.nd :]
            trial[s.dynamic] += move[: s.nd]
            c_new = equilibrium_residual(s, trial, pull)
            if not np.abs(c_new).max() < np.abs(c).max():
                break
            q, lam, c = trial, pull, c_new
        return q, lam


def _multipliers(system: System, q: Array) -> Array:
    """Those that leave least of the forces at q."""
    force = equilibrium_residual(system, q, np.zeros(system.nc))[: system.nd]
    return np.linalg.lstsq(system.constraint_jacobian(q)[:, system.dynamic].T, -force, rcond=1e-12)[0].astype(np.float64)


def _stiffness(system: System, q: Array, lam: Array) -> float:
    d, zero = system.dynamic, np.zeros(system.nq)
    K = -(
        system.lagrangian_derivatives(q, zero).qq
        + system.force_derivatives(q, zero, np.zeros(system.nu))[1]
        + system.constraint_curvature(q, lam)
    )[np.ix_(d, d)]
    Z = np.linalg.qr(system.constraint_jacobian(q)[:, d].T, mode="complete")[0][:, system.nc :]
    return float(np.linalg.eigvalsh(0.5 * Z.T @ (K + K.T) @ Z)[0])
