"""The performer of skinned characters: a walk within the motors' limits, planned with the skin and proved frame by frame."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.motion import Channel, Clip, Gait, JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.performers.performer import Performer, Suitability, option
from bunraku.performers.skin.alternate import Alternated, SkinnedPuppet, alternate
from bunraku.performers.skin.certificate import certificate_of
from bunraku.performers.skin.film import SurfaceFilm
from bunraku.performers.skin.retime import retime
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.stance import crouched
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.wanted import wanted_tracks
from bunraku.performers.skin.wishes import FrameWeights


@dataclass(frozen=True, kw_only=True)
class SkinPerformer(Performer):
    """Alternates a plan of the skeleton over all time with frames of skeleton and skin together, until the two agree."""

    name: ClassVar[str] = "skin"
    needs: ClassVar[tuple[str, ...]] = ("clip.gait", "character.skin", "character.end_effectors", "character.motors")
    uses: ClassVar[tuple[str, ...]] = ("clip.joints",)

    frame: float = option(0.005, "length of a frame", unit="s", low=1e-4, high=0.05)
    samples: int = option(0, "samples of the plan; 0: as the clip says, or chosen", low=0, high=2_000)
    passes: int = option(3, "most alternations of plan and frames", low=1, high=20)
    margin: float = option(0.005, "how far inside each sole the plan keeps its pressure", unit="m", low=0.0, high=0.5)
    crouch: float = option(
        0.0, "how much lower than at home it stands, legs bent: straight legs lift feet badly", unit="m", low=0.0, high=1.0
    )
    torque: float = option(1e-2, "weight of torques in the plan", unit="1/(N·m)²", low=0.0, high=1e6)
    smooth: float = option(0.5, "weight of accelerations in the plan", low=0.0, high=1e6)
    feet: float = option(5000.0, "weight of the soles' places in the plan", unit="1/m²", low=0.0, high=1e9)
    level: float = option(1e3, "weight of flat soles in the plan", low=0.0, high=1e6)
    follow: float = option(1.0, "weight of the clip's joint curves in the plan", unit="1/rad²", low=0.0, high=1e6)
    upright: float = option(30.0, "weight of a level, evenly turning body where the clip has no joint curves", low=0.0, high=1e6)
    speed: float = option(0.9, "share of the motors' speeds that the plan counts on", low=0.1, high=1.0)
    retime: bool = option(False, "whether footfalls may be moved in time, or all of it slowed down, where motors are too weak")
    collisions: bool = option(True, "whether the skin may touch itself and the skeleton")

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Made for skinned characters, and clips that say how to go."""
        if character.skin is None:
            return Suitability(0.0, "the character has no skin", ("skin",))
        if not character.motors or not character.end_effectors:
            return Suitability(0.0, "the character has no motors or no soles", ("motors", "end_effectors"))
        if clip.gait is None:
            return Suitability(0.0, "the clip has no gait: which feet stand when", ("gait",))
        return Suitability(1.0, "the character has a skin that loads its motors and moves its soles, and the clip says how to go")

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Plan, follow frame by frame, learn, plan again; certify what the frames did."""
        fit = self.suits(character, clip)
        if fit.score <= 0.0:
            raise BadInput(f"the performer skin cannot move {character.name!r}: {fit.reason}")
        clock = time.thread_time()
        found = self.alternate(character, clip, monitor=monitor)
        monitor.report(Event("skin", 1.0, "done", {"solve_s": time.thread_time() - clock}))
        return self.assemble(character, clip, found)

    def alternate(
        self,
        character: Character,
        clip: Clip,
        *,
        show: Callable[[int, SkinnedState], None] | None = None,
        monitor: Monitor = SILENT,
    ) -> Alternated:
        """The passes with these options; ``show`` is shown number and state of every frame."""
        if self.samples:
            clip = dataclasses.replace(clip, gait=_gait(clip).changed(samples=self.samples))
        puppet = SkinnedPuppet(skinned_model(character), self.frame, collisions=self.collisions, speed=self.speed)
        stance = crouched(puppet.laden, self.crouch) if self.crouch else None
        follow = self.upright if clip.joints is None else self.follow
        weights = SpacetimeWeights(torque=self.torque, smooth=self.smooth, feet=self.feet, level=self.level, follow=follow)
        said = ""
        if self.retime:
            clip, said = self._retimed(puppet, clip, stance, weights, monitor)
        gait, film = _gait(clip), SurfaceFilm(puppet.model.mesh, self.frame)

        def look(number: int, state: SkinnedState) -> None:
            film.show(number, state)
            if show is not None:
                show(number, state)

        found = alternate(
            puppet, gait, wanted_tracks(puppet.laden, clip, gait, stance),
            weights=weights, frame_weights=FrameWeights(), margin=self.margin, most=self.passes,
            stance=stance, show=look, monitor=monitor,
        )  # fmt: skip
        surface = film.surface(len(found.passes) - 1, found.settled)
        return dataclasses.replace(found, notes=(said,) if said else (), surface=surface)

    def _retimed(
        self, puppet: SkinnedPuppet, clip: Clip, stance: NDArray[np.float64] | None, weights: SpacetimeWeights, monitor: Monitor
    ) -> tuple[Clip, str]:
        """The clip with footfalls at times that the motors can make; what was done and why, as a sentence."""

        def planned(one: Clip) -> SpacetimePlan:
            gait = _gait(one)
            tracks, effect = wanted_tracks(puppet.laden, one, gait, stance), SkinEffect(stiffness=puppet.stiffness)
            return plan_spacetime(
                puppet.laden, gait, tracks, effect, weights=weights, margin=self.margin, stance=stance, monitor=monitor
            )

        found = retime(puppet.model.character, clip, planned)
        monitor.report(Event("skin", 0.0, found.sentence))
        return found.clip, found.sentence

    def assemble(self, character: Character, clip: Clip, found: Alternated) -> Performance:
        """The performance: angles for the servos, torques as the proof, the motion of the frames."""
        last, model = found.passes[-1], found.puppet.model
        tracked, rate = last.tracked, 1.0 / self.frame
        names = model.tree.names
        motion = JointCurves(names, rate, tracked.q)
        planned = last.plan.frames(self.frame).q[: len(tracked.q)]
        order = [last.plan.problem.model.names.index(name) for name in names]
        driven = tuple(motor.coordinate for motor in character.motors)
        columns = [names.index(name) for name in driven]
        wish = JointCurves(driven, rate, planned[:, order][:, columns])
        torques = np.vstack([tracked.torques, tracked.torques[-1:]])
        channels = [Channel(name, "position", "rad", rate, tracked.q[:, c]) for name, c in zip(driven, columns, strict=True)]
        channels += [Channel(name, "torque", "N·m", rate, torques[:, k]) for k, name in enumerate(driven)]
        options: dict[str, Any] = {field.name: getattr(self, field.name) for field in dataclasses.fields(self)}
        return Performance(
            character=character,
            clip_name=clip.name,
            channels=tuple(channels),
            wish=wish,
            motion=motion,
            certificate=certificate_of(found, clip, wish, motion),
            provenance=provenance(self.name, {"character": content_hash(character), "clip": content_hash(clip)}, options),
            audio=clip.audio,
            words=clip.words,
            phrases=clip.phrases,
            surface=found.surface,
        )


def _gait(clip: Clip) -> Gait:
    if clip.gait is None:
        raise BadInput(f"the clip {clip.name!r} has no gait; the performer skin needs one")
    return clip.gait
