"""Keys, signals and calls that end a wait, where ``select`` takes sockets only, and where it takes anything."""

from __future__ import annotations

import os
import select
import signal
import socket
import stat
import sys
import threading
import time
from types import SimpleNamespace

import pytest
from tests.stage.player.conftest import write_osc
from tests.system.conftest import OtherSystem

from bunraku.errors import BadInput
from bunraku.stage.devices.simulated.serial_board import SerialBoard
from bunraku.stage.player.cues import Cues
from bunraku.system import keyboard, pseudo_terminal, signals, waking


def sockets_only(reading: list[int], *others: object) -> object:
    """``select`` of Windows."""
    if not reading or not all(stat.S_ISSOCK(os.fstat(one).st_mode) for one in reading):
        raise OSError(10038, "An operation was attempted on something that is not a socket")
    return select.select(reading, *others)  # type: ignore[call-overload]


@pytest.fixture
def windows(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> SimpleNamespace:
    console = other.windows(keyboard, waking)
    monkeypatch.setattr(waking, "select", SimpleNamespace(select=sockets_only))
    return console


def test_keys_of_a_console(windows: SimpleNamespace, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdin", SimpleNamespace(isatty=lambda: True, fileno=lambda: 0))
    with Cues(keys=True) as cues:
        assert cues.can_start
        assert cues.wait(time.monotonic() + 0.01, 0.001) == []
        windows.keys.extend("s\x00q\xe0q e")  # the second and the third are an arrow and a function key
        found = cues.wait(time.monotonic() + 60.0, 0.001)
        assert [cue.kind for cue in found] == ["start", "estop", "stop"]
        windows.keys.append("\x03")
        assert [cue.kind for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["estop"]


def test_cues_by_osc_and_signals_where_only_sockets_are_waited_for(windows: SimpleNamespace) -> None:
    with Cues(0) as cues, socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as sender:
        sender.sendto(write_osc("/bunraku/estop"), ("127.0.0.1", cues.port))
        assert [cue.kind for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["estop"]
        os.kill(os.getpid(), signal.SIGINT)
        assert [cue.source for cue in cues.wait(time.monotonic() + 60.0, 0.001)] == ["Ctrl-C"]


@pytest.mark.parametrize("system", ["here", "windows"])
def test_a_call_ends_a_wait_without_end(system: str, request: pytest.FixtureRequest) -> None:
    if system == "windows":
        request.getfixturevalue("windows")
    waker = waking.Waker()
    try:
        caller = threading.Timer(0.01, waker.wake)
        caller.start()
        assert waking.wait_any([waker.fileno()], None)
        waker.clear()
        assert not waking.wait_any([waker.fileno()], 0.0)
        for _ in range(100_000):
            waker.wake()  # never waits for room
        assert waking.wait_any([waker.fileno()], 0.0)
        waker.clear()
        assert not waking.wait_any([waker.fileno()], 0.0)
    finally:
        waker.close()
    waker.wake()


def test_a_console_that_closes_is_heard_on_windows(monkeypatch: pytest.MonkeyPatch) -> None:
    before = signal.getsignal(signal.SIGUSR1)
    monkeypatch.setattr(signal, "SIGBREAK", signal.SIGUSR1, raising=False)
    heard: list[str] = []
    with signals.on_end(heard.append):
        os.kill(os.getpid(), signal.SIGUSR1)
        assert heard == ["Ctrl-Break, or a terminal that was closed"]
    assert signal.getsignal(signal.SIGUSR1) is before


def test_on_a_thread_signals_are_left_alone() -> None:
    def work() -> None:
        with signals.on_end(lambda _: None):
            seen.append(signal.getsignal(signal.SIGINT))

    seen: list[object] = []
    before = signal.getsignal(signal.SIGINT)
    thread = threading.Thread(target=work)
    thread.start()
    thread.join()
    assert seen == [before]


def test_a_wait_of_the_main_thread_looks_up_now_and_then() -> None:
    """On Windows a signal is heard between two waits, never within one: one without an end would be Ctrl-C without effect."""
    waits: list[float | None] = []

    class Late(threading.Event):
        def wait(self, timeout: float | None = None) -> bool:
            waits.append(timeout)
            return len(waits) > 3

    signals.wait_for(Late())
    assert len(waits) == 4
    assert all(timeout is not None and 0.0 < timeout <= 1.0 for timeout in waits)


def test_a_simulated_machine_is_refused_in_a_sentence_on_windows(other: OtherSystem, tmp_path_factory: object) -> None:
    other.windows(pseudo_terminal)
    machine = SerialBoard((1, 2))
    with pytest.raises(BadInput, match="pseudo terminal, which Windows has not"), machine:
        pass
    assert not os.path.exists(machine._folder)


def test_a_process_that_starts_does_not_heed_ctrl_c(other: OtherSystem) -> None:
    with signals.without_ctrl_c():
        assert signal.SIGINT in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
    other.windows(signals)
    with signals.without_ctrl_c():
        assert signal.SIGINT not in signal.pthread_sigmask(signal.SIG_BLOCK, ())
