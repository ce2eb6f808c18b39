"""A solved motion of a character that physics moves: its channels, and what is measured on it."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.measures.driven_motion import measure_driven
from bunraku.motion import Certificate, Channel, JointCurves
from bunraku.motion.feedback import Feedback
from bunraku.optimization.solution import Status
from bunraku.performers.performer import Uncertified


@dataclass(frozen=True)
class DrivenSolution:
    """The motion of a ``system``, and how its solution ended.

    ``q`` (N + 1, nq) with momenta ``p`` (N + 1, nd) under inputs ``u`` (N, torques, then prescribed coordinates), each held for a
    step.
    """

    system: System
    wish: JointCurves
    q: Array
    p: Array
    u: Array
    status: Status
    notes: tuple[str, ...] = ()
    figures: Mapping[str, float] = field(default_factory=dict)

    def applied(self, character: Character) -> dict[str, Array]:
        """The torques by the coordinates they act on, or else their own names; the last is held to the end."""
        drives = {motor.name: motor.coordinate for motor in character.motors}
        torques = self.u[:, : self.system.nu]
        held = np.vstack([torques, torques[-1:]])
        return {drives.get(name, name): held[:, i] for i, name in enumerate(self.system.inputs)}


def play_driven(character: Character, solution: DrivenSolution, feedback: Feedback) -> Uncertified:
    """The channels of a motion, the motion of every coordinate, and the feedback that corrects the channels."""
    rate = solution.wish.rate
    turning = {axis.name for axis in character.axes if axis.kind == "hinge"}
    column = {name: solution.q[:, i] for i, name in enumerate(solution.system.names)}
    winches = {string.coordinate for string in character.strings}
    applied = solution.applied(character)
    channels = [Channel(n, "torque", "N·m" if n in turning else "N", rate, values) for n, values in applied.items()]
    channels += [Channel(n, "length" if n in winches else "position", "m", rate, column[n]) for n in character.prescribed]
    names = character.coordinates + character.prescribed
    followers = {c.follower: c for c in character.couplings}
    curves = [column[n] if n in column else followers[n].ratio * column[followers[n].driver] + followers[n].offset for n in names]
    motion = JointCurves(names, rate, np.column_stack(curves))
    return Uncertified(channels=tuple(channels), wish=solution.wish, motion=motion, feedback=feedback)


def certify_driven(
    character: Character,
    solution: DrivenSolution,
    played: Uncertified,
    *,
    tension_margin: float = 0.0,
    frames: tuple[str, ...] = (),
) -> Certificate:
    """The measures of a motion that physics makes; a status that is not good is noted as its sentence."""
    measured = measure_driven(
        character,
        solution.wish,
        played.motion,
        solution.applied(character),
        tension_margin=tension_margin,
        system=solution.system,
        frames=frames,
    )
    said = () if solution.status.good else (solution.status.sentence,)
    notes = (*said, *solution.notes, *measured.notes)
    return Certificate(solution.status, measured.checks, notes, {**measured.figures, **solution.figures})
