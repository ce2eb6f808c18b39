"""The performer of locomotion: a gait becomes joint angles and wheel speeds that carry the character as wished."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

from bunraku.character import Character
from bunraku.motion import Certificate, Clip, Gait
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.monitor import Monitor
from bunraku.performers.fit import Fit
from bunraku.performers.locomotion.certificate import certificate_of
from bunraku.performers.locomotion.fit import LOCOMOTION
from bunraku.performers.locomotion.played import play
from bunraku.performers.locomotion.problem import Weights
from bunraku.performers.locomotion.solve import Planned, plan_motion
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option


@dataclass(frozen=True, kw_only=True)
class LocomotionPerformer(Performer[Gait, Planned]):
    """Plans walking, rolling and skating: centroidal dynamics, contact and limits by an augmented Lagrangian, coarse to fine."""

    fit: ClassVar[Fit] = LOCOMOTION

    rate: float = option(200.0, "rate of the channels", unit="Hz", low=10.0, high=10_000.0)
    samples: int = option(0, "samples of the plan; 0: as the clip says, or chosen", low=0, high=20_000)
    cycles: int = option(0, "how often a cycle is played; 0: as the clip says", low=0, high=10_000)
    least_force: float = option(0.5, "least force on every foot that stands", unit="N", low=0.0, high=1e3)
    smooth: float = option(0.1, "weight of accelerations", low=0.0, high=1e6)
    posture: float = option(2e-3, "weight of the distance from the home pose", unit="1/rad^2", low=0.0, high=1e3)
    force_rate: float = option(1e-3, "weight of changes of force", unit="1/N^2", low=0.0, high=1e3)
    max_iterations: int = option(1000, "Gauss-Newton steps of each stage", low=1, high=100_000)
    tolerance: float = option(1e-6, "largest violation of any constraint at the end", low=1e-10, high=1e-2)

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[Gait]:
        """The gait, with as many samples and cycles as asked for; its plan is stated anew at every stage from coarse to fine."""
        asked = {"samples": self.samples, "cycles": self.cycles}
        gait = clip.need_gait("the performer locomotion").changed(**{key: count for key, count in asked.items() if count})
        return Task(character, clip, gait)

    def solve(self, task: Task[Gait], monitor: Monitor, memory: Memory) -> Planned:
        """The plan."""
        return plan_motion(
            task.character,
            task.problem,
            solver=AugmentedLagrangian(tolerance=self.tolerance, max_iterations=self.max_iterations),
            weights=Weights(smooth=self.smooth, posture=self.posture, force_rate=self.force_rate),
            least_force=self.least_force,
            monitor=monitor,
        )

    def play(self, task: Task[Gait], solution: Planned) -> Uncertified:
        """The plan at the motor rate; the provenance says the terrain that it was made for."""
        terrain, options = solution.gait.terrain, self.options
        if terrain is not None:
            heights = terrain.heights.tolist()
            options["terrain"] = {"origin": list(terrain.origin), "spacing": terrain.spacing, "heights": heights}
        played = play(task.character, solution.plan, solution.gait.cycles, self.rate)
        return replace(played.uncertified(), options=options)

    def certify(self, task: Task[Gait], solution: Planned, played: Uncertified, monitor: Monitor) -> Certificate:
        """The common measures, then the plan's own."""
        return certificate_of(task.character, solution, played.seen)
