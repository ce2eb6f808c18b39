"""One worker as the studio sees it: a process with a pipe each way, threads that listen, and how it ended, in words."""

from __future__ import annotations

import contextlib
import os
import subprocess
import sys
import threading
import time
from collections import deque
from collections.abc import Callable
from typing import Any

from bunraku.errors import BadInput
from bunraku.optimization.threads import ONE_THREAD
from bunraku.studio.jobs.protocol import decode, encode, read_line
from bunraku.system.processes import apart
from bunraku.system.signals import name_of

KEPT_LINES = 50
"""Lines of the worker's stderr that are kept for messages."""

PROGRAM = ("-P", "-m", "bunraku.studio.jobs.worker")
"""Without the current folder among the places that modules come from: a project folder holds data."""


class WorkerProcess:
    """A running worker. ``on_message`` gets each of its messages, ``on_end`` is called once when it is gone; both from a thread."""

    def __init__(self, on_message: Callable[[dict[str, Any]], None], on_end: Callable[[WorkerProcess], None]) -> None:
        self._on_message, self._on_end = on_message, on_end
        self._writing = threading.Lock()
        self._errors: deque[str] = deque(maxlen=KEPT_LINES)
        self.heard = time.monotonic()
        environment = {**os.environ, **ONE_THREAD, "PYTHONUNBUFFERED": "1"}
        try:  # Ctrl-C in a terminal is for the studio, which ends the worker
            self._process = subprocess.Popen(  # noqa: S603 (our own words)
                [sys.executable, *PROGRAM],
                stdin=subprocess.PIPE,
                stdout=subprocess.PIPE,
                stderr=subprocess.PIPE,
                env=environment,
                **apart(),
            )
        except OSError as error:
            raise BadInput(f"no solver process could be started ({error.strerror}); close other programs and try again") from error
        self._listeners = [threading.Thread(target=work, daemon=True) for work in (self._listen, self._listen_to_errors)]
        for thread in reversed(self._listeners):  # who waits for the other is started last
            thread.start()

    @property
    def pid(self) -> int:
        """The number of the process."""
        return self._process.pid

    @property
    def alive(self) -> bool:
        """Whether the process runs."""
        return self._process.poll() is None

    @property
    def errors(self) -> tuple[str, ...]:
        """The last lines that it wrote to stderr."""
        return tuple(self._errors)

    def send(self, message: dict[str, Any]) -> bool:
        """Tell the worker something; False when it is gone."""
        line = encode(message)
        pipe = self._process.stdin
        try:
            with self._writing:
                if pipe is None:
                    return False
                pipe.write(line)
                pipe.flush()
        except (OSError, ValueError):
            return False
        return True

    def end(self, *, patience: float = 2.0) -> None:
        """Close its stdin, upon which it ends by itself; after ``patience`` [s] it is ended."""
        with contextlib.suppress(OSError, ValueError), self._writing:
            if self._process.stdin is not None:
                self._process.stdin.close()
        try:
            self._process.wait(patience)
        except subprocess.TimeoutExpired:
            self.kill()

    def kill(self) -> None:
        """End the process at once."""
        with contextlib.suppress(OSError):
            self._process.kill()
        with contextlib.suppress(subprocess.TimeoutExpired):
            self._process.wait(5.0)

    @property
    def ended(self) -> str:
        """How it ended, in words; empty while it runs."""
        code = self._process.poll()
        if code is None:
            return ""
        if code >= 0:
            return f"it ended with code {code}"
        name = name_of(-code)
        likely = " (often: no memory was left)" if name == "SIGKILL" else ""
        return f"it was ended by {name}{likely}"

    def _listen(self) -> None:
        pipe = self._process.stdout
        with contextlib.suppress(OSError, ValueError):
            while pipe is not None and (line := read_line(pipe)) is not None:
                message = decode(line)
                if message is None:
                    self._errors.append(line[:200].decode(errors="replace").strip() or "a line that was too long")
                    continue
                self.heard = time.monotonic()
                self._on_message(message)
        self._process.wait()
        self._listeners[1].join(1.0)
        for stream in (self._process.stdout, self._process.stderr):
            with contextlib.suppress(OSError, ValueError):
                if stream is not None:
                    stream.close()
        self._on_end(self)

    def _listen_to_errors(self) -> None:
        pipe = self._process.stderr
        with contextlib.suppress(OSError, ValueError):
            while pipe is not None and (line := read_line(pipe)) is not None:
                text = line[:500].decode(errors="replace").rstrip()
                if text:
                    self._errors.append(text)
