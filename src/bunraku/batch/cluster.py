"""A Dask scheduler that runs already. What comes back waits in a queue.

Between client, scheduler and workers Dask speaks a protocol of its own, with pickle in it, both ways: whoever can reach the port of
a scheduler without TLS can run programs on its workers, and who runs the scheduler or a worker can run programs here. Give
``--scheduler`` only what is trusted. Workers of this machine need no Dask: `bunraku.batch.processes`.
"""

from __future__ import annotations

import contextlib
import importlib.util
import logging
import queue
import secrets
import time
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlsplit

from bunraku.batch.working import BEGAN, carry_out
from bunraku.errors import BadInput, MissingExtra
from bunraku.stage.gate import is_loopback

CONNECT = 10.0
"""Time [s] in which a scheduler must answer."""


class NoScheduler(Exception):
    """Nobody answers at the address of the scheduler."""


class Lost(Exception):
    """The scheduler is gone; what was under way must be asked for again."""


@dataclass(frozen=True)
class Answer:
    """What came of a job: its ``result``, or the ``accident`` that befell the worker."""

    key: str
    result: dict[str, Any] | None
    accident: str = ""


def checked_address(address: str) -> str:
    """The address of a scheduler, if it is one."""
    parts = urlsplit(address)
    try:
        port = parts.port
    except ValueError:
        port = None
    if parts.scheme not in ("tcp", "tls", "ws", "wss", "ucx") or not parts.hostname or port is None:
        raise BadInput(f"--scheduler takes an address such as tcp://127.0.0.1:8786; {address!r} arrived")
    return address


def in_the_open(address: str) -> bool:
    """Whether others than this machine may reach a scheduler, and nothing between it and us is encrypted."""
    parts = urlsplit(address)
    return parts.scheme not in ("tls", "wss") and not is_loopback(str(parts.hostname))


def need_dask() -> None:
    """Dask, or an error that says how to install it."""
    if importlib.util.find_spec("distributed") is None:
        raise MissingExtra("distributed", "batch", "a batch on a Dask scheduler (workers of this machine need none)")


def _distributed() -> Any:
    need_dask()
    import distributed

    for name in ("distributed", *(one for one in logging.root.manager.loggerDict if one.startswith("distributed."))):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # what matters is in the table; a killed worker is no traceback
    return distributed


class Cluster:
    """A connection to a scheduler: jobs in, answers out, in any order."""

    def __init__(self, client: Any) -> None:
        self._client = client
        self._session = secrets.token_hex(4)
        self._futures: dict[str, Any] = {}
        self._began: dict[str, tuple[float, str]] = {}
        self._ended: queue.SimpleQueue[tuple[str, Any]] = queue.SimpleQueue()
        self._threads, self._asked = 0, -1.0
        self._count = 0
        client.subscribe_topic(BEGAN, self._note)

    def _note(self, event: Any) -> None:
        message = event[1]
        if isinstance(message, dict) and message.get("key") in self._futures:
            self._began[message["key"]] = (time.monotonic(), str(message.get("worker")))

    @property
    def threads(self) -> int:
        """How many jobs can be worked on at once; asked of the scheduler every second."""
        if time.monotonic() - self._asked > 1.0:
            try:
                self._threads = sum(self._client.nthreads().values())
            except Exception as error:  # whatever Dask calls it
                raise Lost from error
            self._asked = time.monotonic()
        return self._threads

    def send(self, job: dict[str, Any]) -> None:
        """Ask for a run."""
        key = job["key"]
        self._count += 1
        name = f"bunraku-{key[:16]}-{self._session}-{self._count}"
        try:
            future = self._client.submit(carry_out, job, key=name, pure=False)
        except Exception as error:
            raise Lost from error
        self._futures[key] = future
        future.add_done_callback(lambda ended: self._ended.put((key, ended)))

    def answer(self, seconds: float) -> Answer | None:
        """The next answer, if one comes within ``seconds``; Lost when the scheduler is gone."""
        try:
            key, future = self._ended.get(timeout=seconds)
        except queue.Empty:
            if self._client.status != "running":
                raise Lost from None
            return None
        if key not in self._futures or self._futures[key] is not future:
            return None  # it was given up
        if future.status == "cancelled" or self._client.status != "running":
            raise Lost
        del self._futures[key]
        self._began.pop(key, None)
        try:
            if future.status == "finished":
                return Answer(key, future.result(timeout=60))
            if future.status == "error":
                return Answer(key, None, _accident(future.exception(timeout=10)))
        except Exception as error:  # the worker that held it is gone
            return Answer(key, None, f"its result was lost ({type(error).__name__})")
        return Answer(key, None, "its result was lost")  # Dask begins anew by itself, but whoever asked does so too

    def overdue(self, seconds: float) -> list[str]:
        """The keys of runs that began more than ``seconds`` ago; their workers are started anew, nobody waits for them."""
        late = [key for key, (began, _) in list(self._began.items()) if time.monotonic() - began > seconds and key in self._futures]
        for key in late:
            future, (_, worker) = self._futures.pop(key), self._began.pop(key)
            with contextlib.suppress(Exception):
                future.cancel(force=True)
            with contextlib.suppress(Exception):
                self._client.restart_workers([worker], timeout=30, raise_for_error=False)
        return late

    def close(self) -> None:
        """Give up what is under way and part."""
        with contextlib.suppress(Exception):
            if self._futures and self._client.status == "running":
                self._client.cancel(list(self._futures.values()), force=True)
        self._futures.clear()
        with contextlib.suppress(Exception):
            self._client.close(timeout=5)


def _accident(error: BaseException | None) -> str:
    kind = type(error).__name__
    if kind == "KilledWorker":
        return "its worker died, again and again"
    return " ".join(f"{kind}: {error}".split())[:300]


@dataclass(frozen=True)
class RemoteScheduler:
    """A scheduler that runs already."""

    address: str

    def connect(self) -> Cluster:
        """Connect to it; NoScheduler if nobody answers."""
        distributed = _distributed()
        try:
            client = distributed.Client(self.address, set_as_default=False, timeout=CONNECT, name="bunraku-batch")
        except (OSError, TimeoutError) as error:
            raise NoScheduler(str(error)) from error
        return Cluster(client)
