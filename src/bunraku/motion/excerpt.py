"""Part of a clip, and a clip faster or slower: all its tracks alike."""

from __future__ import annotations

import math
from dataclasses import replace

from bunraku.errors import BadInput
from bunraku.motion.clip import Clip
from bunraku.motion.emphasis import Emphasis
from bunraku.motion.sound import Mark


def excerpt(clip: Clip, start: float = 0.0, duration: float | None = None) -> Clip:
    """The clip from ``start`` [s] on, for ``duration`` [s] or to its end; its times begin at 0 again.

    Motion is cut at whole samples, the nearest ones; words and phrases that lie across an end are cut there, their stroke dropped
    if it is outside.
    """
    whole = clip.duration
    length = whole - start if duration is None else duration
    if not (start >= 0.0 and length > 0.0 and start + length <= whole + 1e-9):
        raise BadInput(
            f"{_span(start, duration)} of the clip {clip.name!r} was asked for, which lasts {whole:g} s; give a part inside it"
        )
    if start == 0.0 and length >= whole - 1e-9:
        return clip
    for name in ("gait", "modes"):
        if getattr(clip, name) is not None:
            raise BadInput(f"the clip {clip.name!r} has a track {name}, which is a whole and cannot be cut")
    joints, skeleton, audio = clip.joints, clip.skeleton, clip.audio
    if joints is not None:
        joints = replace(joints, values=joints.values[_samples(start, length, joints.rate)])
    if skeleton is not None:
        part = _samples(start, length, skeleton.rate)
        skeleton = replace(skeleton, translations=skeleton.translations[part], rotations=skeleton.rotations[part])
    if audio is not None:
        first = round(start * audio.rate)
        audio = replace(audio, samples=audio.samples[first : first + max(1, round(length * audio.rate))])
    return clip.changed(
        joints=joints,
        skeleton=skeleton,
        audio=audio,
        words=_marks(clip.words, start, length),
        phrases=_marks(clip.phrases, start, length),
        emphasis=_emphases(clip.emphasis, start, length),
    )


def at_tempo(clip: Clip, tempo: float) -> Clip:
    """The clip ``tempo`` times as fast: 2 takes half the time; a voice is played faster, and higher, as a tape would be."""
    if not (math.isfinite(tempo) and 0.01 <= tempo <= 100.0):
        raise BadInput(f"a tempo of {tempo} arrived; give one between 0.01 and 100, 1 is as it is")
    if tempo == 1.0:
        return clip
    if clip.modes is not None:
        raise BadInput(f"the clip {clip.name!r} is a choreography, whose tempo is in its score; edit it there")

    def timed(mark: Mark) -> Mark:
        return replace(
            mark, start=mark.start / tempo, end=mark.end / tempo, stroke=None if mark.stroke is None else mark.stroke / tempo
        )

    gait = clip.gait
    if gait is not None:
        targets = tuple(replace(target, time=target.time / tempo) for target in gait.targets)
        gait = gait.changed(duration=gait.duration / tempo, targets=targets)
    return clip.changed(
        joints=None if clip.joints is None else replace(clip.joints, rate=clip.joints.rate * tempo),
        skeleton=None if clip.skeleton is None else replace(clip.skeleton, rate=clip.skeleton.rate * tempo),
        audio=None if clip.audio is None else replace(clip.audio, rate=clip.audio.rate * tempo),
        words=tuple(timed(mark) for mark in clip.words),
        phrases=tuple(timed(mark) for mark in clip.phrases),
        emphasis=tuple(
            replace(one, start=one.start / tempo, end=None if one.end is None else one.end / tempo) for one in clip.emphasis
        ),
        gait=gait,
    )


def _samples(start: float, length: float, rate: float) -> slice:
    first = round(start * rate)
    return slice(first, first + round(length * rate) + 1)


def _marks(marks: tuple[Mark, ...], start: float, length: float) -> tuple[Mark, ...]:
    kept = []
    for mark in marks:
        first, last = max(0.0, mark.start - start), min(length, mark.end - start)
        if last < first or (last == first and mark.end > mark.start):
            continue
        stroke = None if mark.stroke is None or not 0.0 <= mark.stroke - start <= length else mark.stroke - start
        kept.append(Mark(mark.text, first, last, stroke))
    return tuple(kept)


def _emphases(emphases: tuple[Emphasis, ...], start: float, length: float) -> tuple[Emphasis, ...]:
    kept = []
    for one in emphases:
        first, last = max(0.0, one.start - start), None if one.end is None else min(length, one.end - start)
        if first < length and (last is None or last > first):
            kept.append(replace(one, start=first, end=last))
    return tuple(kept)


def _span(start: float, duration: float | None) -> str:
    return f"the part from {start:g} s on" if duration is None else f"the part from {start:g} to {start + duration:g} s"
