"""The gate alone: who may connect, and how much may be sent."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from bunraku.stage.gate import Gate, Intake, is_loopback, shown_token

TOKEN = "s3cret-token"


class Some(dict[str, list[str]]):
    """Headers, each given any number of times."""

    def get_all(self, key: str) -> list[str]:
        return self.get(key, [])


def status(target: str = f"/?token={TOKEN}", *, host: str = "127.0.0.1:8766", origin: tuple[str, ...] = (), **options: bool) -> int:
    """The status of a refused request, 0 for one that passes."""
    refusal = Gate(TOKEN).refusal(target, Some(Host=[host], Origin=list(origin)), **options)
    return 0 if refusal is None else refusal.status.value


def test_the_token_lets_in() -> None:
    assert status() == 0


@pytest.mark.parametrize(
    "target", ["/", "/?token=", "/?token=wrong", f"/?token={TOKEN}x", f"/?token={TOKEN[:-1]}", f"/?token=x&token={TOKEN}", "//["]
)
def test_a_wrong_token_stays_outside(target: str) -> None:
    assert status(target) == 403
    assert status(target, token_may_follow=True) == 0, "who asks for it later says so"


def test_a_token_is_compared_as_a_whole_and_never_raises() -> None:
    gate = Gate(TOKEN)
    assert gate.knows(TOKEN)
    assert not any(gate.knows(shown) for shown in (None, 7, b"s3cret-token", "", "\udcff", TOKEN.upper(), [TOKEN]))


def test_the_comparison_takes_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((a, b)) or True)
    assert Gate(TOKEN).knows("wrong")
    assert compared == [(b"wrong", TOKEN.encode())]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "file://", "http://127.0.0.1.evil.example", "http://localhost@evil"]
)
@pytest.mark.parametrize("may_follow", [False, True])
def test_a_foreign_origin_stays_outside(origin: str, may_follow: bool) -> None:
    assert status(origin=(origin,), token_may_follow=may_follow) == 403


def test_pages_of_this_machine_may_connect_but_say_it_once() -> None:
    for origin in ("http://127.0.0.1:8080", "http://localhost", "https://[::1]:1"):
        assert status(origin=(origin,)) == 0
    assert status(origin=("http://localhost", "http://localhost")) == 403


@pytest.mark.parametrize("host", ["evil.example:8766", "192.168.1.7:8766", "127.0.0.1.evil.example", "127.0.0.1:8766 x", ""])
@pytest.mark.parametrize("may_follow", [False, True])
def test_a_name_that_was_rebound_stays_outside(host: str, may_follow: bool) -> None:
    assert status(host=host, token_may_follow=may_follow) == 403


def test_a_host_stands_once() -> None:
    gate = Gate(TOKEN)
    assert gate.served_host(Some(Host=["localhost:1"])) == "localhost:1"
    assert gate.served_host(Some()) is None
    assert gate.served_host(Some(Host=["localhost:1", "localhost:1"])) is None


def test_which_hosts_are_loopback() -> None:
    assert all(is_loopback(host) for host in ("127.0.0.1", "127.8.8.8", "localhost", "::1"))
    assert not any(is_loopback(host) for host in ("0.0.0.0", "::", "10.0.0.1", "robot.lan", ""))


def test_several_tokens_are_none() -> None:
    assert shown_token("/?token=a") == "a"
    assert shown_token("/?token=a&token=a") is None
    assert shown_token("/?" + "&".join(["token=a"] * 9)) is None


def test_what_is_too_large_is_refused_and_all_that_follows() -> None:
    intake = Intake(Gate(TOKEN, largest=5), clock=lambda: 0.0)
    assert intake.refusal("12345") is None
    assert intake.refusal(b"123456") == "a message is larger than 5 bytes"
    assert intake.refusal("1") is not None


def test_what_comes_too_fast_is_refused() -> None:
    now = [0.0]
    intake = Intake(Gate(TOKEN, per_second=10.0), clock=lambda: now[0])
    for _ in range(200):  # at the rate it may go on for ever
        assert intake.refusal("x") is None
        now[0] += 0.1
    assert [intake.refusal("x") for _ in range(10)] == [None] * 10, "a second's worth at once"
    assert intake.refusal("x") == "more than 10 messages a second"
    now[0] += 60.0
    assert intake.refusal("x") is not None, "it is sent away, not slowed down"


def test_a_client_that_is_too_fast_is_sent_away() -> None:
    class Gone(Exception):
        pass

    async def scene() -> None:
        messages, closed = ["a", "b", "c", "d"], []

        async def recv() -> str:
            if not messages:
                raise Gone
            return messages.pop(0)

        async def close(code: int, reason: str) -> None:
            closed.append((code, reason))

        connection = SimpleNamespace(recv=recv, close=close)
        intake = Intake(Gate(TOKEN, per_second=2.0), clock=lambda: 0.0)
        assert [await intake.receive(connection), await intake.receive(connection)] == ["a", "b"]
        with pytest.raises(Gone):
            await intake.receive(connection)
        assert set(closed) == {(1008, "more than 2 messages a second")}

    asyncio.run(scene())
