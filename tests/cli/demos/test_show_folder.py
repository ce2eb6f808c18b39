"""What a show leaves behind: a dry run whose log is the performance, a project that the studio opens with the result in it."""

from __future__ import annotations

import json
from dataclasses import replace
from types import SimpleNamespace

import numpy as np
import pytest

from bunraku.assets.examples import DEMOS, Demo
from bunraku.cli.demos.show_folder import dry_device, leave_film, leave_play, leave_project
from bunraku.formats.registry import read_character, read_clip
from bunraku.motion import Audio, Channel, JointCurves
from bunraku.optimization.monitor import SILENT
from bunraku.performers.performer import make_performer
from bunraku.stage.devices.device_yaml import read_device
from bunraku.studio.session import Session

CLICK = Audio(np.r_[np.ones(80), np.zeros(7920)], 16_000.0, "click.wav")


@pytest.fixture(scope="module")
def short():
    """Half a second of NAO, with a click as sound."""
    clip = read_clip("no-problem")
    joints = JointCurves(clip.joints.names, clip.joints.rate, clip.joints.values[40:66])
    return make_performer("speech").perform(read_character("nao"), clip.changed(joints=joints, audio=CLICK, words=(), phrases=()))


@pytest.fixture
def punctual(monkeypatch):
    """Time that goes on only while the player waits: no busy computer makes it late."""
    now = [100.0]
    clock = SimpleNamespace(monotonic=lambda: now[0])

    def wait(cues, moment, spin):
        now[0] = max(now[0], moment)
        return []

    monkeypatch.setattr("bunraku.stage.player.player.time", clock)
    monkeypatch.setattr("bunraku.stage.player.clock.time", clock)
    monkeypatch.setattr("bunraku.stage.player.cues.Cues.wait", wait)
    return now


@pytest.mark.usefixtures("punctual")
def test_the_dry_run_sends_the_performance_to_one_count(short, tmp_path):
    figures, promises = leave_play(tmp_path, short, SILENT)
    assert all(check.holds for check in promises), [check.sentence for check in promises]
    assert figures["played_commands"] >= 50
    assert figures["played_skipped"] == 0
    assert 0.0 < figures["played_off_counts"] <= 0.51  # rounding to counts, nothing else
    assert figures["played_lateness_p99_ms"] == pytest.approx(0.0, abs=1e-6)
    device = read_device(tmp_path / "nao.device.yaml")
    assert device == dry_device(short)
    assert list(device.servos) == [channel.name for channel in short.channels]
    zero, slope = device.servos["HeadYaw"].line("rad", "HeadYaw")
    assert (zero, slope) == pytest.approx((2048.0, 4096.0 / (2.0 * np.pi)))
    told = json.loads((tmp_path / "play.json").read_text())
    assert told["stopped"] is False
    assert told["commands"] == figures["played_commands"]


@pytest.mark.usefixtures("punctual")
def test_a_command_at_the_wrong_moment_is_seen(short, tmp_path, monkeypatch):
    """The log of one performance compared with another that comes 30 ms later."""
    from bunraku.cli.demos import show_folder

    late = [replace(one, values=np.r_[np.repeat(one.values[:1], 3), one.values[:-3]]) for one in short.channels]
    honest = show_folder.commands_off
    shifted = short.changed(channels=tuple(Channel(one.name, one.kind, one.unit, one.rate, one.values) for one in late))
    monkeypatch.setattr(show_folder, "commands_off", lambda result, *rest: honest(shifted, *rest))
    figures, promises = leave_play(tmp_path, short, SILENT)
    assert figures["played_off_counts"] > 10.0
    assert not promises[-1].holds


def test_a_busy_computer_is_told_and_nothing_is_promised_of_it(short, tmp_path, punctual, monkeypatch):
    def wait(cues, moment, spin):
        punctual[0] = max(punctual[0], moment) + (0.045 if round(moment * 100) % 20 == 0 else 0.0)
        return []

    monkeypatch.setattr("bunraku.stage.player.cues.Cues.wait", wait)
    figures, promises = leave_play(tmp_path, short, SILENT)
    assert figures["played_skipped"] > 0
    assert all(check.holds for check in promises)
    assert "busy" in promises[-1].note


def test_the_studio_opens_the_project_with_its_performance(short, tmp_path):
    demo = Demo("speech", "nao", "no-problem", {"intensity": 1.0}, "", "")
    leave_project(tmp_path / "project", short, demo)
    session = Session(tmp_path / "project")
    try:
        session.show()
        assert session.document.performer == "speech"
        assert session.document.need_character().name == "nao"
        assert session.document.need_clip().name == "no-problem"
        assert not session.dirty
        assert session.result is not None
        assert session.result.performance.provenance.inputs == short.provenance.inputs
    finally:
        session.close()


def test_a_chain_is_opened_and_its_options_are_edited(short, tmp_path):
    demo = DEMOS["full-show"]
    leave_project(tmp_path / "project", short, demo)
    session = Session(tmp_path / "project")
    try:
        assert session.document.performer == "speech+vibration"
        assert dict(session.document.options) == demo.options
        assert session.project.found_result(session.document.key) is not None
        session.do("option.set", name="points", value=120)
        assert session.document.options["points"] == 120
        assert session.result is None
    finally:
        session.close()


def test_the_film_has_the_sound_and_the_length_and_a_sheet(short, tmp_path):
    figures = leave_film(tmp_path, short, SILENT)
    assert figures == {"film_s": pytest.approx(0.5), "film_with_sound": True}
    data = (tmp_path / "film.mp4").read_bytes()
    assert b"avc1" in data
    assert b"mp4a" in data
    assert (tmp_path / "sheet.png").read_bytes().startswith(b"\x89PNG")


def test_the_show_is_for_the_drummer():
    demo = DEMOS["full-show"]
    assert (demo.character, demo.clip, demo.kind) == ("drummer", "full-show", "full_show")
    make_performer(demo.performer, demo.options)
