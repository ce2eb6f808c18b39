"""What people do otherwise, as performers of the same kind, so that comparing is one command.

``reference``: the wish as it is, legal or not. ``clamp``: each sample limited as it comes. ``stretch``: the paper's control
condition, slowed where it is too fast. ``ruckig``: an online trajectory generator chasing the wish. ``toppra``: the wish's
path, timed as fast as legal but not faster.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import MissingExtra
from bunraku.formats.checkpoint import Checkpoint
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.performer import Performer, Suitability, option
from bunraku.performers.speech.assemble import assemble
from bunraku.performers.speech.problem import SpeechProblem, state_problem
from bunraku.rhythm.resample import local_stretch


def clamped(problem: SpeechProblem, values: Array) -> Array:
    """Each sample of ``values`` brought into range and within v h of the one before: the causal velocity clamp."""
    lower, upper = problem.limits.bounds(values)
    step = problem.limits.velocity / problem.wish.rate
    out = np.clip(values, lower, upper)
    for k in range(1, len(out)):
        out[k] = np.clip(out[k], out[k - 1] - step, out[k - 1] + step)
    return out


@dataclass(frozen=True, kw_only=True)
class _Baseline(Performer):
    """A performer that stands for another way of doing it; never chosen by itself."""

    rate: float = option(0.0, "motor rate; 0 takes the motors' own", unit="Hz", low=0.0, high=10_000.0)
    intensity: float = option(1.0, "the same behaviour weaker or stronger", low=0.3, high=1.5)
    held: tuple[str, ...] = option((), "coordinates or groups kept at home besides those the clip holds")

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """A baseline can do what it can, but is never the best choice."""
        fits = bool(character.motors) and clip.joints is not None
        return Suitability(0.05 if fits else 0.0, "a baseline to compare with", () if fits else ("joints",))

    def _state(self, character: Character, clip: Clip, monitor: Monitor) -> SpeechProblem:
        monitor.report(Event(self.name, 0.0))
        return state_problem(character, clip, rate=self.rate, intensity=self.intensity, held=self.held)


@dataclass(frozen=True, kw_only=True)
class ReferencePerformer(_Baseline):
    """The wish as it is; its certificate says what it would break."""

    name: ClassVar[str] = "reference"

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Hand the wish through."""
        problem = self._state(character, clip, monitor)
        return assemble(self, problem, clip, problem.wish.values, status=Status.CONVERGED)


@dataclass(frozen=True, kw_only=True)
class ClampPerformer(_Baseline):
    """Range and velocity clamped sample by sample, with no look-ahead."""

    name: ClassVar[str] = "clamp"

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Clamp."""
        problem = self._state(character, clip, monitor)
        return assemble(self, problem, clip, clamped(problem, problem.wish.values), status=Status.CONVERGED)


@dataclass(frozen=True, kw_only=True)
class StretchPerformer(_Baseline):
    """The paper's control: the whole body slowed wherever one joint is too fast. Legal, and late."""

    name: ClassVar[str] = "stretch"

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Stretch the time where needed."""
        problem = self._state(character, clip, monitor)
        lower, upper = problem.limits.bounds(problem.wish.values)
        legal = problem.wish.__class__(problem.wish.names, problem.wish.rate, np.clip(problem.wish.values, lower, upper))
        slowed, _ = local_stretch(legal, problem.limits.velocity)
        return assemble(self, problem, clip, slowed.values, status=Status.CONVERGED)


@dataclass(frozen=True, kw_only=True)
class RuckigPerformer(_Baseline):
    """Ruckig chasing the wish sample by sample under velocity, acceleration and jerk limits."""

    name: ClassVar[str] = "ruckig"
    acceleration: float = option(60.0, "acceleration limit where the motor states none", unit="rad/s^2", low=1e-3)
    jerk: float = option(3000.0, "jerk limit where the motor states none", unit="rad/s^3", low=1e-3)

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Chase the wish."""
        try:
            import ruckig
        except ImportError as error:
            raise MissingExtra("ruckig", "peers", "the ruckig baseline") from error
        problem = self._state(character, clip, monitor)
        wish, limits, k = problem.wish.values, problem.limits, len(problem.limits.names)
        otg: Any = ruckig.Ruckig(k, 1.0 / problem.wish.rate)
        state, answer = ruckig.InputParameter(k), ruckig.OutputParameter(k)
        state.max_velocity = np.where(np.isfinite(limits.velocity), limits.velocity, 1e3).tolist()
        state.max_acceleration = np.where(np.isfinite(limits.acceleration), limits.acceleration, self.acceleration).tolist()
        state.max_jerk = np.where(np.isfinite(limits.jerk), limits.jerk, self.jerk).tolist()
        state.synchronization = ruckig.Synchronization.No
        state.current_position = problem.start.tolist()
        lower, upper = limits.bounds(wish)
        target = np.clip(wish, lower, upper)
        values = [problem.start]
        for row in target[1:]:
            state.target_position = row.tolist()
            otg.update(state, answer)
            values.append(np.array(answer.new_position))
            answer.pass_to_input(state)
        return assemble(self, problem, clip, np.array(values), status=Status.CONVERGED)


@dataclass(frozen=True, kw_only=True)
class ToppraPerformer(_Baseline):
    """TOPP-RA: the wish's geometric path, re-timed to be time-optimal under velocity and acceleration limits."""

    name: ClassVar[str] = "toppra"
    acceleration: float = option(60.0, "acceleration limit where the motor states none", unit="rad/s^2", low=1e-3)

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Re-time the path."""
        try:
            import toppra
            from toppra import algorithm, constraint
        except ImportError as error:
            raise MissingExtra("toppra", "peers", "the TOPP-RA baseline") from error
        problem = self._state(character, clip, monitor)
        limits, rate = problem.limits, problem.wish.rate
        lower, upper = limits.bounds(problem.wish.values)
        legal = np.clip(problem.wish.values, lower, upper)
        if len(legal) < 3:
            return assemble(self, problem, clip, clamped(problem, problem.wish.values), status=Status.CONVERGED)
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
            return assemble(self, problem, clip, clamped(problem, problem.wish.values), status=Status.INFEASIBLE)
        times = np.arange(int(np.floor(timed.duration * rate)) + 1) / rate
        return assemble(self, problem, clip, np.clip(timed(times), limits.lower, limits.upper), status=Status.CONVERGED)
