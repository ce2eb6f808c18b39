"""Designs: smooth, symmetric, printable; of robots made of components and of any character."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from bunraku.building.assemble import assemble
from bunraku.building.character_design import character_design
from bunraku.building.character_geometry import lowest_points
from bunraku.building.design import Design, Parameter
from bunraku.building.mirror import mirror_map
from bunraku.building.robot_design import built_in_design, shortest_link
from bunraku.building.robots.builtin import ROBOTS, built_in_robot
from bunraku.building.servos import servo
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character

Array = NDArray[np.float64]


def numbers(character: Character) -> Array:
    """All that planning computes with, as one vector."""
    found: list[float] = [character.home["base.tz"]]
    for body in character.bodies:
        found += [body.mass, *body.center_of_mass, *(100.0 * part for part in body.inertia)]
    for joint in character.joints:
        found += [*joint.pose.position, joint.damping]
    for tip in character.end_effectors:
        found += [*tip.center, tip.radius]
    return np.array(found)


@pytest.mark.parametrize("name", ROBOTS)
def test_the_initial_design_is_the_robot(name: str) -> None:
    design = built_in_design(name)
    assert design.character(design.initial) == assemble(built_in_robot(name))
    assert (design.lower < design.initial).all()
    assert (design.initial < design.upper).all()


@pytest.mark.parametrize("kind", ["components", "generic"])
@pytest.mark.parametrize("name", ["agilebot", "creature3"])
def test_a_character_is_smooth_in_its_design(name: str, kind: str) -> None:
    """Halving the step quarters the error of a central difference: second order, so third derivatives exist."""
    design = built_in_design(name) if kind == "components" else character_design(read_character(name))
    rng = np.random.default_rng(5)
    p, direction = design.initial, rng.normal(size=len(design.names))
    step = 2e-3 / np.abs(direction).max()
    slopes = [
        (numbers(design.character(p + h * direction)) - numbers(design.character(p - h * direction))) / (2.0 * h)
        for h in (step, step / 2.0, step / 4.0)
    ]
    coarse, fine = np.linalg.norm(slopes[0] - slopes[1]), np.linalg.norm(slopes[1] - slopes[2])
    assert np.linalg.norm(slopes[2]) > 0.1
    assert fine < 1e-3 * np.linalg.norm(slopes[2])
    assert 3.5 < coarse / fine < 4.5 or coarse < 1e-9


@pytest.mark.parametrize("kind", ["components", "generic"])
def test_every_choice_is_symmetric_and_stands(kind: str) -> None:
    design = built_in_design("skatebot") if kind == "components" else character_design(read_character("skatebot"))
    rng = np.random.default_rng(8)
    p = design.initial + 0.3 * rng.uniform(-1.0, 1.0, len(design.names)) * (design.upper - design.initial)
    character = design.character(p)
    mirror_map(character)
    assert np.mean(lowest_points(character)) == pytest.approx(0.0, abs=1e-12)


@pytest.mark.parametrize("kind", ["components", "generic"])
def test_the_tilted_car_stands_even_when_lowered_by_the_tilt(kind: str) -> None:
    lowering = 0.03 * (1.0 - np.cos(np.pi / 4.0))
    if kind == "components":
        design, name = built_in_design("tilted-car"), "F.tip z"
    else:
        design, name = character_design(read_character("tilted-car")), "tip LF z"
    p = design.initial
    p[design.index(name)] -= lowering
    np.testing.assert_allclose(lowest_points(design.character(p)), 0.0, atol=1e-9)


def test_longer_shins_raise_the_base_and_weigh_more() -> None:
    design = built_in_design("walker").only("F.tip z", "H.tip z")
    short, long = design.character(design.initial), design.character(design.initial - 0.03)
    assert long.home["base.tz"] - short.home["base.tz"] == pytest.approx(0.03 * np.cos(0.6), abs=1e-9)
    weight = [sum(body.mass for body in character.bodies) for character in (short, long)]
    tube = 2.0 * np.pi * 0.008 * 0.003 * 1240.0  # kg a metre of printed leg
    assert weight[1] - weight[0] == pytest.approx(4.0 * tube * 0.03, rel=0.02)


def test_a_wheel_of_another_size_keeps_its_drag() -> None:
    for design, name in (
        (built_in_design("swizzlebot"), "F.tip radius"),
        (character_design(read_character("swizzlebot")), "tip LF radius"),
    ):
        p = design.initial
        p[design.index(name)] = 0.030
        character = design.character(p)
        axle = {joint.name: joint.damping for joint in character.joints}
        assert axle["LF.axle"] == axle["RF.axle"] == pytest.approx(0.5 * 0.030**2)
        assert axle["LH.axle"] == pytest.approx(0.5 * 0.025**2)
        tyre = next(body for body in character.bodies if body.name == "RF").shapes[0]
        assert tyre.size[0] == pytest.approx(0.030)


def test_links_are_long_enough_to_be_printed() -> None:
    robot = built_in_robot("agilebot")
    leg = robot.limbs[0]
    case = servo(leg.stages[2].servo)
    least = shortest_link(robot, leg.stages[1], leg.stages[2])
    assert least > case.shaft_offset + case.size[1] / 2.0 + servo(leg.stages[1].servo).horn_radius
    design = built_in_design("agilebot")
    assert design.upper[design.index("F.knee z")] == pytest.approx(-least)
    assert design.lower[design.index("F.knee z")] < -2.0 * 0.09
    np.testing.assert_array_equal(design.within(np.full(len(design.names), 9.0)), design.upper)


def test_parameters_are_found_by_name() -> None:
    design = built_in_design("car")
    p = design.edited(**{"F.tip z": -0.03})
    assert p[design.index("F.tip z")] == -0.03
    assert {
        tip.name: joint.pose.position[2]
        for tip in design.character(p).end_effectors
        for joint in design.character(p).joints
        if joint.child == tip.body
    } == {
        "LF": -0.03,
        "RF": -0.03,
        "LH": -0.02,
        "RH": -0.02,
    }
    with pytest.raises(BadInput, match=r"no parameter 'wing'; it has F.tip x"):
        design.index("wing")
    with pytest.raises(BadInput, match="takes 8 finite numbers"):
        design.character([1.0])
    with pytest.raises(BadInput, match="outside its bounds"):
        Parameter("a", 2.0, 0.0, 1.0)


def test_any_character_has_a_design() -> None:
    character = read_character("nao")
    design = character_design(character, symmetric=False)
    assert "joint LElbowRoll x" in design.names
    p = design.initial
    p[design.index("joint LElbowRoll x")] += 0.01
    moved = {joint.name for one, joint in zip(character.joints, design.character(p).joints, strict=True) if one != joint}
    assert moved == {"LElbowRoll"}
    assert isinstance(design, Design)
    with pytest.raises(BadInput, match="not symmetric"):
        character_design(character, symmetric=True)
