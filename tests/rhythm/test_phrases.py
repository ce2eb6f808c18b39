import wave
from itertools import pairwise

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import Audio
from bunraku.rhythm.phrases import find_phrases

RATE = 16_000


def bursts(times, *, noise=0.0, seconds=6.0, loud=0.3):
    """Modulated noise between the given times, over background noise."""
    rng = np.random.default_rng(11)
    t = np.arange(int(seconds * RATE)) / RATE
    samples = noise * rng.normal(size=len(t))
    for start, end in times:
        inside = (t >= start) & (t < end)
        samples[inside] += loud * rng.normal(size=inside.sum()) * (0.75 + 0.25 * np.sin(2 * np.pi * 4 * t[inside]))
    return Audio(np.clip(samples, -1, 1), RATE)


@pytest.mark.parametrize("noise", [0.0, 0.003])
def test_bursts_are_found_at_their_times(noise):
    times = [(0.5, 1.4), (1.9, 2.6), (3.5, 5.2)]
    found = find_phrases(bursts(times, noise=noise))
    assert len(found) == 3
    for mark, (start, end) in zip(found, times, strict=True):
        assert mark.start == pytest.approx(start, abs=0.025)
        assert mark.end == pytest.approx(end, abs=0.025)


def test_a_short_pause_does_not_part_a_phrase_and_a_long_one_does():
    times = [(0.5, 1.4), (1.52, 2.6)]
    assert len(find_phrases(bursts(times))) == 1
    assert len(find_phrases(bursts(times), minimal_pause=0.05)) == 2


def test_a_click_is_no_phrase():
    assert len(find_phrases(bursts([(0.5, 1.4), (3.0, 3.03)]))) == 1


def test_loudness_does_not_matter():
    times = [(0.5, 1.4), (1.9, 2.6)]
    loud, soft = find_phrases(bursts(times, loud=0.3)), find_phrases(bursts(times, loud=0.01))
    assert [mark.start for mark in loud] == pytest.approx([mark.start for mark in soft], abs=0.011)


def test_silence_has_no_phrase():
    assert find_phrases(Audio(np.zeros(RATE), RATE)) == ()
    assert find_phrases(Audio(np.zeros(0), RATE)) == ()


def test_hysteresis_the_wrong_way_round_is_refused():
    with pytest.raises(BadInput, match="closes"):
        find_phrases(Audio(np.zeros(RATE), RATE), opens=0.3, closes=0.6)


@pytest.mark.shared
def test_an_address_parts_at_its_pauses(data):
    with wave.open(str(data / "jfk.wav")) as file:
        rate, samples = file.getframerate(), np.frombuffer(file.readframes(file.getnframes()), "<i2") / 32768.0
    audio = Audio(samples, rate)
    found = find_phrases(audio)
    # "And so my fellow Americans - ask not - what your country can do for you - ask what you can do for your country"
    assert 4 <= len(found) <= 7
    pauses = [b.start - a.end for a, b in pairwise(found)]
    assert min(pauses) >= 0.2 - 0.011
    assert max(pauses) > 0.5
    level = np.concatenate([samples[int(m.start * rate) : int(m.end * rate)] for m in found])
    spoken = sum(m.end - m.start for m in found)
    assert 0.5 < spoken / audio.duration < 0.9
    assert (level**2).sum() > 0.95 * (samples**2).sum()
