"""What a person sees: logs, the meaning of exit codes, errors of the system as sentences."""

from __future__ import annotations

import errno
import logging
import re
from pathlib import Path

import pytest

from bunraku.cli import main
from bunraku.cli.console import exit_code, watching
from bunraku.cli.main import _run
from bunraku.optimization.monitor import Event, LogMonitor
from bunraku.optimization.solution import Status


def test_the_log_monitor_writes_one_line_an_event(caplog: pytest.LogCaptureFixture) -> None:
    monitor = LogMonitor(logging.getLogger("bunraku.test"))
    with caplog.at_level(logging.INFO, logger="bunraku.test"):
        monitor.report(Event("solve", 0.25, "elbow"))
        monitor.report(Event("solve"))
    assert [record.getMessage().strip() for record in caplog.records] == ["solve 25 % elbow", "solve"]
    assert monitor.cancelled is False


def test_perform_writes_its_progress_to_a_log(tmp_path: Path) -> None:
    log, output = tmp_path / "run.log", tmp_path / "x.performance.npz"
    words = ["perform", "nao", "not-done-yet", "--acceleration", "80", "-o", str(output), "--log", str(log)]
    assert _run(words) == 0
    lines = log.read_text().splitlines()
    shares = [int(share) for line in lines for share in re.findall(r"speech (\d+) %", line)]
    assert shares[0] == 0
    assert shares[-1] == 100
    assert shares == sorted(shares)
    assert any("LShoulderPitch" in line for line in lines)
    assert all(re.match(r"\d{4}-\d\d-\d\d \d\d:\d\d:\d\d", line) for line in lines)
    assert _run([*words[:-1], str(tmp_path / "nowhere" / "run.log")]) == 2


def test_a_log_does_not_hide_the_wish_to_stop(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    import os
    import signal

    before = signal.getsignal(signal.SIGINT)
    with watching(tmp_path / "run.log") as monitor:
        assert not monitor.cancelled
        os.kill(os.getpid(), signal.SIGINT)
        assert monitor.cancelled
    assert signal.getsignal(signal.SIGINT) is before


def test_exit_codes() -> None:
    assert exit_code(Status.CONVERGED, holds=True) == 0
    assert exit_code(Status.CONVERGED, holds=False) == 1
    assert {exit_code(status, holds=False) for status in (Status.MAX_ITERATIONS, Status.INFEASIBLE)} == {3}
    assert exit_code(Status.STALLED, holds=False) == 1, "nothing better is within reach, and a promise is broken"
    assert exit_code(Status.CANCELLED, holds=False) == 130
    assert exit_code(Status.STALLED, holds=True) == 0
    assert exit_code(Status.MAX_ITERATIONS, holds=True) == 3


def test_where_nothing_is_promised_only_what_converged_is_done() -> None:
    assert [exit_code(status) for status in (Status.CONVERGED, Status.STALLED, Status.CANCELLED)] == [0, 3, 130]


@pytest.mark.parametrize(
    ("error", "expected"),
    [
        (OSError(errno.EADDRINUSE, "Address already in use"), "address"),
        (ConnectionRefusedError(errno.ECONNREFUSED, "Connection refused"), "address"),
        (OSError(errno.EACCES, "Permission denied", "curve.csv"), "curve.csv"),
        (OSError(errno.EIO, "Input/output error"), "system"),
    ],
)
def test_errors_of_the_system_are_sentences(
    error: OSError, expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    class Broken:
        def main(self, *args: object, **options: object) -> None:
            raise error

    monkeypatch.setattr(main.typer.main, "get_command", lambda app: Broken())
    assert _run(["doctor"]) == 2
    shown = capsys.readouterr().err
    assert expected in shown
    assert ("exists" in shown) == (error.filename is not None)


def test_the_epilog_names_every_exit_code(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["--help"]) == 0
    shown = " ".join(capsys.readouterr().out.split())
    assert all(re.search(rf"\b{code} [a-z]", shown) for code in (0, 1, 2, 3, 70, 130))
