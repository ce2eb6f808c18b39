"""Footfalls at other times: shorter flights, longer stances, at the same speed; or all of it slower.

Feet that stand for the share s of the time carry 1 / s times their part of the weight in the mean. Where motors are too weak for
that, feet come down earlier and leave later, by the same on both sides of a flight.
"""

from __future__ import annotations

from dataclasses import replace
from itertools import pairwise

from bunraku.errors import BadInput
from bunraku.motion import Clip, Gait, Swing

__all__ = ["flights", "grounded", "slower"]

NEAR = 1e-9


def flights(gait: Gait) -> list[tuple[float, float]]:
    """The shares (begin, end) of the duration of custom ``swings`` in which every foot that ever swings is in the air."""
    feet = {swing.effector for swing in gait.swings}
    times = sorted({time for swing in gait.swings for time in (swing.start, swing.end)})
    found: list[tuple[float, float]] = []
    for begin, end in pairwise(times):
        middle = 0.5 * (begin + end)
        if end - begin > NEAR and {swing.effector for swing in gait.swings if swing.start < middle < swing.end} == feet:
            joined = bool(found) and begin - found[-1][1] < NEAR
            found = [*found[:-1], (found[-1][0], end)] if joined else [*found, (begin, end)]
    return found


def grounded(gait: Gait, share: float) -> Gait:
    """The gait with flights shorter by a ``share`` of each, 1: none; swings that begin or end one give half of it each."""
    if not 0.0 <= share <= 1.0:
        raise BadInput(f"flights shorter by {share} of themselves arrived; give a share between 0 and 1")
    swings = []
    for swing in gait.swings:
        start, end = swing.start, swing.end
        for begin, until in flights(gait):
            cut = 0.5 * share * (until - begin)
            start += cut if abs(swing.start - begin) < NEAR else 0.0
            end -= cut if abs(swing.end - until) < NEAR else 0.0
        swings.append(Swing(swing.effector, start, end))
    return gait.changed(swings=tuple(swings))


def slower(clip: Clip, factor: float) -> Clip:
    """The clip's gait and joint curves in ``factor`` times the time, over the same way."""
    if clip.gait is None or not factor >= 1.0:
        raise BadInput(f"a clip to be slowed down needs a gait and a factor of at least 1, not {factor}")
    if clip.gait.targets or clip.audio is not None:
        raise BadInput(f"the clip {clip.name!r} has sound or targets at times; it cannot be slowed down")
    samples = round((clip.gait.samples - 1) * factor) + 1 if clip.gait.samples else 0
    gait = clip.gait.changed(duration=factor * clip.gait.duration, samples=samples)
    joints = None if clip.joints is None else replace(clip.joints, rate=clip.joints.rate / factor)
    return replace(clip, gait=gait, joints=joints)
