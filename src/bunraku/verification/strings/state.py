"""From what is measured, coordinates and velocities, to the state (q, p) that the feedback of a performance looks at.

The momentum of the midpoint variational integrator at a node is not M v: it lacks half a step of the forces and holds an arbitrary
part along the constraints, which moves nothing. At a node reached with velocity v under the inputs u of the step before,

    p = L_v(q, v) - dt/2 F(q, v, u) + Dh(q)' mu

on the dynamic coordinates, up to second order in dt; L_v the continuous momentum, F damping and inputs, Dh the constraints'
Jacobian. mu is that of the plan: it solves [M Dh'; Dh 0] (v, mu) = (p_k + dt/2 F, minus the rate of the prescribed coordinates).
"""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.verification.strings.plan import StringPlan


class StateMap:
    """Velocities of a plan at its nodes, ``v`` (N + 1, nq), and states from measurements, for a plan of N steps."""

    def __init__(self, plan: StringPlan) -> None:
        system, N = plan.system, plan.steps
        self._plan = plan
        self.v, self._mu = np.zeros((N + 1, system.nq)), np.zeros((N + 1, system.nc))
        rates = np.gradient(plan.q, plan.dt, axis=0)
        rates[0] = 0.0  # whoever moves at the start has its momentum say so
        d, kin = system.dynamic, system.kinematic
        for j in range(N + 1):
            q, v = plan.q[j], rates[j].copy()
            u = plan.commands[max(j - 1, 0), : system.nu]
            hessian = system.lagrangian_derivatives(q, v)
            Dh = system.constraint_jacobian(q)
            G = np.zeros((system.nd + system.nc,) * 2)
            G[: system.nd, : system.nd] = hessian.vv[np.ix_(d, d)]
            G[system.nd :, : system.nd], G[: system.nd, system.nd :] = Dh[:, d], Dh[:, d].T
            rest = plan.states[j, system.nq :] - hessian.vv[np.ix_(d, kin)] @ v[kin]
            for _ in range(3):  # the force depends on the velocity sought, weakly: dt times damping over inertia
                p = rest + 0.5 * plan.dt * system.force(q, v, u)[d]
                solution = np.linalg.solve(G, np.concatenate([p, -Dh[:, kin] @ v[kin]]))
                v[d], self._mu[j] = solution[: system.nd], solution[system.nd :]
            self.v[j] = v

    def state(self, node: int, q: Array, v: Array, u: Array) -> Array:
        """The state x = (q, p) (nq + nd,) at a node, measured q, v (nq,), after a step with the force inputs u (nu,)."""
        system, d = self._plan.system, self._plan.system.dynamic
        p = system.lagrangian_derivatives(q, v).v[d] - 0.5 * self._plan.dt * system.force(q, v, u)[d]
        return np.concatenate([q, p + system.constraint_jacobian(q)[:, d].T @ self._mu[node]])
