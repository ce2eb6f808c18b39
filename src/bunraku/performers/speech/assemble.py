"""From solved positions to a performance: channels, predicted motion of every coordinate, certificate, provenance."""

from __future__ import annotations

import dataclasses

import numpy as np
from numpy.typing import NDArray

from bunraku.formats.provenance import content_hash, provenance
from bunraku.mechanics.balance import planted
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Channel, Check, Clip, JointCurves, Performance
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify
from bunraku.performers.performer import Performer
from bunraku.performers.speech.problem import SpeechProblem
from bunraku.rhythm.lag import lag
from bunraku.rhythm.strokes import stroke_lags

__all__ = ["LAG_BAR", "assemble"]

LAG_BAR = 0.010
"""A performance may lag its wish by this much [s]: well below the 45 ms at which people notice (ITU-R BT.1359)."""


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
    delay = lag(wish.values, values, rate)
    timing = [Check("lag", delay.seconds, "s", bar=LAG_BAR), Check("worst lag in 3 s", delay.worst_window_seconds, "s")]
    strokes = stroke_lags(wish, positions, clip.words)
    if strokes:
        late = max(abs(stroke.lag) for stroke in strokes)
        off = max(abs(stroke.against_word) for stroke in strokes)
        timing.append(Check("largest stroke lag", late, "s", note="gesture strokes against the wished ones"))
        timing.append(Check("largest stroke offset", off, "s", note="gesture strokes against the beats of their words"))
    tree = compile_tree(character)
    q = planted(character, tree, tree.expand(limits.names, values))
    axes = {axis.name: axis for axis in character.axes}
    return Performance(
        character=character,
        clip_name=clip.name,
        channels=tuple(
            Channel(name, "position", "rad" if axes[name].kind == "hinge" else "m", rate, values[:, j])
            for j, name in enumerate(limits.names)
        ),
        wish=wish,
        motion=JointCurves(tree.names, rate, q),
        certificate=certify(character, wish, positions, status=status, checks=(*timing, *checks), notes=(*problem.notes, *notes)),
        provenance=provenance(
            performer.name,
            {"character": content_hash(character), "clip": content_hash(clip)},
            {field.name: getattr(performer, field.name) for field in dataclasses.fields(performer)},
        ),
        audio=clip.audio,
        words=clip.words,
        phrases=clip.phrases,
    )
