"""Parts attached and taken away: masses, inertias, symmetry, names, and that what comes out can perform."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from bunraku.building.character_geometry import lowest
from bunraku.building.components.attach import attached
from bunraku.building.components.library import component, library
from bunraku.building.components.making import weight_of
from bunraku.building.components.piece import Piece, blank_character, body_of, mirrored
from bunraku.building.components.remove import removed, replaced_servo
from bunraku.building.components.sockets import sockets
from bunraku.building.mirror import mirror_map, twin_bodies
from bunraku.building.servos import SERVOS
from bunraku.building.solids import box
from bunraku.character import Body, Character, Joint
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import read_character_yaml, write_character_yaml
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Clip, JointCurves

ONE_EACH = [
    "MG995R",
    "printed link",
    "beech bar",
    "inline wheel 50 mm",
    "rubber ball foot 30 mm",
    "PLA rod",
    "string",
    "controller",
]
PLAIN = [name for name in library() if not name.startswith("driven wheel")]


def mass(character: Character) -> float:
    """Of all bodies and rods."""
    density = {material.name: material.density for material in character.materials}
    rods = [(part.shape.length or 0.0, part.shape.diameter or 0.0, density[part.material]) for part in character.flexibles]
    return sum(body.mass for body in character.bodies) + sum(pi / 4.0 * d**2 * length * rho for length, d, rho in rods)


def round_trip(character: Character) -> Character:
    return read_character_yaml(write_character_yaml(character).encode(), file="x.character.yaml")


def car() -> Character:
    made = blank_character(size=(0.24, 0.1, 0.04))
    for spot, name in (("body left front", "LF"), ("body left back", "LH")):
        made = attached(made, spot, "Dynamixel AX-12W", {"sink": 0.04}, mirror=True, name=f"{name}.axle")
        made = attached(made, f"{name}.axle horn", "driven wheel 60 mm", mirror=True, name=name)
    return made


def leg(character: Character, spot: str, name: str) -> Character:
    """Hip, thigh, knee, shank and foot below a socket, on both sides."""
    made = attached(character, spot, "Dynamixel XL430-W250", {"shaft": "across"}, mirror=True, name=f"{name}.hip")
    made = attached(made, f"{name}.hip horn", "printed link", {"length": 0.06}, mirror=True, name=f"{name}.thigh")
    made = attached(made, f"{name}.thigh below", "Dynamixel XL430-W250", {"shaft": "across"}, mirror=True, name=f"{name}.knee")
    return attached(made, f"{name}.knee horn", "rubber ball foot 30 mm", {"stem": 0.05}, mirror=True, name=name)


def test_the_motor_of_a_wheel_is_sent_speeds_and_taken_off_it_is_a_servo_again() -> None:
    made = car()
    wheels = [motor for motor in made.motors if motor.coordinate in made.wheel_axles]
    assert len(wheels) == 4
    assert {(motor.stiffness, motor.damping, motor.speed_gain) for motor in wheels} == {(None, None, 0.1)}
    bare = removed(made, "LF")
    again = next(motor for motor in bare.motors if motor.name == "LF.axle")
    assert (again.stiffness, again.damping, again.speed_gain) == (20.0, 0.3, None)
    assert again.source.endswith("position gains are ours")


@pytest.mark.parametrize("name", PLAIN)
def test_the_mass_grows_by_that_of_the_component_on_each_side(name: str) -> None:
    before = blank_character()
    for spot, mirror, count in (("body below", False, 1), ("body below front left", True, 2)):
        made = attached(before, spot, name, mirror=mirror)
        assert mass(made) - mass(before) == pytest.approx(count * component(name).mass, rel=1e-12, abs=1e-15)
        assert {body.name for body in before.bodies} < {body.name for body in made.bodies} or component(name).kind == "string"


def test_a_payload_has_the_inertia_of_its_box() -> None:
    body = attached(blank_character(), "body top", "controller", {"turn": 0.3}).bodies[-1]
    a, b, c = 0.105, 0.075, 0.016
    wanted = 0.06 / 12.0 * np.array([b * b + c * c, a * a + c * c, a * a + b * b])
    np.testing.assert_allclose(body.inertia[:3], wanted, rtol=1e-12)
    np.testing.assert_allclose(body.inertia[3:], 0.0, atol=1e-15)
    np.testing.assert_allclose(body.center_of_mass, (0.0, 0.0, c / 2.0), atol=1e-12)


def test_a_motor_weighs_what_the_servo_and_the_plate_on_its_horn_weigh() -> None:
    servo = SERVOS["MG995R"]
    plate = 1240.0 * pi * servo.horn_radius**2 * 0.003
    assert component("MG995R").mass == pytest.approx(servo.mass + plate, rel=1e-12)


@pytest.mark.parametrize("name", ONE_EACH)
@pytest.mark.parametrize("who", ["blank", "walker", "dancer"])
def test_attached_then_removed_is_as_before(name: str, who: str) -> None:
    before = blank_character() if who == "blank" else read_character(who)
    spots = [one for one in sockets(before) if one.kind in ("face", "end") and one.twin not in ("", one.name)]
    for mirror in (False, True):
        made = attached(before, spots[0].name, name, mirror=mirror, name="left new")
        assert made != before
        assert removed(made, "left new", mirror=mirror) == before


def test_a_car_can_be_taken_apart_again() -> None:
    made = car()
    for part in ("LF", "RH"):
        made = removed(made, part, mirror=True)
    assert [motor.range for motor in made.motors] == [(-pi / 2.0, pi / 2.0)] * 4
    for part in ("LF.axle output", "LH.axle"):
        made = removed(made, part, mirror=True)
    assert made == blank_character(size=(0.24, 0.1, 0.04))
    whole = removed(removed(car(), "LF.axle", mirror=True), "LH.axle case", mirror=True)  # with their wheels
    assert whole == blank_character(size=(0.24, 0.1, 0.04))


def test_both_sides_are_mirror_images_and_the_centre_of_mass_is_in_the_middle() -> None:
    made = leg(leg(blank_character(), "body below front left", "LF"), "body below back left", "LH")
    made = attached(made, "body front", "Dynamixel XL430-W250", {"shaft": "across"}, name="neck")
    made = attached(made, "neck horn", "beech bar", {"length": 0.05}, name="head")
    mirror = mirror_map(made)
    assert mirror.coordinates["LF.hip"] == ("RF.hip", 1.0)
    assert mirror.coordinates["neck"] == ("neck", 1.0)
    assert mirror.end_effectors == {"LF": "RF", "RF": "LF", "LH": "RH", "RH": "LH"}
    tree = compile_tree(made)
    other, sign = mirror.of(made.coordinates)
    q = np.random.default_rng(5).normal(0.0, 0.5, tree.nq)
    one, two = tree.configuration(q).center_of_mass(), tree.configuration(sign * q[other]).center_of_mass()
    np.testing.assert_allclose(one * np.array([1.0, -1.0, 1.0]), two, atol=1e-12)
    assert tree.configuration(tree.home).center_of_mass()[1] == pytest.approx(0.0, abs=1e-12)
    assert lowest(made) == pytest.approx(0.0, abs=1e-9)


def test_a_tilted_link_is_mirrored_too() -> None:
    made = attached(blank_character(), "body left front", "printed link", {"tilt": 0.5, "turn": 0.7, "x": 0.01}, mirror=True)
    mirror_map(made)
    assert compile_tree(made).configuration(compile_tree(made).home).center_of_mass()[1] == pytest.approx(0.0, abs=1e-12)


def test_the_mirror_image_of_a_body_has_the_mirrored_inertia() -> None:
    rng = np.random.default_rng(4)
    R = np.linalg.qr(rng.normal(size=(3, 3)))[0]
    one = body_of("one", [box(0.3, (0.01, 0.02, 0.03), (0.1, 0.2, 0.3), R * np.sign(np.linalg.det(R)))], [])
    here = (np.eye(3), np.zeros(3))
    piece = Piece("body", bodies=(one,), joints=(Joint(name="one", kind="fixed", parent="body", child="one"),))
    twin = mirrored(piece, here, "body", here).bodies[0]
    M = np.diag([1.0, -1.0, 1.0])

    def matrix(body: Body) -> np.ndarray:
        xx, yy, zz, xy, xz, yz = body.inertia
        return np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])

    np.testing.assert_allclose(M @ matrix(one) @ M, matrix(twin), atol=1e-15)
    assert twin.center_of_mass == (0.01, -0.02, 0.03)


def test_home_follows_what_it_stands_on() -> None:
    made = blank_character()
    assert made.home["base.tz"] == pytest.approx(0.02)
    made = leg(leg(made, "body below front left", "LF"), "body below back left", "LH")
    assert lowest(made) == pytest.approx(0.0, abs=1e-9)
    assert made.home["base.tz"] > 0.15
    assert removed(removed(made, "LF.hip", mirror=True), "LH.hip", mirror=True) == blank_character()


def test_a_car_made_here_drives() -> None:
    from bunraku.performers.locomotion.performer import LocomotionPerformer
    from bunraku.performers.locomotion.state import state_problem

    made, clip = car(), read_clip("car-forward")
    assert LocomotionPerformer().suits(made, clip).score == 1.0
    assert LocomotionPerformer().perform(made, clip).certificate.holds
    problem = state_problem(made, clip.gait, samples=24)
    assert problem.model.n_tips == 4
    np.testing.assert_allclose(problem.model.home[2], 0.03, atol=1e-9)  # the radius: axles in the middle of the box


def test_a_motor_with_a_rod_suits_the_vibration_performer() -> None:
    from bunraku.performers.vibration.performer import VibrationPerformer

    made = blank_character("swing", base="fixed")
    made = attached(made, "body top", "Dynamixel XM430-W210", {"shaft": "across"}, name="shoulder")
    made = attached(made, "shoulder horn", "spring-steel rod", {"length": 0.4}, name="arm")
    clip = Clip(name="still", joints=JointCurves(("shoulder",), 50.0, np.zeros((20, 1))))
    assert VibrationPerformer().suits(made, clip).score == 1.0
    tip = compile_tree(made).configuration(compile_tree(made).home).pose("arm tip")[1]
    part = made.flexibles[0]
    base = compile_tree(made).configuration(compile_tree(made).home).pose(part.base)
    np.testing.assert_allclose(base[1] + base[0] @ (np.array(part.pose.position) + np.array([0.0, 0.0, 0.4])), tip, atol=1e-12)


def test_a_body_on_strings_suits_the_marionette_performer() -> None:
    from bunraku.mechanics.systems.marionette import marionette_system
    from bunraku.performers.marionette.performer import MarionettePerformer

    made = attached(blank_character("puppet"), "body top front left", "string", {"length": 0.8}, mirror=True)
    made = attached(made, "body top", "string", {"length": 0.8, "x": -0.05}, name="back")
    clip = Clip(name="still", joints=JointCurves(made.coordinates, 50.0, np.zeros((20, 6))))
    assert MarionettePerformer().suits(made, clip).score == 1.0
    assert len(made.strings) == 3
    left, right = (next(one for one in made.carriages if one.name.startswith(side)) for side in ("left", "right"))
    np.testing.assert_allclose(left.home, np.array(right.home) * [1.0, -1.0, 1.0], atol=1e-12)
    assert left.home[2] == pytest.approx(0.04 + 0.8)
    assert marionette_system(made) is not None
    with pytest.raises(BadInput, match="not of the world"):
        attached(made, "world above", "string")


def test_another_servo_changes_figures_and_mass() -> None:
    made = attached(blank_character(), "body top", "MG995R", name="neck")
    swapped = replaced_servo(made, "neck", "Dynamixel XL430-W250")
    assert swapped.motors[0].stall_torque == 1.5
    assert swapped.motors[0].range == made.motors[0].range
    assert mass(swapped) - mass(made) == pytest.approx(0.0572 - 0.055, rel=1e-9)
    walker = read_character("walker")
    old = SERVOS[walker.motors[0].model]
    assert mass(replaced_servo(walker, walker.motors[0].name, "MG995R")) - mass(walker) == pytest.approx(0.055 - old.mass, rel=1e-6)
    with pytest.raises(BadInput, match="no servo"):
        replaced_servo(made, "neck", "nothing")
    with pytest.raises(BadInput, match="no motor"):
        replaced_servo(made, "tail", "MG995R")


def test_another_servo_on_both_sides() -> None:
    walker = read_character("walker")
    one, both = (replaced_servo(walker, "LF.knee", "MG995R", mirror=mirror) for mirror in (False, True))
    assert [motor.name for motor in one.motors if motor.model == "MG995R"] == ["LF.knee"]
    assert [motor.name for motor in both.motors if motor.model == "MG995R"] == ["LF.knee", "RF.knee"]
    assert mass(both) - mass(walker) == pytest.approx(2.0 * (mass(one) - mass(walker)), rel=1e-9)
    twins = twin_bodies(both)
    assert {name: twins[name] for name in twins if name.startswith("LF")} == {
        name: name.replace("LF", "RF", 1) for name in twins if name.startswith("LF")
    }
    middle = attached(blank_character(), "body top", "MG995R", name="neck")
    alone = replaced_servo(middle, "neck", "Dynamixel XL430-W250", mirror=True)
    assert alone == replaced_servo(middle, "neck", "Dynamixel XL430-W250")


def test_refusals_say_what_to_do() -> None:
    start = blank_character()
    with pytest.raises(BadInput, match="attach a motor there first"):
        attached(start, "body left", "driven wheel 60 mm")
    with pytest.raises(BadInput, match="no free socket"):
        attached(start, "nowhere", "MG995R")
    with pytest.raises(BadInput, match="goes from"):
        attached(start, "body left", "printed link", {"length": 9.0})
    with pytest.raises(BadInput, match="takes no"):
        attached(start, "body left", "printed link", {"colour": 1.0})
    with pytest.raises(BadInput, match="choose one of"):
        attached(start, "body left", "MG995R", {"shaft": "up"})
    with pytest.raises(BadInput, match="is taken"):
        attached(attached(start, "body left", "printed link", name="a"), "body right", "printed link", name="a")
    with pytest.raises(BadInput, match="all there is"):
        removed(start, "body")
    with pytest.raises(BadInput, match="no part"):
        removed(start, "tail")
    across = attached(start, "body left", "MG995R", {"shaft": "across"}, name="m")
    with pytest.raises(BadInput, match="shaft points outward"):
        attached(across, "m horn", "driven wheel 60 mm")
    with pytest.raises(BadInput, match="glued"):
        removed(read_character("beetle-quick"), "LF.ankle_link")


def test_removing_takes_everything_that_refers_to_a_part() -> None:
    nao = removed(read_character("nao"), "LShoulderPitch", mirror=True)
    assert not any("Shoulder" in name or "Elbow" in name for name in nao.coordinates)
    assert not any("Shoulder" in name for names in nao.groups.values() for name in names)
    puppet = removed(read_character("marionette"), "l_forearm", mirror=True)
    assert len(puppet.strings) == len(puppet.carriages) == 4


@settings(max_examples=12, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(st.data())
def test_any_sequence_of_edits_gives_characters_that_can_be_kept(data: st.DataObject) -> None:
    refusals: list[str] = []
    made = blank_character(base=data.draw(st.sampled_from(["free", "fixed"])))
    for _ in range(data.draw(st.integers(1, 6))):
        if len(made.bodies) > 1 and data.draw(st.booleans()) and data.draw(st.booleans()):
            body = data.draw(st.sampled_from([body.name for body in made.bodies[1:]]))
            before = mass(made)
            made = removed(made, body, mirror=data.draw(st.booleans()))
            assert mass(made) < before
            continue
        chosen = component(data.draw(st.sampled_from(list(library()))))
        spot = data.draw(st.sampled_from(sockets(made)))
        sizes = {}
        for dimension in chosen.dimensions:
            if data.draw(st.booleans()):
                choice = st.sampled_from(dimension.choices) if dimension.choices else st.floats(dimension.low, dimension.high)
                sizes[dimension.name] = data.draw(choice)
        mirror = data.draw(st.booleans())
        try:
            after = attached(made, spot.name, chosen, sizes, mirror=mirror)
        except BadInput as error:
            refusals.append(str(error))
            continue
        twice = 2 if mirror and spot.twin not in ("", spot.name) else 1
        if chosen.kind not in ("wheel", "foot"):
            assert mass(after) - mass(made) == pytest.approx(twice * weight_of(chosen, sizes), rel=1e-9, abs=1e-12)
        assert round_trip(after) == after
        compile_tree(after)
        made = after
    assert not any("\n" in text for text in refusals)
