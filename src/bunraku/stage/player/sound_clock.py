"""The sound card as the master clock: what has been heard is what time it is."""

from __future__ import annotations

import threading
import time
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.motion import Audio
from bunraku.stage.player.clock import Clock, MonotonicClock

FIRST_BLOCK = 2.0
"""How long a card may take for its first block [s]."""


class SoundCardClock(Clock):
    """Plays sounds through the default output and tells the time by the samples that have left it.

    The stream has the ``rate`` [Hz] asked for, or the card's own where the card does not take that. All sounds are converted to it,
    those that were prepared before the start. The time of a block is when its first sample reaches the converter, as the card
    states it.
    """

    def __init__(self, rate: float) -> None:
        self._device: Any = _sounddevice()
        try:
            self._stream, self._rate = self._opened(rate)
            named = str(self._device.query_devices(self._stream.device)["name"])
        except Exception as error:
            raise _trouble(f"cannot be opened ({str(error)[:120]})") from error
        self.name = f"the sound card {named[:60]!r} at {self._rate:g} Hz"
        self._lock = threading.Lock()
        self._done = 0
        self._last = (0.0, 0.0)
        self._sounds: list[tuple[int, NDArray[np.float32]]] = []
        self._ready: dict[int, tuple[Audio, NDArray[np.float32]]] = {}

    def _opened(self, rate: float) -> tuple[Any, float]:
        """A stream at ``rate`` [Hz], or at the card's own; and which it is."""

        def stream(at: float) -> Any:
            return self._device.OutputStream(
                samplerate=at, channels=1, dtype="float32", blocksize=256, latency="low", callback=self._fill
            )

        try:
            return stream(rate), rate
        except Exception:
            own = float(self._device.query_devices(None, "output")["default_samplerate"])
            if own == rate:
                raise
            return stream(own), own

    def _fill(self, out: Any, frames: int, times: Any, status: Any) -> None:
        """One block for the card: the sum of the sounds that fall into it."""
        begin = self._done
        out.fill(0.0)
        with self._lock:
            for first, samples in self._sounds:
                a, b = max(first, begin), min(first + len(samples), begin + frames)
                if a < b:
                    out[a - begin : b - begin, 0] += samples[a - first : b - first]
        np.clip(out, -1.0, 1.0, out=out)
        ahead = max(times.outputBufferDacTime - times.currentTime, 0.0)  # cards that state no time state 0
        self._last = (time.monotonic() + ahead, begin / self._rate)
        self._done = begin + frames

    def prepare(self, audio: Audio) -> None:
        """Convert a sound, once."""
        if id(audio) not in self._ready:
            self._ready[id(audio)] = audio, self._converted(audio)

    def start(self) -> None:
        """Open the stream and wait for its first block."""
        self._last = (time.monotonic(), 0.0)
        try:
            self._stream.start()
        except Exception as error:
            raise _trouble(f"cannot be started ({str(error)[:120]})") from error
        until = time.monotonic() + FIRST_BLOCK
        while self._done == 0:
            if time.monotonic() > until:
                raise _trouble(f"played nothing for {FIRST_BLOCK:g} s")
            time.sleep(0.002)

    def reading(self) -> tuple[float, float]:
        """The last block given to the card."""
        return self._last

    def sound(self, audio: Audio, at: float) -> None:
        """Let a sound begin at the show time ``at``."""
        _, samples = self._ready.get(id(audio)) or (audio, self._converted(audio))
        with self._lock:
            self._sounds = [one for one in self._sounds if one[0] + len(one[1]) > self._done]
            self._sounds.append((round(at * self._rate), samples))

    def _converted(self, audio: Audio) -> NDArray[np.float32]:
        samples = np.asarray(audio.samples, dtype=np.float32)
        if audio.rate == self._rate:
            return samples
        count = int(audio.duration * self._rate)
        return np.interp(np.arange(count) / self._rate, np.arange(len(samples)) / audio.rate, samples).astype(np.float32)

    def silence(self) -> None:
        """Drop every sound."""
        with self._lock:
            self._sounds = []

    def stop(self) -> None:
        """Silence at once."""
        self._stream.abort()
        self._stream.close()


def _trouble(what: str) -> BunrakuError:
    return BunrakuError(f"the sound card {what}; play without: --clock monotonic")


def _sounddevice() -> Any:
    try:
        import sounddevice
    except ImportError as error:
        raise MissingExtra("sounddevice", "sound", "playing the voice") from error
    except OSError as error:
        raise BunrakuError(f"the sound library cannot be loaded ({str(error)[:120]}); install PortAudio") from error
    return sounddevice


def master_clock(rate: float | None) -> tuple[Clock, str]:
    """The sound card at ``rate`` [Hz], or its own, if it can be opened and something is to be heard; else the computer's; why."""
    if rate is None:
        return MonotonicClock(), ""
    try:
        return SoundCardClock(rate), ""
    except BunrakuError as error:
        return MonotonicClock(), str(error)
