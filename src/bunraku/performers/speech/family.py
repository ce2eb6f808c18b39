"""What the performers of the speech problem have in common: positions of every motor, played and certified alike."""

from __future__ import annotations

from dataclasses import dataclass
from typing import final

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Certificate, JointCurves
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.performers.performer import Performer, Task, Uncertified
from bunraku.performers.servo import play_servos
from bunraku.performers.speech.problem import SpeechProblem


@dataclass(frozen=True)
class Positions:
    """The solution of a speech problem: ``values`` (m, k), and what the performer has to say about them."""

    values: Array
    status: Status = Status.CONVERGED
    notes: tuple[str, ...] = ()


class SpeechFamily(Performer[SpeechProblem, Positions]):
    """Answers a speech problem with positions."""

    @final
    def play(self, task: Task[SpeechProblem], solution: Positions) -> Uncertified:
        """Positions longer than the wish are compared with the wish held at its end."""
        asked, values = task.problem.wish, solution.values
        longer = max(0, len(values) - len(asked.values))
        wish = JointCurves(asked.names, asked.rate, np.pad(asked.values, ((0, longer), (0, 0)), mode="edge")[: len(values)])
        return play_servos(task.character, wish, JointCurves(asked.names, asked.rate, values))

    @final
    def certify(self, task: Task[SpeechProblem], solution: Positions, played: Uncertified, monitor: Monitor) -> Certificate:
        """The common measures at the motor rate, and the timing against the words."""
        return certify(
            task.character,
            played.wish,
            played.positions,
            words=task.clip.words,
            status=solution.status,
            notes=(*task.problem.notes, *solution.notes),
        )


def clamped(problem: SpeechProblem, values: Array) -> Array:
    """Each sample of ``values`` brought into range and within v h of the one before: the causal velocity clamp."""
    lower, upper = problem.limits.bounds(values)
    step = problem.limits.velocity / problem.wish.rate
    out = np.clip(values, lower, upper)
    for k in range(1, len(out)):
        out[k] = np.clip(out[k], out[k - 1] - step, out[k - 1] + step)
    return out
