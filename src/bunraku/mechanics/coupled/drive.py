"""Motion under servos: what the skinned character does when its motors get angles, their torques limited, the ground as it is.

A servo gives tau = kp (c - q') - kd q̇', c its command and q', q̇' after the step (implicit, so stiff servos do not chatter).
With dq = q0 + Qt tau + Qf F this is linear in the forces F, tau = t - T F, and contact is solved with the matrix W - R T. Motors
that would pass their limit are held there and the others solved again.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.contact.coulomb import solve_contact
from bunraku.mechanics.coupled.frame import CoupledFrame
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class ServoStep:
    """Torques (na,), forces of the ground (P, 3), how many motors are at their limit, how contact ended."""

    tau: Array
    F: Array
    saturated: int
    status: Status


def servo_step(
    frame: CoupledFrame,
    driven: NDArray[np.int64],
    command: Array,
    q: Array,
    gains: tuple[float | Array, float | Array],
    limits: tuple[Array, Array],
    h: float,
    mu: Array,
    F0: Array | None = None,
) -> ServoStep:
    """One step with motors commanded to ``command`` (na,) at coordinates ``q`` (nq,).

    ``gains`` (kp [N·m/rad], kd [N·m·s/rad]) of all motors, or (na,) of each.
    """
    kp, kd = gains
    na = len(driven)
    k, given = np.full(na, kp + kd / h), kp * (command - q[driven])
    low, high = limits
    fixed = np.zeros(na, dtype=bool)
    tau, F = np.zeros(na), np.zeros((len(frame.heights), 3)) if F0 is None else F0
    status = Status.CONVERGED
    for _ in range(na + 1):
        Kd, t0 = np.where(fixed, 0.0, k), np.where(fixed, tau, given)
        inner = np.eye(na) + Kd[:, None] * frame.Qt[driven]
        t = np.linalg.solve(inner, t0 - Kd * frame.q0[driven])
        T = np.linalg.solve(inner, Kd[:, None] * frame.Qf[driven])
        W = frame.W - frame.R @ T
        contact = solve_contact(0.5 * (W + W.T), frame.u0 + frame.R @ t, frame.heights, mu, F)
        F, status = contact.F, contact.status
        tau = t - T @ F.ravel()
        over = ~fixed & ((tau < low) | (tau > high))
        if not over.any():
            break
        tau, fixed = np.clip(tau, low, high), fixed | over
    return ServoStep(np.clip(tau, low, high), F, int(fixed.sum()), status)
