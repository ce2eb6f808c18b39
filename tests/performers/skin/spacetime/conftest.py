"""A small quadruped on soles, twelve hinges, 4.4 kg, hobby servos: the beetle's skeleton without its skin."""

from __future__ import annotations

import math

import pytest

from bunraku.character import WORLD, Body, Character, EndEffector, Joint, Motor, Pose

MG995R = {"stall_torque": 1.96, "no_load_speed": 2.0 * math.pi / (6 * 0.13), "range": (-math.pi / 2, math.pi / 2)}
KNEE, ANKLE = 0.6, 0.6
"""At home the thigh points down and out by the first, the shank is turned inwards by both: it stands upright with its sole flat."""


def box(mass: float, a: float, b: float, c: float) -> tuple[float, float, float, float, float, float]:
    """Moments and products of inertia of a solid box of edges a, b, c."""
    return (mass / 12 * (b * b + c * c), mass / 12 * (a * a + c * c), mass / 12 * (a * a + b * b), 0.0, 0.0, 0.0)


def leg(name: str, x: float, y: float) -> tuple[list[Body], list[Joint], EndEffector]:
    """Hip about z, knee and ankle about the axis across the leg; the leg's own x points outwards along the diagonal."""
    out = math.atan2(y, x)
    turned = (math.cos(out / 2), 0.0, 0.0, math.sin(out / 2))
    bodies = [
        Body(name=f"{name}.hip_link", mass=0.15, center_of_mass=(0.02, 0.0, 0.0), inertia=box(0.15, 0.05, 0.04, 0.04)),
        Body(name=f"{name}.thigh", mass=0.2, center_of_mass=(0.05, 0.0, 0.0), inertia=box(0.2, 0.1, 0.03, 0.03)),
        Body(name=f"{name}.foot", mass=0.15, center_of_mass=(0.0, 0.0, -0.07), inertia=box(0.15, 0.03, 0.03, 0.11)),
    ]
    joints = [
        Joint(
            name=f"{name}.hip",
            kind="hinge",
            parent="torso",
            child=f"{name}.hip_link",
            pose=Pose(position=(x, y, 0.0), quaternion=turned),
            axis=(0.0, 0.0, 1.0),
        ),
        Joint(
            name=f"{name}.knee",
            kind="hinge",
            parent=f"{name}.hip_link",
            child=f"{name}.thigh",
            pose=Pose(position=(0.05, 0.0, 0.0)),
            axis=(0.0, 1.0, 0.0),
        ),
        Joint(
            name=f"{name}.ankle",
            kind="hinge",
            parent=f"{name}.thigh",
            child=f"{name}.foot",
            pose=Pose(position=(0.1, 0.0, 0.0)),
            axis=(0.0, 1.0, 0.0),
        ),
    ]
    sole = EndEffector(
        name=f"{name}.sole",
        kind="sole",
        body=f"{name}.foot",
        center=(0.0, 0.0, -0.11),
        axis=(0.0, 0.0, 1.0),
        radius=0.025,
        friction=0.8,
    )
    return bodies, joints, sole


def quadruped() -> Character:
    """Torso and four legs; at home the feet stand upright below the ends of the thighs."""
    bodies = [Body(name="torso", mass=2.4, inertia=box(2.4, 0.24, 0.16, 0.08))]
    joints = [Joint(name="base", kind="free", parent=WORLD, child="torso")]
    soles, home = [], {"base.tz": 0.11 + 0.1 * math.sin(KNEE)}
    for name, x, y in (("LF", 0.1, 0.07), ("RF", 0.1, -0.07), ("LH", -0.1, 0.07), ("RH", -0.1, -0.07)):
        more, hinges, sole = leg(name, x, y)
        bodies += more
        joints += hinges
        soles.append(sole)
        home |= {f"{name}.knee": KNEE, f"{name}.ankle": -ANKLE}
    motors = [Motor(name=f"{j.name} motor", coordinate=j.name, **MG995R) for j in joints[1:]]
    return Character(
        name="quadruped", bodies=tuple(bodies), joints=tuple(joints), motors=tuple(motors), end_effectors=tuple(soles), home=home
    )


@pytest.fixture(scope="session")
def robot() -> Character:
    return quadruped()
