"""A short rod on a motor, a brisk turn, and its problem in few steps."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartInterface, PartShape
from bunraku.character.body import Frame, Pose
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Clip, JointCurves

SPHERE = (7.84e-6, 7.84e-6, 7.84e-6, 0.0, 0.0, 0.0)


@pytest.fixture(scope="session")
def rod_character():
    """A vertical steel rod of 0.5 m with 0.1 kg at its tip, on a motor with limits."""
    return Character(
        name="short-rod",
        bodies=(Body(name="hub", mass=0.1, inertia=(1e-4, 1e-4, 1e-4, 0, 0, 0)), Body(name="tip", mass=0.1, inertia=SPHERE)),
        joints=(
            Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0, 1, 0), range=(-1.0, 1.0)),
            Joint(name="rod", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.5))),
        ),
        motors=(
            Motor(
                name="shoulder",
                coordinate="shoulder",
                velocity=6.0,
                acceleration=150.0,
                stall_torque=3.0,
                no_load_speed=8.0,
                torque_fraction=0.8,
                continuous_torque=1.0,
            ),
        ),
        frames=(Frame(name="ball", body="tip"),),
        materials=(ElasticMaterial(name="steel", young=2e11, poisson=0.3, density=7850.0, strain_damping=7.4e-4),),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=PartShape(kind="rod", length=0.5, diameter=0.004, cell=0.007),
                base="hub",
                children=(PartInterface(body="tip"),),
                modes=1,
            ),
        ),
    )


@pytest.fixture(scope="session")
def rod_system(rod_character):
    """Its system, made once."""
    return flexible_system(rod_character)


@pytest.fixture(scope="session")
def turn_clip():
    """0 to 20 degrees in 0.3 s and still after: 1.6 s."""
    t = np.arange(81) / 50.0
    angle = np.radians(20.0) * np.interp(t, [0.0, 0.2, 0.5, 1.6], [0.0, 0.0, 1.0, 1.0])
    return Clip("turn", joints=JointCurves(("shoulder",), 50.0, angle[:, None]))
