"""Characters with flexible parts: a rod on a motor, a pelvis on two legs, a four-bar with two printed links."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape, Pose

STEEL = ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=1e-4)
PLASTIC = ElasticMaterial(name="plastic", young=2.0e9, poisson=0.35, density=1240.0, strain_damping=1e-3)
BALL = (1e-5, 1e-5, 1e-5, 0.0, 0.0, 0.0)


def rod(name, base, child, length, diameter, *, at=(0.0, 0.0, 0.0), turn=(1.0, 0.0, 0.0, 0.0), cell=None, material="steel"):
    shape = PartShape(kind="rod", length=length, diameter=diameter, cell=cell)
    pose = Pose(position=at, quaternion=turn)
    return FlexiblePart(name=name, material=material, shape=shape, base=base, pose=pose, children=(PartInterface(body=child),))


def fixed(name, parent, child, at=(0.0, 0.0, 0.0), **more):
    return Joint(name=name, kind="fixed", parent=parent, child=child, pose=Pose(position=at), **more)


@pytest.fixture
def one_rod():
    """A motor at the bottom of a rod of 0.5 m, 4 mm thick, with 0.1 kg on its end; meshed coarsely."""

    def make(cell=0.02, **motor):
        hub = Body(name="hub", mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0.0, 0.0, 0.0))
        return Character(
            name="one-rod",
            bodies=(hub, Body(name="tip", mass=0.1, inertia=BALL)),
            joints=(
                Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0.0, 1.0, 0.0)),
                fixed("rod", "hub", "tip", (0.0, 0.0, 0.5)),
            ),
            motors=(Motor(name="shoulder", coordinate="shoulder", **motor),),
            materials=(STEEL,),
            flexibles=(rod("rod", "hub", "tip", 0.5, 0.004, cell=cell),),
        )

    return make


@pytest.fixture
def legs():
    """A pelvis of 2 kg on two legs of 25 cm, 6 mm thick, 16 cm apart, and a torso on a waist motor; all joints given, one cut."""

    def make(cell=0.02, order=(0, 1, 2, 3), pelvis=2.0):
        joints = (
            fixed("left", "world", "pelvis", (0.0, 0.08, 0.25)),
            fixed("right", "world", "right-hip", (0.0, -0.08, 0.25)),
            fixed("hip", "pelvis", "right-hip", (0.0, -0.16, 0.0)),
            Joint(
                name="waist",
                kind="hinge",
                parent="pelvis",
                child="torso",
                axis=(1.0, 0.0, 0.0),
                pose=Pose(position=(0.0, -0.08, 0.0)),
            ),
        )
        middle = {"center_of_mass": (0.0, -0.08, 0.0), "inertia": (8e-3, 3e-3, 8e-3, 0.0, 0.0, 0.0)}
        return Character(
            name="legs",
            bodies=(
                Body(name="pelvis", mass=pelvis, **middle),
                Body(name="right-hip"),
                Body(name="torso", mass=0.3, center_of_mass=(0.0, 0.0, 0.1), inertia=(1e-3, 1e-3, 5e-4, 0.0, 0.0, 0.0)),
            ),
            joints=tuple(joints[i] for i in order),
            motors=(Motor(name="waist", coordinate="waist"),),
            materials=(STEEL,),
            flexibles=(
                rod("left-leg", "world", "pelvis", 0.25, 0.006, at=(0.0, 0.08, 0.0), cell=cell),
                rod("right-leg", "world", "right-hip", 0.25, 0.006, at=(0.0, -0.08, 0.0), cell=cell),
            ),
        )

    return make


@pytest.fixture
def four_bar():
    """A motored crank, two printed strips as coupler and rocker, joined by hinge, ball and universal joint: the rapper's loop."""

    def make():
        a, b = 0.06, 0.12
        flat = (float(np.sqrt(0.5)), 0.0, float(np.sqrt(0.5)), 0.0)  # z along the x axis

        def strip(name, base, child, length, turn):
            shape = PartShape(kind="box", size=(0.003, 0.012, length), cell=0.012)
            pose = Pose(quaternion=turn)
            return FlexiblePart(
                name=name, material="plastic", shape=shape, base=base, pose=pose, children=(PartInterface(body=child),)
            )

        bodies = (
            Body(name="crank", mass=0.03, center_of_mass=(0.0, 0.0, a / 2), inertia=BALL),
            Body(name="pin", mass=0.01, inertia=BALL),
            Body(name="coupler", mass=0.05, inertia=BALL),
            Body(name="foot", mass=0.01, inertia=BALL),
            Body(name="rocker", mass=0.02, inertia=BALL),
        )
        joints = (
            Joint(name="crank", kind="hinge", parent="world", child="crank", axis=(0.0, 1.0, 0.0)),
            Joint(
                name="pin",
                kind="hinge",
                parent="crank",
                child="pin",
                axis=(0.0, 1.0, 0.0),
                pose=Pose(position=(0.0, 0.0, a)),
                damping=1e-4,
            ),
            fixed("upper", "pin", "coupler", (b, 0.0, 0.0)),
            Joint(
                name="foot",
                kind="universal",
                parent="world",
                child="foot",
                axis=(0.0, 1.0, 0.0),
                second_axis=(1.0, 0.0, 0.0),
                pose=Pose(position=(b, 0.0, 0.0)),
                damping=1e-4,
            ),
            fixed("lower", "foot", "rocker", (0.0, 0.0, a)),
            Joint(name="elbow", kind="ball", parent="coupler", child="rocker"),
        )
        return Character(
            name="four-bar",
            bodies=bodies,
            joints=joints,
            motors=(Motor(name="crank", coordinate="crank"),),
            materials=(PLASTIC,),
            flexibles=(strip("coupler", "pin", "coupler", b, flat), strip("rocker", "foot", "rocker", a, (1.0, 0.0, 0.0, 0.0))),
        )

    return make
