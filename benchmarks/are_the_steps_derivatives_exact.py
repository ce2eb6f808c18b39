"""Are the derivatives of a variational step exact? The slope test on built-in puppets and machines, strings and loops included.

A state and inputs are disturbed in random directions by shorter and shorter steps; what the derivatives of one step of 10 ms leave
over must fall with order 2. The least order of five directions is printed, and 1.8 is needed.

Run: python benchmarks/are_the_steps_derivatives_exact.py [NAME ...]
"""

from __future__ import annotations

import sys

import numpy as np

import bunraku
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import hang
from bunraku.optimization.derivative_check import SlopeReport, check_jacobian

NAMES = ("marionette", "cart-pendulum", "double-pendulum", "puppet-arm")
STEP = 0.01


def exactness(name: str) -> SlopeReport:
    """The slope test of one step, from where the character hangs or stands, disturbed a little."""
    character = bunraku.load_character(name)
    system = character_system(character, torques=True)
    q = hang(character, system).q if character.strings else make_consistent(system, system.home + 0.1).q
    dynamics = VariationalDynamics(VariationalIntegrator(system, STEP))
    start = dynamics.state(q, dynamics.integrator.initial(q, q).p)
    inputs = np.append(np.full(system.nu, 0.01), q[system.kinematic])
    nx, n = len(start), len(inputs)

    def after(xu: np.ndarray) -> np.ndarray:
        moved: np.ndarray = dynamics.rollout(xu[:nx], np.zeros((2, nx)), xu[None, nx:], np.zeros((1, n, nx))).x[1]
        return moved

    def derivatives(xu: np.ndarray) -> np.ndarray:
        A, B = dynamics.linearize(np.array([xu[:nx], after(xu)]), xu[None, nx:])
        return np.hstack([A[0], B[0]])

    return check_jacobian(after, derivatives, np.append(start, inputs), scale=0.03, directions=5)


def main() -> int:
    """Print a line each; 1 when a derivative is wrong."""
    reports = {name: exactness(name) for name in sys.argv[1:] or NAMES}
    for name, report in reports.items():
        print(f"{name:16} {report}")
    return int(not all(report.holds for report in reports.values()))


if __name__ == "__main__":
    sys.exit(main())
