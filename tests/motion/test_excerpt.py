"""Parts of clips and other tempi: every track alike, samples exactly."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip
from bunraku.motion import Clip, JointCurves, Mark
from bunraku.motion.excerpt import at_tempo, excerpt


def test_a_part_of_a_capture_holds_its_frames() -> None:
    clip = read_clip("chicken-dance")
    part = excerpt(clip, 2.0, 1.5)
    assert clip.skeleton is not None
    assert part.skeleton is not None
    first = round(2.0 * clip.skeleton.rate)
    count = round(1.5 * clip.skeleton.rate) + 1
    assert np.array_equal(part.skeleton.rotations, clip.skeleton.rotations[first : first + count])
    assert part.duration == pytest.approx(1.5)
    assert excerpt(clip) is clip


def test_words_and_voice_are_cut_with_the_motion() -> None:
    clip = read_clip("not-done-yet")
    assert clip.audio is not None
    start, length = 0.4, 0.8
    part = excerpt(clip, start, length)
    assert part.audio is not None
    assert np.array_equal(part.audio.samples[:50], clip.audio.samples[round(start * clip.audio.rate) :][:50])
    assert part.audio.duration == pytest.approx(length, abs=1e-3)
    for mark in part.words:
        assert 0.0 <= mark.start <= mark.end <= length
    words = (Mark("x", 0.25, 1.0, 0.375), Mark("y", 1.25, 1.5, 1.25), Mark("z", 1.5, 1.75))
    marked = Clip("m", JointCurves(("a",), 10.0, np.zeros((21, 1))), words=words)
    assert excerpt(marked, 0.5, 0.875).words == (Mark("x", 0.0, 0.5), Mark("y", 0.75, 0.875, 0.75))


def test_tempo() -> None:
    clip = read_clip("not-done-yet")
    fast = at_tempo(clip, 2.0)
    assert fast.duration == pytest.approx(clip.duration / 2.0)
    assert fast.words[-1].end == pytest.approx(clip.words[-1].end / 2.0)
    assert fast.audio is not None
    assert clip.audio is not None
    assert fast.audio.duration == pytest.approx(clip.audio.duration / 2.0)
    gait = at_tempo(read_clip("slalom"), 0.5).gait
    before = read_clip("slalom").gait
    assert gait is not None
    assert before is not None
    assert gait.duration == pytest.approx(2.0 * before.duration)
    assert [target.time for target in gait.targets] == pytest.approx([2.0 * target.time for target in before.targets])


@pytest.mark.parametrize(("start", "duration"), [(-1.0, 1.0), (0.0, 0.0), (7.5, 1.0), (9.0, None), (float("nan"), 1.0)])
def test_parts_outside_are_refused(start: float, duration: float | None) -> None:
    with pytest.raises(BadInput, match="lasts 8 s"):
        excerpt(read_clip("chicken-dance"), start, duration)


def test_wholes_are_not_cut_and_tempi_are_bounded() -> None:
    with pytest.raises(BadInput, match="track gait"):
        excerpt(read_clip("skate"), 0.1, 0.5)
    with pytest.raises(BadInput, match="tempo of inf"):
        at_tempo(read_clip("skate"), float("inf"))
