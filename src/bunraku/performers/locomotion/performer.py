"""The performer of going: a gait becomes joint angles and wheel speeds that carry the character as wished."""

from __future__ import annotations

import dataclasses
import time
from dataclasses import dataclass
from typing import Any, ClassVar

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.measures.balance import free_base
from bunraku.motion import Clip, JointCurves, Performance
from bunraku.optimization.augmented_lagrangian import AugmentedLagrangian
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.locomotion.certificate import certificate_of
from bunraku.performers.locomotion.played import play
from bunraku.performers.locomotion.problem import Weights
from bunraku.performers.locomotion.solve import Planned, plan_motion
from bunraku.performers.performer import Performer, Suitability, option


@dataclass(frozen=True, kw_only=True)
class LocomotionPerformer(Performer):
    """Plans walking, rolling and skating: centroidal dynamics, contact and limits by an augmented Lagrangian, coarse to fine."""

    name: ClassVar[str] = "locomotion"
    needs: ClassVar[tuple[str, ...]] = ("clip.gait", "character.end_effectors", "character.motors")
    uses: ClassVar[tuple[str, ...]] = ("character.velocity limits",)

    rate: float = option(200.0, "rate of the channels", unit="Hz", low=10.0, high=10_000.0)
    samples: int = option(0, "samples of the plan; 0: as the clip says, or chosen", low=0, high=20_000)
    cycles: int = option(0, "how often a cycle is played; 0: as the clip says", low=0, high=10_000)
    least_force: float = option(0.5, "least force on every foot that stands", unit="N", low=0.0, high=1e3)
    smooth: float = option(0.1, "weight of accelerations", low=0.0, high=1e6)
    posture: float = option(2e-3, "weight of the distance from the home pose", unit="1/rad^2", low=0.0, high=1e3)
    force_rate: float = option(1e-3, "weight of changes of force", unit="1/N^2", low=0.0, high=1e3)
    max_iterations: int = option(1000, "Gauss-Newton steps of each stage", low=1, high=100_000)
    tolerance: float = option(1e-6, "largest violation of any row at the end", low=1e-10, high=1e-2)

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Made for floating characters with end effectors, and clips that say how to go."""
        if not character.end_effectors or free_base(character) is None:
            return Suitability(0.0, "the character has no wheels or feet to go on (end_effectors, a free base)", ("end_effectors",))
        if not character.motors:
            return Suitability(0.0, "no motor moves the character", ("motors",))
        if clip.gait is None:
            return Suitability(0.0, "the clip has no gait", ("gait",))
        if character.skin is not None:
            return Suitability(0.2, "the character has a skin, which a plan of rigid bodies leaves out; use skin")
        return Suitability(1.0, f"the clip says how to go, and {len(character.end_effectors)} end effectors carry the character")

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Plan, play at the motor rate, certify."""
        fit = self.suits(character, clip)
        if fit.score <= 0.0:
            raise BadInput(f"the performer locomotion cannot move {character.name!r}: {fit.reason}")
        clock = time.thread_time()
        planned = self.plan(character, clip, monitor=monitor)
        monitor.report(Event("locomotion", 1.0, "planned", {"solve_s": time.thread_time() - clock}))
        return self.assemble(character, clip, planned)

    def plan(self, character: Character, clip: Clip, *, monitor: Monitor = SILENT) -> Planned:
        """The plan with these options."""
        gait = clip.gait
        if gait is None:
            raise BadInput(f"the clip {clip.name!r} has no gait; the performer locomotion needs one")
        changes: dict[str, Any] = {}
        if self.samples:
            changes["samples"] = self.samples
        if self.cycles:
            changes["cycles"] = self.cycles
        return plan_motion(
            character,
            gait.changed(**changes),
            solver=AugmentedLagrangian(tolerance=self.tolerance, max_iterations=self.max_iterations),
            weights=Weights(smooth=self.smooth, posture=self.posture, force_rate=self.force_rate),
            least_force=self.least_force,
            monitor=monitor,
        )

    def assemble(self, character: Character, clip: Clip, planned: Planned) -> Performance:
        """The performance of a plan."""
        played = play(character, planned.plan, planned.gait.cycles, self.rate)
        told = [channel for channel in played.channels if channel.kind == "position"]
        names = tuple(channel.name for channel in told)
        wish = JointCurves(names, self.rate, played.motion.values[:, [character.coordinates.index(name) for name in names]])
        options = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        terrain = planned.gait.terrain
        if terrain is not None:
            options["terrain"] = {
                "origin": list(terrain.origin), "spacing": terrain.spacing, "heights": terrain.heights.tolist(),
            }  # fmt: skip
        return Performance(
            character=character,
            clip_name=clip.name,
            channels=played.channels,
            wish=wish,
            motion=played.motion,
            certificate=certificate_of(character, planned, played, wish),
            provenance=provenance(self.name, {"character": content_hash(character), "clip": content_hash(clip)}, options),
            audio=clip.audio,
            words=clip.words,
            phrases=clip.phrases,
        )
