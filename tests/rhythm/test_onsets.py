"""Onsets: sharp starts are found to the sample, soft ones and what goes on are not."""

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip
from bunraku.motion import Audio
from bunraku.rhythm.onsets import onsets

RATE = 16_000


def cracks(times, *, seconds=4.0, tone=0.0):
    """Bursts of noise that die in 20 ms, over a tone."""
    rng = np.random.default_rng(5)
    t = np.arange(int(seconds * RATE)) / RATE
    samples = tone * np.clip(t / 0.3, 0.0, 1.0) * np.sin(2 * np.pi * 220.0 * t)
    for time in times:
        after = t >= time
        samples[after] += 0.5 * np.exp(-(t[after] - time) / 0.02) * rng.uniform(-1.0, 1.0, after.sum())
    return Audio(np.clip(samples, -1.0, 1.0), RATE)


@pytest.mark.parametrize("tone", [0.0, 0.2])
def test_cracks_are_found_where_they_start(tone):
    times = [0.5, 0.75, 1.6, 2.9]
    found = onsets(cracks(times, tone=tone))
    np.testing.assert_allclose(found, times, atol=0.002)


def test_soft_starts_and_silence_are_none():
    t = np.arange(2 * RATE) / RATE
    swell = np.clip(t / 0.5, 0.0, 1.0) * np.sin(2 * np.pi * 330.0 * t)
    assert onsets(Audio(swell, RATE)).size == 0
    assert onsets(Audio(np.zeros(RATE), RATE)).size == 0
    assert onsets(Audio(np.zeros(5), RATE)).size == 0


def test_of_two_that_are_near_the_steeper_counts():
    found = onsets(cracks([1.0, 1.05]), apart=0.2)
    assert found.tolist() == pytest.approx([1.0], abs=0.002)


def test_a_wrong_window_is_refused():
    with pytest.raises(BadInput, match="window up to 1"):
        onsets(cracks([1.0]), window=2.0)


def test_the_beats_of_the_show_are_where_its_drums_are_heard():
    """Every hit has an onset within 5 ms; after the count, every onset is a hit."""
    clip = read_clip("full-show")
    beats = np.unique([mark.stroke for mark in clip.phrases])
    found = onsets(clip.audio)
    counted = found[found < clip.words[-1].end]
    drums = found[found >= clip.words[-1].end]
    assert len(counted) >= 4
    assert len(drums) == len(beats)
    np.testing.assert_allclose(drums, beats, atol=0.005)
