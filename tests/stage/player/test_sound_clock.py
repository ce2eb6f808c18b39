"""The sound card as the master clock, with a card of ours in the place of the real library: every sample counted."""

from __future__ import annotations

import sys
import time
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.motion import Audio
from bunraku.stage.player import sound_clock
from bunraku.stage.player.clock import MonotonicClock
from bunraku.stage.player.sound_clock import SoundCardClock, master_clock

RATE, BLOCK, LATENCY = 8_000.0, 80, 0.02


class Card:
    """A stream of blocks that are asked for one by one; ``heard`` is what came out."""

    def __init__(self, **options: Any) -> None:
        self.options, self.device, self.heard, self.ended = options, 0, np.zeros(0), False

    def start(self) -> None:
        self.block()

    def block(self) -> None:
        out = np.full((BLOCK, 1), 9.0, dtype=np.float32)
        self.options["callback"](out, BLOCK, SimpleNamespace(currentTime=5.0, outputBufferDacTime=5.0 + LATENCY), None)
        self.heard = np.append(self.heard, out[:, 0])

    def abort(self) -> None:
        self.ended = True

    def close(self) -> None:
        pass


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> SoundCardClock:
    module = SimpleNamespace(OutputStream=Card, query_devices=lambda device: {"name": "brass"})
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    return SoundCardClock(RATE)


def test_sounds_begin_at_their_sample_and_add_up(clock: SoundCardClock) -> None:
    card = clock._stream
    clock.start()
    clock.sound(Audio(np.full(100, 0.5), RATE), 0.02)
    clock.sound(Audio(np.full(10, 0.25), RATE), 0.0225)
    for _ in range(4):
        card.block()
    expected = np.zeros(400)
    expected[160:260] = 0.5
    expected[180:190] += 0.25
    np.testing.assert_allclose(card.heard, expected, atol=1e-7)


def test_the_time_is_that_of_the_samples_that_left(clock: SoundCardClock) -> None:
    clock.start()
    for k in range(1, 5):
        before = time.monotonic()
        clock._stream.block()
        moment, shown = clock.reading()
        assert shown == pytest.approx(k * BLOCK / RATE)
        assert before + LATENCY <= moment <= time.monotonic() + LATENCY
    assert clock.name == "the sound card 'brass' at 8000 Hz"


def test_another_rate_is_converted_too_loud_is_cut_and_silence_is_silence(clock: SoundCardClock) -> None:
    clock.start()
    clock.sound(Audio(np.sin(2.0 * np.pi * 100.0 * np.arange(4410) / 44_100.0), 44_100.0), 0.01)
    for _ in range(3):
        clock._stream.block()
    found = clock._stream.heard[80:320]
    np.testing.assert_allclose(found, np.sin(2.0 * np.pi * 100.0 * np.arange(240) / RATE), atol=2e-3)
    clock.sound(Audio(np.ones(8000), RATE), 0.0)
    clock._stream.block()
    assert clock._stream.heard.max() == 1.0
    clock.silence()
    clock._stream.block()
    assert not clock._stream.heard[-BLOCK:].any()
    clock.stop()
    assert clock._stream.ended


def test_what_was_made_ready_is_not_converted_again(clock: SoundCardClock, monkeypatch: pytest.MonkeyPatch) -> None:
    voice = Audio(np.sin(2.0 * np.pi * 100.0 * np.arange(4410) / 44_100.0), 44_100.0)
    clock.prepare(voice)
    clock.start()

    def never(*_: Any) -> None:
        raise AssertionError("converted while the show runs")

    monkeypatch.setattr(sound_clock.np, "interp", never)
    monkeypatch.setattr(sound_clock.np, "asarray", never)
    for at in (0.01, 0.13):
        clock.sound(voice, at)
    for _ in range(24):
        clock._stream.block()
    heard = clock._stream.heard
    np.testing.assert_allclose(heard[80:880], np.sin(2.0 * np.pi * 100.0 * np.arange(800) / RATE), atol=2e-3)
    np.testing.assert_array_equal(heard[1040:1840], heard[80:880])


def test_without_the_library_or_anything_to_hear_the_computers_clock_is_used(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sounddevice", None)
    with pytest.raises(MissingExtra, match=r'pip install "bunraku\[sound\]"'):
        SoundCardClock(RATE)
    found, why = master_clock(RATE)
    assert isinstance(found, MonotonicClock)
    assert "sounddevice" in why
    found, why = master_clock(None)
    assert isinstance(found, MonotonicClock)
    assert why == ""


def test_a_card_that_does_not_take_the_rate_of_the_voice_plays_it_at_its_own(monkeypatch: pytest.MonkeyPatch) -> None:
    """As cards of 44.1 and 48 kHz do with the 16 kHz of the built-in voices: the voice is heard, in time, at its pitch."""
    own, voice = 48_000.0, 16_000.0

    class Choosy(Card):
        def __init__(self, **options: Any) -> None:
            if options["samplerate"] != own:
                raise ValueError("Invalid sample rate [PaErrorCode -9997]")
            super().__init__(**options)

    def query(device: int | None = None, kind: str | None = None) -> dict[str, Any]:
        assert (device, kind) in ((None, "output"), (0, None))
        return {"name": "brass", "default_samplerate": own}

    monkeypatch.setitem(sys.modules, "sounddevice", SimpleNamespace(OutputStream=Choosy, query_devices=query))
    clock, why = master_clock(voice)
    assert why == ""
    assert isinstance(clock, SoundCardClock)
    assert clock.name == "the sound card 'brass' at 48000 Hz"
    tone = Audio(0.5 * np.sin(2.0 * np.pi * 400.0 * np.arange(1600) / voice), voice)
    clock.prepare(tone)
    clock.start()
    clock.sound(tone, 0.01)
    for _ in range(63):
        clock._stream.block()
    heard = clock._stream.heard
    assert not heard[:480].any()
    np.testing.assert_allclose(heard[480:5040], 0.5 * np.sin(2.0 * np.pi * 400.0 * np.arange(4560) / own), atol=2e-3)
    assert clock.reading()[1] == pytest.approx(63 * BLOCK / own)


def test_a_card_that_takes_no_rate_is_told_of(monkeypatch: pytest.MonkeyPatch) -> None:
    def refused(**_: Any) -> None:
        raise ValueError("Device unavailable")

    module = SimpleNamespace(
        OutputStream=refused, query_devices=lambda device, kind: {"name": "brass", "default_samplerate": 44_100.0}
    )
    monkeypatch.setitem(sys.modules, "sounddevice", module)
    clock, why = master_clock(RATE)
    assert isinstance(clock, MonotonicClock)
    assert "Device unavailable" in why


def test_a_card_that_does_not_start_is_told_of(clock: SoundCardClock, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sound_clock, "FIRST_BLOCK", 0.01)
    clock._stream.start = lambda: None
    with pytest.raises(BunrakuError, match="played nothing"):
        clock.start()

    def broken() -> None:
        raise RuntimeError("device unavailable")

    clock._stream.start = broken
    with pytest.raises(BunrakuError, match="device unavailable"):
        clock.start()


def test_a_card_that_states_no_times_is_taken_to_play_at_once(clock: SoundCardClock) -> None:
    out = np.zeros((BLOCK, 1), dtype=np.float32)
    before = time.monotonic()
    clock._fill(out, BLOCK, SimpleNamespace(currentTime=5.0, outputBufferDacTime=0.0), None)
    assert before <= clock.reading()[0] <= time.monotonic()
