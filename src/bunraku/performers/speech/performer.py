"""Gestures that stay in time with the voice: Algorithm 1 of Elanjimattathil Vijayan et al. (2018), solved exactly.

Each joint is solved for itself. A wish within the limits comes back unchanged. Otherwise eq. (7) is solved exactly by dynamic
programming along the chain of samples; where the wish outruns the motor by more than ``compress_beyond`` in one stroke, the
convex form of eq. (8)-(10) first makes the gesture smaller, so that it is not ground flat by the velocity limit. Acceleration
and jerk limits, where motors state them, are met by an interior point method on the scaled state space; such a motion starts
and ends at rest. See docs/theory/speech.md, also for where we depart from the paper.
"""

from __future__ import annotations

import time
from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.formats.checkpoint import Checkpoint
from bunraku.motion import Check, Clip, Performance
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.chain.segments import cut_segments
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain
from bunraku.optimization.solution import Status, worst
from bunraku.performers.performer import Performer, Suitability, option
from bunraku.performers.speech.assemble import assemble
from bunraku.performers.speech.baselines import clamped
from bunraku.performers.speech.problem import SpeechProblem, excess_travel, softened_character, solving_order, state_problem
from bunraku.rhythm.phrases import find_phrases


@dataclass(frozen=True, kw_only=True)
class SpeechPerformer(Performer):
    """Motor curves in time with the voice, within range, velocity, acceleration and jerk limits."""

    name: ClassVar[str] = "speech"
    needs: ClassVar[tuple[str, ...]] = ("clip.joints", "character.motors")
    uses: ClassVar[tuple[str, ...]] = (
        "clip.audio",
        "clip.words",
        "clip.phrases",
        "character.velocity limits",
        "character.feet",
        "character.home",
    )

    position_weight: float = option(5.0, "weight of the deviation from the wish (Q1)", unit="1/rad^2", low=1e-6, high=1e6)
    velocity_weight: float = option(0.1, "weight of the deviation in velocity (Q2)", unit="s^2/rad^2", low=0.0, high=1e6)
    scale_weight: float = option(10.0, "weight that keeps gestures at full size when compressing (Q3)", low=1e-6, high=1e9)
    compression: Literal["auto", "never", "always"] = option("auto", "make gestures smaller that outrun the motor")
    compress_beyond: float = option(0.2, "a stroke that outruns its motor by more than this is compressed", unit="rad", low=0.0)
    intensity: float = option(1.0, "the same behaviour weaker or stronger", low=0.3, high=1.5)
    acceleration: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^2", low=0.0)
    jerk: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^3", low=0.0)
    rate: float = option(0.0, "motor rate; 0 takes the motors' own", unit="Hz", low=0.0, high=10_000.0)
    held: tuple[str, ...] = option((), "coordinates or groups kept at home besides those the clip holds")

    def suits(self, character: Character, clip: Clip) -> Suitability:
        """Made for joint curves with a voice on a character with motors; a voice is not required."""
        if not character.motors:
            return Suitability(0.0, "the character has no motors", ("motors",))
        if clip.joints is None:
            reason = "the clip has a skeleton, which must be retargeted first" if clip.skeleton else "the clip has no joint curves"
            return Suitability(0.2 if clip.skeleton else 0.0, reason, ("joints",))
        if clip.audio is not None or clip.words:
            return Suitability(1.0, "the clip moves joints and has a voice to stay in time with")
        return Suitability(0.6, "the clip moves joints; there is no voice, so time is kept against the wish itself")

    def perform(
        self, character: Character, clip: Clip, *, monitor: Monitor = SILENT, checkpoint: Checkpoint | None = None
    ) -> Performance:
        """Solve joint by joint and certify the result."""
        if clip.audio is not None and not clip.phrases:
            clip = clip.changed(phrases=find_phrases(clip.audio))
        character = softened_character(character, self.acceleration, self.jerk)
        problem = state_problem(character, clip, rate=self.rate, intensity=self.intensity, held=self.held)
        monitor.report(Event("speech", 0.0, f"{problem.moving.sum()} joints, {len(problem.wish.values)} samples"))
        clock = time.thread_time()
        outcome = self._solve(problem, tuple(time for mark in clip.phrases for time in (mark.start, mark.end)), monitor, checkpoint)
        monitor.report(Event("speech", 1.0, "solved", {"solve_s": time.thread_time() - clock}))
        return assemble(self, problem, clip, outcome.values, status=outcome.status, notes=outcome.notes, checks=outcome.checks)

    def _solve(
        self, problem: SpeechProblem, phrases: tuple[float, ...], monitor: Monitor, checkpoint: Checkpoint | None
    ) -> _Outcome:
        wish, rate, limits = problem.wish.values, problem.wish.rate, problem.limits
        values, target = wish.copy(), wish.copy()
        travel = excess_travel(wish, rate, limits)
        scales: dict[int, Array] = {}
        order = solving_order(limits)
        done, status = self._resumed(checkpoint, values, scales), Status.CONVERGED
        for count, j in enumerate(order):
            if j in done:
                continue
            if monitor.cancelled:
                left = np.array([i for i in order[count:] if i not in done])
                values[:, left] = clamped(problem, values)[:, left]
                status = Status.CANCELLED
                break
            column = self._solve_joint(problem, j, values, target, travel[j], phrases, scales)
            status = column if status is Status.CONVERGED else status
            monitor.report(Event("speech", (count + 1) / len(order), limits.names[j]))
            done.add(j)
            if checkpoint is not None and count % 8 == 7:
                checkpoint.save({"values": values, "done": np.array(sorted(done)), **{f"scales{i}": s for i, s in scales.items()}})
        return _Outcome(values, status, *self._account(problem, travel, scales))

    @staticmethod
    def _resumed(checkpoint: Checkpoint | None, values: Array, scales: dict[int, Array]) -> set[int]:
        saved = checkpoint.load() if checkpoint is not None else None
        if saved is None or saved["values"].shape != values.shape:
            return set()
        done = {int(j) for j in saved["done"]}
        for j in done:
            values[:, j] = saved["values"][:, j]
            if f"scales{j}" in saved:
                scales[j] = np.asarray(saved[f"scales{j}"], dtype=np.float64)
        return done

    def _solve_joint(
        self,
        problem: SpeechProblem,
        j: int,
        values: Array,
        target: Array,
        travel: float,
        phrases: tuple[float, ...],
        scales: dict[int, Array],
    ) -> Status:
        """Solve column ``j`` into ``values``; columns its range depends on are already solved there."""
        rate, limits = problem.wish.rate, problem.limits
        if not problem.moving[j]:
            return Status.CONVERGED
        lower, upper = (bound[:, j] for bound in limits.bounds(values))
        start = np.clip(values[0, j], lower[0], upper[0])
        step, weight = limits.velocity[j] / rate, self.velocity_weight * rate**2
        compressing, found = self.compression == "always" or (self.compression == "auto" and travel > self.compress_beyond), []
        if compressing and len(values) > 2:
            compressed = solve_compression(
                values[:, j],
                start=start,
                lower=lower,
                upper=upper,
                step=step,
                position_weight=self.position_weight,
                difference_weight=weight,
                scale_weight=self.scale_weight,
                boundaries=cut_segments(values[:, j], rate, phrases),
            )
            target[:, j], scales[j] = compressed.target, compressed.scales
            found.append(compressed.status)
        if np.isfinite(limits.acceleration[j]) or np.isfinite(limits.jerk[j]):
            smooth = solve_smooth_chain(
                target[:, j : j + 1],
                rate=rate,
                start=np.array([start]),
                start_velocity=np.zeros(1),
                rest_at_end=True,
                lower=lower[:, None],
                upper=upper[:, None],
                velocity=limits.velocity[j : j + 1],
                acceleration=limits.acceleration[j : j + 1],
                jerk=limits.jerk[j : j + 1],
                position_weight=self.position_weight,
                velocity_weight=self.velocity_weight,
            )
            values[:, j] = smooth.values[:, 0]
            return worst([*found, smooth.status])
        chain = solve_chain(
            target[:, j : j + 1],
            start=np.array([start]),
            lower=lower[:, None],
            upper=upper[:, None],
            step=np.array([step]),
            position_weight=self.position_weight,
            difference_weight=weight,
        )
        values[:, j] = chain.values[:, 0]
        return worst([*found, Status.CONVERGED if bool(chain.feasible[0]) else Status.INFEASIBLE])

    def _account(
        self, problem: SpeechProblem, travel: Array, scales: dict[int, Array]
    ) -> tuple[tuple[str, ...], tuple[Check, ...]]:
        """Algorithm 1's choice for every joint whose wish outran its motor, in words and as figures."""
        notes, checks = [], []
        for j, name in enumerate(problem.limits.names):
            if travel[j] <= 0.0 or not problem.moving[j]:
                continue
            way = f"compressed to {scales[j].min():.2f} at the least" if j in scales else "eq. (7)"
            note = f"{way}; compression above {self.compress_beyond:g} rad"
            checks.append(Check(f"excess travel {name}", float(travel[j]), "rad", note=note))
        if scales:
            least = min(float(scale.min()) for scale in scales.values())
            checks.append(Check("least gesture scale", least, "", bar=0.5 - 1e-9, at_least=True))
            notes.append(f"compressed: {', '.join(problem.limits.names[j] for j in sorted(scales))}")
        return tuple(notes), tuple(checks)


@dataclass(frozen=True)
class _Outcome:
    values: Array
    status: Status
    notes: tuple[str, ...]
    checks: tuple[Check, ...]
