"""Warnings while designing: masses, standing torques, balance, overlaps, printing, thin rods, against closed forms."""

from __future__ import annotations

from math import atan, cos, degrees, pi, sin, sqrt

import numpy as np
import pytest

from bunraku.building.components.attach import attached
from bunraku.building.components.piece import blank_character
from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.design.loads import balance, limb_masses, motor_loads, part_mass
from bunraku.design.warnings import rod_frequency, warnings_of
from bunraku.formats.registry import read_character

G = 9.81


def arm(stall: float) -> Character:
    """Two links of 0.4 and 0.3 m in the plane x, z, bent by 0.5 and 0.7 rad from the horizontal, masses at their ends."""
    ends = [Body(name="one", mass=0.6, center_of_mass=(0.4, 0.0, 0.0)), Body(name="two", mass=0.5, center_of_mass=(0.3, 0.0, 0.0))]
    down = {"kind": "hinge", "axis": (0.0, 1.0, 0.0)}
    joints = (
        Joint(name="shoulder", parent="world", child="one", **down),
        Joint(name="elbow", parent="one", child="two", pose=Pose(position=(0.4, 0.0, 0.0)), **down),
    )
    motors = tuple(
        Motor(name=name, coordinate=name, stall_torque=stall, continuous_torque=stall / 3.0) for name in ("shoulder", "elbow")
    )
    return Character(name="arm", bodies=tuple(ends), joints=joints, motors=motors, home={"shoulder": 0.5, "elbow": 0.7})


def about(character: Character, kind: str) -> list[tuple[str, str, str]]:
    return [(one.severity, one.about, one.text) for one in warnings_of(character) if one.kind == kind]


def test_the_torques_of_a_two_link_arm() -> None:
    loads = motor_loads(arm(20.0))
    elbow = 0.5 * G * 0.3 * cos(1.2)
    shoulder = (0.6 + 0.5) * G * 0.4 * cos(0.5) + elbow
    np.testing.assert_allclose([abs(load.torque) for load in loads], [shoulder, elbow], rtol=1e-9)
    assert about(arm(20.0), "torque") == []
    warned = about(arm(9.0), "torque")
    assert [(severity, who) for severity, who, _ in warned] == [("warning", "shoulder")]
    assert f"{shoulder:.2f} N·m" in warned[0][2]
    assert f"{100.0 * shoulder / 3.0:.0f} %" in warned[0][2]
    assert [(severity, who) for severity, who, _ in about(arm(3.0), "torque")] == [("error", "shoulder")]


def test_the_load_of_a_rod_counts_with_its_own_mass() -> None:
    made = attached(blank_character(base="fixed"), "body front", "Dynamixel XM430-W210", {"shaft": "across"}, name="m")
    plain = motor_loads(made)[0].torque
    rod = attached(made, "m horn", "spring-steel rod", {"length": 0.5, "diameter": 0.006, "weight": 0.1}, name="r")
    horn = next(frame.pose.position[2] for frame in made.frames if frame.name == "m horn")
    steel = 7850.0 * pi / 4.0 * 0.006**2 * 0.5
    more = G * (0.1 * (horn + 0.5) + steel * (horn + 0.25))
    assert part_mass(rod.flexibles[0], rod) == pytest.approx(steel, rel=1e-12)
    assert abs(motor_loads(rod)[0].torque) - abs(plain) == pytest.approx(more, rel=1e-9)


def test_the_frequency_of_a_rod_and_when_it_is_too_thin() -> None:
    rod = read_character("one-rod")
    second, steel = pi / 64.0 * 0.004**4, 7850.0 * pi / 4.0 * 0.004**2 * 0.7
    wanted = sqrt(3.0 * 200e9 * second / (0.7**3 * (0.1 + 33.0 / 140.0 * steel))) / (2.0 * pi)
    assert rod_frequency(rod, rod.flexibles[0]) == pytest.approx(wanted, rel=1e-9)
    assert about(rod, "rod")[0][0] == "note"
    part = rod.flexibles[0]
    thin = rod.changed(flexibles=(part.changed(shape=part.shape.changed(diameter=0.003)),))
    assert about(thin, "rod")[0][:2] == ("warning", "tip")


def test_a_table_is_balanced_until_its_load_is_outside() -> None:
    table = blank_character(size=(0.2, 0.1, 0.04))
    for spot in ("body below front left", "body below back left"):
        table = attached(table, spot, "rubber ball foot 30 mm", mirror=True)
    stands = balance(table)
    assert stands is not None
    assert stands.margin == pytest.approx(0.03, abs=1e-9)  # the feet are 20 mm from the edges of the box
    severity, who, text = about(table, "balance")[0]
    assert (severity, who) == ("note", "body")
    assert f"{degrees(atan(stands.margin / stands.height)):.0f} degrees" in text
    heavy = attached(table, "body front", "aluminium bar", {"length": 0.5, "thickness": 0.03})
    assert about(heavy, "balance")[0][0] == "error"
    assert "nothing carries it" in about(blank_character(), "balance")[0][2]


def test_the_ground_carries_half_on_each_side() -> None:
    """A roll of both hips by the angle a: each leg of length l carries half of the weight above, with the moment arm l sin a."""
    made = blank_character(size=(0.2, 0.1, 0.04))
    for spot in ("body below front left", "body below back left"):
        made = attached(
            made, spot, "Dynamixel XL430-W250", {"shaft": "across", "turn": pi / 2.0}, mirror=True, name=spot[5:] + " hip"
        )
    feet = [frame.name.removesuffix(" horn") for frame in made.frames if "left" in frame.name]
    for name in feet:
        made = attached(made, f"{name} horn", "rubber ball foot 30 mm", {"stem": 0.1}, mirror=True, name=f"{name} foot")
    made = made.changed(home=made.home | {motor.name: 0.2 for motor in made.motors})
    below = [body for body in made.bodies if "output" in body.name or "foot" in body.name]
    weight = sum(body.mass for body in made.bodies) * G / 4.0
    horn = next(frame.pose.position[2] for frame in made.frames if frame.name.endswith("horn"))
    foot = weight * (horn + 0.115) * sin(0.2)
    own = G * (below[0].mass * below[0].center_of_mass[2] + below[4].mass * (horn + below[4].center_of_mass[2])) * sin(0.2)
    for load in motor_loads(made):
        assert abs(load.torque) == pytest.approx(foot - own, rel=2e-3)  # the lowest point of a ball stays under its middle


def test_masses_of_limbs_add_up() -> None:
    walker = read_character("walker")
    shares = limb_masses(walker)
    assert sum(shares.values()) == pytest.approx(sum(body.mass for body in walker.bodies), rel=1e-12)
    assert set(shares) == {"body", "LF.roll", "RF.roll", "LH.roll", "RH.roll"}
    assert shares["LF.roll"] == pytest.approx(shares["RH.roll"])
    assert f"{sum(shares.values()):.3f} kg" in about(walker, "mass")[0][2]


def test_printing_overlaps_and_missing_figures() -> None:
    made = attached(blank_character(), "body left", "printed link", {"length": 0.3}, name="long")
    assert about(made, "print")[0][:2] == ("warning", "long")
    assert "300" in about(made, "print")[0][2]
    bed = warnings_of(made, bed=(0.4, 0.4, 0.4))
    assert [one for one in bed if one.kind == "print"] == []
    arms = attached(
        blank_character(base="fixed"), "body top front left", "MG995R", {"shaft": "across"}, mirror=True, name="left arm"
    )
    apart = about(arms, "overlap")
    inward = {"length": 0.1, "tilt": -1.3, "turn": pi / 2.0}
    near = attached(arms, "left arm horn", "printed link", inward, mirror=True, name="left hand")
    assert apart == []
    assert any("left hand and right hand overlap" in text for _, _, text in about(near, "overlap"))
    bare = arm(1.0)
    assert [who for _, who, _ in about(bare, "figures")] == ["shoulder", "elbow"]
    assert all("no speed" in text for _, _, text in about(bare, "figures"))


def test_errors_come_first() -> None:
    order = [one.severity for one in warnings_of(arm(3.0))]
    assert order == sorted(order, key=["error", "warning", "note"].index)
    assert order[0] == "error"


def test_a_motor_that_slides_holds_a_force() -> None:
    lift = Character(
        name="lift",
        bodies=(Body(name="car", mass=2.0),),
        joints=(Joint(name="rail", parent="world", child="car", kind="slide", axis=(0.0, 0.0, 1.0)),),
        motors=(Motor(name="winch", coordinate="rail", stall_torque=10.0),),
    )
    assert about(lift, "torque") == [
        ("error", "winch", f"winch must hold {2.0 * G:.2f} N at home, more than its stall force of 10.00 N: it gives way")
    ]
    weak = lift.changed(motors=(Motor(name="winch", coordinate="rail", velocity=1.0),))
    assert about(weak, "figures") == [("note", "winch", "no force is stated for the motor winch: that limit is not checked")]
