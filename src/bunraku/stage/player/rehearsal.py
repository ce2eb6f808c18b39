"""Rehearsing without hardware: a simulated machine that speaks the device's protocol, plugged in for the time of a show."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from importlib import import_module

from bunraku.errors import BadInput
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.reported import sensor_ids
from bunraku.stage.devices.simulated.machine import SimulatedMachine
from bunraku.stage.devices.simulated.servos import FirstOrderServos
from bunraku.stage.player.undisturbed import undisturbed

_ROOM = "bunraku.stage.devices.simulated"
MACHINES = {
    "dynamixel": f"{_ROOM}.dynamixel_bus:DynamixelBus",
    "maestro": f"{_ROOM}.maestro_board:MaestroBoard",
    "serial": f"{_ROOM}.serial_board:SerialBoard",
    "blender-live": f"{_ROOM}.blender_board:BlenderBoard",
}
"""Name of a driver -> module:class of the machine that speaks its protocol."""
TAU = 0.03
"""Time constant of the simulated servos [s]."""


def simulated_machine(device: Device) -> SimulatedMachine:
    """The machine of a device's protocol, not yet plugged in, servos and sensors amid their range."""
    if device.driver not in MACHINES:
        raise BadInput(f"there is no simulated machine for {device.driver}; there are some for {', '.join(MACHINES)}")
    module, _, name = MACHINES[device.driver].partition(":")
    machine: SimulatedMachine = getattr(import_module(module), name)((*device.ids, *sensor_ids(device)))
    parts = (*device.servos.values(), *device.sensors.values())
    machine.servos = FirstOrderServos([0.5 * (servo.low + servo.high) for servo in parts], tau_s=TAU)
    return machine


@contextmanager
def rehearsal(device: Device, simulate: bool) -> Iterator[Device]:
    """The device itself, or with ``simulate`` the same device at the port of a simulated machine, for as long."""
    if not simulate:
        yield device
        return
    with ExitStack() as stack:
        with undisturbed():  # a thread inherits its place before other programs from the one that starts it
            machine = stack.enter_context(simulated_machine(device))
        yield device.changed(port=machine.port)
