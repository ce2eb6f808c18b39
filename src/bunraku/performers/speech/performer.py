"""Gestures that stay in time with the voice: Algorithm 1 of Elanjimattathil Vijayan et al. (2018), solved exactly.

Each joint is solved for itself. A wish within the limits comes back unchanged. Otherwise eq. (7) is solved exactly by dynamic
programming along the chain of samples; where the wish outruns the motor by more than ``compress_beyond`` in one stroke, the
convex form of eq. (8)-(10) first makes the gesture smaller, so that it is not ground flat by the velocity limit. Acceleration
and jerk limits, where motors state them, are met by an interior point method on the scaled state space; such a motion starts
and ends at rest. See docs/theory/speech.md, also for where we depart from the paper.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar, Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.measures.travel import excess_travel
from bunraku.motion import Clip
from bunraku.optimization.chain.chain import solve_chain
from bunraku.optimization.chain.compression import solve_compression
from bunraku.optimization.chain.segments import cut_segments
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.smooth_chain.smooth_chain import solve_smooth_chain
from bunraku.optimization.solution import Status, worst
from bunraku.performers.fit import Fit
from bunraku.performers.performer import Memory, Task, option
from bunraku.performers.speech.family import Positions, SpeechFamily, clamped
from bunraku.performers.speech.fit import SPEECH
from bunraku.performers.speech.problem import SpeechProblem, softened_character, solving_order, state_problem
from bunraku.rhythm.phrases import find_phrases


@dataclass(frozen=True, kw_only=True)
class SpeechPerformer(SpeechFamily):
    """Motor curves in time with the voice, within range, velocity, acceleration and jerk limits."""

    fit: ClassVar[Fit] = SPEECH

    position_weight: float = option(5.0, "weight of the deviation from the wish (Q1)", unit="1/rad^2", low=1e-6, high=1e6)
    velocity_weight: float = option(0.1, "weight of the deviation in velocity (Q2)", unit="s^2/rad^2", low=0.0, high=1e6)
    scale_weight: float = option(10.0, "weight that keeps gestures at full size when compressing (Q3)", low=1e-6, high=1e9)
    compression: Literal["auto", "never", "always"] = option("auto", "make gestures smaller that outrun the motor")
    compress_beyond: float = option(0.2, "a stroke that outruns its motor by more than this is compressed", unit="rad", low=0.0)
    intensity: float = option(1.0, "the same behaviour weaker or stronger", low=0.3, high=1.5)
    smooth: float = option(0.0, "leave out of the wish what is faster, without delay; 0 follows it", unit="Hz", low=0.0, high=1e3)
    acceleration: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^2", low=0.0)
    torque_share: float = option(
        0.0, "limit of acceleration: this share of stall torque over the inertia moved; 0 for none", low=0.0, high=1.0
    )
    jerk: float = option(0.0, "limit for motors that state none; 0 for none", unit="rad/s^3", low=0.0)
    rate: float = option(0.0, "motor rate; 0 takes the motors' own", unit="Hz", low=0.0, high=10_000.0)
    held: tuple[str, ...] = option((), "coordinates or groups kept at home besides those the clip holds")

    def state(self, character: Character, clip: Clip, monitor: Monitor) -> Task[SpeechProblem]:
        """The wish at the motor rate and the limits of every motor, those among them that the options state."""
        if clip.audio is not None and not clip.phrases:
            clip = clip.changed(phrases=find_phrases(clip.audio))
        character = softened_character(character, self.acceleration, self.jerk, self.torque_share)
        problem = state_problem(character, clip, rate=self.rate, intensity=self.intensity, held=self.held, smooth=self.smooth)
        monitor.report(Event("speech", 0.0, f"{problem.moving.sum()} joints, {len(problem.wish.values)} samples"))
        return Task(character, clip, problem)

    def solve(self, task: Task[SpeechProblem], monitor: Monitor, memory: Memory) -> Positions:
        """Joint by joint, those first on which the range of others depends."""
        problem, phrases = task.problem, tuple(time for mark in task.clip.phrases for time in (mark.start, mark.end))
        aim, rate, limits = problem.aim.values, problem.aim.rate, problem.limits
        values, target = aim.copy(), aim.copy()
        travel = excess_travel(aim, rate, limits)
        scales: dict[int, Array] = {}
        order = solving_order(limits)
        done, status = self._resumed(memory, values, scales), Status.CONVERGED
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
            if count % 8 == 7:
                memory.save({"values": values, "done": np.array(sorted(done)), **{f"scales{i}": s for i, s in scales.items()}})
        return Positions(values, status, self._account(problem, travel, scales))

    @staticmethod
    def _resumed(memory: Memory, values: Array, scales: dict[int, Array]) -> set[int]:
        saved = memory.load()
        if saved is None or saved["values"].shape != values.shape:
            return set()
        done = {int(j) for j in saved["done"]}
        for j in done:
            values[:, j] = saved["values"][:, j]
            if f"scales{j}" in saved:
                scales[j] = saved[f"scales{j}"]
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
        compressing = self.compression == "always" or (self.compression == "auto" and travel > self.compress_beyond)
        ended: list[Status] = []
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
            ended.append(compressed.status)
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
            return worst([*ended, smooth.status])
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
        return worst([*ended, Status.CONVERGED if bool(chain.feasible[0]) else Status.INFEASIBLE])

    def _account(self, problem: SpeechProblem, travel: Array, scales: dict[int, Array]) -> tuple[str, ...]:
        """Algorithm 1's choice for the joints whose wish outran their motors, in words."""
        names = problem.limits.names
        said = [f"{names[j]} to {scales[j].min():.2f} at the least" for j in sorted(scales)]
        flat = [names[j] for j in np.flatnonzero((travel > 0.0) & problem.moving).tolist() if j not in scales]
        notes = [f"compressed, being more than {self.compress_beyond:g} rad too fast: {', '.join(said)}"] if said else []
        return (*notes, *([f"followed as well as the motors can (eq. 7): {', '.join(flat)}"] if flat else []))
