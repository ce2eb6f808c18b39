"""The command line contract: exit codes, one-line errors, nothing half-written, the flat figures of the demo."""

from __future__ import annotations

import json
import math
import subprocess
import sys
import tomllib
from pathlib import Path
from unittest.mock import ANY

import numpy as np
import pytest

from bunraku.cli.compare import _figure
from bunraku.cli.main import _run
from bunraku.cli.options import describe_options, parse_options
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_performance
from bunraku.motion import MotionLimits

CLIP = "not-done-yet"
WIDE = "{position_min: 500, position_max: 2500, range_deg: 270, neutral_deg: 135}"


@pytest.fixture(scope="module")
def performed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("performed") / "one.performance.npz"
    assert _run(["perform", "nao", CLIP, "--acceleration", "80", "-o", str(path)]) == 0
    return path


def test_perform_writes_a_legal_performance_and_the_same_bytes_again(performed: Path, tmp_path: Path) -> None:
    result = read_performance(performed)
    limits = MotionLimits.of(result.character)
    assert limits.excess(result.positions().values, result.rate).relative <= 1e-9
    assert limits.excess(result.wish.values, result.rate).count("velocity") > 0
    again = tmp_path / "again.performance.npz"
    assert _run(["perform", "--acceleration=80", "nao", CLIP, "-o", str(again)]) == 0
    assert again.read_bytes() == performed.read_bytes()


def test_verify_holds_and_fails_on_a_reference_that_breaks_limits(
    performed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert _run(["verify", str(performed), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["verified"] is True
    broken = tmp_path / "broken.performance.npz"
    assert _run(["perform", "nao", CLIP, "--performer", "reference", "-o", str(broken)]) == 1, "written, and told by the exit code"
    assert not read_performance(broken).certificate.holds
    assert _run(["verify", str(broken), "--no-replay"]) == 1


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["perform", "nao", "no-such-clip"], "no-such-clip"),
        (["perform", "nao"], "a clip is missing"),
        (["perform", "robot.exe", CLIP], "robot.exe"),
        (["perform", "nao", CLIP, "--performer", "magic"], "magic"),
        (["perform", "nao", CLIP, "--intensity", "9"], "intensity"),
        (["perform", "nao", CLIP, "--intensity", "much"], "'much'"),
        (["perform", "nao", CLIP, "--sparkle", "1"], "--sparkle"),
        (["perform", "nao", CLIP, "-o", "nowhere/x.performance.npz"], "nowhere"),
        (["perform", "nao", CLIP, "-o", "/etc/hostname/x.performance.npz"], "'/etc/hostname' is a file, not a folder"),
        (["compare", "nao", CLIP, "-o", "/etc/hostname/x.png"], "'/etc/hostname' is a file, not a folder"),
        (["perform", "nao", CLIP, "-o", "x.txt"], "x.txt"),
        (["verify", "missing.performance.npz"], "missing.performance.npz"),
        (["export", "missing.performance.npz", "--format", "midi"], "midi"),
        (["demo", "opera"], "opera"),
        (["schema", "poem"], "poem"),
        (["frolic"], "frolic"),
        (["perform"], "character"),
    ],
)
def test_bad_input_is_one_line_and_code_two(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(words) == 2
    shown = capsys.readouterr()
    assert shown.out == ""
    last = shown.err.strip().splitlines()[-1]
    assert last.startswith("bunraku: ")
    assert expected in last
    assert "Traceback" not in shown.err
    assert list(tmp_path.iterdir()) == []


def test_demo_figures(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["demo", "speech", "--json", "-o", str(tmp_path / "out")]) == 0
    figures = json.loads(capsys.readouterr().out)
    leading = ["demo", "performer", "status", "duration_s", "solve_s", "worst_limit_violation", "verified"]
    assert list(figures)[: len(leading)] == leading
    assert figures["verified"] is True
    assert figures["fell"] is False
    assert figures["worst_limit_violation"] <= 1e-9
    assert figures["velocity_violations_before"] > 0 == figures["velocity_violations_after"] == figures["range_violations_after"]
    assert abs(figures["lag_ms"]) <= 10.0 < figures["control_lag_ms"]
    assert figures["balance_margin_m"] > 0.0
    assert 0.0 < figures["solve_s"] < figures["duration_s"]
    page = (tmp_path / "out" / "report.html").read_text()
    assert "Proven: " in page
    assert page.count("data:image/png") >= 3
    assert "http" not in page, "the page stands by itself: nothing is fetched"


@pytest.mark.parametrize("form", ["csv", "json", "blender-servo", "ros", "arduino"])
def test_export_writes_every_format(form: str, performed: Path, tmp_path: Path) -> None:
    target, servos = tmp_path / "out", tmp_path / "servos.yaml"
    servos.write_text("".join(f"{name}: {WIDE}\n" for name in read_performance(performed).character.driven))
    more = ["--servos", str(servos), "--keys", "name"] if form == "blender-servo" else []
    assert _run(["export", str(performed), "--format", form, "-o", str(target), *more]) == 0
    assert "LShoulderPitch" in target.read_text()


def test_export_takes_the_options_of_a_format(performed: Path, tmp_path: Path) -> None:
    target, servos = tmp_path / "out.json", tmp_path / "servos.yaml"
    assert _run(["export", str(performed), "--format", "ros", "-o", str(target), "--rate", "50"]) == 0
    points = json.loads(target.read_text())["points"]
    assert points[1]["time_from_start"]["nanosec"] == 20_000_000
    servos.write_text("".join(f"{name}: {WIDE}\n" for name in read_performance(performed).character.driven))
    words = ["export", str(performed), "--format", "blender-servo", "-o", str(target), "--servos", str(servos), "--keys", "name"]
    assert _run(words) == 0
    assert json.loads(target.read_text())["positions"]["HeadYaw"][0] == 1500
    assert _run(["export", str(performed), "--format", "csv", "-o", str(target), "--sparkle", "1"]) == 2


def test_compare_shows_the_control_late(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["compare", "nao", CLIP, "--performers", "reference,stretch,speech", "--json"]) == 0
    rows = {row["performer"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["reference"]["velocity_violations"] > 0 == rows["speech"]["velocity_violations"]
    assert rows["stretch"]["lag_ms"] > abs(rows["speech"]["lag_ms"])
    assert rows["stretch"]["duration_s"] > rows["speech"]["duration_s"]


def test_compare_writes_what_is_left_of_rounding_as_none(capsys: pytest.CaptureFixture[str]) -> None:
    assert [_figure(value) for value in (1.126e-13, -2e-16, 0, 0.00012345678, 25.0)] == ["0", "0", "0", "0.0001235", "25"]
    assert _run(["compare", "nao", CLIP, "--performers", "reference"]) == 0
    assert "e-" not in capsys.readouterr().err.splitlines()[-1]


def test_a_list_of_names_that_is_cut_says_so(performed: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["plot", str(performed), "--joint", "HeadYow"]) == 2
    assert "did you mean HeadYaw" in (said := capsys.readouterr().err)
    assert "and 13 more" in said
    servos = tmp_path / "servos.yaml"
    servos.write_text("HeadYow: {id: 9}\n")
    for words in (["--servos", str(servos)], [f"--servos={servos}"]):
        assert _run(["export", str(performed), "-f", "arduino-sketch", *words, "-o", str(tmp_path / "x.ino")]) == 2
        said = capsys.readouterr().err
        assert f"{servos}: 'HeadYow' is no channel" in said
        assert "and 13 more" in said


def test_compare_sees_a_bad_output_before_it_computes(monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.performers import prepare

    monkeypatch.setattr(prepare, "prepare", lambda *args, **options: pytest.fail("it was computed"))
    assert _run(["compare", "nao", CLIP, "-o", "nowhere/x.png"]) == 2


def test_plot_draws_a_picture_with_ink(performed: Path, tmp_path: Path) -> None:
    from matplotlib import pyplot

    target = tmp_path / "joints.png"
    assert _run(["plot", str(performed), "--joint", "LShoulderPitch", "-o", str(target)]) == 0
    pixels = pyplot.imread(target)
    assert pixels.shape[0] > 300
    assert pixels.shape[1] > 800
    assert 0.02 < np.mean(pixels[..., :3].min(axis=2) < 0.6) < 0.5


def test_inspect_says_what_is_missing(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["inspect", CLIP, "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "clip"
    assert any("speech: all it needs" in line for line in facts["performers"])
    assert _run(["inspect", "nao", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["kind"] == "character"
    assert facts["motors"] == 25
    assert math.isclose(facts["mass_kg"], 5.3, abs_tol=0.4)
    said = dict(line.split(": ", 1) for line in facts["performers"])
    assert said["marionette"].startswith("would refuse: the character stands on feet")
    assert said["speech"].startswith("all it needs")
    assert said["vibration"].startswith("missing character.flexibles")


def test_inspect_lists_ranges_and_speeds_of_joints(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["inspect", "nao", "--json"]) == 0
    joints = {joint.pop("name"): joint for joint in json.loads(capsys.readouterr().out)["joints"]}
    yaw = joints["HeadYaw"]
    assert yaw == {"driven_by": "HeadYaw", "low_deg": pytest.approx(-119.5), "high_deg": pytest.approx(119.5), "speed_deg_s": ANY}
    assert math.isclose(math.radians(yaw["speed_deg_s"]), read_character("nao").motor_of("HeadYaw").velocity)
    assert (joints["RHipYawPitch"]["driven_by"], joints["RHipYawPitch"]["speed_deg_s"]) == ("LHipYawPitch", None)
    assert _run(["inspect", "nao"]) == 0
    lines = capsys.readouterr().err.splitlines()
    assert "  HeadYaw          -119.5 to  119.5 deg   473.7 deg/s" in lines
    assert "  RHipYawPitch      -65.6 to   42.4 deg  follows LHipYawPitch" in lines
    assert _run(["inspect", "cart-pendulum", "--json"]) == 0
    (slide,) = json.loads(capsys.readouterr().out)["joints"]
    assert slide == {"name": "x", "driven_by": "x", "low_mm": -800.0, "high_mm": 800.0, "speed_mm_s": None}


def test_inspect_of_a_performance_says_who_would_refuse_it(performed: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["inspect", str(performed), "--json"]) == 0
    lines = json.loads(capsys.readouterr().out)["performers"]
    assert any(line.startswith("marionette: would refuse: the character stands on feet") for line in lines)
    assert any(line.startswith("vibration: would refuse: no part of the character bends") for line in lines)


def test_an_assumed_rate_is_said(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "notime.csv"
    file.write_text("HeadYaw\n" + "".join(f"{0.01 * k}\n" for k in range(10)))
    assert _run(["inspect", str(file), "--json"]) == 0
    assert "25 Hz is assumed" in json.loads(capsys.readouterr().out)["notes"][0]
    assert _run(["perform", "nao", str(file), "-o", str(tmp_path / "x.performance.npz")]) == 0
    assert f"{file}: no time column and no rate, so 25 Hz is assumed" in capsys.readouterr().err


def test_doctor_finds_the_installation_sound(capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["doctor", "--json"]) == 0
    rows = {row["what"]: row for row in json.loads(capsys.readouterr().out)}
    assert rows["viser"]["do"] == 'optional: pip install "bunraku[studio]"'
    project = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text())["project"]["optional-dependencies"]
    for package in ("pyserial", "dynamixel-sdk", "mcap", "imageio-ffmpeg", "sounddevice", "distributed"):
        extra = rows[package]["do"].partition("bunraku[")[2].partition("]")[0]
        brought = "imageio[ffmpeg]" if package == "imageio-ffmpeg" else package
        assert any(one.startswith(brought) for one in project[extra]), "the extra that is named brings the package"


def test_doctor_tells_a_package_whose_library_is_missing_apart(monkeypatch: pytest.MonkeyPatch) -> None:
    import importlib

    from bunraku.cli.doctor import _package

    def broken(name: str) -> None:
        raise OSError("PortAudio library not found")

    monkeypatch.setattr(importlib, "import_module", broken)
    row = _package("sounddevice", "optional", needed=False)
    assert (row["found"], row["good"], row["do"]) == ("", True, "optional; PortAudio library not found")


def test_doctor_says_whether_the_studio_has_a_browser(monkeypatch: pytest.MonkeyPatch) -> None:
    import shutil
    import webbrowser

    from bunraku.cli.doctor import _browser

    def none() -> None:
        raise webbrowser.Error("none")

    monkeypatch.setattr(webbrowser, "get", none)
    monkeypatch.setattr(shutil, "which", lambda name: None)
    assert _browser()["found"] == ""
    assert _browser()["good"]  # its address can be opened from elsewhere
    monkeypatch.setattr(shutil, "which", lambda name: "/somewhere" if name == "firefox" else None)
    assert _browser()["found"] == "firefox"


def test_options_are_generated_from_the_performer() -> None:
    assert parse_options("speech", ["--compress-beyond", "0.2", "--held=legs,head", "--compression", "never"]) == {
        "compress_beyond": 0.2,
        "held": ("legs", "head"),
        "compression": "never",
    }
    assert any("--intensity" in line and "0.3" in line for line in describe_options("speech"))
    with pytest.raises(BadInput, match="one of auto, never, always"):
        parse_options("speech", ["--compression", "maybe"])


def test_stream_answers_line_by_line() -> None:
    frames = "".join(json.dumps({"joints": {"HeadYaw": 2.0 * (k > 20)}}) + "\n" for k in range(60))
    words = [sys.executable, "-m", "bunraku.cli.main", "perform", "nao", "--stream", "--rate", "25", "--look-ahead", "0.4"]
    answer = subprocess.run(words, input=frames + "nonsense\n", capture_output=True, text=True, check=True, timeout=120)
    lines = [json.loads(line) for line in answer.stdout.splitlines()]
    yaw = np.array([line["joints"]["HeadYaw"] for line in lines if line["joints"] is not None])
    assert np.abs(np.diff(yaw)).max() <= 8.26797 / 25 + 1e-9
    assert yaw[-1] > 1.9
    assert any(line["status"] == "rejected" for line in lines)
