"""Clip files: interpolation in closed form, tracks from other files, exact round trips, places of mistakes."""

from __future__ import annotations

from math import pi
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.errors import BadInput
from bunraku.formats.clip_yaml import interpolated, read_clip_yaml, write_clip_yaml
from bunraku.formats.registry import read_clip, write_clip
from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio, Clip, JointCurves, Mark

HEAD = b"bunraku: clip/1\nname: no-problem\n"
WHOLE = (
    HEAD
    + b"""mood: positive
rate_hz: 50
joints:
  keys_deg: {LShoulderPitch: [[0.0, 80], [0.6, 20]], HeadYaw: [[0.2, 9]]}
  keys_m: {Slide: [[0, 0.1], [1, 0.3]]}
  duration_s: 1.2
words: [{text: No, start_s: 0.12, end_s: 0.4, stroke_s: 0.3}]
phrases: [{text: No problem, start_ms: 100, end_s: 1}]
held: [legs]
source: ours
"""
)


def test_a_whole_clip() -> None:
    clip = read_clip_yaml(WHOLE, file="f")
    assert (clip.name, clip.mood, clip.held, clip.source) == ("no-problem", "positive", ("legs",), "ours")
    assert clip.words == (Mark("No", 0.12, 0.4, 0.3),)
    assert clip.phrases == (Mark("No problem", 0.1, 1.0),)
    joints = clip.joints
    assert joints is not None
    assert (joints.names, joints.rate, joints.duration) == (("LShoulderPitch", "HeadYaw", "Slide"), 50.0, 1.2)
    # between two keys the clamped cubic is the smooth step 3 s^2 - 2 s^3, then the value is held
    s = np.minimum(joints.times / 0.6, 1.0)
    np.testing.assert_allclose(joints.column("LShoulderPitch"), (80 - 60 * (3 * s**2 - 2 * s**3)) * pi / 180, atol=1e-14)
    np.testing.assert_allclose(joints.column("HeadYaw"), 9 * pi / 180)
    np.testing.assert_allclose(joints.column("Slide")[[0, 25, 50, 60]], [0.1, 0.2, 0.3, 0.3], atol=1e-15)


@given(st.lists(st.tuples(st.floats(0.05, 2.0), st.floats(-3.0, 3.0)), min_size=2, max_size=8))
@settings(max_examples=60, deadline=None)
def test_interpolation_keeps_its_promises(steps: list[tuple[float, float]]) -> None:
    times = np.cumsum([step for step, _ in steps])
    values = np.array([value for _, value in steps])
    for kind in ("smooth", "monotone", "linear"):
        np.testing.assert_allclose(interpolated(times, values, times, kind), values, atol=1e-12)  # type: ignore[arg-type]
    fine = np.linspace(times[0], times[-1], 400)
    piece = np.clip(np.searchsorted(times, fine, side="right") - 1, 0, len(times) - 2)
    low, high = np.minimum(values[piece], values[piece + 1]), np.maximum(values[piece], values[piece + 1])
    monotone = interpolated(times, values, fine, "monotone")
    assert (monotone >= low - 1e-12).all()
    assert (monotone <= high + 1e-12).all()
    # smooth: at rest at the ends, first and second derivative continuous at inner keys (one-sided differences agree)
    h = 1e-4
    for t in times[1:-1]:
        f = interpolated(times, values, t + h * np.arange(-3, 4), "smooth")
        scale = 1.0 + np.abs(np.diff(values)).max() / np.diff(times).min() ** 2
        left, right = f[1] - 2 * f[2] + f[3], f[3] - 2 * f[4] + f[5]
        third = np.abs(np.diff(values)).max() / np.diff(times).min() ** 3 + 1.0
        assert abs(right - left) / h**2 < 100 * third * h + 1e-6 * scale
    ends = interpolated(times, values, np.array([times[0], times[0] + 1e-7, times[-1] - 1e-7, times[-1]]), "smooth")
    assert abs(ends[1] - ends[0]) / 1e-7 < 1e-2 * scale if len(times) > 2 else True


def test_tracks_from_files_of_the_same_folder(tmp_path: Path) -> None:
    (tmp_path / "curves.csv").write_bytes(b"HeadYaw_deg\n0\n90\n")
    (tmp_path / "voice.wav").write_bytes(wav_bytes(Audio(np.array([0.0, 0.5, -0.5]), 8000.0)))
    (tmp_path / "take.bvh").write_bytes(
        b"HIERARCHY ROOT a { OFFSET 0 0 0 CHANNELS 3 Xposition Yposition Zposition } MOTION Frames: 1 Frame Time: 0.1 1 2 3"
    )
    text = (
        HEAD
        + b"rate_hz: 10\njoints: {file: curves.csv}\naudio: {file: voice.wav}\nskeleton: {file: take.bvh, metres_per_unit: 0.1}\n"
    )
    (tmp_path / "a.clip.yaml").write_bytes(text)
    clip = read_clip(tmp_path / "a.clip.yaml")
    assert clip.tracks == ("joints", "skeleton", "audio")
    assert clip.joints is not None
    assert clip.joints.rate == 10.0
    np.testing.assert_allclose(clip.joints.values[:, 0], [0.0, pi / 2])
    assert clip.skeleton is not None
    assert clip.skeleton.scaled
    np.testing.assert_allclose(clip.skeleton.translations[0, 0], [0.3, 0.1, 0.2])
    assert clip.audio is not None
    np.testing.assert_allclose(clip.audio.samples, [0.0, 0.5, -0.5])


@given(
    st.lists(st.lists(st.floats(-1e6, 1e6), min_size=2, max_size=2), min_size=1, max_size=12),
    st.floats(1.0, 1000.0),
    st.text(max_size=20),
)
@settings(max_examples=60, deadline=None)
def test_writing_and_reading_gives_back_every_bit(values: list[list[float]], rate: float, text: str) -> None:
    joints = JointCurves(("a.x", "b"), rate, np.array(values))
    clip = Clip("c", joints=joints, words=(Mark(text, 0.1, 0.1 + 0.2, 0.15),), held=("legs",), mood=text, source=text)
    back = read_clip_yaml(write_clip_yaml(clip, "c.clip.yaml")["c.clip.yaml"], file="f")
    assert back.joints is not None
    assert (back.joints.names, back.joints.rate) == (joints.names, rate)
    np.testing.assert_array_equal(back.joints.values, joints.values)
    assert (back.name, back.words, back.held, back.mood, back.source) == (clip.name, clip.words, clip.held, text, text)


def test_a_written_clip_brings_its_voice(tmp_path: Path) -> None:
    clip = Clip("c", joints=JointCurves(("a",), 25.0, np.zeros((3, 1))), audio=Audio(np.arange(-4, 4) / 8.0, 16000.0))
    write_clip(tmp_path / "c.clip.yaml", clip)
    assert sorted(entry.name for entry in tmp_path.iterdir()) == ["c.clip.yaml", "c.wav"]
    back = read_clip(tmp_path / "c.clip.yaml")
    assert back.audio is not None
    np.testing.assert_array_equal(back.audio.samples, np.arange(-4, 4) / 8.0)


@pytest.mark.parametrize(
    ("text", "said", "place"),
    [
        (WHOLE.replace(b"keys_deg", b"keys"), "keys_rad", "line 6, joints.keys"),
        (WHOLE.replace(b"[0.6, 20]", b"[0.0, 20]"), "must rise", "line 5, joints"),
        (WHOLE.replace(b"[0.6, 20]", b"[6e5, 20]"), "too large|more samples|duration", None),
        (WHOLE.replace(b"duration_s: 1.2", b"duration_s: 9e5"), "more samples than can be made", "line 5, joints"),
        (WHOLE.replace(b"[0.6, 20]", b"[0.6, x]"), "number", "line 6, joints.keys_deg.LShoulderPitch[1][1]"),
        (WHOLE.replace(b"rate_hz: 50", b"rate_hz: 0"), "greater than 0", "line 4, rate_hz"),
        (WHOLE.replace(b"end_s: 0.4", b"end_s: 0.1"), "before it starts", "line 9, words[0]"),
        (WHOLE.replace(b"held: [legs]", b"hold: [legs]"), "did you mean held", "line 11, hold"),
        (WHOLE.replace(b"  keys_m", b"  file: x.csv\n  keys_m"), "one of keys, samples_si or file", "line 5, joints"),
        (HEAD + b"audio: {file: ../x.wav}\n", "folder", "line 3, audio.file"),
        (HEAD + b"audio: {file: /etc/x.wav}\n", "relative", "line 3, audio.file"),
    ],
)
def test_mistakes_are_named_with_their_line(text: bytes, said: str, place: str | None, tmp_path: Path) -> None:
    if place is None:
        clip = read_clip_yaml(text, file="f.yaml", folder=tmp_path)
        assert clip.joints is not None
        assert clip.joints.duration == 1.2, "the stated duration cuts, whatever the last key"
        return
    with pytest.raises(BadInput, match=said) as caught:
        read_clip_yaml(text, file="f.yaml", folder=tmp_path)
    assert (caught.value.file, caught.value.place) == ("f.yaml", place)
