"""The cost of a motion: simulations of all scenarios, their errors, and what the objective makes of them."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.mechanics.flexible.torque_lines import TorqueLines, torques_of
from bunraku.mechanics.integrators.driven.linearization import Linearization, linearize_motion
from bunraku.mechanics.integrators.driven.outputs import OutputTargets
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion, Observer, simulate
from bunraku.performers.vibration.problem import VibrationProblem

TORQUE_SHARE = 0.97
"""The share of a torque-speed line that the plan uses: the rest is for the fine step, where the motion is judged."""

FRAMES_OF_KNOTS = 4
"""A Hessian of every second frame needs so many of them between knots."""


@dataclass(frozen=True, eq=False)
class Evaluation:
    """The true motions of all scenarios at some parameters: ``cost`` F (infinite if a simulation failed) and ``rms`` error [m].

    ``lines``: the torque-speed lines of the motors.
    """

    parameters: Array
    cost: float
    rms: float
    motions: tuple[DrivenMotion, ...]
    message: str = ""
    lines: TorqueLines | None = None

    @cached_property
    def excess(self) -> float:
        """By how much the worst motor exceeds the share of its torque-speed line that the plan may use."""
        if self.lines is None or not self.lines.any:
            return 0.0
        return max([0.0, *(float(self.lines.use(*torques_of(one)).max(initial=0.0)) - TORQUE_SHARE for one in self.motions)])

    def merit(self, penalty: float) -> float:
        """The cost, and ``penalty`` times the excess."""
        return self.cost + penalty * self.excess if penalty > 0.0 else self.cost

    @property
    def point(self) -> Point:
        """The motions as a point to linearize about."""
        return Point(tuple(motion.q for motion in self.motions), tuple(motion.lam for motion in self.motions), True)


@dataclass(frozen=True, eq=False)
class Point:
    """Configurations q (N + 1, nq) and impulses (N, nc) of each scenario to linearize about; ``true``: they obey physics."""

    q: tuple[Array, ...]
    lam: tuple[Array, ...]
    true: bool


@dataclass(frozen=True, eq=False)
class Normal:
    """The quadratic model of F over the free parameters: Hessian, gradient, value; and the linearizations it came from."""

    hessian: Array
    gradient: Array
    value: float
    lines: tuple[Linearization, ...]

    def moved(self, gradient: Array, value: float, lines: tuple[Linearization, ...]) -> Normal:
        """The model at another true motion: its own gradient and value, the Hessian kept."""
        return Normal(self.hessian, gradient, value, lines)

    def predicted(self, change: Array) -> float:
        """The model's value after a change of the free parameters."""
        return self.value + float(self.gradient @ change) + 0.5 * float(change @ (self.hessian @ change))


def evaluate(problem: VibrationProblem, parameters: Array, *, finer: int = 1) -> Evaluation:
    """Simulate all scenarios and sum up the cost; ``finer``: with so many simulated steps for each of the problem's."""
    profile = problem.profile
    angles, dt, stride = problem.angles(parameters), profile.dt / finer, problem.stride * finer
    if finer > 1:
        angles = profile.angles(parameters, np.arange(profile.steps * finer + 1, dtype=np.float64) * dt)
    total, squares, motions = problem.regularizer(parameters)[0], 0.0, []
    positions = int((~problem.nominal.outputs.tracked.turning).sum())
    for scenario in problem.scenarios:
        motion = simulate(scenario.flexible.system, angles, dt, start=scenario.rest.q[0])
        if not motion.status.good:
            return Evaluation(parameters, np.inf, np.inf, (), motion.message)
        e = scenario.outputs.errors(np.ascontiguousarray(motion.q[::stride]), scenario.targets)
        total += 0.5 * float((problem.weights * e**2).sum()) / len(problem.scenarios)
        squares += float((e[:, : 3 * positions] ** 2).sum()) / (len(e) * max(positions, 1) * len(problem.scenarios))
        motions.append(motion)
    if not np.isfinite(total):
        return Evaluation(parameters, np.inf, np.inf, (), "the cost is not finite")
    return Evaluation(parameters, total, float(np.sqrt(squares)), tuple(motions), "", problem.lines)


def first_point(problem: VibrationProblem) -> Point:
    """The wish at rest: where the lifted method starts."""
    dt = problem.profile.dt
    return Point(
        tuple(scenario.rest.q for scenario in problem.scenarios),
        tuple(-dt * scenario.rest.multipliers[:-1] for scenario in problem.scenarios),
        False,
    )


def observed(problem: VibrationProblem, parameters: Array, references: tuple[Array, ...], rate: float) -> Point | None:
    """Motions at ``parameters`` pulled towards ``references`` by an observer of ``rate`` [rad/s]; None if one fails."""
    angles, q, lam = problem.angles(parameters), [], []
    for scenario, reference in zip(problem.scenarios, references, strict=True):
        motion = simulate(
            scenario.flexible.system, angles, problem.profile.dt, start=scenario.rest.q[0], observer=Observer(reference, rate)
        )
        if not motion.status.good:
            return None
        q.append(motion.q)
        lam.append(motion.lam)
    return Point(tuple(q), tuple(lam), rate == 0.0)


def linearized(problem: VibrationProblem, point: Point) -> tuple[Linearization, ...]:
    """The motion of each scenario to first order about a point; step matrices are made when needed, in 1.2 GB."""
    share, dt = 1.0 / len(problem.scenarios), problem.profile.dt
    return tuple(
        Linearization(scenario.flexible.system, q, lam, dt, True, 1.2e9 * share)
        for scenario, q, lam in zip(problem.scenarios, point.q, point.lam, strict=True)
    )


def normal_equations(
    problem: VibrationProblem, lines: tuple[Linearization, ...], parameters: Array, current: Evaluation | None = None
) -> Normal:
    """Gauss-Newton's model of F about the point of ``lines``, defects closed to first order.

    Sums over every second frame, each with the weights of the one it stands for, where knots are far enough apart: half of the
    work, and a Hessian is an approximation anyway. At a true motion, ``current``, value and gradient are the exact ones.
    """
    value, gradient = problem.regularizer(parameters)
    P, C = problem.smoothness
    share, n = 1.0 / len(problem.scenarios), len(problem.free)
    H = np.zeros((n, n))
    extra = (P + C).tocsr()[problem.free][:, problem.free].tocoo()
    H[extra.row, extra.col] += extra.data
    every = 2 if problem.profile.spacing >= 2 * FRAMES_OF_KNOTS * problem.stride * problem.profile.dt - 1e-9 else 1
    weights = problem.weights if every == 1 else _halved(problem.weights)
    for scenario, line in zip(problem.scenarios, lines, strict=True):
        targets = OutputTargets(scenario.targets.positions[::every].copy(), scenario.targets.rotations[::every].copy())
        normal = line.normal_equations(problem.curves, scenario.outputs, targets, weights, stride=every * problem.stride)
        H += share * normal.hessian
        gradient = gradient + share * normal.lifted
        value += share * normal.lifted_cost
    model = Normal(H, gradient, value, lines)
    return model if current is None else model.moved(slope(problem, lines, parameters), current.cost, lines)


def _halved(weights: Array) -> Array:
    """Weights of every second frame: its own, and half of those of its neighbours."""
    thin, odd = weights[::2].copy(), weights[1::2]
    thin[: len(odd)] += 0.5 * odd
    thin[1:] += 0.5 * odd[: len(thin) - 1]
    if len(odd) == len(thin):
        thin[-1] += 0.5 * odd[-1]
    return thin


def slope(problem: VibrationProblem, lines: tuple[Linearization, ...], parameters: Array) -> Array:
    """The gradient of F over the free parameters about true motions, by the discrete adjoint: far cheaper than the Hessian."""
    gradient, share = problem.regularizer(parameters)[1], 1.0 / len(problem.scenarios)
    for scenario, line in zip(problem.scenarios, lines, strict=True):
        _, part = line.gradient(problem.curves, scenario.outputs, scenario.targets, problem.weights, stride=problem.stride)
        gradient = gradient + share * part
    return gradient


def cost_and_gradient(problem: VibrationProblem, parameters: Array) -> tuple[float, Array, Evaluation]:
    """F and its gradient over the free parameters, by the discrete adjoint."""
    evaluation = evaluate(problem, parameters)
    if not np.isfinite(evaluation.cost):
        return evaluation.cost, problem.regularizer(parameters)[1], evaluation
    return evaluation.cost, slope(problem, tuple(linearize_motion(motion) for motion in evaluation.motions), parameters), evaluation
