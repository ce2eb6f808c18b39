"""Holding still by tendons: tensions under which a character with closed chains rests, and feedback that brings it back.

A hold is a pose q at rest, tensions u that balance it (`mechanics.systems.tendons`), and the gain K of the infinite-horizon
regulator

    sum_k 1/2 ( |dq|^2 + b |M^-1 dp|^2 + r |du|^2 ),   dx_{k+1} = A dx_k + B du_k,   du = -K dx,

A, B the exact linearization of a step of the variational integrator at the hold and M the mass matrix. Everything that follows
from it (what the tensions reach, whether nudges come back) is measured on the nonlinear system.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.dynamics.initial import make_consistent
from bunraku.mechanics.dynamics.places import Place
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.results import Trajectory
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.mechanics.systems.loops import mobility
from bunraku.mechanics.systems.tendons import holding_tensions
from bunraku.motion import Certificate, Clip, JointCurves
from bunraku.motion.feedback import Feedback
from bunraku.optimization.control.gramian import controllability_gramian, reachable_dimension
from bunraku.optimization.control.lqr import infinite_horizon_lqr
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import Fit
from bunraku.performers.marionette.driven import DrivenSolution, certify_driven, play_driven
from bunraku.performers.marionette.fit import HOLD
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option

VELOCITY, TENSION = 1e-3, 1e-4
"""Weights b [s^2] and r [1/N^2] of the regulator, beside 1 for a radian or a metre."""

HORIZON = 100
"""Steps over which the tensions' reach is measured."""


@dataclass(frozen=True)
class Hold:
    """A pose that tendons hold: state ``x`` = (q, p), tensions ``u`` (nu,) [N], gain ``K`` (nu, nx) at ``rate`` [Hz].

    ``mobility``: the ways to move that the loops leave; ``reached``: the dimension of the states that the tensions reach, at most
    twice that. ``turning``: which coordinates turn and are not those of a free base; nudges are measured by them.
    """

    character: Character
    system: System
    rate: float
    x: Array
    u: Array
    K: Array
    mobility: int
    reached: int
    turning: NDArray[np.int64]

    @property
    def q(self) -> Array:
        """The pose (nq,)."""
        return self.x[: self.system.nq]

    def nudged(self, angle: float, seed: int) -> Array:
        """A pose (nq,) that keeps the loops, its farthest joint ``angle`` [rad] away to first order."""
        tangent = np.linalg.svd(self.system.constraint_jacobian(self.q))[2][self.system.nc :]
        move = np.random.default_rng(seed).normal(size=len(tangent)) @ tangent
        return make_consistent(self.system, self.q + angle * move / np.abs(move[self.turning]).max()).q

    def simulate(self, start: Array, seconds: float, *, feedback: bool = True) -> Trajectory:
        """What happens from rest at ``start`` (nq,): tensions u - K (x - x_hold), or u alone; shorter when a step fails."""
        integrator, N = VariationalIntegrator(self.system, 1.0 / self.rate), round(seconds * self.rate)
        at, gain = integrator.initial(start, start), self.K if feedback else 0.0 * self.K
        law = {"reference": np.tile(self.x, (N, 1)), "gain": np.tile(gain, (N, 1, 1))}
        return integrator.rollout(at.q, at.p, np.tile(self.u, (N, 1)), np.zeros((N, 0)), **law)

    def away(self, q: Array) -> Array:
        """How far [rad] the farthest joint is from the hold in configurations q (m, nq), (m,)."""
        off: Array = np.abs(q - self.q)[:, self.turning].max(axis=1)
        return off

    def returned(
        self,
        *,
        angle: float,
        feedback: bool,
        starts: int = 100,
        seconds: float = 1.0,
        near: float = 0.01,
        monitor: Monitor = SILENT,
    ) -> float:
        """The share of starts nudged by ``angle`` [rad] that end within ``near`` [rad] of the hold, after ``seconds``."""
        good = 0
        for seed in range(starts):
            run = self.simulate(self.nudged(angle, seed), seconds, feedback=feedback)
            good += bool(run.status.good and self.away(run.q[-1:])[0] <= near)
            monitor.report(Event("nudges" if feedback else "nudges, no feedback", (seed + 1) / starts, f"{good} came back"))
            if monitor.cancelled:
                break
        return good / starts


def find_hold(character: Character, *, rate: float = 200.0) -> Hold:
    """The hold of a character at home.

    Every tendon carries at least 3 N; where a ball joint closes a loop, the parent pushes with 0.5 N towards the child's centre of
    mass, within a friction of 0.5. BadInput when no tensions do that.
    """
    system = character_system(character)
    q = character_home(character, system)
    centers = {body.name: body.center_of_mass for body in character.bodies}
    pushes = {}
    for loop in character.loops:
        if loop.kind == "ball":
            ends = Points(system, (Place(loop.parent, loop.pose.position), Place(loop.child, centers[loop.child])))
            here, there = ends.positions(q[None])[0]
            pushes[loop.name] = there - here
    held = holding_tensions(character, system, q, least=3.0, pushes=pushes, least_push=0.5, friction=0.5).require()
    integrator = VariationalIntegrator(system, 1.0 / rate)
    p = integrator.initial(q, q).p
    A, B = _linearized(integrator, q, p, held.u)
    inverse = np.linalg.inv(system.lagrangian_derivatives(q, np.zeros(system.nq)).vv)
    n = system.nq
    Q = np.block([[np.eye(n), np.zeros((n, n))], [np.zeros((n, n)), VELOCITY * inverse @ inverse]])
    K, _ = infinite_horizon_lqr(A, B, Q, TENSION * np.eye(system.nu))
    W = controllability_gramian(*(np.tile(part, (HORIZON, 1, 1)) for part in (A, B, K)))
    size = np.sqrt(np.diag(W))
    free = {axis.name for joint in character.joints if joint.kind == "free" for axis in joint.axes}
    hinges = {axis.name for axis in character.axes if axis.kind == "hinge"} - free
    turning = np.array([i for i, name in enumerate(system.names) if name in hinges], dtype=np.int64)
    x = np.concatenate([q, p])
    ways = mobility(system, q)
    return Hold(character, system, rate, x, held.u, K, ways, reachable_dimension(W / np.outer(size, size)), turning)


def _linearized(integrator: VariationalIntegrator, q: Array, p: Array, u: Array) -> tuple[Array, Array]:
    """A (nx, nx), B (nx, nu) of one step at rest."""
    step = integrator.linearize(integrator.rollout(q, p, u[None], np.zeros((1, 0))))
    return step.A[0], step.B[0]


@dataclass(frozen=True, kw_only=True)
class HoldPerformer(Performer[Hold, DrivenSolution]):
    """A nudged character comes back to its hold. It takes no wish but to stay at home, and so is not one to choose from."""

    fit: ClassVar[Fit] = HOLD

    rate: float = option(200.0, "rate of the plan, the channels and the feedback", unit="Hz", low=20.0, high=1000.0)
    duration: float = option(2.0, "how long to look on", unit="s", low=0.05, high=60.0)
    nudge: float = option(0.05, "how far the farthest joint is away at the start", unit="rad", low=0.0, high=1.0)
    seed: int = option(1, "which nudge", low=0)

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[Hold]:
        """The hold."""
        return Task(character, clip, find_hold(character, rate=self.rate))

    def solve(self, task: Task[Hold], monitor: Monitor, memory: Memory) -> DrivenSolution:
        """Nudge, and let the feedback bring it back."""
        hold = task.problem
        run = hold.simulate(hold.nudged(self.nudge, self.seed), self.duration)
        N = run.steps
        wish = JointCurves(hold.system.names, hold.rate, np.tile(hold.q, (N + 1, 1)))
        status = Status.CONVERGED if run.status.good else run.status
        return DrivenSolution(hold.system, wish, run.q[: N + 1], run.p[: N + 1], run.u[:N], status)

    def play(self, task: Task[Hold], solution: DrivenSolution) -> Uncertified:
        """Tensions, and the feedback that corrects them."""
        system = solution.system
        feedback = Feedback(
            rate=task.problem.rate,
            coordinates=system.names,
            momenta=tuple(system.names[i] for i in system.dynamic),
            inputs=system.inputs,
            states=np.hstack([solution.q, solution.p]),
            commands=solution.u,
            gains=np.tile(task.problem.K, (len(solution.u), 1, 1)),
        )
        return play_driven(task.character, solution, feedback)

    def certify(self, task: Task[Hold], solution: DrivenSolution, played: Uncertified, monitor: Monitor) -> Certificate:
        """The measures of the nonlinear motion."""
        return certify_driven(task.character, solution, played)
