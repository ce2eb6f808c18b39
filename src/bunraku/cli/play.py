"""``bunraku play``: a performance on a machine, or on one that is not there."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, say
from bunraku.cli.files import check_target
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically

if TYPE_CHECKING:
    from bunraku.motion import Performance
    from bunraku.stage.devices.device import Device
    from bunraku.stage.devices.fault import DeviceFault
    from bunraku.stage.player.clock import Clock
    from bunraku.stage.player.player import Player
    from bunraku.stage.player.record import PlayRecord


def play(
    performance: Annotated[Path, typer.Argument(help="A .performance.npz")],
    live: Annotated[
        str, typer.Option(help="Move hardware: dynamixel, maestro, serial, blender-live or websocket; else it is a dry run")
    ] = "",
    device: Annotated[
        Path | None, typer.Option(help="The machine and its calibration (.device.yaml); see bunraku calibrate")
    ] = None,
    port: Annotated[str, typer.Option(help="Serial line (or port of a websocket), instead of the device file's")] = "",
    loop: Annotated[int, typer.Option(help="How often; 0 until it is stopped")] = 1,
    start_with: Annotated[Path | None, typer.Option(help="A performance to begin with")] = None,
    idle: Annotated[Path | None, typer.Option(help="A performance that is repeated until a cue, and after it")] = None,
    end_with: Annotated[Path | None, typer.Option(help="A performance to end with")] = None,
    osc: Annotated[int | None, typer.Option(help="Take cues by OSC on this UDP port of this machine; 0 for a free one")] = None,
    clock: Annotated[str, typer.Option(help="Whose time counts: auto (the sound card if there is one), sound, monotonic")] = "auto",
    simulate: Annotated[bool, typer.Option("--simulate", help="Rehearse on a simulated machine that speaks the protocol")] = False,
    unproven: Annotated[
        bool, typer.Option("--unproven", help="Move hardware although the certificate of a performance does not hold")
    ] = False,
    log: Annotated[Path | None, typer.Option(help="Write all that was sent, with its time, to this .csv")] = None,
    json: Annotated[bool, typer.Option("--json", help="The record as JSON on stdout")] = False,
) -> int:
    """Play a performance in time with its voice, within every limit of character and servos. Space, q or Ctrl-C stop the machine.

    Without --live nothing moves: commands go to a dry run. What its certificate does not prove moves no hardware without
    --unproven. Exit 0 when the show ended as planned or by a cue to end, 1 when the
    machine was stopped: by a key, Ctrl-C, an emergency stop by OSC, or because something was wrong.
    """
    check_target(log, ".csv")
    from bunraku.formats.registry import read_performance
    from bunraku.stage.devices.fault import DeviceFault
    from bunraku.stage.player.log import log_bytes
    from bunraku.stage.player.player import Player
    from bunraku.stage.player.program import Show

    if osc is not None and not 0 <= osc <= 65_535:
        raise BadInput(f"--osc is a port from 0 to 65535; {osc} arrived")
    files = {"start": start_with, "idle": idle, "end": end_with}
    show = Show(
        read_performance(performance),
        **{role: read_performance(file) for role, file in files.items() if file is not None},
        loops=loop,
    )
    parts = list(show.parts.values())
    machine = _device(parts, live, device, port, simulate)
    player = Player(show, machine)
    if player.unproven and machine.driver != "dry-run" and not (simulate or unproven):
        raise BadInput(f"{player.unproven[0]}; or play it all the same with --unproven: THE MACHINE MOVES")
    for note in player.notes:
        say(f"note: {note}")
    record = _played(player, _clock(clock, parts), osc, simulate)
    if isinstance(record, DeviceFault):
        _tell_unopened(record, machine, simulate, json)
        return 1
    for sentence in record.sentences:
        say(sentence)
    if json:
        emit_json({"performance": str(performance)} | record.facts)
    if log is not None:
        write_atomically(log, log_bytes(record.tape, player.outputs))
        kept = len(record.tape.times)
        say(f"wrote {log}: {kept} commands" + (f", the last of {record.tape.ticks}" if kept < record.tape.ticks else ""))
    return 1 if record.stopped else 0


def _played(player: Player, master: Clock, osc: int | None, simulate: bool) -> PlayRecord | DeviceFault:
    """Open the machine, play, give it back; the record, or the fault of a machine that cannot be opened."""
    from dataclasses import replace

    from bunraku.stage.devices.drivers import open_driver
    from bunraku.stage.devices.fault import DeviceFault
    from bunraku.stage.player.cues import Cues
    from bunraku.stage.player.rehearsal import rehearsal

    device = player.device
    with rehearsal(device, simulate) as machine, Cues(osc, keys=True) as cues:
        if cues.port is not None:
            heard = "/bunraku/start, /bunraku/stop, /bunraku/estop, /bunraku/cue NAME"
            say(f"cues by OSC on 127.0.0.1:{cues.port}: {heard}; port {cues.stop_port} hears /bunraku/estop alone, in any flood")
        try:
            with cues.interruptible():
                driver = open_driver(machine)
        except DeviceFault as fault:
            master.stop()
            return fault
        where = (
            "a simulated machine" if simulate else "no machine: a dry run" if device.driver == "dry-run" else "THE MACHINE MOVES"
        )
        try:
            say(f"{device.name} ({device.driver}), {where}; space, q or Ctrl-C stop it; time by {master.name}")
            record = player.run(driver, master, cues, _watch())
        except BaseException:
            driver.release()
            raise
        finally:
            driver.close()
    if sys.stderr.isatty():
        say()
    if record.stopped and simulate:
        ended, why = _as_simulated(record.ended)
        record = replace(record, ended=ended, notes=(*record.notes, *why))
    return record


def _tell_unopened(fault: DeviceFault, device: Device, simulate: bool, json: bool) -> None:
    """Why nothing was played."""
    ended, why = _as_simulated(str(fault)) if simulate else (str(fault), [])
    for sentence in (ended, *(f"note: {note}" for note in why)):
        say(sentence)
    if json:
        facts = {"ended": ended, "stopped": True, "device": device.name, "driver": device.driver, "commands": 0}
        emit_json(facts | {"notes": why})


def _as_simulated(ended: str) -> tuple[str, list[str]]:
    """Why a show on a simulated machine ended, and what to do: it has neither power nor cable, but a computer that may be busy."""
    from bunraku.stage.devices.fault import FaultKind

    kinds = (FaultKind.SILENT, FaultKind.MISSING, FaultKind.SLOW, FaultKind.CORRUPTED)
    signs = (*(kind.value for kind in kinds), "it heard nothing", "deadlines in a row were missed")
    sign = next((sign for sign in signs if sign in ended), None)
    if sign is None:
        return ended, []
    what = ended.partition(sign)[0] + sign  # what follows is advice about power and cables
    return f"{what}; the machine is simulated, and the computer was too busy for it to answer in time", [
        "close other programs, or give a device file with a longer timeout_ms (at most 50), more missed_deadlines, a lower rate_hz"
    ]


def _device(parts: list[Performance], live: str, file: Path | None, port: str, simulate: bool) -> Device:
    """The device to play on: that of the file, else one made for a rehearsal; hardware is moved with --live only."""
    from typing import cast

    from bunraku.stage.devices.device import DriverName
    from bunraku.stage.devices.device_yaml import read_device
    from bunraku.stage.player.described import DEFAULTS, described_device

    if live and live not in DEFAULTS:
        raise BadInput(f"--live is one of {', '.join(DEFAULTS)}; {live!r} arrived")
    if simulate and not live:
        raise BadInput("--simulate rehearses a protocol; say which: --live dynamixel, maestro, serial or blender-live")
    if file is None:
        if live not in ("", "dry-run") and not simulate:
            raise BadInput(
                f"a {live} machine needs a device file; make one: bunraku calibrate NAME.device.yaml --from PERFORMANCE "
                f"--driver {live}, or rehearse with --simulate"
            )
        return described_device(parts, cast(DriverName, live or "dry-run"), port=port, ample=True)
    device = read_device(file)
    if live in ("", "dry-run"):
        dry: Device = device.changed(driver="dry-run", port="", missed_deadlines=1_000)
        return dry
    if live != device.driver:
        raise BadInput(f"describes a {device.driver} device; --live {live} arrived: use --live {device.driver}", file=str(file))
    moved: Device = device.changed(port=port) if port else device
    return moved


def _clock(name: str, parts: list[Performance]) -> Clock:
    from bunraku.stage.player.clock import MonotonicClock
    from bunraku.stage.player.sound_clock import SoundCardClock, master_clock

    rates = [part.audio.rate for part in parts if part.audio is not None]
    match name:
        case "monotonic":
            return MonotonicClock()
        case "sound":
            return SoundCardClock(rates[0] if rates else 48_000.0)
        case "auto":
            clock, why = master_clock(rates[0] if rates else None)
            if why:
                say(f"the voice is not heard: {why}")
            return clock
    raise BadInput(f"--clock is auto, sound or monotonic; {name!r} arrived")


def _watch() -> Any:
    """A line on the terminal that tells the time; nothing elsewhere."""
    if not sys.stderr.isatty():
        return lambda seconds, role: None

    def show(seconds: float, role: str) -> None:
        sys.stderr.write(f"\r{seconds:8.1f} s  {role or 'on the way':12}")
        sys.stderr.flush()

    return show
