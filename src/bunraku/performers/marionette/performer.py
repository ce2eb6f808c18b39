"""Motion of characters that physics moves: puppets on strings, and machines with fewer motors than coordinates.

Optimal control over all strings (and joint motors, where there are any) makes the puppet imitate the wish; an interior point method
on trajectories keeps every string taut and every carriage within its limits; a regulator along the result keeps it stable. See
docs/theory/marionette.md, also for where we go beyond Murphey and Johnson (2011).
"""

from __future__ import annotations

import time
from dataclasses import dataclass, fields, replace
from typing import ClassVar

import numpy as np

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.mechanics.measures.balance import free_base
from bunraku.motion import Clip, JointCurves, Performance
from bunraku.optimization.control.interior import InteriorTrajectory
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.marionette.actuated import solve_actuated
from bunraku.performers.marionette.assemble import assemble_driven
from bunraku.performers.marionette.feedback import stabilizing_feedback
from bunraku.performers.marionette.problem import ImitationWeights, PuppetProblem, cut_wish, state_puppet_problem
from bunraku.performers.marionette.solve import solve_puppet
from bunraku.performers.performer import Performer, Suitability, option

STRINGS_ONLY = ("blend", "settle", "tension_margin", "point_weight", "angle_weight", "acceleration_weight", "tolerance")
"""Options that only puppets on strings know."""

MORE = "raise --max-iterations to go on, or --tolerance to be content with less"
"""What to do when the iteration limit was reached."""

DEFAULT_EFFORT = 0.4
"""Weight of the effort without strings."""

BARRIER = (3e-3, 1e-4)
"""Weight of the barrier at the start and at the end, as a part of the cost: 100 is a point one metre off for a step."""


@dataclass(frozen=True, kw_only=True)
class MarionettePerformer(Performer):
    """Optimal motion over strings and motors, with stabilizing feedback."""

    name: ClassVar[str] = "marionette"
    needs: ClassVar[tuple[str, ...]] = ("clip.joints",)
    uses: ClassVar[tuple[str, ...]] = ("character.strings", "character.carriages", "character.motors", "character.frames")

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

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Made for characters on strings; also for those with fewer motors than coordinates."""
        passive = bool(character.motors) and len(character.driven) < len(character.coordinates) - len(character.couplings)
        if not character.strings and not passive:
            has = "every coordinate has a motor" if character.motors else "no motor moves it"
            return Suitability(0.0, f"the character has no strings, and {has}", ("strings",))
        if not character.strings and character.feet:
            return Suitability(
                0.0, "the character stands on feet, and contact with the ground is not part of this physics", ("strings",)
            )
        if not character.strings and (base := _floating(character)):
            return Suitability(
                0.0, f"no string holds the base {base!r}, which is free: it stands or goes, and is no puppet", ("strings",)
            )
        if clip.joints is None:
            reason = "the clip has a skeleton, which must be retargeted first" if clip.skeleton else "the clip has no joint curves"
            if clip.modes is not None:
                reason = "the clip is a choreography; time it first: bunraku choreograph CLIP"
            return Suitability(0.2 if clip.skeleton else 0.0, reason, ("joints",))
        if count := len(character.strings):
            return Suitability(1.0, f"the character hangs on {count} string{'s' if count > 1 else ''}")
        return Suitability(0.3 if clip.audio else 0.9, "some coordinates have no motor: physics moves them")

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """State, solve, stabilise, certify."""
        joints = clip.need_joints("the performer marionette")
        fit = self.suits(character, clip)
        if fit.score <= 0.0:
            raise BadInput(f"the performer marionette cannot move {character.name!r}: {fit.reason}")
        wish = cut_wish(joints, rate=self.rate, start=self.start, duration=self.duration, tempo=self.tempo)
        if not character.strings:
            return self._perform_actuated(character, clip, wish, monitor)
        monitor.report(Event("marionette", 0.0, f"{len(wish.values) - 1} steps"))
        problem = state_puppet_problem(
            character,
            wish,
            rate=self.rate,
            blend=self.blend,
            settle=self.settle,
            tension_margin=self.tension_margin,
            weights=ImitationWeights(
                point=self.point_weight,
                angle=self.angle_weight,
                acceleration=self.acceleration_weight,
                effort=self.effort_weight or ImitationWeights.effort,
            ),
            frames=self.tracked,
        )
        return self._perform_puppet(problem, clip, monitor, checkpoint)

    def _perform_puppet(self, problem: PuppetProblem, clip: Clip, monitor: Monitor, checkpoint: Checkpoint | None) -> Performance:
        solver = InteriorTrajectory(max_iterations=self.max_iterations, relative_tolerance=self.tolerance, barrier=BARRIER)
        start, saved = None, checkpoint.load() if checkpoint is not None else None
        if saved is not None and set(saved) == {"x", "u", "barrier"} and saved["x"].shape == problem.still[0].shape:
            start = np.asarray(saved["x"], dtype=np.float64), np.asarray(saved["u"], dtype=np.float64)
            solver = replace(solver, barrier=(max(float(saved["barrier"]), BARRIER[1]), BARRIER[1]))
        keep = None if checkpoint is None else lambda x, u, mu: checkpoint.save({"x": x, "u": u, "barrier": np.array(mu)})
        clock = time.thread_time()
        made = solve_puppet(problem, solver, start=start, keep=keep, monitor=monitor)
        solve_s, found = time.thread_time() - clock, made.solution
        monitor.report(Event("marionette", 1.0, "solved", {"solve_s": solve_s}))
        system = problem.system
        q, p = found.x[:, : system.nq], found.x[:, system.nq : system.nq + system.nd]
        feedback = stabilizing_feedback(problem.character, system, self.rate, q, p, found.u)
        figures = {"iterations": float(made.iterations), "initial cost": made.initial, "final cost": found.cost}
        return assemble_driven(
            self,
            problem.character,
            clip,
            system,
            problem.wish,
            q,
            found.u[:, : system.nu],
            status=found.status,
            feedback=feedback,
            tension_margin=self.tension_margin,
            frames=self.tracked,
            notes=(*problem.notes, *((MORE,) if found.status is Status.MAX_ITERATIONS else ())),
            figures=figures,
        )

    def _perform_actuated(self, character: Character, clip: Clip, wish: JointCurves, monitor: Monitor) -> Performance:
        self._refuse(character, STRINGS_ONLY)
        clock = time.thread_time()
        effort = self.effort_weight or DEFAULT_EFFORT
        found = solve_actuated(
            character, wish, rate=self.rate, max_iterations=self.max_iterations, monitor=monitor, effort_weight=effort
        )
        monitor.report(Event("marionette", 1.0, "solved", {"solve_s": time.thread_time() - clock}))
        system = found.system
        q, p = found.x[:, : system.nq], found.x[:, system.nq :]
        feedback = stabilizing_feedback(character, system, self.rate, q, p, found.u)
        figures = {"iterations": float(found.iterations), "initial cost": found.cost_initial, "final cost": found.cost_final}
        return assemble_driven(
            self,
            character,
            clip,
            system,
            wish,
            q,
            found.u,
            status=found.status,
            feedback=feedback,
            frames=self.tracked,
            figures=figures,
        )

    def _refuse(self, character: Character, names: tuple[str, ...]) -> None:
        """Raise when one of the options ``names``, which mean nothing to this character, was set."""
        defaults = {field.name: field.default for field in fields(self)}
        for name in names:
            if getattr(self, name) != defaults[name]:
                raise BadInput(f"the option {name} is for characters on strings, and {character.name!r} has none; leave it out")


def _floating(character: Character) -> str:
    """The free base that carries motors, or nothing: a ball that a fixed hand holds is free too, and carries none."""
    base = free_base(character)
    if base is None:
        return ""
    above, driven = {joint.child: joint for joint in character.joints}, set(character.driven)
    for joint in character.joints:
        if driven.isdisjoint(axis.name for axis in joint.axes):
            continue
        body = joint.parent
        while body != base.child and body in above:
            body = above[body].parent
        if body == base.child:
            return base.child
    return ""
