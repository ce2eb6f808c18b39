"""``bunraku calibrate``: make and change a device file, by hand on the machine or by figures."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, say
from bunraku.cli.files import check_target
from bunraku.errors import BadInput

if TYPE_CHECKING:
    from bunraku.stage.devices.device import Device


def calibrate(
    device: Annotated[Path, typer.Argument(help="The device file (.device.yaml); made when it is not there and --from is given")],
    source: Annotated[str, typer.Option("--from", help="Make it for this performance, or character (file or built-in name)")] = "",
    sensors: Annotated[
        bool, typer.Option("--sensors", help="With --from PERFORMANCE: also a sensor for all that its gains need to know")
    ] = False,
    driver: Annotated[str, typer.Option(help="dynamixel, maestro, serial, blender-live, websocket or dry-run")] = "dry-run",
    port: Annotated[str, typer.Option(help="Serial line, or port of a websocket")] = "",
    changes: Annotated[
        list[str] | None, typer.Option("--set", help="Change a figure: NAME.FIELD=VALUE of a servo, FIELD=VALUE of the device")
    ] = None,
    jog: Annotated[str, typer.Option(help="Move this servo with keys and find its figures; THE MACHINE MOVES")] = "",
    simulate: Annotated[bool, typer.Option("--simulate", help="Jog a simulated machine")] = False,
    json: Annotated[bool, typer.Option("--json", help="The device as JSON on stdout")] = False,
) -> int:
    """Say how each servo is built in: pulse range, soft limits, neutral, direction, offset, id. See docs: playing on hardware.

    The file is written whole or not at all, and only when it is valid.
    """
    if source:
        check_target(device, ".device.yaml")
    from bunraku.stage.devices.device_yaml import has_comments, read_device, write_device
    from bunraku.stage.devices.reported import check_numbers

    if source and device.exists():
        raise BadInput(
            "is there already; --from makes a new one: give another name, or change this one with --set", file=str(device)
        )
    if not source and not device.exists():
        raise BadInput("is not there; make it with --from PERFORMANCE or --from CHARACTER", file=str(device))
    if sensors and not source:
        raise BadInput("--sensors takes what to measure from a performance; give it with --from, or write sensors into the file")
    before, notes = _made(source, driver, port, device, sensors) if source else (read_device(device), [])
    after = before.changed(port=port) if port and not source else before
    for change in changes or []:
        after = _changed(after, change)
    if source or after != before:
        check_numbers(after)
    for note in notes:  # of a device that is none they would only hide why
        say(f"note: {note}")
    if jog:
        jogged = _jogged(after, jog, simulate)
        if jogged is None:
            say("let go; nothing is written")
            return 1
        after = jogged
    if source or after != before:
        lost = not source and has_comments(device)
        write_device(device, after)
        if lost:
            say(f"note: the comments that {device} held are not kept")
        measured = f", {len(after.sensors)} sensors" if after.sensors else ""
        say(f"wrote {device}: {len(after.servos)} servos{measured}, {after.driver}, {after.rate_hz:g} Hz")
    else:
        _show(after)
    if json:
        emit_json(after.model_dump(mode="json"))
    return 0


def _made(source: str, driver: str, port: str, file: Path, sensors: bool) -> tuple[Device, list[str]]:
    """A device for a performance or a character, and what must be said about it."""
    from typing import cast

    from bunraku.character import Character
    from bunraku.formats.registry import read_any
    from bunraku.motion import Performance
    from bunraku.stage.devices.device import DriverName
    from bunraku.stage.player.described import DEFAULTS, described_device, out_of_reach, with_sensors

    if driver not in DEFAULTS:
        raise BadInput(f"--driver is one of {', '.join(DEFAULTS)}; {driver!r} arrived")
    noun, _ = read_any(source)
    if not isinstance(noun, (Character, Performance)):
        raise BadInput("is a clip; a device is made for a performance or a character", file=source)
    given = noun if isinstance(noun, Character) else [noun]
    device = described_device(given, cast(DriverName, driver), name=file.name.removesuffix(".device.yaml"), port=port)
    if sensors:
        if isinstance(noun, Character):
            raise BadInput("is a character; --sensors needs a performance, whose gains say what to measure", file=source)
        device = with_sensors(device, noun)
    return device, _too_short(out_of_reach(given, device))


def _too_short(joints: dict[str, tuple[float, float, float, float]]) -> list[str]:
    """Sentences about joints that turn farther than the usual servo."""
    from math import degrees

    from bunraku.stage.devices.device import listed

    if not joints:
        return []
    ends = [[round(degrees(one)) for one in four] for four in joints.values()]
    each = [f"{name} {a} to {b} (servo {c} to {d})" for name, (a, b, c, d) in zip(joints, ends, strict=True)]
    count = f"the range of {len(each)} joints does" if len(each) > 1 else "the range of a joint does"
    return [
        f"{count} not fit the usual servo [deg]: {listed(each)}; what goes beyond is refused by play: "
        "set range_deg, neutral_deg and multiplier as your servos are"
    ]


def _changed(device: Device, change: str) -> Device:
    """The device with one figure changed, from NAME.FIELD=VALUE or FIELD=VALUE."""
    from bunraku.formats.yaml_file import load_yaml
    from bunraku.stage.devices.device import listed
    from bunraku.stage.servos import ServoCalibration

    place, equals, text = change.partition("=")
    name, dot, field = place.rpartition(".")
    if not equals:
        raise BadInput(f"--set takes NAME.FIELD=VALUE or FIELD=VALUE; {change[:80]!r} arrived")
    value, _ = load_yaml(text.encode(), file=f"--set {place[:80]}")
    fields = ServoCalibration.model_fields if dot else type(device).model_fields
    plain = [one for one in fields if one not in ("servos", "sensors")]
    if field not in plain:
        raise BadInput(f"--set {place[:80]}: there is no field {field[:60]!r}; there are {', '.join(plain)}")
    changed: Device
    try:
        if not dot:
            changed = device.changed(**{field: value})
            return changed
        for group in ("servos", "sensors"):
            known: dict[str, ServoCalibration] = getattr(device, group)
            if name in known:
                changed = device.changed(**{group: known | {name: known[name].changed(**{field: value})}})
                return changed
    except BadInput as error:
        said = str(error).removeprefix("ServoCalibration: ").removeprefix("Device: ").removeprefix(f"{field}: ")
        raise BadInput(f"--set {place[:80]}: {said}") from error
    raise BadInput(f"--set {place[:80]}: there is no servo {name[:60]!r}; there are {listed(device.servos)}")


def _jogged(device: Device, name: str, simulate: bool) -> Device | None:
    """The device after a person has moved one servo; None when they let go of it."""
    from bunraku.stage.devices.device import listed
    from bunraku.stage.devices.drivers import open_driver
    from bunraku.stage.player.cues import Cues
    from bunraku.stage.player.jog import KEYS, Jog
    from bunraku.stage.player.rehearsal import rehearsal
    from bunraku.system.keyboard import Keyboard

    if name not in device.servos:
        raise BadInput(f"--jog {name!r}: there is no such servo; there are {listed(device.servos)}")
    if not sys.stdin.isatty():
        raise BadInput("--jog needs a terminal to press keys at; change figures with --set instead")
    with rehearsal(device, simulate) as machine, Cues() as cues, cues.interruptible(), Keyboard() as keyboard:
        driver = open_driver(machine)
        try:
            work = Jog(machine, name, driver)
            say(KEYS)
            work.run(keyboard.pressed, _line)
            say()
        finally:
            driver.release()
            driver.close()
    jogged: Device = work.result.changed(port=device.port)
    return jogged if work.written else None


def _line(text: str) -> None:
    sys.stderr.write(f"\r{text:70}")
    sys.stderr.flush()


def _show(device: Device) -> None:
    at = f" at {device.port}" if device.port else ""
    say(f"{device.name}: {device.driver}{at}, {device.rate_hz:g} Hz, {len(device.servos)} servos")
    for name, servo, number in zip(device.servos, device.servos.values(), device.ids, strict=True):
        what: Any = servo.span_m or servo.span_rad_s or f"{servo.neutral_deg:g} of {servo.range_deg:g} deg"
        turned = ", reversed" if servo.reverse else ""
        say(f"  {name:24} id {number:3}  [{servo.low}, {servo.high}]  {what}{turned}")
