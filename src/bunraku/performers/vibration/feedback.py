"""Feedback about a retargeted motion: gains by which the motors correct what is measured of the parts' vibration.

A linear-quadratic regulator along the motion, from the same discrete dynamics that planned it: with dx the deviation of the state
(q, p), dk that of the motors' angles, e the change of the tracked places,

    sum_k 1/2 ( |e|^2 / a^2 + |dk2|^2 / b^2 + |d((k2 - k)/dt)|^2 / c^2 )

is minimised; a: what an error of the places may be [m], b of the motors' angles [rad], c of their speed [rad/s].
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.driven.outputs import Outputs, OutputTargets
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.motion.feedback import Feedback
from bunraku.optimization.control.lqr import time_varying_lqr

MOST_NUMBERS = 120_000_000
"""Feedback is refused where its matrices would hold more numbers: about four arrays of 1 GB each."""

PLACE, ANGLE, SPEED = 0.002, 0.2, 2.0
"""The scales a [m], b [rad], c [rad/s]."""


def vibration_feedback(outputs: Outputs, targets: OutputTargets, angles: Array, dt: float, start: Array) -> Feedback:
    """Gains along the motion under motor ``angles`` (N + 1, nk) at steps of ``dt`` [s] from rest at ``start`` (nq,).

    ``targets`` (N + 1 frames) are where the places should be.
    """
    system = outputs.system
    numbers = (len(angles) - 1) * (system.nq + system.nd) ** 2
    if numbers > MOST_NUMBERS:
        raise BadInput(
            f"feedback along {len(angles) - 1} steps of {system.nq + system.nd} states would take {8 * numbers / 1e9:.1f} GB "
            "a matrix; shorten the clip, or leave feedback out"
        )
    integrator = VariationalIntegrator(system, dt)
    first = integrator.initial(start, start)
    path = integrator.rollout(first.q, first.p, np.zeros((len(angles) - 1, system.nu)), angles[1:])
    if not path.status.good:
        raise BadInput(f"the motion could be simulated for {path.steps} of {len(angles) - 1} steps only; no feedback about it")
    dynamics = VariationalDynamics(integrator)
    x = dynamics.state(path.q, path.p)
    commands = np.ascontiguousarray(angles[1:])
    A, B = dynamics.linearize(x, commands)
    N, nq, nx, nk = len(commands), system.nq, x.shape[1], system.nk
    Q = np.zeros((N, nx, nx))
    for k in range(N):
        _, D = outputs.jacobian(path.q[k], targets, k)
        Q[k, :nq, :nq] = D.T @ D / PLACE**2
    speed = 1.0 / (SPEED * dt) ** 2
    at = system.kinematic
    Q[:, at, at] += speed
    R, S = np.eye(nk) * (1.0 / ANGLE**2 + speed), np.zeros((nx, nk))
    S[at, np.arange(nk)] = -speed
    gains = time_varying_lqr(A, B, Q, R, S=S)
    names = tuple(system.names)
    return Feedback(
        rate=1.0 / dt,
        coordinates=names,
        momenta=tuple(names[i] for i in system.dynamic),
        inputs=tuple(names[i] for i in at),
        states=x,
        commands=commands,
        gains=gains.K,
    )
