"""What a show leaves behind besides its report: a film with its sound, the log of a dry run, a project for the studio."""

from __future__ import annotations

import json
from pathlib import Path

from bunraku.assets.examples import Demo
from bunraku.cli.demos.runner import Figures
from bunraku.formats.atomic import write_atomically
from bunraku.formats.registry import write_performance
from bunraku.motion import Check, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.device_yaml import write_device
from bunraku.stage.devices.drivers import open_driver
from bunraku.stage.picture.shot import span_of
from bunraku.stage.player.clock import SimulatedSoundClock
from bunraku.stage.player.cues import Cues
from bunraku.stage.player.log import commands_off
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.servos import ServoCalibration
from bunraku.studio.document import EMPTY
from bunraku.studio.project import Project
from bunraku.studio.rendering import Taste, rendered

TICKS, TURN = 4096, 360.0
"""Positions of a servo in one turn [deg], as of a Dynamixel."""

FPS = 30.0
"""Pictures of the film a second."""


def leave_show(folder: Path, result: Performance, example: Demo, monitor: Monitor) -> tuple[Figures, tuple[Check, ...]]:
    """Film, dry run and project into ``folder``; figures and promises about them."""
    leave_project(folder / "project", result, example)
    filmed = leave_film(folder, result, monitor)
    played, promises = leave_play(folder, result, monitor)
    return filmed | played, promises


def leave_film(folder: Path, result: Performance, monitor: Monitor) -> Figures:
    """``film.mp4``: the performance with its sound, what was wished in green; ``sheet.png``: moments of it, before and after."""
    write_atomically(folder / "sheet.png", rendered(result, ".png", Taste(height=300, before=True), monitor))
    write_atomically(folder / "film.mp4", rendered(result, ".mp4", Taste(fps=FPS), monitor))
    first, last = span_of(result, None, None, voice=True)
    return {"film_s": round(FPS * (last - first)) / FPS, "film_with_sound": result.audio is not None}


def leave_play(folder: Path, result: Performance, monitor: Monitor) -> tuple[Figures, tuple[Check, ...]]:
    """The performance played on a machine that is not there, in real time, the sound as master: its device file and its log.

    The log is compared with the performance: what was sent at each moment of the sound is the sample of that moment, to one count.
    Where a busy computer made the player skip samples, that is said, and nothing is promised of them.
    """
    device = dry_device(result)
    write_device(folder / f"{device.name}.device.yaml", device)
    player, clock, driver = Player(Show(result), device), SimulatedSoundClock(), open_driver(device)
    try:
        with Cues() as cues:
            whole = result.duration + 1.0
            record = player.run(
                driver, clock, cues, lambda seconds, role: monitor.report(Event("play", min(seconds / whole, 1.0), role))
            )
    finally:
        driver.close()
    write_atomically(folder / "play.json", (json.dumps(record.facts, indent=1) + "\n").encode())
    off = commands_off(result, device, record.tape, clock.sounds[0][0] if clock.sounds else 0.0)
    figures = record.figures
    busy = f"; the computer was busy, {record.skipped} samples were skipped: no promise" if record.skipped else ""
    return {
        "played_commands": record.tape.ticks,
        "played_lateness_ms": figures["lateness_median_ms"],
        "played_lateness_p99_ms": figures["lateness_p99_ms"],
        "played_skipped": record.skipped,
        "played_off_counts": off,
    }, (
        Check("dry run stopped", float(record.stopped), threshold=0.0, note=record.ended),
        Check("values cut in the dry run", record.cut + record.wild, threshold=None if busy else 0.0, note=busy.removeprefix("; ")),
        Check("commands off the performance", off, "counts", None if busy else 1.0, note=f"at their moments of the sound{busy}"),
    )


def dry_device(result: Performance) -> Device:
    """A machine that is not there, each channel a servo of 4096 positions a turn. It forgives what a busy computer does."""
    servo = ServoCalibration(
        position_min=0, position_max=TICKS - 1, neutral_deg=TURN / 2, range_deg=TURN * (TICKS - 1) / TICKS, reverse=True
    )
    servos = {channel.name: servo.changed(id=k) for k, channel in enumerate(result.channels)}
    return Device(name=result.character.name, driver="dry-run", rate_hz=result.rate, missed_deadlines=1000, servos=servos)


def leave_project(folder: Path, result: Performance, example: Demo) -> Path:
    """A folder that ``bunraku studio`` opens with character, clip, performer and the performance, which need not be made again."""
    project = Project(folder)
    document = EMPTY.changed(
        base=project.read_character(example.character),
        clip=project.read_clip(example.clip),
        sources={"character": example.character, "clip": example.clip},
        performer=example.performer,
        options=example.options,
    )
    document = project.save(document)
    write_performance(project.result_path(document.key, document.need_character().name, document.need_clip().name), result)
    return folder
