"""Moving one servo by hand, key by key, to find its calibration: slowly, within its pulse range, the others held where they are."""

from __future__ import annotations

import math
import time
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput
from bunraku.stage.devices.device import Device, listed, standing
from bunraku.stage.devices.driver import Driver
from bunraku.stage.servos import ServoCalibration

KEYS = (
    "a d: down and up   A D: ten times as far   0: middle   n: this is joint angle zero   r: turn the direction round   "
    "[ ]: lowest and highest from here on   w: write and end   q or space: let go at once, write nothing"
)
SWEEP = 4.0
"""Time for the whole pulse range [s]; nothing moves faster."""
PERIOD = 0.05
"""Keys are read at least this often [s], however slow the device."""
OUTSIDE = 0.01
"""How far outside its range a servo may stand at first, as a share of that range: it would leap into it."""


class Jog:
    """One servo of a device under a person's keys. ``servo`` is its calibration as it becomes, ``target`` and ``now`` its counts.

    Keys set the target; :meth:`step` goes there, at most the range in ``SWEEP`` seconds, never beyond the pulse range, and once
    soft limits are set not beyond these. A machine that does not report where it is starts in the middle of the ranges, its wheels
    at rest; one with a servo that stands outside its own is refused.
    """

    def __init__(self, device: Device, name: str, driver: Driver) -> None:
        if name not in device.servos:
            raise BadInput(f"the device {device.name!r} has no servo {name!r}; it has {listed(device.servos)}")
        self.device, self.name, self._driver = device, name, driver
        self.servo: ServoCalibration = device.servos[name]
        self._place = list(device.servos).index(name)
        servos, reported = list(device.servos.values()), driver.measure()
        lows, highs = np.array([servo.low for servo in servos]), np.array([servo.high for servo in servos])
        still = [standing(servo) for servo in servos]
        known = np.array([(servo.low + servo.high) // 2 if at is None else at for servo, at in zip(servos, still, strict=True)])
        if reported is not None:
            measured = reported[: len(servos)]  # sensors come behind the servos
            known = np.where(np.isfinite(measured), np.rint(measured), known)
        self._counts: NDArray[np.int64] = np.clip(known, lows, highs).astype(np.int64)
        outside = np.abs(known - self._counts) > OUTSIDE * (highs - lows)
        if outside.any():
            j = int(np.argmax(outside))
            raise BadInput(
                f"{list(device.servos)[j]!r} stands at {known[j]:.0f}, outside its [{lows[j]}, {highs[j]}], and would leap; move "
                "it inside by hand, or widen its range with --set"
            )
        self.now = self.target = float(self._counts[self._place])
        self.written = self.ended = False

    @property
    def angle(self) -> float | None:
        """The joint angle [deg] by the calibration as it is now; None for a servo that makes no angles."""
        if self.servo.span_m is not None or self.servo.span_rad_s is not None:
            return None
        return math.degrees((self.now - self.servo.at_zero) / self.servo.per_radian)

    def press(self, key: str) -> None:
        """Do what a key stands for; others do nothing."""
        servo = self.servo
        small = max(1, (servo.position_max - servo.position_min) // 400)
        match key:
            case "a" | "d" | "A" | "D":
                self.target += (1 if key in "dD" else -1) * (10 if key in "AD" else 1) * small
            case "0":
                self.target = (servo.low + servo.high) // 2
            case "n":
                share = (round(self.now) - servo.position_min) / (servo.position_max - servo.position_min)
                self.servo = servo.changed(neutral_deg=share * servo.range_deg, offset_deg=0.0)
            case "r":
                self.servo = servo.changed(reverse=not servo.reverse)
            case "[" if round(self.now) < servo.high:
                self.servo = servo.changed(soft_min=round(self.now))
            case "]" if round(self.now) > servo.low:
                self.servo = servo.changed(soft_max=round(self.now))
            case "w":
                self.written = self.ended = True
            case "q" | " " | "\x03":
                self.ended = True
        self.target = min(max(self.target, self.servo.low), self.servo.high)

    def step(self, seconds: float) -> None:
        """Go on towards the target for so long, and tell the machine."""
        servo = self.servo
        most = (servo.position_max - servo.position_min) / SWEEP * min(max(seconds, 0.0), 0.1)
        self.now = min(max(self.now + min(max(self.target - self.now, -most), most), servo.low), servo.high)
        self._counts[self._place] = round(self.now)
        self._driver.send(self._counts)

    @property
    def result(self) -> Device:
        """The device with the calibration found."""
        return self.device.changed(servos=self.device.servos | {self.name: self.servo})

    def run(self, read_keys: Callable[[], str], say: Callable[[str], None]) -> None:
        """Serve keys until one ends it: ``read_keys()`` gives those pressed, without waiting; ``say(text)`` tells the state."""
        period, last = min(1.0 / self.device.rate_hz, PERIOD), time.monotonic()
        try:
            while not self.ended:
                for key in read_keys():
                    self.press(key)
                now = time.monotonic()
                self.step(now - last)
                last = now
                angle = "" if self.angle is None else f" = {self.angle:7.2f} deg"
                say(f"{self.name}: {round(self.now):6d}{angle}  [{self.servo.low}, {self.servo.high}]")
                time.sleep(max(0.0, last + period - time.monotonic()))
        finally:
            self._driver.release()
            held = self._driver.check_release()
            if held:
                say(f"NOT RELEASED: {held}")
