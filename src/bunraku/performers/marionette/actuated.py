"""Characters without strings that have fewer motors than coordinates: the best motion their motors can give to a wish.

Inputs are the motors' torques and forces u. The problem is to minimise

    J = dt sum_k 1/2 (|q - q_wish|^2_a + |p - p_wish|^2_b + sum_j e (u_j / s_j)^2) + 1/2 (the same of the last state) * terminal

over the motions of the variational integrator that start at rest in the wish's first pose, with |u_j| at most the motor's stall
torque, within its torque-speed line where it states a no-load speed, and coordinates within their ranges. a is the weight of a
coordinate, b that of its velocity divided by the square of its inertia at home, e the weight of the effort, s_j the stall torque
(or ten times the inertia that the motor moves).

**The helping hand.** A wish like "hang, stand, hang" leads no descent from hanging to standing: at first the passive coordinates
are moved by a hand, a force on each wished coordinate that has no motor. It costs almost nothing in the first stage, a
thousandfold in each of the next, and is taken away in the last, which starts from what the hand was hardly needed for any more.
Every stage is Newton's method on trajectories; none knows which character it moves.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.forces import CoordinateForce
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_system
from bunraku.motion.curves import JointCurves
from bunraku.optimization.control.constrained import ConstrainedTrajectory
from bunraku.optimization.control.constraints import InputBounds, StateBounds, TrajectoryConstraint
from bunraku.optimization.control.cost import TrackingCost
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.control.trajectory import NewtonStep, TrajectoryNewton, TrajectorySolution
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.limits import MotorLines
from bunraku.rhythm.resample import resampled

MARGIN = 1e-3
"""How far inside the limits the plan stays, as a part of the span from lower to upper."""


@dataclass(frozen=True)
class ActuatedProblem:
    """The problem as a value: integrator, wished curves and states (N + 1, nx), x = (q, p), weights and limits.

    ``Q`` (nx, nx) and ``R`` (nu, nu) include the factor dt; ``terminal`` (nx, nx). ``limits`` (nu,) are the stall torques [N·m or
    N], infinite where none is stated; ``lower`` and ``upper`` (nq,) the ranges of the coordinates. The torque-speed lines are those
    of the ``character``'s motors.
    """

    character: Character
    integrator: VariationalIntegrator
    curves: JointCurves
    wish: Array
    Q: Array
    R: Array
    terminal: Array
    limits: Array
    lower: Array
    upper: Array

    @cached_property
    def dynamics(self) -> VariationalDynamics:
        """The integrator's steps as the dynamics of the problem."""
        return VariationalDynamics(self.integrator)

    @property
    def cost(self) -> TrackingCost:
        """J of the module."""
        return TrackingCost(self.wish, self.Q, self.R, terminal=self.terminal)

    @property
    def constraints(self) -> list[TrajectoryConstraint]:
        """The limits drawn in by the margin; nothing where there are none."""
        constraints: list[TrajectoryConstraint] = []
        if self.has_lines:
            constraints.append(MotorLines(self.character, self.dynamics, 1.0 - 2.0 * MARGIN))
        elif np.isfinite(self.limits).any():
            constraints.append(InputBounds(-(1.0 - 2.0 * MARGIN) * self.limits, (1.0 - 2.0 * MARGIN) * self.limits))
        if np.isfinite(self.lower).any() or np.isfinite(self.upper).any():
            room = np.where(np.isfinite(self.upper - self.lower), MARGIN * (self.upper - self.lower), 0.0)
            free = np.full(len(self.wish[0]) - len(self.lower), np.inf)
            constraints.append(StateBounds(np.append(self.lower + room, -free), np.append(self.upper - room, free)))
        return constraints

    @property
    def has_lines(self) -> bool:
        """Whether a motor states a torque-speed line: what it can give falls with its speed."""
        return any(motor.stall_torque is not None and motor.no_load_speed for motor in self.character.motors)


@dataclass(frozen=True)
class ActuatedResult:
    """The motion: states ``x`` (N + 1, nx), x = (q, p); inputs ``u`` (N, nu) in the order of the motors; feedback ``K``.

    The motors give u_k - K_k (x - x_k) to a character found at x instead of x_k. ``iterations`` counts the Newton steps of all
    stages, ``steps`` holds them; ``cost_initial`` is J of doing nothing (the motors off from the start on), ``cost_final`` J of
    the motion, a local optimum; ``violation`` the largest excess over a limit, in parts of its span, 0 when kept.
    """

    problem: ActuatedProblem
    x: Array
    u: Array
    K: Array
    status: Status
    iterations: int
    cost_initial: float
    cost_final: float
    violation: float
    steps: tuple[NewtonStep, ...]

    @property
    def integrator(self) -> VariationalIntegrator:
        """The integrator whose steps the motion is made of."""
        return self.problem.integrator

    @property
    def system(self) -> System:
        """The mechanical system."""
        return self.problem.integrator.system

    @property
    def positions(self) -> JointCurves:
        """The coordinates of the motion as curves."""
        return JointCurves(self.system.names, 1.0 / self.integrator.dt, self.x[:, : self.system.nq])


def actuated_system(character: Character, *, helped: Sequence[str] = ()) -> System:
    """The character as a mechanical system: one input for each motor, called by its name, then one for each ``helped`` coordinate.

    Damping and rotor inertia are those the joints state; ranges are not part of the system.
    """
    if character.strings or character.tendons:
        raise BadInput(f"the character {character.name!r} has strings or tendons; this is for characters that only motors move")
    if not character.motors:
        raise BadInput(f"the character {character.name!r} has neither motors nor strings; nothing can move it")
    hands = [f"hand on {name}" for name in helped]
    forces = [CoordinateForce(name, hand) for name, hand in zip(helped, hands, strict=True)]
    return character_system(character, torques=True, inputs=hands, forces=forces)


def state_problem(
    character: Character,
    wish: JointCurves,
    *,
    rate: float = 100.0,
    position_weight: float = 1.0,
    velocity_weight: float = 0.01,
    rest_weight: float = 0.05,
    effort_weight: float = 0.4,
    terminal_seconds: float = 0.1,
) -> ActuatedProblem:
    """State the problem of the module.

    ``wish``: curves of some of the character's coordinates [rad or m], resampled to ``rate`` [Hz]. ``position_weight`` and
    ``velocity_weight`` [per rad^2 or m^2, and per (rad/s)^2 or (m/s)^2] of the wished coordinates; the others are asked to
    stay at home with ``rest_weight`` and the same velocity weight. ``effort_weight``: price of a second at full torque.
    ``terminal_seconds``: the last state weighs as much as that many seconds of it.
    """
    system = actuated_system(character)
    unknown = [name for name in wish.names if name not in system.names]
    if unknown:
        raise BadInput(f"the wish has a curve for {unknown[0]!r}; coordinates of {character.name!r}: {', '.join(system.names)}")
    curves = resampled(wish, rate)
    if len(curves.values) < 3:
        raise BadInput(f"the wish lasts {wish.duration:g} s; at least three samples at {rate:g} Hz are needed")
    dt, integrator = 1.0 / rate, VariationalIntegrator(system, 1.0 / rate)
    q = np.tile(system.home, (len(curves.values), 1))
    q[:, [system.index(name) for name in curves.names]] = curves.values
    p = np.array([integrator.initial(now, before).p for before, now in zip(np.vstack([q[:1], q[:-1]]), q, strict=True)])
    inertia = _inertia(system)
    position = np.array([position_weight if name in curves.names else rest_weight for name in system.names])
    weights = np.diag(np.concatenate([position, velocity_weight / inertia**2]))
    limits = np.array([np.inf if m.stall_torque is None else m.torque_fraction * m.stall_torque for m in character.motors])
    own = np.array([10.0 * inertia[system.index(motor.coordinate)] for motor in character.motors])
    scale = np.where(np.isfinite(limits), limits, own)
    ranges = {axis.name: axis.range for axis in character.axes if axis.range is not None}
    lower = np.array([ranges[name][0] if name in ranges else -np.inf for name in system.names])
    upper = np.array([ranges[name][1] if name in ranges else np.inf for name in system.names])
    return ActuatedProblem(
        character,
        integrator,
        wish,
        np.hstack([q, p]),
        dt * weights,
        dt * effort_weight * np.diag(scale**-2.0),
        terminal_seconds * weights,
        limits,
        lower,
        upper,
    )


def solve_actuated(
    character: Character,
    wish: JointCurves,
    *,
    rate: float = 100.0,
    hand_prices: Sequence[float] = (1e-3, 1.0, 1e3),
    tolerance: float = 1e-8,
    max_iterations: int = 100,
    monitor: Monitor = SILENT,
    **weights: float,
) -> ActuatedResult:
    """The best motion of the character, with feedback: `state_problem`, then `solve_problem`."""
    problem = state_problem(character, wish, rate=rate, **weights)
    return solve_problem(problem, hand_prices=hand_prices, tolerance=tolerance, max_iterations=max_iterations, monitor=monitor)


def solve_problem(
    problem: ActuatedProblem,
    *,
    hand_prices: Sequence[float] = (1e-3, 1.0, 1e3),
    tolerance: float = 1e-8,
    max_iterations: int = 100,
    monitor: Monitor = SILENT,
) -> ActuatedResult:
    """The best motion, with feedback.

    ``hand_prices``: price of a second of a hand's force that would accelerate a coordinate by 10 rad/s^2 or m/s^2, stage by stage;
    empty: no helping hand, one stage from rest. ``tolerance``: of the slope DJ.zeta in parts of J; ``max_iterations`` of each
    stage. Not converging is a status, never an error.
    """
    character = problem.character
    plain = problem.dynamics
    x, u = np.tile(problem.wish[0], (len(problem.wish), 1)), np.zeros((len(problem.wish) - 1, plain.nu))
    idle = plain.simulate(x[0], u)
    cost_initial = problem.cost.value(idle.x, idle.u) if idle.good else float("inf")
    driven = set(character.driven)
    helped = [name for name in problem.curves.names if name not in driven]
    steps: list[NewtonStep] = []
    loose = TrajectoryNewton(tolerance=0.0, relative_tolerance=1e-3, max_iterations=max_iterations)
    if helped:
        x, u = _with_a_hand(problem, actuated_system(character, helped=helped), helped, hand_prices, loose, x, u, steps, monitor)
    newton = TrajectoryNewton(tolerance=0.0, relative_tolerance=tolerance, max_iterations=max_iterations)
    motion = newton.solve(plain, problem.cost, x, u, monitor=monitor)
    steps += motion.steps
    motion, status = _within_limits(problem, plain, motion, steps, max_iterations, monitor)
    K = time_varying_lqr(motion.A, motion.B, problem.Q, problem.R, terminal=problem.terminal).K
    J = problem.cost.value(motion.x, motion.u)
    violation = _excess(problem, motion)
    return ActuatedResult(problem, motion.x, motion.u, K, status, len(steps), cost_initial, J, violation, tuple(steps))


def _with_a_hand(
    problem: ActuatedProblem,
    system: System,
    helped: Sequence[str],
    prices: Sequence[float],
    newton: TrajectoryNewton,
    x: Array,
    u: Array,
    steps: list[NewtonStep],
    monitor: Monitor,
) -> tuple[Array, Array]:
    """The stages with helping hands; states and the motors' inputs of the last."""
    dynamics = VariationalDynamics(VariationalIntegrator(system, problem.integrator.dt))
    force = np.array([10.0 * _inertia(system)[system.index(name)] for name in helped])
    n = u.shape[1]
    u = np.hstack([u, np.zeros((len(u), len(helped)))])
    for price in prices:
        R = np.zeros((dynamics.nu, dynamics.nu))
        R[:n, :n] = problem.R
        R[n:, n:] = problem.integrator.dt * price * np.diag(force**-2.0)
        motion = newton.solve(dynamics, TrackingCost(problem.wish, problem.Q, R, terminal=problem.terminal), x, u, monitor=monitor)
        x, u = motion.x, motion.u
        steps += motion.steps
    return x, u[:, :n]


def _within_limits(
    problem: ActuatedProblem,
    dynamics: VariationalDynamics,
    motion: TrajectorySolution,
    steps: list[NewtonStep],
    max_iterations: int,
    monitor: Monitor,
) -> tuple[TrajectorySolution, Status]:
    """The same motion when it keeps the limits; otherwise the best one that does."""
    limits = problem.constraints
    worst = max((float(rows.max(initial=0.0)) for c in limits for rows in c.values(motion.x, motion.u)), default=0.0)
    if motion.status is Status.CANCELLED or worst <= 0.0:
        return motion, motion.status
    J = problem.cost.value(motion.x, motion.u)
    newton = TrajectoryNewton(tolerance=1e-6 * J, max_iterations=max_iterations)
    solver = ConstrainedTrajectory(newton=newton, penalty=J, tolerance=0.5 * MARGIN)
    result = solver.solve(dynamics, problem.cost, limits, motion.x, motion.u, monitor=monitor)
    steps += result.trajectory.steps
    return result.trajectory, result.status


def _excess(problem: ActuatedProblem, motion: TrajectorySolution) -> float:
    """The largest excess over a stated limit, in parts of the span of the limit."""
    q = motion.x[:, : len(problem.lower)]
    span = np.where(np.isfinite(problem.upper - problem.lower), problem.upper - problem.lower, 1.0)
    outside = np.maximum(q - problem.upper, problem.lower - q) / span
    torque = (np.abs(motion.u) - problem.limits) / np.where(np.isfinite(problem.limits), 2.0 * problem.limits, 1.0)
    rows = MotorLines(problem.character, problem.dynamics).values(motion.x, motion.u)[0] if problem.has_lines else np.zeros(0)
    return max(0.0, float(outside.max()), float(torque.max()), 0.5 * float(rows.max(initial=0.0)))


def _inertia(system: System) -> Array:
    """What each coordinate feels of the character's mass at home (nq,) [kg·m^2 or kg]."""
    mass: Array = np.diagonal(system.lagrangian_derivatives(system.home, np.zeros(system.nq)).vv).copy()
    return mass
