"""A simulated bus of Dynamixel X servos, protocol 2.0, after the description of the protocol and of the control table.

A packet is ``FF FF FD 00 id length(2) instruction parameters crc(2)``, numbers low byte first; the length counts from the
instruction to the CRC; the CRC-16 has the polynomial 0x8005, starts at 0, and covers all before it. A status packet has the
instruction 55 and an error byte before its parameters. ``FF FF FD`` after the length is followed by a stuffed ``FD``.
"""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.stage.devices.simulated.machine import SimulatedMachine

HEADER = b"\xff\xff\xfd\x00"
BROADCAST = 0xFE
PING, READ, WRITE, REBOOT, STATUS, SYNC_READ, SYNC_WRITE = 0x01, 0x02, 0x03, 0x08, 0x55, 0x82, 0x83
MODEL, MODE, MOST, LEAST, TORQUE, HARDWARE_ERROR, WATCHDOG, GOAL, PRESENT = 0, 11, 48, 52, 64, 70, 98, 116, 132
BAD_INSTRUCTION, BAD_CRC, BAD_RANGE, BAD_LENGTH, BAD_LIMIT, BAD_ACCESS = 2, 3, 4, 5, 6, 7
ALERT = 0x80
TABLE_BYTES = 256
WATCHDOG_S = 0.02
"""Unit of the bus watchdog [s]."""
XL430 = 1060
POSITION_MODE = 3
LONGEST = 4096


def _shifted(crc: int) -> int:
    for _ in range(8):
        crc = ((crc << 1) ^ (0x8005 if crc & 0x8000 else 0)) & 0xFFFF
    return crc


_TABLE = tuple(_shifted(byte << 8) for byte in range(256))


def crc16(data: bytes) -> int:
    """The checksum of protocol 2.0: polynomial x^16 + x^15 + x^2 + 1, start 0, not reflected."""
    crc = 0
    for byte in data:
        crc = ((crc << 8) & 0xFFFF) ^ _TABLE[(crc >> 8) ^ byte]
    return crc


def packet(servo_id: int, instruction: int, parameters: bytes = b"") -> bytes:
    """A whole packet, stuffed and with its checksum."""
    body = (bytes([instruction]) + parameters).replace(b"\xff\xff\xfd", b"\xff\xff\xfd\xfd")
    head = HEADER + bytes([servo_id]) + (len(body) + 2).to_bytes(2, "little") + body
    return head + crc16(head).to_bytes(2, "little")


class DynamixelBus(SimulatedMachine):
    """Servos with the part of the control table that a player needs.

    Torque on takes the present position as the goal (with ``keeps_goal`` it moves to the goal it had). A goal beyond the position
    limits is refused. Without an instruction for as long as the bus watchdog says, a servo stops where it is and takes no goal
    until the watchdog is set to 0. As on a real bus, a servo answers a sync read after the one before it in the list; when that one
    is missing, those behind it stay silent. :meth:`break_servo` makes one report an error of its own.
    """

    def __init__(self, ids: Sequence[int], *, start: int = 2048, tau_s: float = 0.03) -> None:
        super().__init__(ids, start=start, tau_s=tau_s)
        self.keeps_goal = False
        self._place = {servo_id: place for place, servo_id in enumerate(self.ids)}
        self._memory = {servo_id: bytearray(TABLE_BYTES) for servo_id in self.ids}
        self._instructed = dict.fromkeys(self.ids, 0.0)
        for servo_id in self.ids:
            self._put(servo_id, MODEL, 2, XL430)
            self._put(servo_id, MODE, 1, POSITION_MODE)
            self._put(servo_id, MOST, 4, 4095)
            self._put(servo_id, GOAL, 4, start)

    @property
    def torque(self) -> tuple[bool, ...]:
        """Which servos are driven."""
        with self._lock:
            return tuple(bool(self._memory[servo_id][TORQUE]) for servo_id in self.ids)

    def put(self, servo_id: int, address: int, length: int, value: int) -> None:
        """Write into the control table of a servo from inside, as its firmware would."""
        with self._lock:
            self._put(servo_id, address, length, value)

    def get(self, servo_id: int, address: int, length: int) -> int:
        """What stands in the control table of a servo (without a sign)."""
        with self._lock:
            return int.from_bytes(self._memory[servo_id][address : address + length], "little")

    def break_servo(self, servo_id: int, bits: int = 0x20) -> None:
        """A servo protects itself (0x20: overload): its torque goes off and every status packet carries the alert."""
        with self._lock:
            self._put(servo_id, HARDWARE_ERROR, 1, bits)
            self._set_torque(servo_id, False)

    def hear(self, heard: bytearray, now: float) -> list[bytes]:
        """Obey every whole packet."""
        answers: list[bytes] = []
        while True:
            place = heard.find(HEADER)
            if place < 0:
                del heard[: max(0, len(heard) - 3)]
                return answers
            del heard[:place]
            if len(heard) < 7:
                return answers
            length = int.from_bytes(heard[5:7], "little")
            if not 3 <= length <= LONGEST:
                del heard[:3]
                continue
            if len(heard) < 7 + length:
                return answers
            whole = bytes(heard[: 7 + length])
            if crc16(whole[:-2]) != int.from_bytes(whole[-2:], "little"):
                del heard[:3]
                continue
            del heard[: 7 + length]
            body = whole[7:-2].replace(b"\xff\xff\xfd\xfd", b"\xff\xff\xfd")
            answers += self._obey(whole[4], body[0], body[1:], now)

    def wait(self, now: float) -> None:
        """Stop the servos whose watchdog has run out since the last instruction."""
        for servo_id in self.ids:
            ticks = self._memory[servo_id][WATCHDOG]
            end = self._instructed[servo_id] + ticks * WATCHDOG_S
            if 0 < ticks < 0x80 and now > end:
                place = self._place[servo_id]
                self.servos.target[place] = self.servos.advance(end)[place]
                self._memory[servo_id][WATCHDOG] = 0xFF

    def _obey(self, servo_id: int, instruction: int, parameters: bytes, now: float) -> list[bytes]:
        self._instructed.update((one, now) for one in self.ids if self.has(one))
        if instruction == SYNC_WRITE:
            self._sync_write(parameters, now)
            return []
        if instruction == SYNC_READ:
            return self._sync_read(parameters)
        called = self.ids if servo_id == BROADCAST else (servo_id,)
        answers = []
        for one in filter(self.has, called):
            error, data = self._single(one, instruction, parameters, now)
            if servo_id != BROADCAST or instruction == PING:
                answers.append(self._status(one, error, data))
        return answers

    def _single(self, servo_id: int, instruction: int, parameters: bytes, now: float) -> tuple[int, bytes]:
        if instruction == PING:
            return 0, bytes(self._memory[servo_id][MODEL : MODEL + 2]) + b"\x2d"
        if instruction == REBOOT:
            self._put(servo_id, HARDWARE_ERROR, 1, 0)
            self._set_torque(servo_id, False)
            return 0, b""
        if instruction == READ and len(parameters) == 4:
            address, length = int.from_bytes(parameters[:2], "little"), int.from_bytes(parameters[2:], "little")
            return (0, self._read(servo_id, address, length)) if address + length <= TABLE_BYTES else (BAD_RANGE, b"")
        if instruction == WRITE and len(parameters) >= 3:
            address = int.from_bytes(parameters[:2], "little")
            if address <= GOAL < address + len(parameters) - 2:
                offset = GOAL - address
                self.commands.append((now, (servo_id,), (_signed(parameters[2 + offset : 6 + offset]),)))
            return self._write_table(servo_id, address, parameters[2:]), b""
        return (BAD_LENGTH if instruction in (READ, WRITE) else BAD_INSTRUCTION), b""

    def _sync_write(self, parameters: bytes, now: float) -> None:
        address, length = int.from_bytes(parameters[:2], "little"), int.from_bytes(parameters[2:4], "little")
        rows = parameters[4:]
        if length == 0 or len(rows) % (length + 1):
            return
        written = [(rows[k], rows[k + 1 : k + 1 + length]) for k in range(0, len(rows), length + 1)]
        if address == GOAL and length == 4:
            self.commands.append((now, tuple(servo_id for servo_id, _ in written), tuple(_signed(data) for _, data in written)))
        for servo_id, data in written:
            if self.has(servo_id):
                self._write_table(servo_id, address, data)

    def _sync_read(self, parameters: bytes) -> list[bytes]:
        answers: list[bytes] = []
        for servo_id in parameters[4:]:
            if not self.has(servo_id):
                break
            error, data = self._single(servo_id, READ, parameters[:4], 0.0)
            answers.append(self._status(servo_id, error, data))
        return answers

    def _read(self, servo_id: int, address: int, length: int) -> bytes:
        present = round(float(self.servos.advance()[self._place[servo_id]]))
        self._put(servo_id, PRESENT, 4, present)
        return bytes(self._memory[servo_id][address : address + length])

    def _write_table(self, servo_id: int, address: int, data: bytes) -> int:
        """Write as from the bus; returns the error number."""
        memory = self._memory[servo_id]
        if address + len(data) > TABLE_BYTES:
            return BAD_RANGE
        if address < TORQUE and memory[TORQUE]:
            return BAD_ACCESS
        if address == TORQUE:
            if memory[HARDWARE_ERROR] and data[0]:
                return BAD_RANGE
            self._set_torque(servo_id, bool(data[0]))
            return 0
        if address == GOAL and len(data) == 4:
            least, most = self._limit(servo_id, LEAST), self._limit(servo_id, MOST)
            if memory[WATCHDOG] == 0xFF:
                return BAD_RANGE
            if memory[MODE] == POSITION_MODE and not least <= _signed(data) <= most:
                return BAD_LIMIT
            self.servos.advance()
            self.servos.target[self._place[servo_id]] = _signed(data)
        memory[address : address + len(data)] = data
        return 0

    def _set_torque(self, servo_id: int, on: bool) -> None:
        place, present = self._place[servo_id], self.servos.advance()
        if on and not self._memory[servo_id][TORQUE] and not self.keeps_goal:
            self.servos.target[place] = present[place]
            self._put(servo_id, GOAL, 4, round(float(present[place])))
        self._memory[servo_id][TORQUE] = int(on)
        self.servos.driven[place] = on

    def _status(self, servo_id: int, error: int, data: bytes) -> bytes:
        return packet(servo_id, STATUS, bytes([error | (ALERT if self._memory[servo_id][HARDWARE_ERROR] else 0)]) + data)

    def _limit(self, servo_id: int, address: int) -> int:
        return _signed(self._memory[servo_id][address : address + 4])

    def _put(self, servo_id: int, address: int, length: int, value: int) -> None:
        self._memory[servo_id][address : address + length] = value.to_bytes(length, "little", signed=value < 0)


def _signed(data: bytes | bytearray) -> int:
    return int.from_bytes(data, "little", signed=True)
