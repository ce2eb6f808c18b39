"""The live protocol of the blender-servo-animation add-on, to a board that runs its Arduino library.

A command is five bytes: ``3c id high low 3e``, the position high byte first; a frame is one command for each servo whose position
has changed, and for one more in turn, so that a board that was restarted learns all and a drawn plug is seen in a pose that is held
too. The library's receiver begins anew at every byte ``3c``, so a command that holds one inside is lost on it: an id of 60
is refused here, and a position with the low byte 3c is sent as its neighbour on the side of the position before (316 after 300 as
315, after 330 as 317): what lies between two commands within the limits is within them too. As long as there is none before, a
servo with such a position is left out.

The protocol has no answers. So a line that breaks and a board that takes nothing more are seen; a missing servo, a damaged command
or a late board cannot be. Nor has it a command to stop: see :meth:`BlenderLiveDriver.release`.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.stage.blender_servo import START, servo_command
from bunraku.stage.devices.device import Device, standing
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.reported import refuse_sensors
from bunraku.stage.devices.serial_port import SerialPort, check_pace, insist

LARGEST = START * 256 - 1
"""Largest position: from here on the high byte would be a start."""


def sayable(position: int, before: int | None) -> int | None:
    """The position, or its neighbour towards the one ``before`` when its low byte would begin a command; None without one."""
    if position & 0xFF != START:
        return position
    if before is None:
        return None
    return position - 1 if before < position else position + 1


class BlenderLiveDriver(Driver):
    """Servos of a board with the add-on's library."""

    def __init__(self, device: Device) -> None:
        self.device = device
        self._line = SerialPort(device, self.waiting)
        self._ids = device.ids
        self._servos = list(device.servos.values())
        self._none: list[int | None] = [None] * len(self._ids)
        self._told = self._none
        self._turn = 0
        self._released = True

    def open(self) -> None:
        """Take the line. Whether a board is there, and with which servos, cannot be known."""
        refuse_sensors(self.device, "the live protocol")
        for name, servo_id, servo in zip(self.device.servos, self._ids, self._servos, strict=True):
            place = f"{self.device.name}: the servo of {name!r}"
            if servo_id == START:
                raise BadInput(f"{place} has the id 60, which the add-on's library cannot read; give it another")
            if servo.position_max > LARGEST:
                raise BadInput(
                    f"{place} goes to {servo.position_max}; the live protocol carries at most {LARGEST}: change its calibration"
                )
            still = standing(servo)
            if still is not None and (still & 0xFF == START or not servo.low <= still <= servo.high):
                raise BadInput(
                    f"{self.device.name}: its wheel {name!r} cannot be commanded to stand still: 0 rad/s is at {still}, outside "
                    f"its [{servo.low}, {servo.high}] or a position that the add-on's library cannot read; change its calibration"
                )
        check_pace(self.device, 5 * len(self._ids))
        self._told = self._none
        self._line.open()

    def send(self, counts: NDArray[np.int64]) -> None:
        """The commands of all servos that move, and of one that need not, in one write."""
        old, self._told = self._told, self._none
        targets = [sayable(count, was) for count, was in zip(counts.tolist(), old, strict=True)]
        self._turn = (self._turn + 1) % len(targets)
        commands = (
            servo_command(self._ids[place], new)
            for place, (new, was) in enumerate(zip(targets, old, strict=True))
            if new is not None and (new != was or place == self._turn)
        )
        self._line.write(b"".join(commands))
        self._told = targets

    def measure(self) -> NDArray[np.float64] | None:
        """None: the protocol has no answers."""
        return None

    def release(self) -> None:
        """Wheels are commanded to stand still, twice; the protocol has no stop, so other servos hold where they are.

        On a broken line wheels turn on as they were commanded last. Cut the power in need.
        """
        self._told = self._none
        self._released = insist(self._stand_still)

    def check_release(self) -> str:
        """Whether the command went out; the protocol has no answers."""
        if self._released or all(standing(servo) is None for servo in self._servos):
            return ""
        return f"{self.device.name}: the line took no command, so its wheels turn on; cut their power"

    def close(self) -> None:
        """Give the line back; the servos hold."""
        self._line.close()

    def _stand_still(self) -> None:
        still = zip(self._ids, map(standing, self._servos), strict=True)
        self._line.write(b"".join(servo_command(servo_id, count) for servo_id, count in still if count is not None))
