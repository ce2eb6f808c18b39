"""What people do otherwise, as performers of the same kind, so that comparing is one command.

``reference``: the wish as it is, legal or not. ``clamp``: each sample limited as it comes. ``stretch``: the paper's control
condition, slowed where it is too fast. ``ruckig``: an online trajectory generator chasing the wish. ``toppra``: the wish's
path, timed as fast as legal but not faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from bunraku.character import Character
from bunraku.errors import MissingExtra
from bunraku.motion import Clip, JointCurves
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import Fit
from bunraku.performers.performer import Memory, Task, option
from bunraku.performers.speech.family import Positions, SpeechFamily, clamped
from bunraku.performers.speech.fit import CLAMP, REFERENCE, RUCKIG, STRETCH, TOPPRA
from bunraku.performers.speech.problem import SpeechProblem, state_problem
from bunraku.rhythm.resample import local_stretch


@dataclass(frozen=True, kw_only=True)
class _Baseline(SpeechFamily):
    """A performer that stands for another way of doing it; never chosen by itself."""

    rate: float = option(0.0, "motor rate; 0 takes the motors' own", unit="Hz", low=0.0, high=10_000.0)
    intensity: float = option(1.0, "the same behaviour weaker or stronger", low=0.3, high=1.5)
    held: tuple[str, ...] = option((), "coordinates or groups kept at home besides those the clip holds")

    @final
    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[SpeechProblem]:
        """The wish at the motor rate."""
        monitor.report(Event(self.name, 0.0))
        problem = state_problem(character, clip, rate=self.rate, intensity=self.intensity, held=self.held)
        return Task(character, clip, problem)


@dataclass(frozen=True, kw_only=True)
class ReferencePerformer(_Baseline):
    """The wish as it is; its certificate says what it would break."""

    fit: ClassVar[Fit] = REFERENCE

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Hand the wish through."""
        return Positions(task.problem.wish.values)


@dataclass(frozen=True, kw_only=True)
class ClampPerformer(_Baseline):
    """Range and velocity clamped sample by sample, with no look-ahead."""

    fit: ClassVar[Fit] = CLAMP

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Clamp."""
        return Positions(clamped(task.problem, task.problem.wish.values))


@dataclass(frozen=True, kw_only=True)
class StretchPerformer(_Baseline):
    """The paper's control: the whole body slowed wherever one joint is too fast. Legal, and late."""

    fit: ClassVar[Fit] = STRETCH

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Stretch the time where needed."""
        wish, limits = task.problem.wish, task.problem.limits
        legal = JointCurves(wish.names, wish.rate, np.clip(wish.values, *limits.bounds(wish.values)))
        return Positions(local_stretch(legal, limits.velocity)[0].values)


@dataclass(frozen=True, kw_only=True)
class RuckigPerformer(_Baseline):
    """Ruckig chasing the wish sample by sample under velocity, acceleration and jerk limits."""

    fit: ClassVar[Fit] = RUCKIG
    acceleration: float = option(60.0, "acceleration limit where the motor states none", unit="rad/s^2", low=1e-3)
    jerk: float = option(3000.0, "jerk limit where the motor states none", unit="rad/s^3", low=1e-3)

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Chase the wish."""
        try:
            import ruckig
        except ImportError as error:
            raise MissingExtra("ruckig", "peers", "the ruckig baseline") from error
        problem = task.problem
        wish, limits, k = problem.wish.values, problem.limits, len(problem.limits.names)
        otg: Any = ruckig.Ruckig(k, 1.0 / problem.wish.rate)
        state, answer = ruckig.InputParameter(k), ruckig.OutputParameter(k)
        state.max_velocity = np.where(np.isfinite(limits.velocity), limits.velocity, 1e3).tolist()
        state.max_acceleration = np.where(np.isfinite(limits.acceleration), limits.acceleration, self.acceleration).tolist()
        state.max_jerk = np.where(np.isfinite(limits.jerk), limits.jerk, self.jerk).tolist()
        state.synchronization = ruckig.Synchronization.No
        state.current_position = problem.start.tolist()
        values = [problem.start]
        for row in np.clip(wish, *limits.bounds(wish))[1:]:
            state.target_position = row.tolist()
            otg.update(state, answer)
            values.append(np.array(answer.new_position))
            answer.pass_to_input(state)
        return Positions(np.array(values))


@dataclass(frozen=True, kw_only=True)
class ToppraPerformer(_Baseline):
    """TOPP-RA: the wish's geometric path, re-timed to be time-optimal under velocity and acceleration limits."""

    fit: ClassVar[Fit] = TOPPRA
    acceleration: float = option(60.0, "acceleration limit where the motor states none", unit="rad/s^2", low=1e-3)

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Re-time the path."""
        try:
            import toppra
            from toppra import algorithm, constraint
        except ImportError as error:
            raise MissingExtra("toppra", "peers", "the TOPP-RA baseline") from error
        problem = task.problem
        limits, rate = problem.limits, problem.wish.rate
        legal = np.clip(problem.wish.values, *limits.bounds(problem.wish.values))
        if len(legal) < 3:
            return Positions(clamped(problem, problem.wish.values))
        knots = max(2, min(len(legal), int(problem.wish.duration * 25) + 1))
        at = np.linspace(0, len(legal) - 1, knots).round().astype(int)
        path = toppra.SplineInterpolator(problem.wish.times[at], legal[at])
        speed = np.where(np.isfinite(limits.velocity), limits.velocity, 1e3)
        force = np.where(np.isfinite(limits.acceleration), limits.acceleration, self.acceleration)
        rules = [
            constraint.JointVelocityConstraint(np.column_stack([-speed, speed])),
            constraint.JointAccelerationConstraint(np.column_stack([-force, force])),
        ]
        timed = algorithm.TOPPRA(rules, path, solver_wrapper="seidel").compute_trajectory(0, 0)
        if timed is None:
            return Positions(clamped(problem, problem.wish.values), Status.INFEASIBLE)
        times = np.arange(int(np.floor(timed.duration * rate)) + 1) / rate
        return Positions(np.clip(timed(times), limits.lower, limits.upper))
