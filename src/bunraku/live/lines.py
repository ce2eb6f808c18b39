"""Frames as lines of JSON, one tick a line, over standard input and output; the websocket speaks the same lines.

A line in is a wish: ``{"t": 1.2, "joints": {"HeadYaw": 0.1}}`` or a list of numbers, one for each joint, in radians. Joints left
out keep their last wanted value; ``{}`` is no wish. A line out is one tick, 1 / rate after the one before:
``{"t": 0.4, "joints": {...}, "status": "ok"}``: the legal frame for the wish of time t (null while the window fills). Over
standard input every line is one tick. Over the websocket the server's clock ticks and messages only change the wish, so however
fast they come no frame leaves sooner than 1 / rate after the last.

What cannot be read is answered with ``"status": "rejected"`` and a ``reason``, and counts as a tick without a wish: the character
holds safely. Nothing that arrives raises an error. The times ``t`` of a sender are his own, from his first frame on; a frame whose
t goes back or leaves a gap is rejected too, and the next one, if it follows on it, sets the clock anew.
"""

from __future__ import annotations

import json
import math
from collections import deque
from contextlib import suppress
from typing import IO, Any

import numpy as np

from bunraku.arrays import Array
from bunraku.performers.speech.stream import SpeechStream, StreamStatus

MAX_LINE = 64 * 1024
"""Longest line or message that is read [bytes]."""

_WORDS = {
    StreamStatus.OK: "ok",
    StreamStatus.PRIMING: "priming",
    StreamStatus.OUT_OF_RANGE_CLAMPED: "clamped",
    StreamStatus.REJECTED_NOT_FINITE: "rejected",
    StreamStatus.REJECTED_SHAPE: "rejected",
    StreamStatus.HELD: "held",
    StreamStatus.WAITING: "waiting",
}


class LineSession:
    """Translates lines into wishes for a stream, and its ticks into lines."""

    def __init__(self, stream: SpeechStream, *, slack: float | None = None) -> None:
        """``slack`` is how far [s] a frame's t may lie from where the ticks say it should; by default 3/4 of a frame."""
        self.stream = stream
        self._names = stream.limits.names
        self._index = {name: j for j, name in enumerate(self._names)}
        self._wanted = stream.out.copy()
        self._fresh = False
        self._reason = ""
        self._clock = _Clock(1.0 / stream.rate, 0.75 / stream.rate if slack is None else slack)
        self._times: deque[float] = deque(maxlen=stream.latency + 1)

    def answer(self, line: str | bytes) -> str:
        """The reply to one line that is one tick; never raises on what arrives."""
        self.receive(line)
        return self.tick()

    def receive(self, line: str | bytes) -> None:
        """Take in one line: the wish of the next tick, or a reason to reject it; never raises on what arrives."""
        try:
            frame, time = self._read(line)
            if time is not None:
                self._clock.take(time)
        except _Refused as refused:
            self._reason = str(refused)
            return
        if frame is not None:
            self._wanted[:] = frame
            self._fresh = True

    def tick(self, *, keep: bool = False) -> str:
        """One tick. Without a new wish the last one is repeated: ``keep`` says that this is as it should be, not a lack."""
        if self._fresh or (keep and not self.stream.waiting):
            status = self.stream.push(self._wanted)
        else:
            status = self.stream.hold()
        reason, self._reason, self._fresh = self._reason, "", False
        return self._line(self.stream.out, "rejected" if reason else _WORDS[status], reason)

    def new_sender(self) -> None:
        """Another sender begins: his first t is not measured against the last one's."""
        self._clock.forget()

    def drain(self) -> list[str]:
        """Lines of the frames still under way when the input has ended."""
        return [self._line(frame, "draining") for frame in self.stream.flush()]

    def _line(self, frame: Array, word: str, reason: str = "") -> str:
        reply: dict[str, Any] = {"t": None, "joints": None, "status": word}
        if not self.stream.waiting:
            self._times.append(self._clock.tick())
            if len(self._times) > self.stream.latency:
                reply["t"] = round(self._times[0], 9)
            reply["joints"] = dict(zip(self._names, frame.tolist(), strict=True))
        if reason:
            reply["reason"] = reason
        return json.dumps(reply)

    def _read(self, line: str | bytes) -> tuple[Array | None, float | None]:
        """The whole wanted frame and its time; None for a tick without a frame."""
        if len(line) > MAX_LINE:
            raise _Refused(f"the line is longer than {MAX_LINE} bytes")
        try:
            value = json.loads(line)
        except (ValueError, RecursionError) as error:
            raise _Refused(f"no JSON: {str(error)[:120]}") from None
        if isinstance(value, list):
            if len(value) != len(self._names):
                raise _Refused(f"the list has {len(value)} numbers; {len(self._names)} are needed")
            return np.array([_finite(item, f"item {j}") for j, item in enumerate(value)]), None
        if not isinstance(value, dict):
            raise _Refused("the line is neither an object nor a list")
        time = None if value.get("t") is None else _finite(value["t"], "t")
        joints = value.get("joints", {})
        if not isinstance(joints, dict):
            raise _Refused('"joints" is no object of name: radians')
        if not joints:
            return None, time
        frame = self._wanted.copy()
        for name, item in joints.items():
            if name not in self._index:
                raise _Refused(f"there is no joint {name[:40]!r}; there are {', '.join(self._names[:12])}")
            frame[self._index[name]] = _finite(item, name)
        if np.isnan(frame).any():
            raise _Refused(f"the first frame must give every joint; {self._names[int(np.isnan(frame).argmax())]} is missing")
        return frame, time


class _Refused(Exception):
    """A line that cannot be used; the message goes back to the sender."""


class _Clock:
    """The time of the sender, as far as the ticks tell: ``due`` is where the t of the next frame should lie.

    A frame off by more than ``slack``, or not later than the last one, is refused; so one stray time does no harm. If the frame
    after it follows on it (the sender paused, or started anew), the clock is set to theirs.
    """

    def __init__(self, step: float, slack: float) -> None:
        self._step, self._slack = step, slack
        self._due = 0.0
        self._last = self._stray = math.nan
        self._stray_due = 0.0

    def forget(self) -> None:
        self._last = self._stray = math.nan

    def take(self, time: float) -> None:
        """Set the clock to the t of a frame, or refuse it."""
        first = math.isnan(self._last)
        follows = time > self._stray and abs(time - self._stray_due) <= self._slack
        if not (first or follows or (time > self._last and abs(time - self._due) <= self._slack)):
            self._stray = self._stray_due = time
            way = "goes back" if time <= self._last else ("leaves a gap" if time > self._due else "comes too early")
            raise _Refused(f"t = {time:g} {way}: about {self._due:g} was due; the pose is held")
        self._last = self._due = time
        self._stray = math.nan

    def tick(self) -> float:
        """The time of this tick; afterwards the next one is due."""
        now = self._due
        self._due += self._step
        self._stray_due += self._step
        return now


def _finite(item: object, what: str) -> float:
    if isinstance(item, bool) or not isinstance(item, (int, float)):
        raise _Refused(f"{what[:40]} is no number")
    try:
        number = float(item)
    except OverflowError:
        raise _Refused(f"{what[:40]} is too large") from None
    if not math.isfinite(number):
        raise _Refused(f"{what[:40]} is not finite")
    return number


def serve_lines(stream: SpeechStream, lines_in: IO[str] | IO[bytes], lines_out: IO[str]) -> int:
    """Answer every line of ``lines_in`` on ``lines_out`` until it ends, then drain; returns the number of lines answered.

    At most 64 KiB of each line are read; ``lines_out`` is flushed after every line.
    """
    session = LineSession(stream)
    count = 0
    while line := _bounded_line(lines_in):
        if line.strip():
            print(session.answer(line), file=lines_out, flush=True)
            count += 1
    for reply in session.drain():
        print(reply, file=lines_out)
    lines_out.flush()
    return count


def _bounded_line(lines: IO[Any]) -> str | bytes:
    """The next line, at most one byte more than allowed of it; the rest of a longer one is read and dropped."""
    line: str | bytes = b"\xff"
    with suppress(UnicodeDecodeError):
        line = rest = lines.readline(MAX_LINE + 1)
        while len(rest) > MAX_LINE and rest[-1:] not in ("\n", b"\n"):
            rest = lines.readline(MAX_LINE + 1)
    return line
