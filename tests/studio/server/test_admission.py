"""What of the studio a request may have is decided from its headers and its peer alone."""

from __future__ import annotations

from collections import defaultdict

import pytest
from hypothesis import given
from hypothesis import strategies as st

from bunraku.stage.gate import MOST_WRONG, Gate, Refusal
from bunraku.studio.server.admission import Admission, security_headers
from bunraku.studio.server.admission import admit as admit_peer

TOKEN = "s3cret-token_of-the-studio"


class Some(defaultdict[str, list[str]]):
    """Headers, each given once or several times."""

    def __init__(self, **headers: str | list[str]) -> None:
        super().__init__(list)
        for name, value in ({"Host": "127.0.0.1:8080"} | headers).items():
            self[name.replace("_", "-")] = [value] if isinstance(value, str) else value

    def get_all(self, key: str) -> list[str]:
        return self[key]


def admit(gate: Gate, target: str, headers: Some) -> Admission | Refusal:
    return admit_peer(gate, target, headers, "127.0.0.1")


def test_wrong_tokens_are_counted() -> None:
    gate = Gate(TOKEN, "0.0.0.0", own_page=True)
    answers = [admit_peer(gate, "/wrong/", Some(), "10.0.0.7") for _ in range(MOST_WRONG + 1)]
    assert [answer.status for answer in answers if isinstance(answer, Refusal)] == [404] * MOST_WRONG + [429]
    assert isinstance(admit_peer(gate, f"/{TOKEN}/", Some(), "10.0.0.7"), Refusal)
    assert isinstance(admit_peer(gate, f"/{TOKEN}/", Some(), "10.0.0.8"), Admission)


def test_what_follows_the_token_is_the_path() -> None:
    gate = Gate(TOKEN, own_page=True)
    assert admit(gate, f"/{TOKEN}/", Some()) == Admission("http", "", "", "127.0.0.1:8080")
    assert admit(gate, f"/{TOKEN}", Some()) == Admission("http", "", "", "127.0.0.1:8080", bare=True)
    assert admit(gate, f"/{TOKEN}/event/a?b=c", Some()) == Admission("http", "event/a", "b=c", "127.0.0.1:8080")
    socket = Some(Upgrade="WebSocket", Origin="http://127.0.0.1:8080")
    assert admit(gate, f"/{TOKEN}", socket) == Admission("socket", "", "", "127.0.0.1:8080")
    assert admit(gate, f"/{TOKEN}/", socket) == Admission("socket", "", "", "127.0.0.1:8080")


@given(st.text(max_size=60))
def test_no_path_without_the_token_passes(text: str) -> None:
    for target in (text, "/" + text):
        if target.split("?")[0].split("/")[1:2] != [TOKEN]:
            assert isinstance(admit(Gate(TOKEN, own_page=True), target, Some()), Refusal)


@pytest.mark.parametrize(
    "target", ["//" + TOKEN + "/", f"http://127.0.0.1/{TOKEN}/", f"/{TOKEN}/#x", TOKEN, "*", "/[", "//[/", "/\udcff"]
)
def test_strange_targets_are_refused(target: str) -> None:
    assert isinstance(admit(Gate(TOKEN, own_page=True), target, Some()), Refusal)


def test_a_header_that_stands_twice_does_not_pass() -> None:
    gate, path = Gate(TOKEN, own_page=True), f"/{TOKEN}"
    origin = "http://127.0.0.1:8080"
    assert isinstance(admit(gate, path, Some(Host=["127.0.0.1:8080", "127.0.0.1:8080"])), Refusal)
    assert isinstance(admit(gate, path, Some(Host=[])), Refusal)
    assert isinstance(admit(gate, path, Some(Upgrade="websocket", Origin=[origin, origin])), Refusal)
    assert isinstance(admit(gate, path, Some(Upgrade=["websocket", "h2c"], Origin=origin)), Refusal)
    assert isinstance(admit(gate, path, Some(Upgrade="h2c", Origin=origin)), Refusal)
    assert isinstance(admit(gate, path, Some(Sec_Fetch_Site=["same-origin", "cross-site"])), Refusal)


def test_a_forwarded_port_works_and_another_origin_on_it_does_not() -> None:
    gate, path, localhost = Gate(TOKEN, own_page=True), f"/{TOKEN}", "localhost:9000"
    assert isinstance(admit(gate, path, Some(Host=localhost, Upgrade="websocket", Origin="http://localhost:9000")), Admission)
    assert isinstance(admit(gate, path, Some(Host=localhost, Upgrade="websocket", Origin="http://localhost:9001")), Refusal)
    assert isinstance(admit(gate, path, Some(Host="[::1]:9000", Upgrade="websocket", Origin="http://[::1]:9000")), Admission)


def test_on_a_network_addresses_are_served_and_names_are_not() -> None:
    gate, path = Gate(TOKEN, "0.0.0.0", own_page=True), f"/{TOKEN}/"
    assert isinstance(admit(gate, path, Some(Host="192.168.1.7:8080")), Admission)
    assert isinstance(admit(gate, path, Some(Host="[fe80::1]:8080")), Admission)
    assert isinstance(admit(gate, path, Some(Host="evil.example:8080")), Refusal)
    assert isinstance(admit(Gate(TOKEN, "robot.lan", own_page=True), path, Some(Host="robot.lan:8080")), Admission)
    assert isinstance(admit(Gate(TOKEN, own_page=True), path, Some(Host="192.168.1.7:8080")), Refusal)


def test_answers_that_are_no_page_may_load_nothing() -> None:
    assert security_headers()["Content-Security-Policy"].startswith("default-src 'none'")
    assert "script-src" not in security_headers()["Content-Security-Policy"]
