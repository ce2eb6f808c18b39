"""From a motion primitive to a law the puppet can follow: its own feed-forward, its own gains."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.marionette import hang, marionette_system
from bunraku.motion import JointCurves
from bunraku.optimization.control.lqr import infinite_horizon_lqr, time_varying_lqr
from bunraku.optimization.control.trajectory import TrajectoryNewton, TrajectorySolution
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.choreography.cost import PuppetCost, PuppetWeights
from bunraku.performers.choreography.laws import Law

METRE = 5.0
"""A metre of a translation counts as this many radians of a joint."""


@dataclass(frozen=True)
class FollowedPrimitive:
    """A primitive as the puppet follows it: its ``law``, reference ``x`` (N + 1, nx), inputs ``u`` (N, nu), how the search ended.

    ``least_tension`` [N] along the reference, ``error`` the RMS distance [rad, metres x 5] of the reference to the primitive.
    """

    law: Law
    x: Array
    u: Array
    status: Status
    least_tension: float
    error: float


class HangingPuppet:
    """A marionette hanging at rest, its dynamics (state q, p, carriage velocities) at a step of ``dt`` [s]."""

    def __init__(self, character: Character, *, dt: float = 0.01) -> None:
        self.character, self.dt = character, dt
        self.system = marionette_system(character)
        self.rest = hang(character, self.system).require().q
        integrator = VariationalIntegrator(self.system, dt)
        self.dynamics = VariationalDynamics(integrator, kinematic_velocity=True)
        self.x_rest = self.dynamics.state(self.rest, integrator.initial(self.rest, self.rest).p)
        self.u_rest = np.concatenate([np.zeros(self.system.nu), self.rest[self.system.kinematic]])
        self.joints = tuple(self.system.names[i] for i in self.system.dynamic)
        slides = {axis.name for joint in character.joints for axis in joint.axes if axis.kind == "slide"}
        self._winches = np.array([self.system.index(string.coordinate) for string in character.strings])
        self.scale = np.array([METRE**2 if name in slides else 1.0 for name in self.joints])

    def wish(self, curves: JointCurves, times: Array) -> Array:
        """The dynamic coordinates (N, nd) of joint curves at ``times`` (N,) [s], held beyond their end, at rest if not named."""
        unknown = [name for name in curves.names if name not in self.joints]
        if unknown:
            raise BadInput(
                f"the curve {unknown[0]!r} is no coordinate that {self.character.name!r} is free to move; "
                f"known: {', '.join(self.joints[:30])}"
            )
        q = np.tile(self.rest[self.system.dynamic], (len(times), 1))
        for name in curves.names:
            q[:, self.joints.index(name)] = np.interp(times, curves.times, curves.column(name))
        return q

    @cached_property
    def gains(self) -> tuple[Array, Array]:
        """The stationary gain K (nu, nx) that brings the hanging puppet back to rest, and its cost to go P (nx, nx)."""
        x, u = np.vstack([self.x_rest, self.x_rest]), self.u_rest[None]
        A, B = self.dynamics.linearize(x, u)
        n = self.dynamics.nx
        H = self._feedback_weights()
        K, P = infinite_horizon_lqr(A[0], B[0], H[:n, :n], H[n:, n:], S=H[:n, n:])
        return K, P

    def follow(self, curves: JointCurves, *, monitor: Monitor = SILENT) -> FollowedPrimitive:
        """The law that follows joint curves: the trajectory nearest to them, and gains that keep the puppet on it."""
        N = max(int(np.ceil(curves.duration / self.dt - 1e-9)), 12)
        times: Array = self.dt * np.arange(N + 1, dtype=np.float64)
        wish = self.wish(curves, times)
        solved, cost = self._nearest(wish, monitor)
        n = self.dynamics.nx
        H, (K_rest, P_rest) = self._feedback_weights(), self.gains
        gains = time_varying_lqr(solved.A, solved.B, H[:n, :n], H[n:, n:], S=H[:n, n:], terminal=P_rest)
        law = Law(self.dt, solved.x, solved.u, gains.K, rest_x=self.x_rest, rest_u=self.u_rest, rest_K=K_rest)
        e = (solved.x[:, self.system.dynamic] - wish) * np.sqrt(self.scale)
        least = float(cost.tensions(solved.x, solved.u).min())
        return FollowedPrimitive(law, solved.x, solved.u, solved.status, least, float(np.sqrt((e**2).mean())))

    def _nearest(self, q: Array, monitor: Monitor) -> tuple[TrajectorySolution, PuppetCost]:
        """The trajectory nearest to the dynamic coordinates ``q`` (N + 1, nd), from rest to rest."""
        N, system, n = len(q) - 1, self.system, self.dynamics.nx
        wish, weight = np.tile(self.x_rest, (N + 1, 1)), np.zeros((N + 1, n))
        wish[:, system.dynamic] = q
        weight[:, system.dynamic] = 10.0 * self.scale
        weight[:, system.kinematic] = 3.0
        weight[:, self._winches] = 0.1
        weight[-1] = 0.0
        weight[-1, system.dynamic], weight[-1, system.kinematic] = 10.0 * self.scale, 100.0
        weight[-1, system.nq : system.nq + system.nd], weight[-1, n - system.nk :] = 100.0, 10.0
        cost = PuppetCost(self.dynamics, wish, weight, PuppetWeights(acceleration=4e-2, slack=10.0, slack_below=0.6))
        x, u = np.tile(self.x_rest, (N + 1, 1)), np.tile(self.u_rest, (N, 1))
        solver = TrajectoryNewton(method="quasi", max_iterations=25, relative_tolerance=1e-3)
        return solver.solve(self.dynamics, cost, x, u, monitor=monitor), cost

    def _feedback_weights(self) -> Array:
        """The stage matrix (nx + nu, nx + nu) behind the gains: distance, a little momentum, acceleration of the carriages."""
        system, n = self.system, self.dynamics.nx
        nothing = np.zeros((2, n))
        cost = PuppetCost(self.dynamics, nothing, nothing.copy(), PuppetWeights(acceleration=0.1))
        H = cost.hessian(np.tile(self.x_rest, (2, 1)), self.u_rest[None], exact=False)[0][0] / self.dt
        H[system.dynamic, system.dynamic] += 10.0 * self.scale
        H[system.kinematic, system.kinematic] += 1.0
        H[np.arange(system.nq, n), np.arange(system.nq, n)] += 0.1
        return H
