"""The servomotors of the component library: torque-speed line, size, mass, where the shaft is and where the screws go.

Figures of a maker carry their source; what no data sheet at hand states is said to be ours. Where the shaft leaves the case, and
hole spacings where they say so, are not the makers' figures: measure the part in hand before printing. Continuous torque is a third
of stall.

Gains are settings of the controller, not figures of a maker: all are ours, and must be set in the hardware to be true. Of the
Dynamixels that have a register for it, the motor's source says which P gain gives the stiffness: by the e-manual the servo gives
all of its 885 steps of PWM, so its stall torque, at an error of 885 * 128 / P ticks of 1/4096 turn.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import pi
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Motor
from bunraku.errors import BadInput


@dataclass(frozen=True)
class HolePattern:
    """``count`` clearance holes of ``hole_diameter`` [m]: on a circle of ``radius`` [m], or at the corners of a rectangle.

    On a circle the first hole stands at ``phase`` [rad] from the pattern's first direction. A rectangle of ``spacing`` (along the
    first and the second direction) has four holes, and ``radius`` is half its diagonal. ``screw`` names the thread, ``source``
    where the figures come from.
    """

    radius: float
    hole_diameter: float
    count: int
    screw: str
    source: str
    phase: float = 0.0
    spacing: tuple[float, float] | None = None

    def places(self) -> NDArray[np.float64]:
        """The holes' centres (count, 2) [m] in the plane of the pattern."""
        if self.spacing is not None:
            u, v = self.spacing[0] / 2.0, self.spacing[1] / 2.0
            return np.array([[u, v], [-u, v], [-u, -v], [u, -v]])
        angles = self.phase + 2.0 * np.pi * np.arange(self.count) / self.count
        return self.radius * np.stack([np.cos(angles), np.sin(angles)], axis=1)


def rectangle(along: float, across: float, hole_diameter: float, screw: str, source: str) -> HolePattern:
    """Four holes at the corners of a rectangle of these spacings [m]."""
    return HolePattern(float(np.hypot(along, across)) / 2.0, hole_diameter, 4, screw, source, spacing=(along, across))


@dataclass(frozen=True)
class Servo:
    """A servomotor. Torques [N·m], speeds [rad/s], lengths [m], mass [kg].

    ``size`` is its box: across the shaft, along its long side, and along the shaft (its depth). The shaft leaves the front face,
    on the middle of the width and ``shaft_offset`` from the middle of the long side. ``flange`` are the holes in its case, on the
    face at the end of the long side away from the shaft, or on the front face around the shaft where ``flange_in_front``; ``sides``
    those in both of its sides across the shaft, about their middle, first along the long side, then along the shaft, where it has
    such. ``horn`` are those in the horn that the shaft turns, ``horn_radius`` and ``horn_height`` its size. ``stiffness`` and
    ``damping`` are the position gains [N·m/rad, N·m·s/rad] it is run with, ``speed_gain`` [N·m·s/rad] the one of its speed where
    it turns a wheel; ``has_p_gain``: its P gain is a register of the Dynamixel X series.
    """

    name: str
    stall_torque: float
    no_load_speed: float
    size: tuple[float, float, float]
    mass: float
    shaft_offset: float
    flange: HolePattern
    horn: HolePattern
    horn_radius: float
    horn_height: float
    source: str
    resolution: float = 0.0
    backlash: float = 0.0
    stiffness: float = 20.0
    damping: float = 0.3
    speed_gain: float = 0.1
    has_p_gain: bool = False
    flange_in_front: bool = False
    sides: HolePattern | None = None

    def motor(self, name: str, coordinate: str, limits: tuple[float, float] | None) -> Motor:
        """The servo as the motor of a coordinate; its speed is limited to what it reaches without load."""
        of_gains = f"; position gains are ours{self._p_gain}"
        return self._motor(name, coordinate, of_gains, range=limits, stiffness=self.stiffness, damping=self.damping)

    def wheel_motor(self, name: str, coordinate: str) -> Motor:
        """The servo as the motor of a wheel, which is sent speeds."""
        return self._motor(name, coordinate, "; the gain of its speed is ours", speed_gain=self.speed_gain)

    def _motor(self, name: str, coordinate: str, of_gains: str, **gains: Any) -> Motor:
        return Motor(
            name=name,
            coordinate=coordinate,
            velocity=self.no_load_speed,
            stall_torque=self.stall_torque,
            no_load_speed=self.no_load_speed,
            continuous_torque=self.stall_torque / 3.0,
            winding_time=WINDING_TIME,
            resolution=self.resolution,
            backlash=self.backlash,
            rate=200.0,
            model=self.name,
            source=f"{self.source}{of_gains}",
            **gains,
        )

    @property
    def _p_gain(self) -> str:
        """Which P gain of the maker's register makes the stiffness, in words."""
        if not self.has_p_gain:
            return ""
        return f", a P gain of {_FULL_PWM * _P_UNIT * self.stiffness * _TICK / self.stall_torque:.0f}"


WINDING_TIME = 5.0
"""Time constant [s] with which the winding of a servo's motor warms. No maker of servos states it, so that this is a choice.
Of maxon's motors public code quotes 14.3 s (DC, 22 mm), 17.7 s (flat) and 41.6 s (the wheels of a heavy robot); those in servos
are smaller, and a third of the least of these is taken to be on the safe side."""

_RPM = 2.0 * pi / 60.0
_TICK = 2.0 * pi / 4096.0
_FULL_PWM, _P_UNIT = 885.0, 128.0
_CHECK = "measure the servo in hand before printing"

_X430: dict[str, Any] = {
    "size": (0.0285, 0.0465, 0.034),
    "mass": 0.082,
    "shaft_offset": 0.012,
    "flange": rectangle(
        0.024, 0.022, 0.0027, "M2.5", f"screws M2.5x4 of the maker's package; spacing 24 x 22 mm is ours: {_CHECK}"
    ),
    "sides": rectangle(
        0.022, 0.016, 0.0027, "M2.5", f"holes M2.5 for the maker's side frames; spacing 22 x 16 mm is ours: {_CHECK}"
    ),
    "horn": HolePattern(
        0.008, 0.0022, 8, "M2", f"screws M2x3 of the maker's package; eight on a circle of 16 mm as on the horn HN12-N101; {_CHECK}"
    ),
    "horn_radius": 0.011,
    "horn_height": 0.003,
    "resolution": _TICK,
    "backlash": 0.25 * pi / 180.0,
    "has_p_gain": True,
}
_STANDARD_SERVO: dict[str, Any] = {
    "flange": rectangle(0.0495, 0.010, 0.0045, "M4", f"ears of the standard servo size, 49.5 x 10 mm; {_CHECK}"),
    "horn": HolePattern(0.007, 0.0032, 4, "M3", f"round metal horn of 25 teeth, four M3 on a circle of 14 mm; {_CHECK}"),
    "horn_radius": 0.0125,
    "horn_height": 0.004,
}
_THIRD = "continuous torque: a third of stall"

SERVOS: dict[str, Servo] = {
    entry.name: entry
    for entry in (
        Servo("Dynamixel XM430-W210", 3.0, 77.0 * _RPM, source=f"ROBOTIS e-manual, at 12 V; {_THIRD}", **_X430),
        Servo("Dynamixel XM430-W210 at 14.8 V", 3.7, 95.0 * _RPM, source=f"ROBOTIS e-manual, at 14.8 V; {_THIRD}", **_X430),
        Servo("Dynamixel XH430-W350", 3.4, 30.0 * _RPM, source=f"ROBOTIS e-manual, at 12 V; {_THIRD}", **_X430),
        Servo(
            "Dynamixel XL430-W250", 1.5, 61.0 * _RPM, source=f"ROBOTIS e-manual, at 12 V; {_THIRD}", **(_X430 | {"mass": 0.0572})
        ),
        Servo(
            "Dynamixel XW540-T140 at 14.8 V",
            8.3,
            88.0 * _RPM,
            (0.0335, 0.0585, 0.0459),
            0.185,
            0.0155,
            flange=rectangle(0.027, 0.022, 0.0027, "M2.5", f"case holes M2.5; spacing 27 x 22 mm is ours: {_CHECK}"),
            sides=rectangle(
                0.027, 0.022, 0.0027, "M2.5", f"holes M2.5 for the maker's side frames; spacing 27 x 22 mm is ours: {_CHECK}"
            ),
            horn=HolePattern(0.011, 0.0027, 8, "M2.5", f"eight M2.5 on a circle of 22 mm; {_CHECK}"),
            horn_radius=0.014,
            horn_height=0.004,
            resolution=_TICK,
            backlash=0.25 * pi / 180.0,
            source=f"ROBOTIS e-manual, at 14.8 V; {_THIRD}",
            stiffness=100.0,
            damping=1.5,
            has_p_gain=True,
        ),
        Servo(
            "MG995R",
            1.96,
            1.0472 / 0.16,
            (0.020, 0.0408, 0.038),
            0.055,
            0.0102,
            **_STANDARD_SERVO,
            source="20 kg·cm at 6.4 V and size from the study of printed creatures that used it; 60 degrees in 0.16 s and 55 g: "
            f"typical of its class; {_THIRD}",
        ),
        Servo(
            "generic 35 kg·cm servo",
            3.43,
            1.0472 / 0.13,
            (0.020, 0.040, 0.0405),
            0.065,
            0.010,
            **_STANDARD_SERVO,
            source="generic: no maker's figures; 35 kg·cm, 60 degrees in 0.13 s, 40 x 20 x 40.5 mm, 65 g are of the middle of the "
            f"class of strong servos of standard size; {_THIRD}",
            stiffness=40.0,
            damping=0.6,
        ),
        Servo(
            "generic 60 kg·cm servo",
            5.88,
            1.0472 / 0.17,
            (0.030, 0.065, 0.048),
            0.158,
            0.0165,
            flange=rectangle(0.075, 0.018, 0.0055, "M5", f"ears of a large servo, 75 x 18 mm; {_CHECK}"),
            horn=HolePattern(0.010, 0.0042, 4, "M4", f"round metal horn, four M4 on a circle of 20 mm; {_CHECK}"),
            horn_radius=0.016,
            horn_height=0.005,
            source="generic: no maker's figures; 60 kg·cm, 60 degrees in 0.17 s, 65 x 30 x 48 mm, 158 g are of the middle of the "
            f"class of large servos for walking machines; {_THIRD}",
            stiffness=60.0,
            damping=0.9,
        ),
        Servo(
            "generic micro servo",
            0.22,
            1.0472 / 0.10,
            (0.012, 0.023, 0.024),
            0.012,
            0.006,
            flange=rectangle(0.028, 0.0, 0.0022, "M2", "ears of a generic micro servo, 28 mm apart"),
            horn=HolePattern(0.006, 0.0012, 2, "M1.2", "two-armed plastic horn of a generic micro servo"),
            horn_radius=0.008,
            horn_height=0.002,
            source=f"generic: no maker's figures; 2.2 kg·cm, 60 degrees in 0.10 s, 12 g are of the middle of its class; {_THIRD}",
            stiffness=2.0,
            damping=0.03,
        ),
        Servo(
            "Dynamixel AX-12W",
            0.2,
            470.0 * _RPM,
            (0.032, 0.050, 0.040),
            0.0529,
            0.014,
            flange=rectangle(0.016, 0.016, 0.0022, "M2", f"case holes M2; spacing 16 x 16 mm is ours: {_CHECK}"),
            horn=HolePattern(0.008, 0.0022, 4, "M2", f"four M2 on a circle of 16 mm; {_CHECK}"),
            horn_radius=0.011,
            horn_height=0.003,
            resolution=0.29 * pi / 180.0,
            source=f"ROBOTIS e-manual, at 12 V, wheel mode; {_THIRD}",
        ),
        Servo(
            "Pololu 25D gearmotor 9.7:1 HP 12 V",
            0.36,
            1065.0 * _RPM,
            (0.025, 0.025, 0.048),
            0.085,
            0.0,
            flange=HolePattern(0.0085, 0.0032, 2, "M3", "maker's drawing: two threaded M3, 17 mm apart, in line with the shaft"),
            horn=HolePattern(0.0, 0.004, 1, "set screw", "a hub on the D-shaped shaft of 4 mm"),
            horn_radius=0.008,
            horn_height=0.0125,
            flange_in_front=True,
            source="maker's page: 220 rev/min at 46.85:1 makes 1065 at 9.68:1, and the motor's 10 W make 0.36 N·m at stall; about "
            f"85 g without encoder, its speed measured at the wheel; {_THIRD}",
        ),
    )
}


def on_wheel(motor: Motor) -> Motor:
    """A motor as it is run when it turns a wheel: without range, sent speeds."""
    known = SERVOS.get(motor.model)
    gains = {} if known is None else _gains(known.wheel_motor(motor.name, motor.coordinate))
    changed: Motor = motor.changed(range=None, stiffness=None, damping=None).changed(**gains)
    return changed


def off_wheel(motor: Motor, limits: tuple[float, float]) -> Motor:
    """A motor of the library as it is run when it turns a wheel no more: within ``limits``, sent places."""
    changed: Motor = motor.changed(range=limits, **_gains(servo(motor.model).motor(motor.name, motor.coordinate, limits)))
    return changed


def _gains(motor: Motor) -> dict[str, Any]:
    """The gains that a motor states, and what its source says of them."""
    return {name: getattr(motor, name) for name in ("stiffness", "damping", "speed_gain", "source")}


def servo(name: str) -> Servo:
    """The servo of that name; raises BadInput naming the library when there is none."""
    if name not in SERVOS:
        raise BadInput(f"no servo {name!r} in the component library; it holds {', '.join(SERVOS)}")
    return SERVOS[name]
