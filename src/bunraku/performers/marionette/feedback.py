"""The feedback that keeps a puppet on its planned motion: a linear-quadratic regulator along it.

With dx the deviation of the state (q, p) and dk that of the prescribed coordinates, the gains minimise

    sum_k 1/2 ( |dq_d|^2 + |dp|^2 + c |dk2|^2 + r |d((k2 - k)/dt)|^2 + e |dtorque / stall|^2 ).

The velocity term r is what makes it usable: without it winches answer a deviation within one step, and strings that never stretch
pass it on as hundreds of newtons.
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.motion.feedback import Feedback
from bunraku.optimization.control.lqr import time_varying_lqr

PLACE = 10.0
"""Weight c of the prescribed coordinates' deviation [1/m^2]."""

CARRIAGE_SPEED, WINCH_SPEED = 1.0, 100.0
"""Weight r of the deviation of a carriage's and a winch's velocity [s^2/m^2]."""

TORQUE = 1.0
"""Weight e of a motor's torque, as a part of its stall torque."""


def stabilizing_feedback(character: Character, system: System, rate: float, q: Array, p: Array, u: Array) -> Feedback:
    """Gains along the motion ``q`` (N + 1, nq), ``p`` (N + 1, nd) with inputs ``u`` (N, torques and prescribed coordinates)."""
    dynamics = VariationalDynamics(VariationalIntegrator(system, 1.0 / rate))
    nq, nu, nk, dt = system.nq, system.nu, system.nk, 1.0 / rate
    x = dynamics.state(q, p)
    A, B = dynamics.linearize(x, u)
    winches = {string.coordinate for string in character.strings}
    names = [system.names[i] for i in system.kinematic]
    r = np.array([WINCH_SPEED if name in winches else CARRIAGE_SPEED for name in names]) / dt**2
    Q, R, S = np.zeros(dynamics.nx), np.zeros(dynamics.nu), np.zeros((dynamics.nx, dynamics.nu))
    Q[system.dynamic], Q[nq:], Q[system.kinematic] = 1.0, 1.0, r
    stall = {motor.name: motor.stall_torque or 1.0 for motor in character.motors}
    R[:nu] = [TORQUE / stall.get(name, 1.0) ** 2 for name in system.inputs]
    R[nu:] = PLACE + r
    S[system.kinematic, nu + np.arange(nk)] = -r
    gains = time_varying_lqr(A, B, np.diag(Q), np.diag(R), S=S)
    drives = {motor.name: motor.coordinate for motor in character.motors}
    return Feedback(
        rate=rate,
        coordinates=system.names,
        momenta=tuple(system.names[i] for i in system.dynamic),
        inputs=(*(drives.get(name, name) for name in system.inputs), *names),
        states=x,
        commands=u,
        gains=gains.K,
    )
