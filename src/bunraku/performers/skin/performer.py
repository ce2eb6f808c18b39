"""The performer of skinned characters: a walk within the motors' limits, planned with the skin and proved frame by frame."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.servos.commands import commands_of
from bunraku.motion import Certificate, Channel, Clip, Gait, JointCurves
from bunraku.optimization.monitor import Event, Monitor
from bunraku.performers.fit import Fit
from bunraku.performers.performer import Memory, Performer, Task, Uncertified, option
from bunraku.performers.skin.alternate import Alternated, SkinnedPuppet, alternate
from bunraku.performers.skin.certificate import certificate_of
from bunraku.performers.skin.film import SurfaceFilm
from bunraku.performers.skin.fit import SKIN
from bunraku.performers.skin.retime import retime
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.plan import SpacetimePlan
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.stance import crouched
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.wished_tracks import wished_tracks
from bunraku.performers.skin.wishes import FrameWeights


@dataclass(frozen=True)
class SkinProblem:
    """A skinned character ready to be planned with, its clip, the stance (nq,) to begin in (home if None), weights, margin [m]."""

    puppet: SkinnedPuppet
    clip: Clip
    stance: Array | None
    weights: SpacetimeWeights
    margin: float

    @property
    def gait(self) -> Gait:
        """Which soles stand when."""
        return self.clip.need_gait("the performer skin")

    def tracks(self, clip: Clip) -> Tracks:
        """What a plan for that clip is drawn to."""
        return wished_tracks(self.puppet.laden, clip, clip.need_gait("the performer skin"), self.stance)

    def planned(self, clip: Clip, monitor: Monitor) -> SpacetimePlan:
        """A first plan for that clip, the skin in it as springs."""
        gait, effect = clip.need_gait("the performer skin"), SkinEffect(stiffness=self.puppet.stiffness)
        return plan_spacetime(
            self.puppet.laden, gait, self.tracks(clip), effect,
            weights=self.weights, margin=self.margin, stance=self.stance, monitor=monitor,
        )  # fmt: skip


@dataclass(frozen=True, kw_only=True)
class SkinPerformer(Performer[SkinProblem, Alternated]):
    """Alternates a plan of the skeleton over all time with frames of skeleton and skin together, until the two agree."""

    fit: ClassVar[Fit] = SKIN

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

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[SkinProblem]:
        """The skinned character with the stance it begins in, and the weights of its plans."""
        gait = clip.need_gait("the performer skin")
        wish = clip.changed(gait=gait.changed(samples=self.samples)) if self.samples else clip
        puppet = SkinnedPuppet(skinned_model(character), self.frame, collisions=self.collisions, speed=self.speed)
        stance = crouched(puppet.laden, self.crouch) if self.crouch else None
        follow = self.upright if clip.joints is None else self.follow
        weights = SpacetimeWeights(torque=self.torque, smooth=self.smooth, feet=self.feet, level=self.level, follow=follow)
        return Task(character, clip, SkinProblem(puppet, wish, stance, weights, self.margin))

    def solve(self, task: Task[SkinProblem], monitor: Monitor, memory: Memory) -> Alternated:
        """The passes of plan and frames; before, if asked for, footfalls are moved to where the motors can make them."""
        problem, puppet = task.problem, task.problem.puppet
        notes: tuple[str, ...] = ()
        if self.retime:
            retimed = retime(puppet.model.character, problem.clip, lambda clip: problem.planned(clip, monitor))
            monitor.report(Event("skin", 0.0, retimed.sentence))
            problem, notes = replace(problem, clip=retimed.clip), (retimed.sentence,)
        film = SurfaceFilm(puppet.model.mesh, puppet.h)
        passes = alternate(
            puppet, problem.gait, problem.tracks(problem.clip),
            weights=problem.weights, frame_weights=FrameWeights(), margin=problem.margin, most=self.passes,
            stance=problem.stance, show=film.show, monitor=monitor,
        )  # fmt: skip
        surface = film.surface(len(passes.passes) - 1, passes.settled)
        return replace(passes, notes=notes, surface=surface)

    def play(self, task: Task[SkinProblem], solution: Alternated) -> Uncertified:
        """Commands for the servos that give the torques of the frames, these as the proof, and the motion of the frames."""
        last, model = solution.passes[-1], solution.puppet.model
        tracked, rate = last.tracked, 1.0 / self.frame
        motion = JointCurves(model.tree.names, rate, tracked.q)
        driven = task.character.driven
        torques = np.vstack([tracked.torques, tracked.torques[-1:]])
        sent = commands_of(task.character, motion, torques)
        channels = [Channel(name, "position", "rad", rate, sent[:, k]) for k, name in enumerate(driven)]
        channels += [Channel(name, "torque", "N·m", rate, torques[:, k]) for k, name in enumerate(driven)]
        return Uncertified(channels=tuple(channels), wish=None, motion=motion, surface=solution.surface)

    def certify(self, task: Task[SkinProblem], solution: Alternated, played: Uncertified, monitor: Monitor) -> Certificate:
        """What the frames did."""
        return certificate_of(solution, played)
