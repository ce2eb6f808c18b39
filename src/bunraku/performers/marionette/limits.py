"""What strings, carriages and motors allow, as inequalities along a trajectory of the puppet.

States are x = (q, p, v_k) with the velocities v_k of the prescribed coordinates over the last step, inputs U = (u, k2). With k the
prescribed coordinates in q and dt the step, the velocity over the coming step is v = (k2 - k)/dt, the acceleration
a = (v - v_k)/dt.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.marionette import string_rows
from bunraku.optimization.control.constraints import TrajectoryConstraint

EIGHT = np.arange(8) * (np.pi / 4.0)
"""Directions of the normals of an octagon [rad]."""


class TensionMargin(TrajectoryConstraint):
    """Every string pulls with at least ``margin`` [N] over every step: g = (margin - T) / scale, T = 2 d l / dt.

    d is the string's length [m] at the start of the step and l its multiplier; ``scale`` [N] makes g a number near 1.
    """

    def __init__(self, dynamics: VariationalDynamics, margin: float, scale: float = 1.0) -> None:
        self._dynamics, self._margin, self._scale = dynamics, margin, scale
        rows, lengths = string_rows(dynamics.system)
        self._rows, self._lengths = np.array(rows), np.array(lengths)
        self._factor = 2.0 / (dynamics.integrator.dt * scale)

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """(margin - T) / scale, (N, strings)."""
        lam = self._dynamics.multipliers(x, u)[:, self._rows]
        return self._margin / self._scale - self._factor * x[:-1, self._lengths] * lam, np.zeros(0)

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """By the derivatives of the multipliers."""
        d = x[:-1, self._lengths]
        G = -self._factor * d[:, :, None] * self._dynamics.multiplier_jacobian(x, u)[:, self._rows]
        lam = self._dynamics.multipliers(x, u)[:, self._rows]
        G[:, np.arange(len(self._rows)), self._lengths] -= self._factor * lam
        return G, np.zeros((0, x.shape[1]))

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """Of -2/(dt scale) sum weight d l: d l_ww and twice the mixed term of d and l_w."""
        n, dynamics = x.shape[1], self._dynamics
        pull = np.zeros((len(u), dynamics.system.nc))
        pull[:, self._rows] = -self._factor * weights * x[:-1, self._lengths]
        H = dynamics.multiplier_curvature(x, u, pull)
        L = dynamics.multiplier_jacobian(x, u)[:, self._rows]
        mixed = -self._factor * weights[:, :, None] * L
        for i, column in enumerate(self._lengths):
            H[:, column, :] += mixed[:, i]
            H[:, :, column] += mixed[:, i]
        return H, np.zeros((n, n))


class CarriageBounds(TrajectoryConstraint):
    """Range of the carriages and winches, and ``inside`` (< 1) times the speed and acceleration they can do: linear rows.

    A disc |v| <= vmax is kept as the octagon inside it, n.v / vmax <= cos(pi/8) for eight directions n: rows that an interior
    point method meets in full steps, where a square, flat at rest, would hold it up; it costs at most 8 % of the speed, in eight
    directions. Rows: n.v / vmax - cos(pi/8) of each carriage that states a speed and +-v / vmax - 1 of each winch, accelerations
    likewise, (k2 - upper) / span and (lower - k2) / span of each range.
    """

    def __init__(self, character: Character, dynamics: VariationalDynamics, inside: float = 1.0) -> None:
        limits, system = CarriageLimits.of(character), dynamics.system
        dt, nk, nw = dynamics.integrator.dt, system.nk, dynamics.nx + dynamics.nu
        place = {system.names[j]: i for i, j in enumerate(system.kinematic)}
        end = np.zeros((nk, nw))
        end[:, dynamics.nx + system.nu :] = np.eye(nk)
        speed, before = end / dt, np.zeros((nk, nw))
        speed[np.arange(nk), system.kinematic] = -1.0 / dt
        before[:, system.nq + system.nd : dynamics.nx] = np.eye(nk)
        acceleration = (speed - before) / dt
        rows: list[Array] = []
        bounds: list[float] = []
        discs, lines = _places(limits, place)
        for what, disc, line in (
            (speed, limits.speed, limits.winch_speed),
            (acceleration, limits.acceleration, limits.winch_acceleration),
        ):
            for (i, j), most in zip(discs, disc, strict=True):
                if np.isfinite(most):
                    rows += [(np.cos(a) * what[i] + np.sin(a) * what[j]) / (inside * most) for a in EIGHT]
                    bounds += [np.cos(np.pi / 8.0)] * len(EIGHT)
            for i, most in zip(lines, line, strict=True):
                if np.isfinite(most):
                    rows += [sign * what[i] / (inside * most) for sign in (1.0, -1.0)]
                    bounds += [1.0, 1.0]
        for name, low, high in zip(limits.names, limits.lower, limits.upper, strict=True):
            span = high - low if np.isfinite(high - low) else 1.0
            for sign, bound in ((1.0, high), (-1.0, low)):
                if np.isfinite(bound):
                    rows.append(sign * end[place[name]] / span)
                    bounds.append(sign * bound / span)
        self._rows, self._bounds = np.array(rows).reshape(-1, nw), np.array(bounds)

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """All rows (N, rows); nothing at the end."""
        return np.hstack([x[:-1], u]) @ self._rows.T - self._bounds, np.zeros(0)

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """The rows themselves."""
        return np.broadcast_to(self._rows, (len(u), *self._rows.shape)), np.zeros((0, x.shape[1]))

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """None: the rows are linear."""
        n, nw = x.shape[1], x.shape[1] + u.shape[1]
        return np.zeros((len(u), nw, nw)), np.zeros((n, n))


class CarriageSeparation(TrajectoryConstraint):
    """Carriages keep apart: g = 1 - |c_i - c_j|^2 / gap^2 for each pair, at the end of every step; ``inside`` widens the gap."""

    def __init__(self, character: Character, dynamics: VariationalDynamics, inside: float = 1.0) -> None:
        limits, system = CarriageLimits.of(character), dynamics.system
        discs, _ = _places(limits, {system.names[j]: i for i, j in enumerate(system.kinematic)})
        chosen = [(pair, gap / inside) for pair, gap in zip(limits.pairs, limits.separation, strict=True) if gap > 0.0]
        first = dynamics.nx + system.nu
        self._one = np.array([discs[pair[0]] for pair, _ in chosen], dtype=np.int64).reshape(-1, 2) + first
        self._other = np.array([discs[pair[1]] for pair, _ in chosen], dtype=np.int64).reshape(-1, 2) + first
        self._gap = np.array([gap for _, gap in chosen])

    def _apart(self, x: Array, u: Array) -> Array:
        """The vectors (N, pairs, 2) between carriages, in parts of their least separation."""
        w = np.hstack([x[:-1], u])
        apart: Array = (w[:, self._one] - w[:, self._other]) / self._gap[:, None]
        return apart

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """1 - |c_i - c_j|^2 / gap^2, (N, pairs)."""
        return 1.0 - (self._apart(x, u) ** 2).sum(axis=2), np.zeros(0)

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """Four entries a row."""
        G = np.zeros((len(u), len(self._gap), x.shape[1] + u.shape[1]))
        slope = -2.0 * self._apart(x, u) / self._gap[:, None]
        for i in range(len(self._gap)):
            G[:, i, self._one[i]], G[:, i, self._other[i]] = slope[:, i], -slope[:, i]
        return G, np.zeros((0, x.shape[1]))

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """-2 / gap^2 along each axis between the two."""
        n, nw = x.shape[1], x.shape[1] + u.shape[1]
        H = np.zeros((len(u), nw, nw))
        for i, gap in enumerate(self._gap):
            bend = -2.0 * weights[:, i] / gap**2
            for a, b in zip(self._one[i], self._other[i], strict=True):
                H[:, a, a] += bend
                H[:, b, b] += bend
                H[:, a, b] -= bend
                H[:, b, a] -= bend
        return H, np.zeros((n, n))


class MotorLines(TrajectoryConstraint):
    """Every motor keeps within its torque-speed line over every step: |u| / stall + |v| / no-load speed <= 1, four rows a motor.

    v = (q2 - q)/dt is the speed of the motor's coordinate over the step, q2 where the step from (x, U) arrives: its derivatives are
    those of the dynamics. ``x`` must be a trajectory of them, as in every solver that projects. Stall torques include the motor's
    torque fraction; ``inside`` (< 1) draws the lines in. A motor without a stated speed has a torque limit alone, one without a
    stated torque none.
    """

    def __init__(self, character: Character, dynamics: VariationalDynamics, inside: float = 1.0) -> None:
        system = dynamics.system
        self._dynamics = dynamics
        rows: list[tuple[int, int, float, float]] = []
        for motor in character.motors:
            if motor.stall_torque is None:
                continue
            push = 1.0 / (inside * motor.torque_fraction * motor.stall_torque)
            turn = 1.0 / (inside * motor.no_load_speed * dynamics.integrator.dt) if motor.no_load_speed else 0.0
            signs = [(a, b) for a in (1.0, -1.0) for b in ((1.0, -1.0) if turn else (0.0,))]
            rows += [(system.inputs.index(motor.name), system.index(motor.coordinate), a * push, b * turn) for a, b in signs]
        self._input, self._column = (np.array([row[i] for row in rows], dtype=np.int64) for i in (0, 1))
        self._push, self._turn = (np.array([row[i] for row in rows], dtype=np.float64) for i in (2, 3))

    def values(self, x: Array, u: Array) -> tuple[Array, Array]:
        """The rows (N, rows)."""
        change = x[1:, self._column] - x[:-1, self._column]
        return u[:, self._input] * self._push + change * self._turn - 1.0, np.zeros(0)

    def jacobians(self, x: Array, u: Array) -> tuple[Array, Array]:
        """By the rows of A_k and B_k that belong to the motors' coordinates."""
        A, B = self._dynamics.linearize(x, u)
        n, rows = x.shape[1], np.arange(len(self._push))
        G = np.concatenate([A[:, self._column], B[:, self._column]], axis=2) * self._turn[:, None]
        G[:, rows, self._column] -= self._turn
        G[:, rows, n + self._input] += self._push
        return G, np.zeros((0, n))

    def curvature(self, x: Array, u: Array, weights: Array, last: Array) -> tuple[Array, Array]:
        """That of where the steps arrive."""
        n = x.shape[1]
        pull = np.zeros((len(u), n))
        for i, column in enumerate(self._column):
            pull[:, column] += weights[:, i] * self._turn[i]
        return self._dynamics.curvature(x, u, pull), np.zeros((n, n))


def _places(limits: CarriageLimits, place: dict[str, int]) -> tuple[list[tuple[int, int]], list[int]]:
    """Where each carriage's x and y and each string's length stand among the prescribed coordinates."""
    count = len(limits.carriages)
    discs = [(place[limits.names[2 * i]], place[limits.names[2 * i + 1]]) for i in range(count)]
    return discs, [place[name] for name in limits.names[2 * count :]]
