"""The curves of a replay: in the character's own coordinates, from the first sample of the performance, ended where it was lost."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest

pytest.importorskip("mujoco")

from bunraku.formats.registry import read_character, read_clip
from bunraku.performers.speech.performer import SpeechPerformer
from bunraku.verification.verify import verify


@pytest.fixture(scope="module")
def spoken():
    """A performance of servos and its verdict."""
    performance = SpeechPerformer().perform(read_character("nao"), read_clip("no-problem"))
    return performance, verify(performance)


def test_servos_are_followed_from_the_first_sample_on(spoken):
    performance, verdict = spoken
    curves = verdict.replay.motion
    assert curves.rate == performance.rate
    assert len(curves.values) >= len(performance.motion.values)
    told = performance.positions()
    n = len(told.values)
    apart = [curves.column(name)[:n] - told.column(name) for name in told.names]
    assert np.sqrt(np.mean(np.square(apart))) < 0.1
    moving = max(told.names, key=lambda name: np.ptp(told.column(name)))
    shifted = np.roll(told.column(moving), n // 4)
    assert np.std(curves.column(moving)[:n] - told.column(moving)) < 0.5 * np.std(curves.column(moving)[:n] - shifted)


def test_of_a_replay_that_fell_before_the_first_sample_there_are_none(spoken):
    _, verdict = spoken
    replay = verdict.replay.usual
    before = replay.times < -0.5 / replay.coordinates.rate
    cut = replace(replay.coordinates, values=replay.coordinates.values[before])
    assert replace(replay, times=replay.times[before], coordinates=cut).motion is None
