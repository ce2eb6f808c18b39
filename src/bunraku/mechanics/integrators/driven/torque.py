"""What the motors must bring: generalized forces at the kinematic coordinates, consistent with the variational step.

The discrete Euler-Lagrange equation of a kinematic coordinate at node m has a force on its right side,

    dt tau_m = -[P_m + dt/2 (Lq + D) - Lv + dt F - Dh(q_m)' lam]_k

with P_m = dt/2 (Lq + D) + Lv of the step that arrives at the node and the rest of the step that leaves it: the work of tau over the
motion is the change of energy and what damping takes, to the order of the step.
"""

from __future__ import annotations

from bunraku.arrays import Array
from bunraku.mechanics.integrators.driven import simulate_kernels as kernels
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion
from bunraku.mechanics.integrators.work_kernels import make_work


def motor_forces(motion: DrivenMotion) -> Array:
    """Tau (N, nk) [N·m for hinges, N for slides] at nodes 0 to N - 1 of a motion simulated without an observer.

    Their slopes over the control points: :meth:`Linearization.force_slopes`.
    """
    motion.require()
    tau: Array = kernels.motor_forces(
        motion.system.model, motion.q, motion.lam, motion.dt, make_work(motion.system.model, motion.system.nu)
    )
    return tau
