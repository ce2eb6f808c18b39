"""A machine in memory, cues from a list, and small shows, for the tests of the player."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.character import Body, Character, Joint, Motor
from bunraku.motion import Audio, Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.driver import Driver
from bunraku.stage.devices.fault import DeviceFault, FaultKind
from bunraku.stage.player.cues import Cue, Cues
from bunraku.stage.servos import ServoCalibration

NAMES = ("yaw", "nod", "wave")


class Memory(Driver):
    """Keeps what it is told; ``reports`` makes a measurement from all of it, None if it does not report; fails at ``lost_at``."""

    def __init__(
        self, reports: Callable[[list[NDArray[np.int64]]], NDArray[np.float64] | None] | None = None, lost_at: int = 10**9
    ) -> None:
        self.sent: list[NDArray[np.int64]] = []
        self.released = 0
        self.held = ""
        self._reports, self._lost_at = reports, lost_at

    def open(self) -> None:
        pass

    def send(self, counts: NDArray[np.int64]) -> None:
        assert not self.released, "a command after the release"
        if len(self.sent) >= self._lost_at:
            raise DeviceFault(FaultKind.LOST, "memory", "look at the plug")
        self.sent.append(counts.copy())

    def measure(self) -> NDArray[np.float64] | None:
        return None if self._reports is None else self._reports(self.sent)

    def release(self) -> None:
        self.released += 1

    def check_release(self) -> str:
        return self.held if self.released else "check_release before release"

    def close(self) -> None:
        pass

    @property
    def counts(self) -> NDArray[np.int64]:
        return np.array(self.sent)


class Time:
    """Time that goes on only when a test lets it: no busy computer makes the player late."""

    now = 100.0

    def monotonic(self) -> float:
        return self.now


TIME = Time()


@pytest.fixture
def punctual(monkeypatch: pytest.MonkeyPatch) -> Time:
    """The player and its clocks go by `TIME`, which `Scripted` moves on."""
    monkeypatch.setattr("bunraku.stage.player.player.time", TIME)
    monkeypatch.setattr("bunraku.stage.player.clock.time", TIME)
    return TIME


class Scripted(Cues):
    """Cues at given periods, and no waiting: a show of minutes takes as long as its arithmetic."""

    def __init__(self, cues: dict[int, Cue] | None = None) -> None:
        super().__init__()
        self._script, self._periods = dict(cues or {}), -1
        self._until = -1.0

    @property
    def can_start(self) -> bool:
        return True

    def wait(self, until: float, spin: float) -> list[Cue]:
        TIME.now = max(TIME.now, until)
        if until == self._until:  # asked again in the same period
            return []
        self._until = until
        self._periods += 1
        return [self._script[self._periods]] if self._periods in self._script else []


def character_of(velocity: float = 4.0, acceleration: float | None = 40.0, names: Iterable[str] = NAMES) -> Character:
    names = tuple(names)
    return Character(
        name="toy",
        bodies=tuple(Body(name=f"b{i}", mass=1.0) for i in range(len(names))),
        joints=tuple(
            Joint(name=name, kind="hinge", parent=f"b{i - 1}" if i else "world", child=f"b{i}", range=(-1.2, 1.0))
            for i, name in enumerate(names)
        ),
        motors=tuple(Motor(name=f"m{i}", coordinate=n, velocity=velocity, acceleration=acceleration) for i, n in enumerate(names)),
    )


def performance_of(
    values: NDArray[np.float64],
    *,
    rate: float = 100.0,
    name: str = "hello",
    who: Character | None = None,
    audio: Audio | None = None,
) -> Performance:
    who = who or character_of()
    curves = JointCurves(who.driven, rate, values)
    channels = tuple(Channel(n, "position", "rad", rate, values[:, j]) for j, n in enumerate(who.driven))
    return Performance(
        who, name, channels, curves, curves, Certificate(Status.CONVERGED, ()), Provenance("test", {}, {}, {}), audio=audio
    )


def waving(seconds: float = 0.5, rate: float = 100.0, size: float = 0.5) -> NDArray[np.float64]:
    """Begins and ends at rest, at different places for each joint."""
    s = np.linspace(0.0, 1.0, round(seconds * rate) + 1)[:, None]
    blend = s**3 * (10.0 - 15.0 * s + 6.0 * s**2)
    return np.array([0.2, -0.1, 0.0]) + size * blend * np.array([0.3, -0.4, 0.5])


def device_of(names: Iterable[str] = NAMES, **fields: object) -> Device:
    servo = ServoCalibration(position_min=0, position_max=4095, neutral_deg=180.0, range_deg=360.0, reverse=True)
    given = {"name": "desk", "driver": "dry-run", "missed_deadlines": 1000, "servos": dict.fromkeys(names, servo)}
    return Device(**(given | fields))


@pytest.fixture
def show() -> Performance:
    return performance_of(waving())


def write_osc(address: str, *arguments: int | float | str) -> bytes:
    """The datagram of one message with whole numbers, numbers and texts."""
    tags, body = ",", b""
    for value in arguments:
        if isinstance(value, str):
            tags, body = tags + "s", body + _padded(value)
        elif isinstance(value, int):
            tags, body = tags + "i", body + struct.pack(">i", value)
        else:
            tags, body = tags + "f", body + struct.pack(">f", value)
    return _padded(address) + _padded(tags) + body


def _padded(text: str) -> bytes:
    data = text.encode()
    return data + b"\x00" * (4 - len(data) % 4)
