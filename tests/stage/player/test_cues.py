"""Cues from outside: OSC by another program's sender, keys of a terminal, Ctrl-C; heard at once, and garbage heard by nobody."""

from __future__ import annotations

import contextlib
import os
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Iterator

import pytest
from tests.stage.player.conftest import Memory, device_of, performance_of, waving, write_osc

from bunraku.errors import BadInput
from bunraku.stage.player.clock import MonotonicClock
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show


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
        others = [(cue.kind, cue.name) for cue in found if cue.kind != "estop"]
        assert others == [("start", ""), ("cue", "wave"), ("stop", "")]
        assert len(found) == 4, "and the stop, wherever it stands"
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


def test_a_stop_comes_before_all_that_arrived_before_it() -> None:
    """All of it stands at the port: what a machine hears first is the stop, not the first sixteen."""
    with Cues(0) as cues, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(150):
            sender.sendto(b"\xff /bunraku/estop" if number % 3 else write_osc("/bunraku/start"), ("127.0.0.1", cues.port))
        sender.sendto(write_osc("/bunraku/estop"), ("127.0.0.1", cues.port))
        assert next(cue.kind for cue in cues.read()) == "estop"
        rest = [cue.kind for _ in range(20) for cue in cues.read()]
        assert "estop" not in rest, "once"
        assert cues.ignored == 100
        assert cues.read() == []


def test_what_waits_is_heard_in_its_order_without_a_further_message() -> None:
    with Cues(0) as cues, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        for number in range(40):
            sender.sendto(write_osc("/bunraku/cue", f"wave {number}"), ("127.0.0.1", cues.port))
        until = time.monotonic() + 60.0
        found = [cues.wait(until, 0.001) for _ in range(3)]
        assert time.monotonic() < until, "long before the minute is over"
        assert [cue.name for cues in found for cue in cues] == [f"wave {number}" for number in range(40)]
        assert max(map(len, found)) == 16, "a command is not late for more"


FLOODING = """
import socket, sys
port, data = int(sys.argv[1]), bytes.fromhex(sys.argv[2])
sender = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
while True:
    for _ in range(1000):
        sender.sendto(data, ("127.0.0.1", port))
"""


@contextlib.contextmanager
def flood(port: int | None, data: bytes) -> Iterator[None]:
    """Another program sends to a port as fast as it can."""
    program = subprocess.Popen([sys.executable, "-c", FLOODING, str(port), data.hex()])
    try:
        yield
    finally:
        program.kill()
        program.wait()


@pytest.mark.parametrize("flooded", ["cues", "garbage"])
def test_an_emergency_stop_comes_through_a_flood(flooded: str) -> None:
    """One datagram each time, on the port for stops: the system drops what it likes on the other one, and it is never lost."""
    data = write_osc("/bunraku/cue", "wave") if flooded == "cues" else b"\xff garbage"
    with Cues(0) as cues, flood(cues.port, data), socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        heard, until = 0, time.monotonic() + 60.0
        while cues.ignored + heard < 300:  # it has begun
            heard += len(cues.wait(time.monotonic() + 0.01, 0.0))
            assert time.monotonic() < until
        for _ in range(20):
            time.sleep(0.02)  # the port fills up
            sender.sendto(write_osc("/bunraku/estop"), ("127.0.0.1", cues.stop_port))
            assert [cue.kind for cue in cues.read()].count("estop") == 1


def test_a_show_is_stopped_in_a_flood_of_cues_that_it_heeds() -> None:
    """Each cue leads back to the beginning; the one stop ends it."""
    driver, show = Memory(), Show(performance_of(waving()), loops=0)
    with Cues(0) as cues, flood(cues.port, write_osc("/bunraku/cue", "main")):
        until = time.monotonic() + 60.0

        def stop(seconds: float, role: str) -> None:
            assert time.monotonic() < until
            if len(cues._waiting) < 64:  # not yet a flood
                return
            with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
                sender.sendto(write_osc("/bunraku/estop"), ("127.0.0.1", cues.stop_port))

        record = Player(show, device_of()).run(driver, MonotonicClock(), cues, stop)
    assert record.ended == "emergency stop by OSC /bunraku/estop"
    assert record.stopped
    assert driver.released == 1


def test_the_port_for_stops_hears_nothing_else() -> None:
    with Cues(0) as cues, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        assert cues.stop_port != cues.port
        for data in (write_osc("/bunraku/start"), b"\xff", write_osc("/bunraku/cue", "/bunraku/estop")):
            sender.sendto(data, ("127.0.0.1", cues.stop_port))
        assert cues.read() == []
        assert cues.ignored == 3


def test_the_port_for_stops_is_the_next_one_or_any_free_one() -> None:
    """Asked for a port before which another stands, it is that one; where it is taken, another."""
    for _ in range(20):
        with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as taken, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as free:
            taken.bind(("127.0.0.1", 0))
            port = taken.getsockname()[1] - 1
            with contextlib.suppress(OSError):
                free.bind(("127.0.0.1", port))
                free.close()
                with Cues(port) as cues:
                    assert cues.stop_port not in (port, port + 1, None)
                taken.close()
                with Cues(port) as cues:
                    assert cues.stop_port == port + 1
                return
    pytest.fail("twenty times in a row the port before was somebody's")


def test_only_this_machine_is_listened_to() -> None:
    with Cues(0) as cues:
        for source in (cues._socket, cues._stop_socket):
            assert source is not None
            assert source.getsockname()[0] == "127.0.0.1"
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
