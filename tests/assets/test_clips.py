import re
from pathlib import Path

import numpy as np
import pytest
import yaml

import bunraku.assets
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.mechanics.collision import self_collisions
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import MotionLimits
from bunraku.rhythm.envelope import envelope
from bunraku.rhythm.intensity import with_intensity
from bunraku.rhythm.phrases import find_phrases
from bunraku.rhythm.resample import resampled
from bunraku.rhythm.strokes import gesture_peaks, strokes

FOLDER = Path(bunraku.assets.__file__).parent / "clips"

# clip: character, mood, how its peak velocity stands to the motors' limits at 100 Hz
CLIPS = {
    "no-problem": ("nao", "positive", "mild"),
    "wonderful-surprise": ("nao", "positive", "strong"),
    "well-done": ("nao", "positive", "legal"),
    "hello-everybody": ("nao", "positive", "mild"),
    "not-done-yet": ("nao", "negative", "strong"),
    "stop-it": ("nao", "negative", "strong"),
    "not-my-fault": ("nao", "negative", "mild"),
    "go-away": ("nao", "negative", "mild"),
    "so-tired": ("nao", "negative", "legal"),
    "welcome": ("humanoid", "positive", "mild"),
    "no-way": ("humanoid", "negative", "strong"),
}
CLASSES = {"legal": (0.0, 0.999), "mild": (1.05, 1.3), "strong": (1.6, 2.5)}


@pytest.fixture(scope="module")
def clips():
    return {name: read_clip(name) for name in CLIPS}


@pytest.fixture(scope="module")
def characters():
    return {name: read_character(name) for name in sorted({row[0] for row in CLIPS.values()})}


def test_every_built_in_clip_is_judged_here_and_the_voices_are_small():
    spoken = {name for name in built_in("clip") if read_clip(name).audio is not None} - {"full-show"}  # music: test_full_show.py
    assert spoken == set(CLIPS)
    moods = [mood for character, mood, kind in CLIPS.values() if character == "nao" and kind != "legal"]
    assert moods.count("negative") >= 4
    assert moods.count("positive") >= 2
    assert sum((FOLDER / f"{name}.wav").stat().st_size for name in spoken) < 2_500_000


@pytest.mark.parametrize("name", CLIPS)
def test_motion_and_voice_are_equally_long(clips, name):
    clip = clips[name]
    assert 5.5 <= clip.duration <= 12.0
    assert clip.joints.duration == pytest.approx(clip.audio.duration, abs=1e-9)
    assert clip.audio.rate == 16_000
    assert np.abs(clip.audio.samples).max() <= 0.61
    assert clip.mood == CLIPS[name][1]
    assert "espeak-ng" in clip.source


@pytest.mark.parametrize("name", CLIPS)
def test_words_are_spoken_at_their_times_and_pauses_are_silent(clips, name):
    clip = clips[name]
    loudness = envelope(clip.audio, 200.0, 0.02)
    t = np.arange(len(loudness)) / 200.0
    speech = np.percentile(loudness, 95)
    spoken = np.zeros(len(t), dtype=bool)
    for word in clip.words:
        assert word.end <= clip.audio.duration
        during = (t >= word.start) & (t <= word.end)
        assert loudness[during].max() > 0.4 * speech
        spoken |= (t >= word.start - 0.05) & (t <= word.end + 0.08)
        assert word.stroke is None or word.start <= word.stroke <= word.end + 0.03
    assert all(a.end <= b.start + 1e-9 for a, b in zip(clip.words, clip.words[1:], strict=False))
    assert loudness[~spoken].max() < 0.1 * speech
    for phrase in clip.phrases:
        inside = [w.text for w in clip.words if phrase.start - 1e-9 <= w.start and w.end <= phrase.end + 1e-9]
        assert " ".join(inside).split() == re.findall(r"[A-Za-z']+", phrase.text)


@pytest.mark.parametrize("name", CLIPS)
def test_phrases_found_by_energy_start_and_end_where_the_voice_says(clips, name):
    clip = clips[name]
    found = find_phrases(clip.audio)
    assert len(found) >= len(clip.phrases)
    for phrase in clip.phrases:
        assert min(abs(mark.start - phrase.start) for mark in found) < 0.07
        assert min(abs(mark.end - phrase.end) for mark in found) < 0.07


@pytest.mark.parametrize("name", CLIPS)
def test_gestures_strike_on_their_words(clips, name):
    clip = clips[name]
    struck = [word for word in clip.words if word.stroke is not None]
    assert len(struck) >= 3
    for word, time in zip(struck, strokes(resampled(clip.joints, 100.0), struck), strict=True):
        assert time == pytest.approx(word.stroke, abs=0.05)


@pytest.mark.parametrize("name", CLIPS)
def test_the_wish_breaks_velocity_limits_as_declared_and_no_range(clips, characters, name):
    character, _, kind = CLIPS[name]
    curves = resampled(clips[name].joints, 100.0)
    limits = MotionLimits.of(characters[character]).chosen(curves.names)
    peak = float((np.abs(np.diff(curves.values, axis=0)) * 100.0 / limits.velocity).max())
    low, high = CLASSES[kind]
    assert low <= peak <= high
    assert limits.excess(curves.values, 100.0).count("range") == 0


@pytest.mark.parametrize("name", CLIPS)
def test_limbs_stay_out_of_each_other(clips, characters, name):
    character, curves = characters[CLIPS[name][0]], clips[name].joints
    tree = compile_tree(character)
    report = self_collisions(character, tree, tree.expand(curves.names, curves.values))
    assert report.least_distance > 0.0, report.nearest[:3]


@pytest.mark.parametrize("name", CLIPS)
def test_the_clip_starts_and_ends_at_rest_in_the_same_pose(clips, name):
    x = clips[name].joints.values
    np.testing.assert_allclose(x[0], x[-1], atol=1e-9)
    assert np.abs(np.diff(x[:4], axis=0)).max() < 1e-9


@pytest.mark.parametrize("name", CLIPS)
def test_other_intensities_keep_peaks_and_ranges(clips, characters, name):
    curves = clips[name].joints
    limits = MotionLimits.of(characters[CLIPS[name][0]]).chosen(curves.names)
    neutral, peaks = curves.values[0], gesture_peaks(curves)
    last = np.zeros(len(curves.names))
    for factor in (0.3, 0.65, 1.0, 1.25, 1.5):
        found = with_intensity(curves, factor, neutral, limits.lower, limits.upper)
        travel = np.abs(found.values - neutral).max(axis=0)
        assert (travel >= last - 1e-12).all()
        last = travel
        assert (found.values <= limits.upper + 1e-9).all()
        assert (found.values >= limits.lower - 1e-9).all()
        # prominence is relative, so a peak may join or leave at the threshold: compare the clear ones
        for joint, times in gesture_peaks(found, 0.2).items():
            assert all(np.abs(peaks[joint] - time).min() <= 1.0 / curves.rate + 1e-9 for time in times)


def test_clips_are_what_the_choreography_says():
    """The texts of the clips are those of scripts/choreography.yaml, from which scripts/make_clips.py makes them."""
    book = Path(__file__).resolve().parents[2] / "scripts" / "choreography.yaml"
    if not book.is_file():
        pytest.skip("the choreography is not part of an installed package")
    plans = yaml.safe_load(book.read_text(encoding="utf-8"))["clips"]
    assert set(plans) == set(CLIPS)
    for name, plan in plans.items():
        clip = yaml.safe_load((FOLDER / f"{name}.clip.yaml").read_text(encoding="utf-8"))
        assert [phrase["text"] for phrase in clip["phrases"]] == [row["text"].replace("*", "") for row in plan["say"]]
