"""Motion of characters that physics moves: puppets on strings, and machines with fewer motors than coordinates.

Optimal control over all strings (and joint motors, where there are any) makes the puppet imitate the wish; an interior point method
on trajectories keeps every string taut and every carriage within its limits; a regulator along the result keeps it stable. See
docs/theory/marionette.md, also for where we go beyond Murphey and Johnson (2011).
"""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Clip
from bunraku.optimization.control.interior import InteriorTrajectory
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.fit import Fit
from bunraku.performers.marionette.actuated import ActuatedProblem, solve_problem, state_problem
from bunraku.performers.marionette.driven import DrivenSolution, certify_driven, play_driven
from bunraku.performers.marionette.feedback import stabilizing_feedback
from bunraku.performers.marionette.fit import MARIONETTE
from bunraku.performers.marionette.problem import ImitationWeights, PuppetProblem, cut_wish, state_puppet_problem
from bunraku.performers.marionette.solve import solve_puppet
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option

STRINGS_ONLY = ("blend", "settle", "tension_margin", "point_weight", "angle_weight", "acceleration_weight", "tolerance")
"""Options that only puppets on strings know."""

MORE = "raise --max-iterations to go on, or --tolerance to be content with less"
"""What to do when the iteration limit was reached."""

DEFAULT_EFFORT = 0.4
"""Weight of the effort without strings."""

BARRIER = (3e-3, 1e-4)
"""Weight of the barrier at the start and at the end, as a part of the cost: 100 is a point one metre off for a step."""


@dataclass(frozen=True, kw_only=True)
class MarionettePerformer(Performer[PuppetProblem | ActuatedProblem, DrivenSolution]):
    """Optimal motion over strings and motors, with stabilizing feedback."""

    fit: ClassVar[Fit] = MARIONETTE

    rate: float = option(100.0, "rate of the plan, the channels and the feedback", unit="Hz", low=20.0, high=1000.0)
    start: float = option(0.0, "where in the clip to start", unit="s", low=0.0)
    duration: float = option(0.0, "how much of the clip to perform; 0 for all", unit="s", low=0.0)
    tempo: float = option(1.0, "1 as captured, 0.5 at half speed", low=0.05, high=4.0)
    blend: float = option(1.2, "time to come from hanging into the clip", unit="s", low=0.0, high=20.0)
    settle: float = option(0.0, "time added at the end to come back to hanging still; 0 ends as the clip does", unit="s", low=0.0)
    tension_margin: float = option(0.1, "least tension of every string at every step", unit="N", low=0.0, high=1e4)
    tracked: tuple[str, ...] = option((), "frames that imitate; hands, knees and head where there are any, else the hooks")
    point_weight: float = option(100.0, "weight of the tracked points", unit="1/m^2", low=0.0, high=1e6)
    angle_weight: float = option(0.05, "weight of the joints' own angles", unit="1/rad^2", low=1e-6, high=1e6)
    acceleration_weight: float = option(0.01, "weight of carriage and winch accelerations", unit="s^4/m^2", low=1e-6, high=1e3)
    effort_weight: float = option(0.0, "weight of a motor at its stall torque; 0: 0.01 on strings, else 0.4", low=0.0, high=1e6)
    max_iterations: int = option(100, "iterations of each attempt of the optimization", low=1, high=10_000)
    tolerance: float = option(1e-3, "the cost is settled when a step would change less than this part of it", low=1e-12, high=0.1)

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[PuppetProblem | ActuatedProblem]:
        """The problem of a puppet on strings, or of a machine that only motors move."""
        joints = clip.need_joints("the performer marionette")
        wish = cut_wish(joints, rate=self.rate, start=self.start, duration=self.duration, tempo=self.tempo)
        if not character.strings:
            self._refuse_strings_only(character)
            effort = self.effort_weight or DEFAULT_EFFORT
            return Task(character, clip, state_problem(character, wish, rate=self.rate, effort_weight=effort))
        monitor.report(Event("marionette", 0.0, f"{len(wish.values) - 1} steps"))
        weights = ImitationWeights(
            point=self.point_weight,
            angle=self.angle_weight,
            acceleration=self.acceleration_weight,
            effort=self.effort_weight or ImitationWeights.effort,
        )
        problem = state_puppet_problem(
            character,
            wish,
            rate=self.rate,
            blend=self.blend,
            settle=self.settle,
            tension_margin=self.tension_margin,
            weights=weights,
            frames=self.tracked,
        )
        return Task(character, clip, problem)

    def solve(self, task: Task[PuppetProblem | ActuatedProblem], monitor: Monitor, memory: Memory) -> DrivenSolution:
        """The best motion."""
        problem = task.problem
        if isinstance(problem, PuppetProblem):
            return self._imitation(problem, monitor, memory)
        result = solve_problem(problem, max_iterations=self.max_iterations, monitor=monitor)
        figures = {"iterations": float(result.iterations), "initial cost": result.cost_initial, "final cost": result.cost_final}
        q, p = result.x[:, : result.system.nq], result.x[:, result.system.nq :]
        return DrivenSolution(result.system, problem.curves, q, p, result.u, result.status, figures=figures)

    def _imitation(self, problem: PuppetProblem, monitor: Monitor, memory: Memory) -> DrivenSolution:
        """The interior point method on trajectories, from where it was interrupted."""
        solver = InteriorTrajectory(max_iterations=self.max_iterations, relative_tolerance=self.tolerance, barrier=BARRIER)
        start, saved = None, memory.load()
        if saved is not None and set(saved) == {"x", "u", "barrier"} and saved["x"].shape == problem.still[0].shape:
            start = saved["x"], saved["u"]
            solver = replace(solver, barrier=(max(float(saved["barrier"]), BARRIER[1]), BARRIER[1]))

        def keep(x: Array, u: Array, barrier: float) -> None:
            memory.save({"x": x, "u": u, "barrier": np.array(barrier)})

        imitation = solve_puppet(problem, solver, start=start, keep=keep, monitor=monitor)
        solution, system = imitation.solution, problem.system
        return DrivenSolution(
            system,
            problem.wish,
            solution.x[:, : system.nq],
            solution.x[:, system.nq : system.nq + system.nd],
            solution.u,
            solution.status,
            notes=(*problem.notes, *((MORE,) if solution.status is Status.MAX_ITERATIONS else ())),
            figures={"iterations": float(imitation.iterations), "initial cost": imitation.initial, "final cost": solution.cost},
        )

    def play(self, task: Task[PuppetProblem | ActuatedProblem], solution: DrivenSolution) -> Uncertified:
        """Places of carriages, lengths of strings, torques, and the feedback that corrects them."""
        feedback = stabilizing_feedback(task.character, solution.system, self.rate, solution.q, solution.p, solution.u)
        return play_driven(task.character, solution, feedback)

    def certify(
        self, task: Task[PuppetProblem | ActuatedProblem], solution: DrivenSolution, played: Uncertified, monitor: Monitor
    ) -> Certificate:
        """The measures of a motion that physics makes."""
        margin = self.tension_margin if task.character.strings else 0.0
        return certify_driven(task.character, solution, played, tension_margin=margin, frames=self.tracked)

    def _refuse_strings_only(self, character: Character) -> None:
        """Raise when an option that means nothing to a character without strings was set."""
        for field in fields(self):
            if field.name in STRINGS_ONLY and getattr(self, field.name) != field.default:
                known = f"the option {field.name} is for characters on strings"
                raise BadInput(f"{known}, and {character.name!r} has none; leave it out")
