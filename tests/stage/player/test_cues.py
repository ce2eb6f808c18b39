"""Cues from outside: OSC by another program's sender, keys of a terminal, Ctrl-C; heard at once, and garbage heard by nobody."""

from __future__ import annotations

import os
import signal
import socket
import sys
import time

import pytest
from tests.stage.player.conftest import write_osc

from bunraku.errors import BadInput
from bunraku.stage.player.cues import Cue, Cues


def test_messages_of_python_osc_become_cues() -> None:
    from pythonosc.udp_client import SimpleUDPClient

    with Cues(0) as cues:
        assert cues.port is not None
        client = SimpleUDPClient("127.0.0.1", cues.port)
        for address, value in (("start", []), ("cue", ["wave"]), ("stop", []), ("estop", [])):
            client.send_message(f"/bunraku/{address}", value)
        client.send_message("/other/start", [])
        client.send_message("/bunraku/cue", [7])
        found: list[Cue] = []
        until = time.monotonic() + 5.0
        while len(found) < 4 and time.monotonic() < until:
            found += cues.wait(time.monotonic() + 0.2, 0.0)
        assert [(cue.kind, cue.name) for cue in found] == [("start", ""), ("cue", "wave"), ("stop", ""), ("estop", "")]
        cues.read()
        assert cues.ignored == 2


def test_a_cue_ends_the_wait_and_garbage_does_not() -> None:
    with Cues(0) as cues, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for _ in range(100):
            sender.sendto(b"\xff garbage", ("127.0.0.1", cues.port))
        begin = time.monotonic()
        while cues.ignored < 100:  # a busy computer may take more than one wait for them
            until = time.monotonic() + 0.05
            assert cues.wait(until, 0.001) == []
            assert time.monotonic() >= until
            assert time.monotonic() < begin + 60.0
        assert cues.ignored == 100
        sender.sendto(write_osc("/bunraku/estop"), ("127.0.0.1", cues.port))
        assert [cue.kind for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["estop"], "long before the minute is over"


def test_only_this_machine_is_listened_to() -> None:
    with Cues(0) as cues:
        assert cues._socket is not None
        assert cues._socket.getsockname()[0] == "127.0.0.1"
        with pytest.raises(BadInput, match="is taken"), Cues(cues.port):
            pass


@pytest.mark.parametrize(
    ("name", "source"), [("SIGINT", "Ctrl-C"), ("SIGTERM", "a request to end"), ("SIGHUP", "a terminal that was closed")]
)
def test_signals_to_end_are_a_stop_and_afterwards_what_they_were(name: str, source: str) -> None:
    number = getattr(signal, name)
    before = signal.getsignal(number)
    with Cues() as cues:
        os.kill(os.getpid(), number)
        assert [(cue.kind, cue.source) for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == [("estop", source)]
        assert cues.wait(time.monotonic() + 0.01, 0.001) == []
    assert signal.getsignal(number) is before


def test_where_it_may_a_signal_ends_any_wait() -> None:
    with Cues() as cues:
        with pytest.raises(KeyboardInterrupt), cues.interruptible():  # noqa: PT012
            os.kill(os.getpid(), signal.SIGINT)
            time.sleep(60.0)
        assert cues.read() == []
        os.kill(os.getpid(), signal.SIGINT)
        assert [cue.kind for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["estop"], "and then it is a stop again"


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_keys_of_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    import pty
    import termios

    master, slave = pty.openpty()
    before = termios.tcgetattr(slave)
    with os.fdopen(slave, "r", closefd=False) as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        with Cues(keys=True) as cues:
            assert cues.can_start
            os.write(master, b"sxe ")
            found = cues.wait(time.monotonic() + 60.0, 0.001)
            assert [cue.kind for cue in found] == ["start", "stop", "estop"]
            assert found[-1].source == "the space key"
            os.write(master, b"q")
            assert [cue.kind for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["estop"]
    assert termios.tcgetattr(slave) == before
    os.close(master)
    os.close(slave)
