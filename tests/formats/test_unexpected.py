"""What nobody foresaw: one line, and a report that can be sent in and holds no secret."""

from __future__ import annotations

import tempfile
from pathlib import Path

import pytest

from bunraku.formats import unexpected


def failed() -> Exception:
    try:
        raise ZeroDivisionError("on\npurpose " + "x" * 1000)
    except ZeroDivisionError as error:
        return error


@pytest.fixture
def reports(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(unexpected, "_REPORTS", {})
    return tmp_path


def test_the_line_names_a_report_with_the_traceback(reports: Path) -> None:
    error = failed()
    line = unexpected.reported(error, "bunraku perform")
    (report,) = reports.iterdir()
    assert line.count("\n") == 0
    assert line.startswith("unexpected ZeroDivisionError: on purpose xxx")
    assert "(test_unexpected.py, line " in line
    assert line.endswith(f"please send in {report}")
    text = report.read_text()
    assert "while: bunraku perform\n" in text
    assert "Traceback (most recent call last)" in text
    assert "in failed" in text
    assert unexpected.reported(error, "bunraku perform") == line
    assert list(reports.iterdir()) == [report], "what comes again is not written again"


def test_where_no_report_can_be_written_the_line_says_why(reports: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(reports / "nowhere"))
    assert unexpected.reported(failed(), "x").endswith("no report could be written (No such file or directory)")


def test_a_command_keeps_its_secrets() -> None:
    shown = unexpected.command(["perform", "nao", "--token", "geheim", "--token=geheim", "--port", "1"])
    assert shown == "bunraku perform nao --token ... --token=... --port 1"
