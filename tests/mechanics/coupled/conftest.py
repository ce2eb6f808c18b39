"""A small skinned quadruped: legs of three hinges, a rubber bar across every knee, a rubber pad under every foot."""

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, EndEffector, Joint, Motor, Pose, Skin, SkinMesh
from bunraku.geometry.meshing.shapes import box
from bunraku.mechanics.coupled.known_skins import KNOWN_SKINS

LEGS = {"lf": (0.13, 1.0), "rf": (0.13, -1.0), "lh": (-0.13, 1.0), "rh": (-0.13, -1.0)}
KNEE, ANKLE, FOOT, PAD = 0.16, 0.05, 0.008, 0.008


def _block(mass, size):
    x, y, z = (part * part / 12.0 * mass for part in size)
    return {"mass": mass, "inertia": (y + z, x + z, x + y, 0.0, 0.0, 0.0)}


def _legs():
    bodies = [Body(name="torso", **_block(2.0, (0.3, 0.16, 0.08)))]
    joints = [Joint(name="base", kind="free", parent="world", child="torso", sequence="zyx")]
    motors, tips = [], []
    for leg, (x, side) in LEGS.items():
        chain = (
            ("hip", "torso", "upper", (x, 0.08 * side, 0.0), (0.0, 0.0, 1.0), 0.2, (0.03, 0.08, 0.03)),
            ("knee", "upper", "lower", (0.0, 0.08 * side, KNEE - 0.2), (1.0, 0.0, 0.0), 0.15, (0.03, 0.03, 0.1)),
            ("ankle", "lower", "foot", (0.0, 0.0, ANKLE - KNEE), (1.0, 0.0, 0.0), 0.08, (0.06, 0.06, 0.03)),
        )
        for joint, parent, child, place, axis, mass, size in chain:
            above = parent if parent == "torso" else f"{leg}_{parent}"
            bodies.append(Body(name=f"{leg}_{child}", **_block(mass, size)))
            name = f"{leg}_{joint}"
            joints.append(
                Joint(name=name, kind="hinge", parent=above, child=f"{leg}_{child}", pose=Pose(position=place), axis=axis)
            )
            motors.append(Motor(name=name, coordinate=name, stall_torque=1.96, no_load_speed=6.0))
        tips.append(EndEffector(name=leg, kind="sole", body=f"{leg}_foot", center=(0.0, 0.0, -ANKLE), radius=0.03, friction=0.8))
    return bodies, joints, motors, tips


def _skin():
    """Rubber: pads 60 x 60 x 8 mm glued above, bars 10 x 10 x 80 mm glued to upper and lower leg."""
    nodes, cells, glue, owner, sole, patch, bodies = [], [], [], [], [], [], []
    count = 0
    for j, (leg, (x, side)) in enumerate(LEGS.items()):
        foot = np.array([x, 0.16 * side, 0.0])
        pad = box((0.06, 0.06, PAD), (2, 2, 1))
        X = pad.nodes + foot
        top = np.unique(pad.faces("end"))
        bottom = np.unique(pad.faces("start"))
        k = len(bodies)
        bodies += [f"{leg}_foot", f"{leg}_upper", f"{leg}_lower"]
        glue += list(count + top)
        owner += [k] * len(top)
        d = pad.nodes[bottom][:, :2]
        where = np.where(
            np.abs(d).max(axis=1) < 0.016, 0, 1 + (np.degrees(np.arctan2(d[:, 1], d[:, 0])) % 360.0 // 90.0).astype(int)
        )
        sole += list(count + bottom)
        patch += list(5 * j + where)
        nodes.append(X)
        cells.append(pad.cells + count)
        count += len(X)
        bar = box((0.01, 0.01, 0.08), (1, 1, 6))
        X = bar.nodes + np.array([x + 0.03, 0.16 * side, KNEE - 0.04])
        for part, ends in (("start", 2), ("end", 1)):
            found = np.unique(bar.faces(part))
            glue += list(count + found)
            owner += [k + ends] * len(found)
        nodes.append(X)
        cells.append(bar.cells + count)
        count += len(X)
    cells = np.concatenate(cells)
    return SkinMesh(np.concatenate(nodes), cells, np.zeros(len(cells)), tuple(bodies), glue, owner, sole, patch)


@pytest.fixture(scope="session")
def stool():
    bodies, joints, motors, tips = _legs()
    rubber = ElasticMaterial(name="rubber", young=1.32e6, poisson=0.46, density=1100.0)
    skin = Skin(file="stool.skin.npz", materials=("rubber",), digest=KNOWN_SKINS.remember(_skin()))
    return Character(
        name="stool", bodies=bodies, joints=joints, motors=motors, end_effectors=tips, materials=(rubber,), skin=skin,
        home={"base.tz": 0.2},
    )  # fmt: skip
