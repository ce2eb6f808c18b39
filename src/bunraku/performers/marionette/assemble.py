"""From a solved motion of a character that physics moves to a performance: channels, motion, certificate, feedback."""

from __future__ import annotations

import dataclasses

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.measures.driven_motion import measure_driven
from bunraku.motion import Certificate, Channel, Clip, JointCurves, Performance
from bunraku.motion.feedback import Feedback
from bunraku.optimization.solution import Status
from bunraku.performers.performer import Performer


def assemble_driven(
    performer: Performer,
    character: Character,
    clip: Clip,
    system: System,
    wish: JointCurves,
    q: Array,
    torques: Array,
    *,
    status: Status,
    feedback: Feedback | None,
    tension_margin: float = 0.0,
    frames: tuple[str, ...] = (),
    notes: tuple[str, ...] = (),
    figures: dict[str, float] | None = None,
) -> Performance:
    """The performance of the motion ``q`` (N + 1, nq) under ``torques`` (N, nu), each held for a step, with its certificate."""
    rate = wish.rate
    held = np.vstack([torques, torques[-1:]])
    turning = {axis.name for axis in character.axes if axis.kind == "hinge"}
    drives = {motor.name: motor.coordinate for motor in character.motors}
    column = {name: q[:, i] for i, name in enumerate(system.names)}
    winches = {string.coordinate for string in character.strings}
    applied = {drives.get(name, name): held[:, i] for i, name in enumerate(system.inputs)}
    channels = [Channel(n, "torque", "N·m" if n in turning else "N", rate, values) for n, values in applied.items()]
    channels += [Channel(n, "length" if n in winches else "position", "m", rate, column[n]) for n in character.prescribed]
    names = character.coordinates + character.prescribed
    followers = {c.follower: c for c in character.couplings}
    curves = [column[n] if n in column else followers[n].ratio * column[followers[n].driver] + followers[n].offset for n in names]
    motion = JointCurves(names, rate, np.column_stack(curves))
    measured = measure_driven(character, wish, motion, applied, tension_margin=tension_margin, system=system, frames=frames)
    said = () if status.good else (status.sentence,)
    return Performance(
        character=character,
        clip_name=clip.name,
        channels=tuple(channels),
        wish=wish,
        motion=motion,
        certificate=Certificate(status, measured.checks, (*said, *notes, *measured.notes), {**measured.figures, **(figures or {})}),
        provenance=provenance(
            performer.name,
            {"character": content_hash(character), "clip": content_hash(clip)},
            {field.name: getattr(performer, field.name) for field in dataclasses.fields(performer)},
        ),
        audio=clip.audio,
        words=clip.words,
        phrases=clip.phrases,
        feedback=feedback,
    )
