"""From solved positions to a performance: channels, predicted motion of every coordinate, certificate, provenance."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.measures.prediction import predicted_motion
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Channel, Check, Clip, JointCurves, Performance
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.performers.performer import Performer
from bunraku.performers.speech.problem import SpeechProblem


def assemble(
    performer: Performer,
    problem: SpeechProblem,
    clip: Clip,
    values: NDArray[np.float64],
    *,
    status: Status,
    notes: tuple[str, ...] = (),
    checks: tuple[Check, ...] = (),
) -> Performance:
    """The performance with positions ``values`` (m, k); one longer than the wish is compared with the wish held at its end."""
    character, limits, rate = problem.character, problem.limits, problem.wish.rate
    positions = JointCurves(limits.names, rate, values)
    longer = max(0, len(values) - len(problem.wish.values))
    wish = JointCurves(limits.names, rate, np.pad(problem.wish.values, ((0, longer), (0, 0)), mode="edge")[: len(values)])
    tree = compile_tree(character)
    axes = {axis.name: axis for axis in character.axes}
    return Performance(
        character=character,
        clip_name=clip.name,
        channels=tuple(
            Channel(name, "position", "rad" if axes[name].kind == "hinge" else "m", rate, values[:, j])
            for j, name in enumerate(limits.names)
        ),
        wish=wish,
        motion=predicted_motion(character, positions, tree),
        certificate=certify(
            character, wish, positions, words=clip.words, status=status, checks=checks, notes=(*problem.notes, *notes), tree=tree
        ),
        provenance=provenance(
            performer.name,
            {"character": content_hash(character), "clip": content_hash(clip)},
            {field.name: getattr(performer, field.name) for field in dataclasses.fields(performer)},
        ),
        audio=clip.audio,
        words=clip.words,
        phrases=clip.phrases,
    )
