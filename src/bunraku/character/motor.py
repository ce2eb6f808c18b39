"""Motors: what a servo can do, as data. Figures come with their source (`docs`, motors)."""

from __future__ import annotations

from typing import Literal

from pydantic import Field, model_validator

from bunraku.character.description import Description, Name, Range, quantity


class Motor(Description):
    """A motor driving one coordinate of a joint. None means that the maker states no limit.

    The torque it can give falls linearly from ``torque_fraction * stall_torque`` at rest to zero at ``no_load_speed``.
    ``stiffness`` and ``damping`` are the gains of its position servo, whose ``derivative`` acts on the error or on the joint's own
    ``speed`` (`mechanics.servos.gains`); ``speed_gain`` is that of the servo of a wheel, which is sent a speed. It takes no notice
    of errors below its ``deadband``. ``winding_time`` is the time constant with which its winding warms up: it may give
    ``continuous_torque`` for ever, more for a while. ``torsional_stiffness`` is that of its shaft, gears and mounting together: a
    motor that has one gives way by torque over stiffness between what it is told and what it moves, with ``torsional_damping``
    beside it, in characters with flexible parts.
    """

    name: Name
    coordinate: Name
    range: Range | None = quantity("coordinate", None)
    velocity: float | None = quantity("rate", None, gt=0.0)
    acceleration: float | None = quantity("acceleration", None, gt=0.0)
    jerk: float | None = quantity("jerk", None, gt=0.0)
    stall_torque: float | None = quantity("effort", None, gt=0.0)
    no_load_speed: float | None = quantity("rate", None, gt=0.0)
    torque_fraction: float = Field(1.0, gt=0.0, le=1.0)
    continuous_torque: float | None = quantity("effort", None, gt=0.0)
    delay: float = quantity("time", 0.0, ge=0.0, le=1.0)
    resolution: float = quantity("coordinate", 0.0, ge=0.0)
    backlash: float = quantity("coordinate", 0.0, ge=0.0)
    rate: float = quantity("frequency", 100.0, gt=0.0, le=10_000.0)
    stiffness: float | None = quantity("stiffness", None, gt=0.0)
    damping: float | None = quantity("damping", None, ge=0.0)
    derivative: Literal["error", "speed"] = "error"
    speed_gain: float | None = quantity("damping", None, gt=0.0)
    deadband: float = quantity("coordinate", 0.0, ge=0.0)
    winding_time: float | None = quantity("time", None, gt=0.0)
    torsional_stiffness: float | None = quantity("stiffness", None, gt=0.0)
    torsional_damping: float = quantity("damping", 0.0, ge=0.0)
    model: str = ""
    source: str = ""

    @model_validator(mode="after")
    def _check(self) -> Motor:
        if self.range is not None and self.range[0] > self.range[1]:
            raise ValueError(f"motor {self.name}: range {list(self.range)} is empty; write the lower end first")
        return self

    def available_torque(self, speed: float) -> float:
        """Torque [N·m] the motor can give at ``speed`` [rad/s], by its torque-speed line; infinite if none is stated."""
        if self.stall_torque is None:
            return float("inf")
        share = 1.0 if self.no_load_speed is None else max(0.0, 1.0 - abs(speed) / self.no_load_speed)
        return self.torque_fraction * self.stall_torque * share
