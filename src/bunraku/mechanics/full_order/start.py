"""Accelerations that fit a state: the start of a motion, without which a scheme of order two starts with an error of order one.

Of M a = F - C' lam and the second time derivative of the constraints, with a common second difference along the velocities for what
does not depend on the accelerations.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.rotations import multiply_quaternions, quaternion_of_vector
from bunraku.mechanics.full_order.assembly import Assembly, Rates, TrialState
from bunraku.mechanics.full_order.friction import damping_torques
from bunraku.mechanics.full_order.interfaces import held_rows
from bunraku.optimization.linear import analyse


def motor_start(curve: Array, h: float, at_rest: bool) -> tuple[Array, Array]:
    """Velocity and acceleration of the motors at the start of a curve (N + 1, motors), from its first nodes."""
    m = curve[: min(len(curve), 4)]
    if len(m) < 3 or np.ptp(m, axis=0).max(initial=0.0) == 0.0:
        return np.zeros(curve.shape[1]), np.zeros(curve.shape[1])
    if at_rest:
        return np.zeros(curve.shape[1]), (8.0 * m[1] - m[2] - 7.0 * m[0]) / (2.0 * h * h)
    rate = (-3.0 * m[0] + 4.0 * m[1] - m[2]) / (2.0 * h)
    second = (2.0 * m[0] - 5.0 * m[1] + 4.0 * m[2] - m[3]) / h**2 if len(m) > 3 else (m[0] - 2.0 * m[1] + m[2]) / h**2
    return rate, second


def initial_rates(
    assembly: Assembly, trial: TrialState, v: Array, w: Array, xv: tuple[Array, ...], motors: tuple[Array, Array, Array]
) -> tuple[Rates, Array]:
    """The accelerations at ``trial`` moving with v, w, xv, the motors at (value, rate, acceleration), and the multipliers."""
    A, n = assembly, 6 * assembly.count
    c, R = A.placed(trial.c, trial.q)
    zero = np.zeros((A.count, 3, 3))
    rates = Rates(v, np.zeros_like(v), w, np.zeros_like(w), zero, zero, xv, None, 0.0, 0.0)
    size = n + A.multipliers
    matrix, b = np.zeros((size, size)), np.zeros(size)
    _bodies(A, R, rates, matrix, b)
    m = len(A.kept)
    J = A.rows(motors[0]).assemble(c, R, np.zeros(A.all_rows))[1][A.kept]
    matrix[:n, n : n + m], matrix[n : n + m, :n] = J.T, J
    b[n:] = -_second_difference(A, trial, v, w, xv, motors)
    at, solved = n + m, []
    for p, part in enumerate(A.pieces):
        k = len(part.piece.held)
        factor = analyse(A.pieces[p].mass).factorize(part.mass, definite=True)
        Z = factor.solve(part.S[:, : 4 * k])
        forces = part.forces(trial.x[p], xv[p])
        free = factor.solve(part.weight - forces.elastic - forces.damping)
        W = np.kron(part.S[part.support, : 4 * k].T @ Z[part.support], np.eye(3))
        y = (part.S[part.support, : 4 * k].T @ free[part.support]).ravel()
        Y = part.mean_values(trial.x[p])
        G = np.zeros((12 * k, 6 * k))
        for e, (held, body) in enumerate(zip(part.piece.held, part.bodies, strict=True)):
            h = held_rows(Y[4 * e : 4 * e + 4], c[body], R[body], A.arms[p][e], held.pose[0], np.zeros(6))
            G[12 * e : 12 * e + 12, 6 * e : 6 * e + 6] = h.by_means.T
            rows = slice(at + 6 * e, at + 6 * e + 6)
            if body < A.count:
                matrix[rows, 6 * body : 6 * body + 6] = h.by_body
                matrix[6 * body : 6 * body + 6, rows] = h.by_body.T
        matrix[at : at + 6 * k, at : at + 6 * k] = -G.T @ W @ G
        b[at : at + 6 * k] -= G.T @ y
        solved.append((free, Z, G, slice(at, at + 6 * k)))
        at += 6 * k
    z: Array = np.asarray(np.linalg.solve(matrix, b)) if size else b
    body = z[:n].reshape(-1, 2, 3)
    xa = tuple(free - Z @ (G @ z[rows]).reshape(-1, 3) for free, Z, G, rows in solved)
    return Rates(v, body[:, 0].copy(), w, body[:, 1].copy(), zero, zero, xv, xa, 0.0, 0.0), z[n:]


def _bodies(A: Assembly, R: Array, rates: Rates, matrix: Array, b: Array) -> None:
    B = A.count
    if not B:
        return
    inertia = R[:B] @ A.inertia @ R[:B].transpose(0, 2, 1)
    torque = np.cross(rates.w, np.einsum("bij,bj->bi", inertia, rates.w))
    damping_torques(A.links, A.ends, R, rates, torque, np.zeros((B, 2, 3, B, 2, 3)))
    for k in range(B):
        matrix[6 * k : 6 * k + 3, 6 * k : 6 * k + 3] = A.mass[k] * np.eye(3)
        matrix[6 * k + 3 : 6 * k + 6, 6 * k + 3 : 6 * k + 6] = inertia[k]
        b[6 * k : 6 * k + 3] = A.mass[k] * A.gravity
        b[6 * k + 3 : 6 * k + 6] = -torque[k]


def _second_difference(
    A: Assembly, trial: TrialState, v: Array, w: Array, xv: tuple[Array, ...], motors: tuple[Array, Array, Array], e: float = 1e-4
) -> Array:
    """d2C/dt2 (rows,) along constant velocities, the motors as they are."""

    def at(t: float) -> Array:
        q = multiply_quaternions(quaternion_of_vector(t * w), trial.q) if len(w) else trial.q
        there = TrialState(trial.c + t * v, q, tuple(x + t * s for x, s in zip(trial.x, xv, strict=True)), trial.lam)
        links, held = A.gaps(there, A.rows(motors[0] + t * motors[1] + 0.5 * t * t * motors[2]))
        return np.concatenate([links[A.kept], held])

    return (at(e) - 2.0 * at(0.0) + at(-e)) / e**2
