"""Certificates of motions whose numbers are known: limits, deviation, balance, collision, static torque."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, DependentRange, Foot, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Check, JointCurves, Mark
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify

RATE = 50.0


def waiter() -> Character:
    """A post on a square foot with an arm of two links, turning about the vertical, then about y."""
    box = Shape(kind="box", size=(0.05, 0.05, 0.25), pose=Pose(position=(0, 0, 0.25)))
    link = Shape(kind="capsule", size=(0.02, 0.1), pose=Pose(position=(0, 0, 0.15)))
    corners = tuple((x, y, 0.0) for x in (-0.1, 0.1) for y in (-0.1, 0.1))
    return Character(
        name="waiter",
        bodies=(
            Body(name="post", mass=3.0, shapes=(box,)),
            Body(name="upper", mass=0.5, center_of_mass=(0, 0, 0.15), shapes=(link,)),
            Body(name="lower", mass=0.5, center_of_mass=(0, 0, 0.15), shapes=(link,)),
        ),
        joints=(
            Joint(name="base", kind="fixed", parent="world", child="post"),
            Joint(name="shoulder", kind="hinge", parent="post", child="upper", axis=(0, 1, 0), pose=Pose(position=(0, 0, 0.6))),
            Joint(name="elbow", kind="hinge", parent="upper", child="lower", axis=(0, 1, 0), pose=Pose(position=(0, 0, 0.3))),
        ),
        motors=(
            Motor(name="m1", coordinate="shoulder", range=(-3.1, 3.1), velocity=2.0, rate=RATE, stall_torque=5.0),
            Motor(name="m2", coordinate="elbow", range=(-3.0, 3.0), velocity=4.0, acceleration=30.0, rate=RATE, stall_torque=5.0),
        ),
        feet=(Foot(name="foot", body="post", points=corners),),
    )


def curves(*rows: tuple[float, float]) -> JointCurves:
    return JointCurves(("shoulder", "elbow"), RATE, np.array(rows))


def test_a_legal_motion_holds() -> None:
    wish = curves((0.0, 0.0), (0.02, 0.0), (0.04, 0.01))
    certificate = certify(waiter(), wish, wish)
    assert certificate.holds
    assert certificate.check("rms deviation from the wish").value == 0.0
    assert certificate.figures["worst_limit_violation"] == 0.0


def test_excess_is_the_worst_at_the_motor_rate_and_names_joint_and_time() -> None:
    wish = curves((0.0, 0.0), (0.0, 0.0), (0.1, 0.0), (0.1, 0.0))
    certificate = certify(waiter(), wish, wish)
    check = certificate.check("velocity excess")
    assert check.value == pytest.approx(0.1 * RATE - 2.0)
    assert "shoulder at 0.020 s" in check.note
    assert not check.holds
    assert not certificate.holds
    assert certificate.check("worst limit violation").value == pytest.approx(1.5)
    assert certificate.figures["velocity_violations_before"] == 1
    assert certificate.figures["velocity_violations_after"] == 1
    still = certify(waiter(), wish, curves(*[(0.0, 0.0)] * 4))
    assert (still.figures["velocity_violations_before"], still.figures["velocity_violations_after"]) == (1, 0)
    assert still.check("largest deviation from the wish").value == pytest.approx(0.1)
    assert still.check("rms deviation from the wish").value == pytest.approx(np.sqrt(2 * 0.01 / 8))


def test_acceleration_and_range() -> None:
    wish = curves((0.0, 0.0), (0.0, 0.0), (0.0, 0.05), (0.0, 0.1))
    certificate = certify(waiter(), wish, wish)
    assert certificate.check("acceleration excess").value == pytest.approx(0.05 * RATE**2 - 30.0)
    high = curves(*[(0.0, 3.25)] * 3)
    assert certify(waiter(), high, high).check("range excess").value == pytest.approx(0.25)


def test_balance_of_an_outstretched_arm_in_closed_form() -> None:
    angles = np.linspace(0.0, np.pi / 2, 60)
    wish = JointCurves(("shoulder", "elbow"), RATE, np.column_stack([angles, 0 * angles]))
    certificate = certify(waiter(), wish, wish)
    # masses 0.5 at 0.15 and 0.45 m out, 4 kg in all: the centre of mass moves 0.3 / 4 = 0.075 m; the foot reaches 0.1 m
    assert certificate.figures["balance_margin_m"] == pytest.approx(0.025, abs=1e-12)
    heavy = waiter().changed(bodies=tuple(b.changed(mass=0.3) if b.name == "post" else b for b in waiter().bodies))
    tipped = certify(heavy, wish, wish)
    assert tipped.check("balance margin").value == pytest.approx(0.1 - 0.3 / 1.3)
    assert not tipped.check("balance margin").holds
    share = certificate.check("static torque share")
    assert share.value == pytest.approx(GRAVITY * 0.3 / 5.0)
    assert "m1" in share.note


def test_a_performance_may_not_collide_whoever_wished_it() -> None:
    open_arm, into_post = curves(*[(0.5, 0.5)] * 3), curves((0.5, 0.5), (2.6, 2.9), (0.5, 0.5))
    free = certify(waiter(), open_arm, open_arm)
    assert free.check("self-collision clearance").holds
    assert free.figures["self_collision_clearance_m"] > 0
    worse = certify(waiter(), open_arm, into_post)
    assert not worse.check("self-collision clearance").holds
    assert "post and lower at 0.020 s" in worse.check("self-collision clearance").note
    asked = certify(waiter(), into_post, into_post)
    assert asked.check("self-collision clearance").broken, "a limb that was wished into another breaks all the same"
    assert asked.check("self-collision clearance").note.endswith("they collide in the wish too")
    assert any("wish itself" in note for note in asked.notes)


def test_the_pair_that_is_deepest_is_told_and_no_more_than_the_slack_holds() -> None:
    post = Shape(kind="box", size=(0.05, 0.05, 0.25))
    arms = [Body(name=name, shapes=(Shape(kind="sphere", size=(0.02,)),)) for name in ("left", "right")]
    rails = [
        Joint(name=name, kind="slide", parent="post", child=name, axis=(side, 0, 0), pose=Pose(position=(side * 0.2, 0, 0)))
        for name, side in (("left", 1.0), ("right", -1.0))
    ]
    joints = [Joint(name="base", kind="fixed", parent="world", child="post")]
    # a carriage between post and arm: neighbours may touch, the arm itself may not
    bodies = [Body(name="post", shapes=(post,)), *arms]
    for rail in rails:
        bodies.append(Body(name=f"{rail.name} carriage"))
        joints.append(rail.changed(child=f"{rail.name} carriage"))
        joints.append(Joint(name=f"{rail.name} wrist", kind="hinge", parent=f"{rail.name} carriage", child=rail.name))
    motors = tuple(Motor(name=name, coordinate=name, rate=RATE) for name in ("left", "right"))
    robot = Character(name="vice", bodies=tuple(bodies), joints=tuple(joints), motors=motors)

    def moved(left: float, right: float) -> JointCurves:
        return JointCurves(("left", "right"), RATE, np.array([[left, right]] * 3))

    wish = moved(-0.13, 0.0)
    check = certify(robot, wish, wish).check("self-collision clearance")
    assert check.value == pytest.approx(0.07 - 0.05 - 0.02, abs=1e-7)
    assert check.holds
    other = certify(robot, wish, moved(-0.131, -0.14)).check("self-collision clearance")
    assert other.value == pytest.approx(0.06 - 0.05 - 0.02, abs=1e-7)
    assert "post and right" in other.note
    assert not other.holds
    assert certify(robot, wish, moved(-0.1305, 0.0)).check("self-collision clearance").holds, "within the slack"
    assert not certify(robot, wish, moved(-0.133, 0.0)).check("self-collision clearance").holds


def test_metres_and_radians_are_not_mixed() -> None:
    lift = Character(
        name="lift",
        bodies=(Body(name="car"), Body(name="hand")),
        joints=(
            Joint(name="rail", kind="slide", parent="world", child="car", range=(0.0, 1.0)),
            Joint(name="wrist", kind="hinge", parent="car", child="hand", range=(-1.0, 1.0)),
        ),
        motors=(
            Motor(name="r", coordinate="rail", velocity=0.5, rate=RATE),
            Motor(name="w", coordinate="wrist", velocity=2.0, rate=RATE),
        ),
    )
    wish = JointCurves(("rail", "wrist"), RATE, np.zeros((3, 2)))
    moved = JointCurves(("rail", "wrist"), RATE, np.array([[0.0, 0.0], [0.02, 0.0], [0.04, 1.2]]))
    certificate = certify(lift, wish, moved)
    for name, value, unit in (
        ("velocity excess of slides", 0.02 * RATE - 0.5, "m/s"),
        ("velocity excess", 1.2 * RATE - 2.0, "rad/s"),
        ("range excess of slides", 0.0, "m"),
        ("range excess", 0.2, "rad"),
        ("largest deviation from the wish of slides", 0.04, "m"),
        ("largest deviation from the wish", 1.2, "rad"),
        ("rms deviation from the wish of slides", np.sqrt((0.02**2 + 0.04**2) / 3), "m"),
        ("rms deviation from the wish", np.sqrt(1.2**2 / 3), "rad"),
    ):
        assert certificate.check(name).value == pytest.approx(value), name
        assert certificate.check(name).unit == unit
    assert certificate.figures["max_deviation_m"] == pytest.approx(0.04)
    only = lift.changed(motors=lift.motors[:1])
    alone = certify(only, *[JointCurves(("rail",), RATE, c.values[:, :1]) for c in (wish, moved)])
    assert alone.check("velocity excess").unit == "m/s"
    assert not any("of slides" in check.name for check in alone.checks)


@pytest.mark.parametrize("seconds", [0.1, -0.1])
def test_being_early_breaks_the_promise_as_being_late_does(seconds: float) -> None:
    t = np.arange(200) / RATE

    def waved(shift: float) -> JointCurves:
        hill = 0.4 * np.exp(-(((t - 2.0 - shift) / 0.4) ** 2))
        return JointCurves(("shoulder", "elbow"), RATE, np.column_stack([hill, 0.5 * hill]))

    words = (Mark("now", 1.8, 2.2, 2.0),)
    certificate = certify(waiter(), waved(0.0), waved(seconds), words=words)
    assert certificate.check("lag").value == pytest.approx(0.1, abs=2e-3)
    assert not certificate.check("lag").holds
    assert certificate.check("lag").note == ("late" if seconds > 0 else "early")
    assert certificate.check("largest stroke lag").value == pytest.approx(0.1, abs=5e-3)
    on_time = certify(waiter(), waved(0.0), waved(0.0), words=words)
    assert on_time.check("lag").holds
    assert on_time.check("lag").value == pytest.approx(0.0, abs=1e-12)


def test_a_motor_without_a_curve_stands_at_home_and_keeps_its_limits() -> None:
    # the elbow stays at 0, which its range leaves when the shoulder is at 1
    dependent = DependentRange(coordinate="elbow", on="shoulder", knots=((0.0, -1.0, 1.0), (1.0, 0.5, 1.0)))
    robot = waiter().changed(dependent_ranges=(dependent,))
    one = JointCurves(("shoulder",), RATE, np.array([[1.0], [1.0]]))
    assert certify(robot, one, one).check("range excess").value == pytest.approx(0.5)


def test_own_checks_status_and_notes_come_along() -> None:
    wish = curves((0.0, 0.0), (0.0, 0.0))
    certificate = certify(
        waiter(),
        wish,
        wish,
        status=Status.STALLED,
        checks=(Check("mine", 2.0, threshold=1.0),),
        notes=("seen",),
        figures={"mine": 2.0},
    )
    assert certificate.notes[:2] == (Status.STALLED.sentence, "seen")
    assert not certificate.check("mine").holds
    assert certificate.figures["mine"] == 2.0
    assert not certificate.holds


def test_a_wish_at_another_rate_and_a_longer_performance_are_compared_in_time() -> None:
    wish = JointCurves(("shoulder",), RATE / 2, np.array([[0.0], [0.02]]))
    positions = curves((0.0, 0.0), (0.01, 0.0), (0.02, 0.0), (0.02, 0.0))
    assert certify(waiter(), wish, positions).check("largest deviation from the wish").value == pytest.approx(0.0, abs=1e-15)


def test_a_curve_without_a_motor_is_refused() -> None:
    tail = JointCurves(("tail",), RATE, np.zeros((2, 1)))
    with pytest.raises(BadInput, match="no motor"):
        certify(waiter(), tail, tail)
