"""Small characters on feet and wheels."""

from __future__ import annotations

from collections.abc import Callable, Sequence

import pytest

from bunraku.character import Body, Character, EndEffector, Joint, Motor, Pose

CORNERS = {"lf": (0.1, 0.06), "rf": (0.1, -0.06), "lh": (-0.1, 0.06), "rh": (-0.1, -0.06)}
INERTIA = (1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0)


def make_robot(
    legs: dict[str, tuple[float, float]], *, wheels: Sequence[float] = (), kind: str = "ball", belly: bool = False
) -> Character:
    """Legs of a hip (about x) and a knee (about y, 9 cm below), feet 7 cm below the knee: one ball each, or wheels at these x."""
    bodies = [Body(name="body", mass=0.8, inertia=INERTIA)]
    joints = [Joint(name="base", kind="free", parent="world", child="body", sequence="zyx")]
    motors, tips = [], []
    for name, (x, y) in legs.items():
        bodies += [Body(name=f"{name}_upper", mass=0.08, inertia=INERTIA), Body(name=f"{name}_lower", mass=0.08, inertia=INERTIA)]
        hip = Pose(position=(x, y, 0.0))
        joints += [
            Joint(name=f"{name}_hip", kind="hinge", parent="body", child=f"{name}_upper", pose=hip, axis=(1.0, 0.0, 0.0)),
            Joint(
                name=f"{name}_knee",
                kind="hinge",
                parent=f"{name}_upper",
                child=f"{name}_lower",
                pose=Pose(position=(0.0, 0.0, -0.09)),
                axis=(0.0, 1.0, 0.0),
            ),
        ]
        motors += [Motor(name=f"{name}_{part}_motor", coordinate=f"{name}_{part}", velocity=6.0) for part in ("hip", "knee")]
        if not wheels:
            tips.append(EndEffector(name=name, kind="ball", body=f"{name}_lower", center=(0.0, 0.0, -0.07), radius=0.015))
        for i, offset in enumerate(wheels):
            wheel = f"{name}{i}" if len(wheels) > 1 else name
            bodies.append(Body(name=f"{wheel}_wheel", mass=0.01, inertia=INERTIA))
            pose = Pose(position=(offset, 0.0, -0.07))
            joints.append(
                Joint(
                    name=f"{wheel}_axle",
                    kind="hinge",
                    parent=f"{name}_lower",
                    child=f"{wheel}_wheel",
                    pose=pose,
                    axis=(0.0, 1.0, 0.0),
                )
            )
            if kind == "active":
                motors.append(Motor(name=f"{wheel}_motor", coordinate=f"{wheel}_axle", velocity=20.0))
            tips.append(EndEffector(name=wheel, kind=kind, body=f"{wheel}_wheel", radius=0.015))
    if belly:
        bodies.append(Body(name="belly_wheel", mass=0.01, inertia=INERTIA))
        joints.append(
            Joint(
                name="belly_axle",
                kind="hinge",
                parent="body",
                child="belly_wheel",
                pose=Pose(position=(-0.05, 0.0, -0.155)),
                axis=(0.0, 1.0, 0.0),
            )
        )
        tips.append(EndEffector(name="belly", kind="passive", body="belly_wheel", radius=0.02))
    return Character(name="robot", bodies=bodies, joints=joints, motors=motors, end_effectors=tips, home={"base.tz": 0.175})


@pytest.fixture(scope="session")
def robot() -> Callable[..., Character]:
    """Make a robot of legs (name to hip place), ball feet or wheels, with a wheel under its belly or without."""
    return make_robot


@pytest.fixture(scope="session")
def walker() -> Character:
    """Four legs on ball feet."""
    return make_robot(CORNERS)


@pytest.fixture(scope="session")
def skater() -> Character:
    """Four legs on two wheels each, in line."""
    return make_robot(CORNERS, wheels=(0.035, -0.035), kind="passive")


@pytest.fixture(scope="session")
def tripod() -> Character:
    """Two legs in front, one behind, and a wheel under the belly."""
    return make_robot({"lf": (0.09, 0.08), "rf": (0.09, -0.08), "tail": (-0.1, 0.0)}, belly=True)
