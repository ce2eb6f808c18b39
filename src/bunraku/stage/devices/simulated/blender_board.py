"""A simulated board with the Arduino library of blender-servo-animation, as its live mode reads commands."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.stage.devices.simulated.machine import SimulatedMachine

START, END, LENGTH = 0x3C, 0x3E, 5


class BlenderBoard(SimulatedMachine):
    """Servos ``ids``. It never answers. Commands to different servos that arrive together are one entry of ``commands``.

    Like the library's receiver it begins anew at every start byte, wherever that stands, and drops what is no command.
    """

    def __init__(self, ids: Sequence[int], *, start: int = 375, tau_s: float = 0.03) -> None:
        super().__init__(ids, start=start, tau_s=tau_s)
        self.dropped = 0

    def wait(self, now: float) -> None:
        """Nothing happens by itself: the board holds."""

    def hear(self, heard: bytearray, now: float) -> list[bytes]:
        """Obey every whole command."""
        together: dict[int, int] = {}
        while (command := self._next(heard)) is not None:
            if command[0] in together:
                self._follow(together, now)
                together = {}
            together |= {command[0]: command[1]}
        self._follow(together, now)
        return []

    def _next(self, heard: bytearray) -> tuple[int, int] | None:
        """The servo and the position of the next whole command; None when there is none yet."""
        while True:
            begin = heard.find(START)
            del heard[: begin if begin >= 0 else len(heard)]
            anew = heard.find(START, 1, LENGTH)
            if anew > 0:
                self.dropped += 1
                del heard[:anew]
                continue
            if len(heard) < LENGTH:
                return None
            command = bytes(heard[:LENGTH])
            del heard[:LENGTH]
            if command[4] == END:
                return command[1], int.from_bytes(command[2:4], "big")
            self.dropped += 1

    def _follow(self, together: dict[int, int], now: float) -> None:
        """Write down and follow commands that came together."""
        if together:
            self.commands.append((now, tuple(together), tuple(together.values())))
            self.servos.advance(now)
        for servo_id, position in together.items():
            if self.has(servo_id):
                self.move_to(servo_id, position)
