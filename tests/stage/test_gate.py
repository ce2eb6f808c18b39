"""The gate alone: who may connect, with which token, and how much may be sent."""

from __future__ import annotations

import asyncio
from types import SimpleNamespace

import pytest

from bunraku.errors import BadInput
from bunraku.stage.gate import MOST_PEERS, Attempts, Gate, Intake, check_token, is_loopback, new_token, shown_token

TOKEN = "s3cret-token_of-a-door"


class Some(dict[str, list[str]]):
    """Headers, each given any number of times."""

    def get_all(self, key: str) -> list[str]:
        return self.get(key, [])


def status(target: str = f"/?token={TOKEN}", *, host: str = "127.0.0.1:8766", origin: tuple[str, ...] = ()) -> int:
    """The status of a refused request, 0 for one that passes."""
    refusal = Gate(TOKEN).refusal(target, Some(Host=[host], Origin=list(origin)), "127.0.0.1")
    return 0 if refusal is None else refusal.status.value


def test_the_token_lets_in() -> None:
    assert status() == 0


@pytest.mark.parametrize(
    "target", ["/", "/?token=", "/?token=wrong", f"/?token={TOKEN}x", f"/?token={TOKEN[:-1]}", f"/?token=x&token={TOKEN}", "//["]
)
def test_a_wrong_token_stays_outside(target: str) -> None:
    assert status(target) == 403


def test_a_token_is_compared_as_a_whole_and_never_raises() -> None:
    gate = Gate(TOKEN)
    assert gate.knows(TOKEN)
    assert not any(gate.knows(shown) for shown in (None, 7, TOKEN.encode(), "", "\udcff", TOKEN.upper(), [TOKEN]))


def test_the_comparison_takes_constant_time(monkeypatch: pytest.MonkeyPatch) -> None:
    compared = []
    monkeypatch.setattr("hmac.compare_digest", lambda a, b: compared.append((a, b)) or True)
    assert Gate(TOKEN).knows("wrong")
    assert compared == [(b"wrong", TOKEN.encode())]


@pytest.mark.parametrize(
    "origin", ["http://evil.example", "null", "file://", "http://127.0.0.1.evil.example", "http://localhost@evil"]
)
def test_a_foreign_origin_stays_outside(origin: str) -> None:
    assert status(origin=(origin,)) == 403


def test_pages_of_this_machine_may_connect_but_say_it_once() -> None:
    for origin in ("http://127.0.0.1:8080", "http://localhost", "https://[::1]:1"):
        assert status(origin=(origin,)) == 0
    assert status(origin=("http://localhost", "http://localhost")) == 403


@pytest.mark.parametrize("host", ["evil.example:8766", "192.168.1.7:8766", "127.0.0.1.evil.example", "127.0.0.1:8766 x", ""])
def test_a_name_that_was_rebound_stays_outside(host: str) -> None:
    assert status(host=host) == 403


def test_a_host_stands_once() -> None:
    gate = Gate(TOKEN)
    assert gate.served_host(Some(Host=["localhost:1"])) == "localhost:1"
    assert gate.served_host(Some()) is None
    assert gate.served_host(Some(Host=["localhost:1", "localhost:1"])) is None


def test_the_own_page_is_the_one_that_this_server_sent() -> None:
    gate = Gate(TOKEN, own_page=True)
    assert not gate.foreign_page(Some(Host=["localhost:1"]))
    assert not gate.foreign_page(Some(Host=["localhost:1"], Origin=["http://localhost:1"]))
    assert gate.foreign_page(Some(Host=["localhost:1"], Origin=["http://localhost:2"]))
    assert gate.foreign_page(Some(Host=["localhost:1"], Origin=["http://127.0.0.1:1"]))


def test_a_token_holds_128_bits() -> None:
    assert len(new_token()) * 6 >= 128
    assert check_token(new_token()) != check_token(new_token())
    assert check_token("0123456789abcdef" * 2) == "0123456789abcdef" * 2
    for weak in ("", TOKEN[:21], "ab" * 20, "abcdefg" * 4, TOKEN + " ", TOKEN + "/", TOKEN + "\n", "ä" * 30, TOKEN * 6):
        with pytest.raises(BadInput, match="22 to 128"):
            check_token(weak)


def tries(gate: Gate, peer: str, *tokens: str) -> list[int]:
    """The status of each attempt of a peer, 0 for one that passes."""
    refusals = [gate.token_refusal(token, peer) for token in tokens]
    return [0 if one is None else one.status.value for one in refusals]


def test_after_thirty_wrong_tokens_a_peer_waits_a_minute() -> None:
    now = [0.0]
    gate = Gate(TOKEN, "0.0.0.0", attempts=Attempts(lambda: now[0]))
    assert tries(gate, "10.0.0.7", *["wrong"] * 29, TOKEN) == [403] * 29 + [0]
    assert tries(gate, "10.0.0.7", "wrong", "wrong", TOKEN) == [403, 429, 429], "no token is looked at any more"
    assert tries(gate, "10.0.0.8", TOKEN, "wrong") == [0, 403], "others are let in"
    now[0] = 59.9
    assert tries(gate, "10.0.0.7", TOKEN) == [429]
    now[0] = 60.0
    assert tries(gate, "10.0.0.7", TOKEN, "wrong") == [0, 403]


def test_on_this_machine_wrong_tokens_keep_nobody_out_who_has_the_right_one() -> None:
    gate = Gate(TOKEN)
    assert tries(gate, "127.0.0.1", *["wrong"] * 31, TOKEN) == [403] * 30 + [429, 0]


def test_peers_that_were_counted_are_bounded() -> None:
    attempts = Attempts()
    for number in range(3 * MOST_PEERS):
        attempts.note(f"2001:db8::{number:x}")
    assert len(attempts._wrong) == MOST_PEERS


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
