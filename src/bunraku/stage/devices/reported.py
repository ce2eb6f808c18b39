"""Which numbers a machine is asked about: its servos, then the sensors that it reads without moving anything; which it knows."""

from __future__ import annotations

from bunraku.errors import BadInput
from bunraku.stage.devices.device import Device

LAST_ID = {
    "maestro": (23, "a Maestro has the channels 0 to 23 at most"),
    "dynamixel": (252, "the last id on a Dynamixel bus is 252"),
}
"""Driver -> the largest id it can address, and why."""
LARGEST_PULSE = 0x3FFF
"""The longest pulse that a Maestro can be sent [quarter us]."""


def check_numbers(device: Device) -> None:
    """Refuse ids and positions that the protocol of the device cannot express, by the name of the servo."""
    last, why = LAST_ID.get(device.driver, (255, "no id is larger than 255"))
    names, ids = (*device.servos, *device.sensors), (*device.ids, *sensor_ids(device))
    for name, number in zip(names, ids, strict=True):
        if number > last:
            advice = f"{why}: give it another, or use another driver"
            raise BadInput(f"{device.name}: the servo of {name!r} has the id {number}; {advice}")
    for name, servo in device.servos.items():
        if device.driver == "maestro" and servo.position_max > LARGEST_PULSE:
            most = f"a Maestro takes at most {LARGEST_PULSE} quarter us"
            raise BadInput(f"{device.name}: {name!r} goes to {servo.position_max}; {most}")


def sensor_ids(device: Device) -> tuple[int, ...]:
    """The number of each sensor, in the order of ``sensors``; where none is given its place behind the servos."""
    first = len(device.servos)
    ids = tuple(first + place if one.id is None else one.id for place, one in enumerate(device.sensors.values()))
    for place, (name, sensor_id) in enumerate(zip(device.sensors, ids, strict=True)):
        if sensor_id in device.ids or sensor_id in ids[:place]:
            raise BadInput(f"{device.name}: the sensor {name!r} has the id {sensor_id} of another; ids must differ")
    return ids


def refuse_sensors(device: Device, protocol: str) -> None:
    """Refuse a device with sensors whose protocol cannot read any."""
    if device.sensors:
        raise BadInput(f"{device.name}: {next(iter(device.sensors))!r} is a sensor, which {protocol} cannot report; leave it out")
