"""``bunraku play`` and ``bunraku calibrate``: exit codes, what is written, what is refused."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor
from bunraku.cli import main
from bunraku.formats.registry import read_performance, write_performance
from bunraku.motion import Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.devices import answers, drivers, serial_port
from bunraku.stage.devices.device_yaml import read_device

NAMES = ("yaw", "nod")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A nod of half a second, at 50 Hz."""
    who = Character(
        name="head",
        bodies=(Body(name="a", mass=0.1), Body(name="b", mass=0.1)),
        joints=tuple(
            Joint(name=n, kind="hinge", parent=p, child=c, range=(-0.7, 0.7))
            for n, p, c in (("yaw", "world", "a"), ("nod", "a", "b"))
        ),
        motors=tuple(Motor(name=n, coordinate=n, velocity=4.0, acceleration=60.0) for n in NAMES),
    )
    s = np.linspace(0.0, 1.0, 26)[:, None]
    values = 0.2 * np.sin(np.pi * s) ** 2 * np.array([1.0, -1.0])
    curves = JointCurves(NAMES, 50.0, values)
    channels = tuple(Channel(n, "position", "rad", 50.0, values[:, j]) for j, n in enumerate(NAMES))
    show = Performance(who, "nod", channels, curves, curves, Certificate(Status.CONVERGED, ()), Provenance("t", {}, {}, {}))
    path = tmp_path / "nod.performance.npz"
    write_performance(path, show)
    return path


def test_without_live_it_is_a_dry_run(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main._run(["play", str(file), "--json", "--clock", "monotonic"]) == 0
    out = capsys.readouterr()
    facts = json.loads(out.out)
    assert (facts["driver"], facts["stopped"], facts["ended"], facts["wild"]) == ("dry-run", False, "the show is over", 0)
    assert facts["commands"] + facts["skipped"] == 26
    assert facts["played"] == ["nod"]
    assert "no machine: a dry run" in out.err


def test_hardware_moves_with_live_and_a_device_file_only(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = file.parent / "head.device.yaml"
    assert main._run(["play", str(file), "--live", "dynamixel"]) == 2
    assert "needs a device file; make one: bunraku calibrate" in capsys.readouterr().err
    assert main._run(["calibrate", str(device), "--from", str(file), "--driver", "dynamixel", "--port", "/dev/none"]) == 0
    assert read_device(device).servos.keys() == {"yaw", "nod"}
    assert main._run(["play", str(file), "--device", str(device), "--json"]) == 0
    assert json.loads(capsys.readouterr().out)["driver"] == "dry-run", "without --live the file's machine is not touched"
    assert main._run(["play", str(file), "--device", str(device), "--live", "maestro"]) == 2
    assert main._run(["play", str(file), "--device", str(device), "--live", "dynamixel", "--json"]) == 1
    out = capsys.readouterr()
    assert "/dev/none" in out.err
    facts = json.loads(out.out)
    assert (facts["stopped"], facts["commands"], facts["notes"]) == (True, 0, [])
    assert facts["ended"] in out.err


@pytest.mark.parametrize("live", ["dynamixel", "serial"])
def test_a_rehearsal_speaks_the_protocol(
    file: Path, live: str, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    opened = drivers.open_driver  # however busy the computer is, the driver waits for the answers of the simulated machine
    monkeypatch.setattr(drivers, "open_driver", lambda device: opened(device.model_copy(update={"timeout_ms": 600_000.0})))
    for module, limit in ((answers, "BUDGET_S"), (serial_port, "WRITE_S"), (serial_port, "BACKLOG_S")):
        monkeypatch.setattr(module, limit, 600.0)
    device = file.parent / "head.device.yaml"
    assert main._run(["calibrate", str(device), "--from", str(file), "--driver", live, "--set", "missed_deadlines=1000"]) == 0
    capsys.readouterr()
    assert main._run(["play", str(file), "--device", str(device), "--live", live, "--simulate", "--json", "--loop", "2"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert (facts["driver"], facts["played"]) == (live, ["nod", "nod"])
    assert facts["outputs"] == ["yaw", "nod"]
    assert facts["commands"] + facts["skipped"] >= 40


def test_a_log_tells_every_command_as_sent(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    log = file.parent / "sent.csv"
    assert main._run(["play", str(file), "--log", str(log), "--json", "--clock", "monotonic"]) == 0
    facts = json.loads(capsys.readouterr().out)
    rows = [line.split(",") for line in log.read_text().splitlines()]
    assert rows[0] == ["time_s", "yaw_rad", "nod_rad", "lateness_ms"]
    sent = np.array(rows[1:], dtype=float)
    assert len(sent) == facts["commands"]
    first = np.rint((sent[:, 0] - sent[0, 0]) * 50.0).astype(int)
    np.testing.assert_allclose((sent[:, 0] - sent[0, 0]) * 50.0, first, atol=1e-3)
    wanted = 0.2 * np.sin(np.pi * first / 25.0) ** 2
    if not facts["cut"]:  # on a computer so busy that samples are skipped the velocity limit cuts
        np.testing.assert_allclose(sent[:, 1:3], np.column_stack([wanted, -wanted]), atol=1e-4)
    assert sent[:, 3].max() == pytest.approx(facts["lateness_max_ms"], abs=1e-3)


def test_a_simulated_machine_that_is_silent_is_a_busy_computer(
    file: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bunraku.stage.devices.dynamixel import DynamixelDriver
    from bunraku.stage.devices.fault import DeviceFault, FaultKind

    def silent(driver: DynamixelDriver) -> None:
        raise DeviceFault(FaultKind.SILENT, "head", "no servo answers; look at power, cable and baud rate")

    for method in ("open", "measure"):  # before the show, and amid it
        with monkeypatch.context() as patched:
            patched.setattr(DynamixelDriver, method, silent)
            assert main._run(["play", str(file), "--live", "dynamixel", "--simulate", "--json"]) == 1
        out = capsys.readouterr()
        facts = json.loads(out.out)
        assert facts["ended"].startswith("head: the device does not answer; the machine is simulated, and the computer was too")
        assert "timeout_ms (at most 50)" in facts["notes"][-1]
        assert "cable" not in out.err


@pytest.mark.parametrize(
    ("certificate", "said"),
    [
        (Certificate(Status.CONVERGED, (Check("balance margin", -0.02, "m", 0.0, at_least=True),)), "balance margin = -0.02 m"),
        (Certificate(Status.MAX_ITERATIONS, ()), "The iteration limit was reached; this is the best result so far; run"),
    ],
)
def test_what_is_not_proven_is_told_and_moves_no_hardware_by_itself(
    file: Path, certificate: Certificate, said: str, capsys: pytest.CaptureFixture[str]
) -> None:
    write_performance(file, read_performance(file).changed(certificate=certificate))
    device = file.parent / "head.device.yaml"
    assert main._run(["calibrate", str(device), "--from", str(file), "--driver", "dynamixel", "--port", "/dev/none"]) == 0
    assert main._run(["play", str(file), "--json", "--clock", "monotonic"]) == 0
    out = capsys.readouterr()
    note = f"the certificate of 'nod' does not hold: {said}"
    assert f"note: {note}" in out.err
    assert note in json.loads(out.out)["notes"][0]
    live = ["play", str(file), "--device", str(device), "--live", "dynamixel"]
    assert main._run(live) == 2
    err = capsys.readouterr().err.strip().splitlines()
    assert note in err[-1]
    assert "run bunraku verify" in err[-1]
    assert "--unproven" in err[-1]
    assert main._run([*live, "--unproven"]) == 1, "as far as the machine, which is not there"
    assert "/dev/none" in capsys.readouterr().err


def test_a_key_that_stops_a_rehearsal_is_no_busy_computer() -> None:
    from bunraku.cli.play import _as_simulated

    assert _as_simulated("emergency stop by the space key") == ("emergency stop by the space key", [])


def test_a_dry_run_has_no_place_to_ask_for(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main._run(["play", str(file), "--json", "--clock", "monotonic"]) == 0
    assert "where it stands" not in capsys.readouterr().err


def test_refusals(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for words, said in (
        (["--live", "telepathy"], "--live is one of"),
        (["--simulate"], "say which"),
        (["--clock", "moon"], "--clock is auto, sound or monotonic"),
        (["--osc", "70000"], "--osc is a port"),
        (["--log", str(file.parent / "sent.txt")], "should end in .csv"),
        (["--log", str(file.parent / "nowhere" / "sent.csv")], "does not exist; make it first"),
        (["--loop", "-1"], "cannot be played -1 times"),
        (["--loop", "0"], "ends only when someone stops it"),
        (["--idle", str(file)], "ends only when someone stops it"),
    ):
        assert main._run(["play", str(file), *words]) == 2, words
        err = capsys.readouterr().err.strip().splitlines()
        assert said in err[-1], words


def test_cues_by_osc_from_another_program(file: Path) -> None:
    """Idle until a cue, the show, idle again, a stop: exit 0; and an emergency stop: exit 1."""
    from pythonosc.udp_client import SimpleUDPClient

    for last, code in (("/bunraku/stop", 0), ("/bunraku/estop", 1)):
        run = subprocess.Popen(
            [sys.executable, "-m", "bunraku.cli.main", "play", str(file), "--idle", str(file), "--osc", "0", "--json"],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=os.environ | {"PYTHONUNBUFFERED": "1"},
        )
        assert run.stderr is not None
        line = run.stderr.readline()
        port = int(line.split("127.0.0.1:")[1].split(":")[0])
        assert "dry run" in run.stderr.readline()
        client = SimpleUDPClient("127.0.0.1", port)
        client.send_message("/bunraku/cue", ["main"])
        client.send_message("/bunraku/cue", ["nobody"])
        client.send_message("/bunraku/dance", [])
        client.send_message("/bunraku/cue", [7])
        SimpleUDPClient("127.0.0.1", int(line.split("port ")[1].split()[0]) if code else port).send_message(last, [])
        out, said_on_the_terminal = run.communicate(timeout=60)
        facts = json.loads(out)
        assert run.returncode == code
        said = [cue.split(": ", 1)[1] for cue in facts["cues"]]
        assert said[-1] == f"{last.split('/')[-1]} by OSC {last}"
        assert facts["stopped"] == bool(code)
        assert facts["ended"] == ("emergency stop by OSC /bunraku/estop" if code else "a cue ended the show (OSC /bunraku/stop)")
        if code:  # a stop comes before what arrived with it
            continue
        assert said[:-1] == ["cue by OSC /bunraku/cue main"]
        assert facts["ignored"] == 2
        assert "ignored 2 OSC messages that were no cue" in said_on_the_terminal
        assert "s: no performance called 'nobody'; there are idle, main, nod" in said_on_the_terminal


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_jogging_at_a_terminal_writes_what_was_found(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    from bunraku.stage.devices.dry_run import DryRunDriver
    from bunraku.stage.player.jog import Jog

    device = file.parent / "head.device.yaml"
    assert main._run(["calibrate", str(device), "--from", str(file)]) == 0
    sent: list[int] = []
    heard: list[str] = []
    news = threading.Condition()
    send, hear = DryRunDriver.send, Jog.press

    def note(log: list[Any], entry: Any) -> None:
        with news:
            log.append(entry)
            news.notify()

    monkeypatch.setattr(DryRunDriver, "send", lambda self, counts: (send(self, counts), note(sent, int(counts[1])))[0])
    monkeypatch.setattr(Jog, "press", lambda self, key: (hear(self, key), note(heard, key))[0])
    master, slave = pty.openpty()
    with os.fdopen(slave, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)

        def press() -> None:
            """Each key when the one before has been heard, and the end only where the servo has moved."""
            for k, key in enumerate(b"DDD]rw"):
                moved = 16_000 if key == ord("]") else 0
                with news:
                    news.wait_for(lambda k=k, moved=moved: sent[-1:] > [moved] and len(heard) == k)
                os.write(master, bytes([key]))

        person = threading.Thread(target=press)
        person.start()
        assert main._run(["calibrate", str(device), "--jog", "nod"]) == 0
        person.join()
    os.close(master)
    found = read_device(device).servos
    assert found["nod"].soft_max is not None
    assert 16_000 < found["nod"].soft_max <= 16_000 + 3 * 800
    assert not found["nod"].reverse
    assert found["yaw"].soft_max is None


@pytest.mark.skipif(sys.platform == "win32", reason="there are no pseudo terminals")
def test_a_terminal_that_is_closed_lets_go_of_the_servo(file: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    import pty

    from bunraku.stage.devices.dry_run import DryRunDriver

    device = file.parent / "head.device.yaml"
    assert main._run(["calibrate", str(device), "--from", str(file)]) == 0
    before, moved, released = device.read_bytes(), threading.Event(), []
    send = DryRunDriver.send
    monkeypatch.setattr(DryRunDriver, "send", lambda self, counts: (send(self, counts), moved.set())[0])
    monkeypatch.setattr(DryRunDriver, "release", lambda self: released.append(len(self.log)))
    master, slave = pty.openpty()

    def hang_up() -> None:
        moved.wait()
        os.kill(os.getpid(), signal.SIGHUP)

    with os.fdopen(slave, "r") as terminal:
        monkeypatch.setattr(sys, "stdin", terminal)
        person = threading.Thread(target=hang_up)
        person.start()
        assert main._run(["calibrate", str(device), "--jog", "nod"]) == 130
        person.join()
    os.close(master)
    assert released
    assert released[0] >= 1
    assert device.read_bytes() == before


def test_sensors_are_made_from_gains_only(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = file.parent / "head.device.yaml"
    for source, said in ((str(file), "has no gains, so no sensor is needed"), ("nao", "nao: is a character; --sensors needs a")):
        assert main._run(["calibrate", str(device), "--from", source, "--sensors"]) == 2
        assert said in capsys.readouterr().err
    assert not device.exists()
    assert main._run(["calibrate", str(device), "--from", str(file)]) == 0
    assert main._run(["calibrate", str(device), "--sensors"]) == 2
    assert "give it with --from" in capsys.readouterr().err


def test_figures_are_set_checked_and_written_whole(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    device = file.parent / "head.device.yaml"
    assert main._run(["calibrate", str(device), "--set", "rate_hz=40"]) == 2
    assert "make it with --from" in capsys.readouterr().err
    assert main._run(["calibrate", str(device), "--from", "nao", "--driver", "maestro"]) == 2
    said = capsys.readouterr().err
    assert "has the id 24; a Maestro has the channels 0 to 23" in said
    assert said.count("\n") == 1, "no note about a device that is refused"
    assert not device.exists()
    assert main._run(["calibrate", str(device), "--from", "nao", "--driver", "serial"]) == 0
    assert "7 joints does not fit the usual servo [deg]: HeadYaw -120 to 120 (servo -90 to 90)" in capsys.readouterr().err
    assert main._run(["calibrate", str(device), "--from", "nao"]) == 2
    before = device.read_bytes()
    assert main._run(["calibrate", str(device), "--set", "HeadYaw.soft_min=200", "--set", "rate_hz=40", "--json"]) == 0
    found = read_device(device)
    assert (found.servos["HeadYaw"].soft_min, found.rate_hz) == (200, 40.0)
    changed = device.read_bytes()
    assert changed != before
    for change, said in (
        ("HeadYaw.soft_min=9000", "--set HeadYaw.soft_min: the soft limits"),
        ("HeadYaw.soft_max=nan", "--set HeadYaw.soft_max: Input should be a valid integer"),
        ("LHipRoll.id=0", "--set LHipRoll.id: the servo of 'LHipRoll' has the id 0 of another"),
        ("HeadYaw.wings=2", "there is no field 'wings'"),
        ("Tail.id=2", "there is no servo 'Tail'; there are HeadYaw, HeadPitch"),
        ("Tail.id=2", "and 13 more"),
        ("rate_hz=.nan", "rate_hz"),
        ("servos={}", "there is no field 'servos'"),
        ("HeadYaw.id", "takes NAME.FIELD=VALUE"),
    ):
        assert main._run(["calibrate", str(device), "--set", change]) == 2, change
        assert said in capsys.readouterr().err
    assert device.read_bytes() == changed
    assert main._run(["calibrate", str(device), "--jog", "HeadYaw"]) == 2
    assert main._run(["calibrate", str(device)]) == 0
    assert "HeadYaw" in capsys.readouterr().err
    device.write_bytes(b"# by hand\n" + changed)
    assert main._run(["calibrate", str(device), "--set", "rate_hz=50"]) == 0
    assert f"the comments that {device} held are not kept" in capsys.readouterr().err
    assert main._run(["calibrate", str(device), "--set", "rate_hz=60"]) == 0
    assert "comments" not in capsys.readouterr().err
