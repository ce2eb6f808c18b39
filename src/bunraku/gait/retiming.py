"""Footfalls at other times: shorter flights, longer stances, at the same speed; or all of it slower.

Feet that stand for the share s of the time carry 1 / s times their part of the weight in the mean. Where motors are too weak for
that, feet come down earlier and leave later, by the same on both sides of a flight.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from itertools import pairwise

from bunraku.errors import BadInput
from bunraku.motion import Clip, Gait, Swing

NEAR = 1e-9


def flights(gait: Gait, feet: Sequence[str]) -> list[tuple[float, float]]:
    """The shares (begin, end) of the duration, of custom swings that happen once, in which all ``feet`` are in the air."""
    times = sorted({time for swing in gait.swings for time in (swing.start, swing.end)})
    spans: list[tuple[float, float]] = []
    for begin, end in pairwise(times):
        middle = 0.5 * (begin + end)
        if end - begin > NEAR and {swing.effector for swing in gait.swings if swing.start < middle < swing.end} >= set(feet):
            joined = bool(spans) and begin - spans[-1][1] < NEAR
            spans = [*spans[:-1], (spans[-1][0], end)] if joined else [*spans, (begin, end)]
    return spans


def grounded(gait: Gait, feet: Sequence[str], share: float) -> Gait:
    """The gait with flights of all ``feet`` shorter by a ``share`` of each, 1: none; swings that begin or end one give half of it.

    A swing that is a flight from begin to end, a jump with all feet at once, stays.
    """
    if not 0.0 <= share <= 1.0:
        raise BadInput(f"flights shorter by {share} of themselves arrived; give a share between 0 and 1")
    swings = []
    for swing in gait.swings:
        start, end = swing.start, swing.end
        for begin, until in flights(gait, feet):
            starts, ends = abs(swing.start - begin) < NEAR, abs(swing.end - until) < NEAR
            cut = 0.5 * share * (until - begin) if starts != ends else 0.0
            start += cut if starts else 0.0
            end -= cut if ends else 0.0
        swings.append(Swing(swing.effector, start, end))
    return gait.changed(swings=tuple(swings))


def slower(clip: Clip, factor: float) -> Clip:
    """The clip's gait and joint curves in ``factor`` times the time, over the same way."""
    if not factor >= 1.0:
        raise BadInput(f"slower by the factor {factor} arrived; give one of at least 1")
    if clip.gait is None:
        raise BadInput(f"the clip {clip.name!r} has no gait to be slowed down")
    timed = [name for name in ("audio", "words", "phrases", "skeleton", "modes", "emphasis") if getattr(clip, name, None)]
    if clip.gait.targets or timed:
        raise BadInput(
            f"the clip {clip.name!r} has {timed[0] if timed else 'targets'} at times of its own; it cannot be slowed down"
        )
    samples = round((clip.gait.samples - 1) * factor) + 1 if clip.gait.samples else 0
    gait = clip.gait.changed(duration=factor * clip.gait.duration, samples=samples)
    joints = None if clip.joints is None else replace(clip.joints, rate=clip.joints.rate / factor)
    return replace(clip, gait=gait, joints=joints)
