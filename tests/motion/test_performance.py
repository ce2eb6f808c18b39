"""A performance holds together: channels, wish and motion name, sample and order the same."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Joint, Motor, String
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Channel, Feedback, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status

VALUES = np.arange(12.0).reshape(6, 2) / 10
CHANNELS = tuple(Channel(name, "position", "rad", 50.0, VALUES[:, j]) for j, name in enumerate("ab"))


def performance(**parts: object) -> Performance:
    robot = Character(
        name="c",
        bodies=(Body(name="a"), Body(name="b")),
        joints=(
            Joint(name="a", kind="hinge", parent="world", child="a"),
            Joint(name="b", kind="hinge", parent="a", child="b"),
        ),
        motors=(Motor(name="a", coordinate="a"), Motor(name="b", coordinate="b")),
    )
    curves = JointCurves(("a", "b"), 50.0, VALUES)
    fields = {
        "character": robot,
        "clip_name": "clip",
        "channels": CHANNELS,
        "wish": curves,
        "motion": curves,
        "certificate": Certificate(Status.CONVERGED, ()),
        "provenance": Provenance("test", {}, {}, {}),
    }
    return Performance(**(fields | parts))  # type: ignore[arg-type]


def test_one_that_fits_gives_its_positions() -> None:
    np.testing.assert_array_equal(performance().positions().values, VALUES)


def test_channels_are_commands_and_positions_are_the_plan() -> None:
    """A robot of three coordinates, two of them on servos, sent other angles than it is to reach."""
    sent = tuple(Channel(name, "position", "rad", 50.0, VALUES[:, j] + 0.1) for j, name in enumerate("ba"))
    plan = JointCurves(("a", "b", "c"), 50.0, np.arange(18.0).reshape(6, 3))
    made = performance(channels=sent, wish=JointCurves(("b", "a"), 50.0, VALUES), motion=plan)
    assert made.positions().names == made.sent().names == ("b", "a")
    np.testing.assert_array_equal(made.positions().values, plan.values[:, [1, 0]])
    np.testing.assert_array_equal(made.sent().values, VALUES + 0.1)
    np.testing.assert_array_equal(made.followed().values, plan.values[:, [1, 0]])
    joints = made.as_clip().joints
    assert joints is not None
    np.testing.assert_array_equal(joints.values, plan.values[:, [1, 0]])
    with pytest.raises(BadInput, match="position channel 'a', but no motion of it"):
        made.changed(motion=JointCurves(("b", "c"), 50.0, VALUES)).positions()


def test_one_without_a_wish_is_followed_by_its_plan() -> None:
    np.testing.assert_array_equal(performance(wish=None).followed().values, VALUES)
    assert puppet(wish=None).followed().names == ("a", "b")


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"wish": JointCurves(("b", "a"), 50.0, VALUES)}, "the wish is for b, a, the position channels are a, b"),
        ({"wish": JointCurves(("a",), 50.0, VALUES[:, :1])}, "the wish is for a, the"),
        ({"wish": JointCurves(("a", "b"), 25.0, VALUES)}, "the wish has 6 samples at 25 Hz"),
        ({"wish": JointCurves(("a", "b"), 50.0, VALUES[:4])}, "the wish has 4 samples at 50 Hz"),
        ({"motion": JointCurves(("a", "b"), 50.0, VALUES[:4])}, "the motion has 4 samples"),
        ({"channels": CHANNELS[:1] * 2}, "drive 'a'"),
        ({"channels": (CHANNELS[0], Channel("b", "position", "rad", 50.0, VALUES[:3, 1]))}, "'b' has 3 samples"),
    ],
)
def test_what_does_not_fit_is_refused(parts: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        performance(**parts)


NAMES = ("a", "b", "c.x", "c.y", "s.length")
FIVE = np.arange(30.0).reshape(6, 5) / 10


def puppet(**parts: object) -> Performance:
    """Two joints on a string: three prescribed channels and a torque; the wish is for one joint."""
    who = performance().character.changed(
        carriages=(Carriage(name="c", home=(0.0, 0.0, 2.0)),), strings=(String(name="s", carriage="c", hook="b"),)
    )
    kinds = {"a": "torque", "c.x": "position", "c.y": "position", "s.length": "length"}
    fields = {
        "character": who,
        "channels": tuple(Channel(n, kind, "m", 50.0, FIVE[:, NAMES.index(n)]) for n, kind in kinds.items()),  # type: ignore[arg-type]
        "wish": JointCurves(("b",), 50.0, FIVE[:, :1]),
        "motion": JointCurves(NAMES, 50.0, FIVE),
    }
    return performance(**(fields | parts))


def law(inputs: tuple[str, ...] = ("a", "c.x"), nodes: int = 6, rate: float = 50.0) -> Feedback:
    shapes = (nodes, 7), (nodes - 1, len(inputs)), (nodes - 1, len(inputs), 7)
    return Feedback(rate, NAMES, ("a", "b"), inputs, *(np.zeros(shape) for shape in shapes))


def test_a_puppet_s_wish_is_for_its_own_joints_and_its_motion_answers_it() -> None:
    made = puppet(feedback=law())
    assert made.dynamic
    assert not performance().dynamic
    np.testing.assert_array_equal(made.followed().values, FIVE[:, 1:2])
    assert made.followed().names == made.wish.names
    np.testing.assert_array_equal(made.commands(("s.length", "a")), FIVE[:, [4, 0]])
    clip = made.as_clip()
    assert clip.joints is not None
    assert clip.joints.names == ("a", "b")
    np.testing.assert_array_equal(clip.joints.values, FIVE[:, :2])
    np.testing.assert_array_equal(performance().followed().values, performance().positions().values)


def test_torques_alone_are_physics_and_torques_beside_positions_are_a_proof() -> None:
    torque = Channel("a", "torque", "N·m", 50.0, VALUES[:, 0])
    assert performance(channels=(torque,), wish=JointCurves(("b",), 50.0, VALUES[:, :1])).dynamic
    assert not performance(channels=(*CHANNELS, torque)).dynamic


@pytest.mark.parametrize(
    ("parts", "said"),
    [
        ({"channels": puppet().channels[:-1]}, "'s.length' has no length channel"),
        ({"channels": puppet().channels[::2]}, "'c.x' has no position channel"),
        ({"channels": (*puppet().channels, Channel("z", "torque", "N", 50.0, FIVE[:, 0]))}, "the torque channel 'z' drives no"),
        ({"channels": (*puppet().channels, Channel("b", "position", "rad", 50.0, FIVE[:, 0]))}, "position channel 'b' drives no"),
        ({"channels": (*puppet().channels, Channel("b", "torque", "N", 50.0, FIVE[:3, 0]))}, "'b' has 3 samples"),
        ({"channels": (*puppet().channels, Channel("b", "torque", "N", 25.0, FIVE[:, 0]))}, "6 samples at 25 Hz"),
        ({"wish": JointCurves(("c.x",), 50.0, FIVE[:, :1])}, "'c.x', which is no coordinate"),
        ({"wish": JointCurves(("a",), 50.0, FIVE[:4, :1])}, "the wish has 4 samples"),
        ({"motion": JointCurves(("a", "b"), 50.0, FIVE[:, :2])}, "it must be of all coordinates and prescribed"),
        ({"feedback": law(("b",))}, "corrects 'b'"),
        ({"feedback": law(("c.x", "a"))}, "torques come first"),
        ({"feedback": law(nodes=5)}, "5 states at 50 Hz"),
        ({"feedback": law(rate=25.0)}, "6 states at 25 Hz"),
    ],
)
def test_a_puppet_s_parts_that_do_not_fit_are_refused(parts: dict[str, object], said: str) -> None:
    with pytest.raises(BadInput, match=said):
        puppet(**parts)


def test_one_of_wheels_alone_is_a_clip_of_its_motion() -> None:
    turning = tuple(Channel(name, "velocity", "rad/s", 50.0, VALUES[:, j]) for j, name in enumerate("ab"))
    joints = performance(channels=turning).as_clip().joints
    assert joints is not None
    assert joints.names == ("a", "b")
    np.testing.assert_array_equal(joints.values, VALUES)
