"""What a connection to Dask answers when results get lost on the way."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from bunraku.batch.cluster import Answer, Cluster, in_the_open


class Future:
    """A future of Dask that a test sets; its exception is waited for in vain."""

    def __init__(self) -> None:
        self.status = "pending"
        self.error: BaseException = TimeoutError()

    def add_done_callback(self, call: Callable[[Future], None]) -> None:
        self.ended = lambda: call(self)

    def exception(self, timeout: float) -> BaseException:
        if isinstance(self.error, TimeoutError):
            raise self.error
        return self.error


class Client:
    status = "running"

    def __init__(self) -> None:
        self.futures: list[Future] = []

    def subscribe_topic(self, *_: object) -> None:
        pass

    def submit(self, *_: Any, **__: Any) -> Future:
        self.futures.append(Future())
        return self.futures[-1]


@pytest.mark.parametrize(
    ("status", "error", "accident"),
    [
        ("lost", TimeoutError(), "its result was lost"),
        ("pending", TimeoutError(), "its result was lost"),
        ("error", TimeoutError(), "its result was lost (TimeoutError)"),
        ("error", ValueError("bad\nluck"), "ValueError: bad luck"),
    ],
)
def test_a_worker_that_dies_after_its_work_is_an_accident(status: str, error: BaseException, accident: str) -> None:
    """Dask loses the result and begins anew by itself; nobody waits for that, for the run is sent again."""
    client = Client()
    cluster = Cluster(client)
    cluster.send({"key": "ab"})
    (future,) = client.futures
    future.status, future.error = status, error
    future.ended()
    assert cluster.answer(1.0) == Answer("ab", None, accident)
    assert not cluster._futures


@pytest.mark.parametrize(
    ("address", "open_way"),
    [
        ("tcp://127.0.0.1:8786", False),
        ("tcp://localhost:8786", False),
        ("tcp://[::1]:8786", False),
        ("tcp://10.0.0.7:8786", True),
        ("ws://machine:8786", True),
        ("tls://machine:8786", False),
        ("wss://machine:8786", False),
    ],
)
def test_a_way_to_another_machine_without_tls_is_in_the_open(address: str, open_way: bool) -> None:
    assert in_the_open(address) is open_way
