"""The drivers by name. A driver's module is imported when a device of it is made, not before."""

from __future__ import annotations

from importlib import import_module

from bunraku.errors import BadInput
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver

_ROOM = "bunraku.stage.devices"

DRIVERS: dict[str, str] = {
    "dry-run": f"{_ROOM}.dry_run:DryRunDriver",
    "dynamixel": f"{_ROOM}.dynamixel:DynamixelDriver",
    "maestro": f"{_ROOM}.maestro:MaestroDriver",
    "serial": f"{_ROOM}.serial_line:SerialLineDriver",
    "blender-live": f"{_ROOM}.blender_live:BlenderLiveDriver",
    "websocket": f"{_ROOM}.websocket:WebsocketDriver",
}
"""Name of a driver -> module:class."""


def make_driver(device: Device) -> Driver:
    """The driver of a device, not yet open."""
    if device.driver not in DRIVERS:
        raise BadInput(f"there is no driver {device.driver!r}; there are {', '.join(DRIVERS)}")
    module, _, name = DRIVERS[device.driver].partition(":")
    return getattr(import_module(module), name)(device)


def open_driver(device: Device) -> Driver:
    """The driver of a device, open. When it cannot be opened the line is given back and the machine stays as it was found."""
    driver = make_driver(device)
    try:
        driver.open()
    except BaseException:
        driver.close()
        raise
    return driver
