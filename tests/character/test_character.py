"""A character refuses what cannot be built, in words."""

from __future__ import annotations

import pytest

from bunraku.character import Body, Character, Coupling, DependentRange, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput

BASE = Body(name="base")
TIP = Body(name="tip")
ROOT = Joint(name="root", kind="fixed", parent="world", child="base")
ELBOW = Joint(name="elbow", kind="hinge", parent="base", child="tip", range=(-1.0, 1.0))


def build(**parts: object) -> Character:
    return Character(**({"name": "arm", "bodies": (BASE, TIP), "joints": (ROOT, ELBOW)} | parts))


@pytest.mark.parametrize(
    ("parts", "words"),
    [
        ({"bodies": (BASE, TIP, TIP)}, "share the name 'tip'"),
        ({"joints": (ROOT,)}, "'tip' hangs on no joint"),
        ({"joints": (ROOT, ELBOW, Joint(name="again", kind="free", parent="base", child="tip"))}, "closes nothing"),
        ({"joints": (Joint(name="root", kind="fixed", parent="tip", child="base"), ELBOW)}, "hang on each other"),
        ({"motors": (Motor(name="m", coordinate="knee"),)}, "'knee', which no joint has; known: elbow"),
        ({"motors": (Motor(name="m", coordinate="elbow"), Motor(name="n", coordinate="elbow"))}, "driven twice"),
        ({"couplings": (Coupling(driver="elbow", follower="elbow"),)}, "both drives and follows"),
        ({"bodies": (BASE, TIP, Body(name="world"))}, "'world'"),
        ({"groups": {"arms": ("wing",)}}, "wing"),
        ({"home": {"wing": 0.0}}, "wing"),
    ],
)
def test_impossible_characters_are_refused(parts: dict[str, object], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        build(**parts)


def test_coordinates_of_every_joint_kind() -> None:
    def names(kind: str, **more: object) -> list[str]:
        return [axis.name for axis in Joint(name="j", kind=kind, parent="a", child="b", **more).axes]

    assert names("fixed") == []
    assert names("hinge") == names("slide") == ["j"]
    assert names("universal") == ["j.1", "j.2"]
    assert names("ball", sequence="xyz") == ["j.x", "j.y", "j.z"]
    assert names("planar") == ["j.tx", "j.ty", "j.rz"]
    assert names("free") == ["j.tx", "j.ty", "j.tz", "j.rz", "j.ry", "j.rx"]


def test_axes_and_quaternions_are_normalised() -> None:
    axis = Joint(name="j", kind="hinge", parent="a", child="b", axis=(0.0, 3.0, 4.0)).axes[0]
    assert axis.direction == pytest.approx((0.0, 0.6, 0.8))
    assert Pose(quaternion=(2.0, 0.0, 0.0, 0.0)).quaternion == (1.0, 0.0, 0.0, 0.0)


@pytest.mark.parametrize(
    "make",
    [
        lambda: Joint(name="j", kind="hinge", parent="a", child="b", axis=(0.0, 0.0, 0.0)),
        lambda: Joint(name="j", kind="hinge", parent="a", child="b", range=(1.0, -1.0)),
        lambda: Joint(name="j", kind="ball", parent="a", child="b", range=(-1.0, 1.0)),
        lambda: Joint(name="j", kind="ball", parent="a", child="b", ranges=((-1.0, 1.0),)),
        lambda: Motor(name="m", coordinate="j", velocity=-1.0),
        lambda: Motor(name="m", coordinate="j", velocity=float("nan")),
        lambda: Motor(name="m", coordinate="j", range=(1.0, 0.0)),
        lambda: Shape(kind="box", size=(1.0,)),
        lambda: Pose(quaternion=(0.0, 0.0, 0.0, 0.0)),
        lambda: DependentRange(coordinate="a", on="b", knots=((1.0, 0.0, 1.0), (0.0, 0.0, 1.0))),
        lambda: DependentRange(coordinate="a", on="a", knots=((0.0, 0.0, 1.0), (1.0, 0.0, 1.0))),
    ],
)
def test_impossible_parts_are_refused(make: object) -> None:
    with pytest.raises(BadInput):
        make()


def test_torque_speed_line() -> None:
    motor = Motor(name="m", coordinate="j", stall_torque=3.0, no_load_speed=8.0, torque_fraction=0.5)
    assert motor.available_torque(0.0) == pytest.approx(1.5)
    assert motor.available_torque(-4.0) == pytest.approx(0.75)
    assert motor.available_torque(9.0) == 0.0


def test_names_stand_for_coordinates_or_groups_of_them() -> None:
    bodies = tuple(Body(name=name) for name in "abc")
    joints = tuple(Joint(name=f"j{name}", kind="hinge", parent="world", child=name) for name in "abc")
    character = Character(name="x", bodies=bodies, joints=joints, groups={"pair": ("jc", "ja")})
    assert character.expand(["jb", "pair", "ja"]) == ("ja", "jb", "jc")
    assert character.expand([]) == ()
    with pytest.raises(BadInput, match="'tail' is neither a group nor a coordinate of 'x'; known: pair, ja"):
        character.expand(["tail"])
