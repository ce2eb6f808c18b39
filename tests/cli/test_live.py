"""The streaming form on the command line: its options, and what has no place with it."""

from __future__ import annotations

import dataclasses
import io
import json
import socket

import numpy as np
import pytest

from bunraku.cli.main import _run
from bunraku.cli.options import parse_fields
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.live.options import StreamOptions


def test_a_stream_keeps_held_joints_and_chosen_limits(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    frames = [{"t": 7.0 + k / 50, "joints": {"HeadYaw": 1.5 * (k > 40), "LShoulderRoll": 0.8 * (k > 40)}} for k in range(120)]
    monkeypatch.setattr("sys.stdin", io.StringIO("".join(json.dumps(frame) + "\n" for frame in frames)))
    words = ["--rate", "50", "--look-ahead=0.4", "--held", "head", "--acceleration", "30", "--jerk", "600"]
    assert _run(["perform", "nao", "--stream", *words, "--position-weight", "4", "--velocity-weight", "0.2"]) == 0
    replies = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    curve = {name: np.array([reply["joints"][name] for reply in replies]) for name in ("HeadYaw", "LShoulderRoll")}
    assert np.ptp(curve["HeadYaw"]) <= 1e-9
    assert curve["LShoulderRoll"][-1] == pytest.approx(0.8, abs=0.02)
    assert np.abs(np.diff(curve["LShoulderRoll"], n=2)).max() * 50**2 <= 30 * (1 + 1e-9)
    assert np.abs(np.diff(curve["LShoulderRoll"], n=3)).max() * 50**3 <= 600 * (1 + 1e-9)
    assert np.abs(np.diff(curve["LShoulderRoll"], n=2)).max() * 50**2 > 15, "the limit acts"
    times = [reply["t"] for reply in replies if reply["t"] is not None]
    assert times[:100] == pytest.approx([7.0 + k / 50 for k in range(100)])


def test_frames_are_utf8_on_a_console_that_is_not(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    frames = '{"joints": {"HeadYaw": 0.1}}\n{"joints": {"\u0130\u4eba": 1.0}}\n{"joints": {"HeadYaw": 0.1}}\n'
    console = io.TextIOWrapper(io.BytesIO(frames.encode()), encoding="cp1252")  # which has no sign for the byte 0x90
    monkeypatch.setattr("sys.stdin", console)
    assert _run(["perform", "nao", "--stream", "--rate", "25"]) == 0
    replies = [json.loads(line) for line in capsys.readouterr().out.splitlines()]
    assert [reply["status"] == "rejected" for reply in replies[:3]] == [False, True, False]
    assert "\u0130\u4eba" in json.dumps(replies[1], ensure_ascii=False)


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nao", "not-done-yet"], "not-done-yet"),
        (["nao", "-o", "x.performance.npz"], "x.performance.npz"),
        (["nao", "--intensity", "0.5"], "--intensity"),
        (["nao", "--rate", "fast"], "'fast'"),
        (["nao", "--rate", "-5"], "rate"),
        (["nao", "--look-ahead", "nan"], "look_ahead"),
        (["nao", "--acceleration", "inf"], "acceleration"),
        (["nao", "--held", "wings"], "wings"),
        ([], "character"),
    ],
)
def test_what_has_no_place_in_a_stream(
    words: list[str], expected: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr("sys.stdin", io.StringIO(""))
    assert _run(["perform", "--stream", *words]) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    assert expected in shown.err.strip().splitlines()[-1]


def test_a_port_in_use_is_bad_input(capsys: pytest.CaptureFixture[str]) -> None:
    pytest.importorskip("websockets")
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert _run(["perform", "nao", "--stream", "--port", str(port)]) == 2
    shown = capsys.readouterr().err
    assert f"port {port} is in use" in shown
    assert "exists" not in shown
    assert "listening" not in shown


def test_the_options_of_a_stream_are_those_of_its_dataclass(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["perform", "--stream", "--options"]) == 0
    shown = capsys.readouterr().err
    assert all("--" + field.name.replace("_", "-") in shown for field in dataclasses.fields(StreamOptions))
    assert parse_fields(StreamOptions, ["--held", "legs,HeadYaw"], "x") == {"held": ("legs", "HeadYaw")}


def test_a_character_without_motors_is_refused() -> None:
    with pytest.raises(BadInput, match="no motor"):
        StreamOptions(rate=50.0).open(read_character("nao").changed(motors=()))


def test_the_options_of_a_performer_need_no_character(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["perform", "--options"]) == 0
    assert "--compression" in capsys.readouterr().err
    assert _run(["perform", "--options", "--performer", "reference"]) == 0
    shown = capsys.readouterr().err
    assert "--rate" in shown
    assert "--compression" not in shown
