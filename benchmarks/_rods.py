"""Rods for the benchmarks: the steel rod of the study on a motor, and two rods in series with a motor between them."""

from __future__ import annotations

import numpy as np

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape, Pose

STEEL = ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=7.4e-4)
SPHERE = (7.84e-6,) * 3 + (0.0,) * 3
ALONG_X = (2.0**-0.5, 0.0, 2.0**-0.5, 0.0)
CORNER = 0.1
"""How long [s] the motor takes to reach its speed and to stop."""


def part(name: str, base: str, child: str, length: float, **more) -> FlexiblePart:
    """A steel rod of 4 mm."""
    shape = PartShape(kind="rod", length=length, diameter=0.004)
    return FlexiblePart(name=name, material="steel", shape=shape, base=base, children=(PartInterface(body=child),), **more)


def one_rod(*, level: bool) -> Character:
    """0.7 m with 0.1 kg at the tip: upright and tilted about y, or level and turned about the vertical."""
    place = Pose(position=(0.7, 0, 0), quaternion=ALONG_X) if level else Pose(position=(0, 0, 0.7))
    return Character(
        name="one rod",
        bodies=(Body(name="hub"), Body(name="tip", mass=0.1, inertia=SPHERE)),
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="hub", axis=(0, 0, 1) if level else (0, 1, 0)),
            Joint(name="end", kind="fixed", parent="hub", child="tip", pose=place),
        ),
        motors=(Motor(name="motor", coordinate="turn"),),
        materials=(STEEL,),
        flexibles=(part("rod", "hub", "tip", 0.7, pose=Pose(quaternion=ALONG_X if level else (1, 0, 0, 0))),),
    )


def two_rods() -> Character:
    """0.3 m upright on a motor; at its top a motor of 0.1 kg turns a level rod of 0.3 m with 0.2 kg at its tip."""
    return Character(
        name="two rods",
        bodies=(
            Body(name="hub"),
            Body(name="top", mass=0.1, inertia=(2e-5,) * 3 + (0,) * 3),
            Body(name="arm"),
            Body(name="tip", mass=0.2, inertia=(2e-5,) * 3 + (0,) * 3),
        ),
        joints=(
            Joint(name="tilt", kind="hinge", parent="world", child="hub", axis=(0, 1, 0)),
            Joint(name="upper", kind="fixed", parent="hub", child="top", pose=Pose(position=(0, 0, 0.3))),
            Joint(name="turn", kind="hinge", parent="top", child="arm"),
            Joint(name="end", kind="fixed", parent="arm", child="tip", pose=Pose(position=(0.3, 0, 0), quaternion=ALONG_X)),
        ),
        motors=(Motor(name="tilt", coordinate="tilt"), Motor(name="turn", coordinate="turn")),
        materials=(STEEL,),
        flexibles=(part("post", "hub", "top", 0.3), part("arm rod", "arm", "tip", 0.3, pose=Pose(quaternion=ALONG_X))),
    )


def _rounded(t: np.ndarray) -> np.ndarray:
    """The ramp max(t, 0), rounded within CORNER/2 of 0; three times continuously differentiable."""
    s = np.clip(t / CORNER + 0.5, 0.0, 1.0)
    return CORNER * (s * s / 2.0 - (1.0 - np.cos(2.0 * np.pi * s)) / (4.0 * np.pi**2)) + np.maximum(t - CORNER / 2.0, 0.0)


def ramp(t: np.ndarray, start: float = 0.0, duration: float = 0.5) -> np.ndarray:
    """From 0 at ``start`` to 1, at constant speed but for the corners."""
    begin = t - start - CORNER / 2.0
    return (_rounded(begin) - _rounded(begin - duration)) / duration


def dance(t: np.ndarray) -> np.ndarray:
    """The study's: 30 degrees in half a second, a pause, and back."""
    return np.radians(30.0) * (ramp(t) - ramp(t, 2.0))


def rms(errors: np.ndarray) -> float:
    """Root of the mean squared length (..., 3)."""
    return float(np.sqrt(np.mean(np.sum(errors**2, axis=-1))))
