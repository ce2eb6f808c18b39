"""Motion of flexible characters without visible vibration: motor profiles that make what they carry follow the wish.

Gauss-Newton over the control points of all motors' splines, globalized by lifting with an observer, within the limits of the
motors; the paper's own method and input shapers for comparison. See docs/theory/vibration.md.
"""

from __future__ import annotations

import dataclasses
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.judge import judge
from bunraku.mechanics.flexible.prediction import FINE_STEP
from bunraku.motion import Certificate, Clip, JointCurves, Mark
from bunraku.motion.feedback import Feedback
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.certify_flexible import certificate_of
from bunraku.performers.fit import Fit
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option
from bunraku.performers.servo import play_servos
from bunraku.performers.vibration.baselines import BASELINES, baseline
from bunraku.performers.vibration.evaluate import evaluate
from bunraku.performers.vibration.feedback import vibration_feedback
from bunraku.performers.vibration.fit import VIBRATION
from bunraku.performers.vibration.frequencies import vibrations
from bunraku.performers.vibration.lbfgs import solve_lbfgs
from bunraku.performers.vibration.limits import check_speed
from bunraku.performers.vibration.problem import VibrationProblem, VibrationWeights, state_problem
from bunraku.performers.vibration.refine import FINER_STEP, coarse_step, solve_at_fitting_step
from bunraku.performers.vibration.solve import Progress, Retargeted, solve_gauss_newton

SPACING = 0.04
"""Time [s] between knots of the profiles when no number of control points is asked for."""


@dataclass(frozen=True)
class Settled:
    """A solution and the problem that it is of, whose step may have been made finer."""

    problem: VibrationProblem
    result: Retargeted


@dataclass(frozen=True, kw_only=True)
class VibrationPerformer(Performer[VibrationProblem, Settled]):
    """Motor profiles whose vibration cancels, for characters with parts that bend."""

    fit: ClassVar[Fit] = VIBRATION

    method: Literal["gauss-newton", "lbfgs", "none", "zv", "zv-advanced", "zvd", "zvd-advanced", "lowpass"] = option(
        "gauss-newton", "how: gauss-newton, the paper's lbfgs, or a baseline"
    )
    points: int = option(0, "control points of each motor's spline, at least; 0: one each 40 ms", low=0, high=20_000)
    rate: float = option(0.0, "rate of the channels; 0: that of the motors", unit="Hz", low=0.0, high=10_000.0)
    step_ms: float = option(
        0.0, "step of the planning simulation; 0: 4, or 2 where that is too coarse; judged at 0.5", unit="ms", low=0.0, high=5.0
    )
    tempo: float = option(1.0, "1 as in the clip, 0.5 at half speed", low=0.05, high=4.0)
    settle: bool = option(False, "whether the motors end at rest where the clip ends")
    tracked: tuple[str, ...] = option((), "frames or bodies to track; the character's frames if not said")
    profile_weight: float = option(1e-3, "weight of a motor's deviation from the wish", unit="m^2/rad^2", low=0.0, high=1e3)
    acceleration_weight: float = option(1e-9, "weight of motor accelerations", unit="m^2 s^4/rad^2", low=0.0, high=1.0)
    scenarios: str = option("", "stiffness factors to be robust over, for example 0.81,1,1.21; none if empty")
    modes: int = option(1, "vibrations that a shaper cancels", low=1, high=4)
    cutoff: float = option(2.0, "cut-off of the low-pass", unit="Hz", low=0.05, high=50.0)
    feedback: bool = option(False, "whether to add feedback gains about the motion, at the planning step")
    max_iterations: int = option(20, "iterations of Gauss-Newton; lbfgs takes ten times as many", low=1, high=1000)
    tolerance: float = option(2.5e-3, "settled when a step changes less than this part of the cost", low=1e-12, high=0.5)

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[VibrationProblem]:
        """The problem of the clip at the tempo, its flexible parts reduced."""
        joints = clip.need_joints("the performer vibration")
        wish = JointCurves(joints.names, joints.rate * self.tempo, joints.values)
        check_speed(character, wish)
        monitor.report(Event("vibration", 0.0, "reducing the flexible parts"))
        problem = self.problem(character, clip, wish)
        monitor.report(Event("vibration", 0.0, problem.nominal.flexible.note))
        return Task(character, clip, problem)

    def problem(self, character: Character, clip: Clip, wish: JointCurves) -> VibrationProblem:
        """The problem with these options."""
        points = self.points or max(10, round(wish.duration / SPACING) + 3)
        dt = 1e-3 * self.step_ms
        if dt == 0.0:
            dt = coarse_step(wish.duration, points) if self._chooses else FINER_STEP
        elif abs(round(dt / FINE_STEP) * FINE_STEP - dt) > 1e-12:
            raise BadInput(f"option step_ms = {self.step_ms} must be a multiple of {1e3 * FINE_STEP:g} ms")
        marked = tuple(
            dataclasses.replace(part, start=part.start / self.tempo, end=None if part.end is None else part.end / self.tempo)
            for part in clip.emphasis
        )
        return state_problem(
            character,
            wish,
            dt=dt,
            points=points,
            settle=self.settle,
            tracked=self.tracked,
            emphasis=marked,
            weights=VibrationWeights(self.profile_weight, self.acceleration_weight),
            stiffness=self.stiffness,
        )

    @property
    def _chooses(self) -> bool:
        """Whether the performer chooses the step: gains of feedback are made at the plan's, and baselines have none to choose."""
        return self.step_ms == 0.0 and self.method == "gauss-newton" and not self.feedback

    @property
    def stiffness(self) -> tuple[float, ...]:
        """The stiffness factors of the scenarios."""
        try:
            factors = tuple(float(word) for word in self.scenarios.replace(",", " ").split())
        except ValueError as error:
            raise BadInput(f"option scenarios = {self.scenarios!r} must be numbers, for example 0.81,1,1.21") from error
        if factors and (1.0 not in factors or not all(0.01 <= factor <= 100.0 for factor in factors)):
            raise BadInput(f"option scenarios = {self.scenarios!r} must be factors from 0.01 to 100, 1 (as stated) among them")
        return factors or (1.0,)

    def solve(self, task: Task[VibrationProblem], monitor: Monitor, memory: Memory) -> Settled:
        """By the chosen method; the solution may be of a problem with a finer step."""
        problem, most, small = task.problem, self.max_iterations, self.tolerance
        if self.method in BASELINES:
            p = baseline(problem, self.method, modes=self.modes, cutoff=self.cutoff)
            return Settled(problem, Retargeted(p, np.nan, np.nan, Status.CONVERGED, 0, ()))
        if self.method == "lbfgs":
            return Settled(problem, solve_lbfgs(problem, max_iterations=10 * most, tolerance=1e-4 * small, monitor=monitor))
        rest = problem.nominal.rest.q
        lowest = float(vibrations(problem.nominal.flexible, rest[len(rest) // 2], 1).frequencies[0])

        def keep(progress: Progress) -> None:
            memory.save(progress.arrays())

        saved = memory.load()
        if self._chooses and problem.profile.dt > FINER_STEP:
            fitting = solve_at_fitting_step(
                problem,
                max_iterations=most,
                tolerance=small,
                lowest_frequency=lowest,
                saved=saved,
                keep=keep,
                monitor=monitor,
            )
            return Settled(*fitting)
        result = solve_gauss_newton(
            problem,
            max_iterations=most,
            tolerance=small,
            lowest_frequency=lowest,
            start=None if saved is None else Progress.restored(problem, saved),
            keep=keep,
            monitor=monitor,
        )
        return Settled(problem, result)

    def play(self, task: Task[VibrationProblem], solution: Settled) -> Uncertified:
        """The profiles at the motors' rate, sent ahead by what each motor is late, beside the profiles of the wish."""
        problem, character, clip = solution.problem, task.character, task.clip
        profile = problem.profile
        driven = tuple(name for name in character.driven if name in profile.motors)
        rate = 1.0 / profile.dt if self.feedback else self.rate or max(motor.rate for motor in character.motors)
        columns = [profile.motors.index(name) for name in driven]
        t = np.arange(int(np.floor(profile.steps * profile.dt * rate + 1e-9)) + 1) / rate
        wish = JointCurves(driven, rate, profile.angles(problem.wish, t)[:, columns])
        ahead = [character.motor_of(name).delay for name in driven]
        parameters = solution.result.parameters
        sent = [profile.angles(parameters, np.minimum(t + d, t[-1]))[:, j] for d, j in zip(ahead, columns, strict=True)]
        servos = play_servos(character, wish, JointCurves(driven, rate, np.column_stack(sent)))
        feedback = self._feedback(problem, parameters)
        audio = clip.audio if self.tempo == 1.0 else None
        heard = clip.changed(audio=audio, words=_scaled(clip.words, self.tempo), phrases=_scaled(clip.phrases, self.tempo))
        return dataclasses.replace(servos, motion=_with_modes(servos.motion, feedback), feedback=feedback, heard=heard)

    def certify(self, task: Task[VibrationProblem], solution: Settled, played: Uncertified, monitor: Monitor) -> Certificate:
        """The motion simulated at the fine step, from the channels alone, against the wish."""
        problem, heard = solution.problem, played.heard or task.clip
        flexible, sent = problem.nominal.flexible, played.positions
        monitor.report(Event("vibration", 1.0, "judging the motion at 0.5 ms"))
        wish = played.wish or sent
        judged = judge(flexible, wish, sent, self._names(problem))
        return certificate_of(
            flexible,
            wish,
            sent,
            judged,
            status=solution.result.status,
            words=heard.words,
            phrases=heard.phrases,
            notes=solution.result.notes,
            figures=self._figures(problem, task.clip, solution.result),
        )

    def _feedback(self, problem: VibrationProblem, parameters: Array) -> Feedback | None:
        """Gains about the motion, at the planning step, if asked for."""
        if not self.feedback:
            return None
        case, angles = problem.nominal, problem.angles(parameters)
        targets = case.outputs.observe(np.ascontiguousarray(case.rest.q))
        return vibration_feedback(case.outputs, targets, angles, problem.profile.dt, case.rest.q[0])

    def _figures(self, problem: VibrationProblem, clip: Clip, result: Retargeted) -> dict[str, float]:
        """What is known of problem and solution: sizes, the cost from the wish on, how far the splines are off the clip."""
        profile, parts = problem.profile, problem.nominal.flexible.parts
        joints = clip.need_joints("the performer vibration")
        t = np.arange(len(joints.values)) / (joints.rate * self.tempo)
        fitted = profile.angles(problem.wish, np.minimum(t, profile.steps * profile.dt))
        off = fitted[:, [profile.motors.index(name) for name in joints.names]] - joints.values
        costs = [evaluate(problem, problem.wish).cost, *(cost for cost, _ in result.history)] if result.history else []
        figures = {
            "iterations": float(result.iterations),
            "modes": float(sum(part.reduction.segment.r for part in parts.values())),
            "motors": float(len(profile.motors)),
            "parameters": float(profile.parameters),
            "step_ms": 1e3 * profile.dt,
            "spline misfit, peak": float(np.abs(off).max(initial=0.0)),
            "spline misfit, RMS": float(np.sqrt((off**2).mean())),
            "final cost": result.cost,
            **{f"cost {k}": cost for k, cost in enumerate(cost for cost in costs if np.isfinite(cost))},
        }
        return {name: value for name, value in figures.items() if np.isfinite(value)}

    def _names(self, problem: VibrationProblem) -> tuple[str, ...]:
        """The places whose positions are tracked, by the names they were given."""
        turning = problem.nominal.outputs.tracked.turning
        return tuple(name for name, turned in zip(problem.nominal.outputs.names, turning, strict=True) if not turned)


def _with_modes(motion: JointCurves, feedback: Feedback | None) -> JointCurves:
    """The motion with the modal coordinates that the feedback looks at."""
    if feedback is None:
        return motion
    more = [name for name in feedback.coordinates if name not in motion.names]
    values = feedback.states[:, [feedback.coordinates.index(name) for name in more]]
    return JointCurves((*motion.names, *more), motion.rate, np.column_stack([motion.values, values]))


def _scaled(marks: tuple[Mark, ...], tempo: float) -> tuple[Mark, ...]:
    """The marks at a tempo."""
    return tuple(
        Mark(mark.text, mark.start / tempo, mark.end / tempo, None if mark.stroke is None else mark.stroke / tempo)
        for mark in marks
    )
