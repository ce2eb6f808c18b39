"""The parts of whole robots: that they fit the motors, each other, and what the character is made of."""

from __future__ import annotations

import csv
import io
from collections import Counter
from dataclasses import replace

import numpy as np
import pytest

from bunraku.building.assemble import assemble
from bunraku.building.robots.builtin import built_in_robot
from bunraku.building.tips import payload
from bunraku.fabrication.checks import PartFigures, check_part, measure_hole
from bunraku.fabrication.collisions import collisions, rooms
from bunraku.fabrication.draft import Draft
from bunraku.fabrication.fabricate import PRINTER
from bunraku.fabrication.kit import Part, PartsKit, PrintedPiece, _congruent, _grouped, make_kit
from bunraku.fabrication.mesh import stl_bytes
from bunraku.fabrication.notes import assumed_printed_mass, bill_of_materials, bill_text, motors, part_mass, screws
from bunraku.fabrication.shaping import box, cylinder, moved, overlap, union

NAMES = ("skatebot", "agilebot")


@pytest.fixture(scope="module")
def kits() -> dict[str, PartsKit]:
    return {name: make_kit(built_in_robot(name)) for name in NAMES}


@pytest.fixture(scope="module")
def figures(kits: dict[str, PartsKit]) -> dict[str, list[PartFigures]]:
    return {name: [check_part(part, PRINTER) for part in kit.parts] for name, kit in kits.items()}


@pytest.mark.parametrize("name", NAMES)
def test_every_part_is_sound_and_printable(kits: dict[str, PartsKit], figures: dict[str, list[PartFigures]], name: str) -> None:
    for part, found in zip(kits[name].parts, figures[name], strict=True):
        assert found.sound, (part.name, found)
        assert found.fits
        assert found.hole_error < 0.02
        assert found.least_seat > 1.2


@pytest.mark.parametrize("name", NAMES)
def test_horn_holes_lie_about_the_joint_on_the_motors_circle(kits: dict[str, PartsKit], name: str) -> None:
    kit = kits[name]
    stages = {stage.joint: stage for limb in kit.limbs for stage in limb.stages}
    seen = 0
    for part in kit.parts:
        mesh = part.mesh()
        for joint, stage in stages.items():
            holes = [hole for hole in part.holes if hole.group == f"horn of {joint}"]
            if not holes:
                continue
            seen += 1
            centers = np.array([measure_hole(mesh, hole).center for hole in holes])
            away = centers - stage.axis * (centers @ stage.axis)[:, None]  # the body's origin is on the joint's axis
            radius = 1000.0 * stage.case.servo.horn.radius
            np.testing.assert_allclose(np.linalg.norm(away, axis=1), radius, atol=0.02)
            np.testing.assert_allclose(away.mean(axis=0), 0.0, atol=0.02)
            assert len(holes) == stage.case.servo.horn.count
    assert seen == sum(1 for part in kit.parts if any(hole.group.startswith("horn") for hole in part.holes))


@pytest.mark.parametrize("name", NAMES)
def test_every_servo_and_wheel_is_held(kits: dict[str, PartsKit], name: str) -> None:
    kit = kits[name]
    held = Counter(join for piece in kit.pieces for join in piece.joins)
    for limb in kit.limbs:
        for stage in limb.stages:
            assert held[f"horn of {stage.joint}"] == 1
            assert held[f"case of {stage.joint}"] == 1
        for tip in limb.tips:
            assert held[f"axle of {tip.name}" if tip.case is None else f"case of {tip.axle}"] >= 1


@pytest.mark.parametrize("name", NAMES)
def test_joints_turn_through_their_range_and_nothing_is_in_the_way(kits: dict[str, PartsKit], name: str) -> None:
    assert all(room.whole for room in rooms(kits[name])), [room for room in rooms(kits[name]) if not room.whole]
    assert collisions(kits[name]) == []


def test_a_shin_too_short_is_found() -> None:
    robot = built_in_robot("walker")
    legs = [replace(limb, stages=(*limb.stages[:2], replace(limb.stages[2], offset=(0.0, 0.0, -0.045)))) for limb in robot.limbs]
    kit = make_kit(robot.changed(legs))
    found = {frozenset(pair[:2]): pair[2] for pair in collisions(kit)}
    assert frozenset(("servo of LF.hip", "servo of LF.knee")) in found
    room = next(room for room in rooms(kit) if room.joint == "LF.hip")
    assert not room.whole


def test_mirror_images_are_parts_of_their_own_and_turned_ones_are_not(kits: dict[str, PartsKit]) -> None:
    chiral = union([box((5, 0, 0), (10, 2, 2)), box((0, 4, 0), (2, 8, 2)), box((0, 0, 3), (2, 2, 6))])
    turned = moved(chiral, np.array([[0.0, -1.0, 0.0], [0.0, 0.0, -1.0], [1.0, 0.0, 0.0]]), np.array([3.0, 4.0, 5.0]))
    flipped = moved(chiral, np.diag([1.0, -1.0, 1.0]), np.zeros(3))
    assert _congruent(chiral, turned, mirrored=False)
    assert not _congruent(chiral, flipped, mirrored=False)
    assert _congruent(chiral, flipped, mirrored=True)
    made = _grouped([(PrintedPiece("b", "thing", "", solid, ()), Draft("thing", [solid])) for solid in (chiral, turned, flipped)])
    assert [(part.count, part.mirrored) for part in made] == [(2, False), (1, True)]
    agile = {part.name: part.count for part in kits["agilebot"].parts}
    assert agile["roll link"] == agile["roll link mirrored"] == 2
    assert agile["hip link"] == 4


@pytest.mark.parametrize("name", NAMES)
def test_the_bill_counts_what_the_character_has(
    kits: dict[str, PartsKit], figures: dict[str, list[PartFigures]], name: str
) -> None:
    kit, found = kits[name], figures[name]
    character = assemble(kit.robot)
    assert motors(kit) == dict(sorted(Counter(motor.model for motor in character.motors).items()))
    servos = sum(len(limb.stages) for limb in kit.limbs)
    assert screws(kit)["M2x4"] == 8 * servos  # eight in each horn
    assert screws(kit)["M2.5x4"] == 4 * servos  # four in each case
    rows = list(csv.DictReader(io.StringIO(bill_text(bill_of_materials(kit, found, 1.0)))))
    printed = [row for row in rows if row["kind"] == "printed"]
    total = sum(int(row["count"]) * float(row["mass_g_each"]) for row in printed)
    mass = sum(part_mass(figure.volume, kit, 1.0) * part.count for part, figure in zip(kit.parts, found, strict=True))
    assert total == pytest.approx(1000.0 * mass, abs=0.05 * len(kit.pieces))
    bearings = [int(row["count"]) for row in rows if row["kind"] == "bearing"]
    assert sum(bearings) == 2 * sum(1 for end in character.end_effectors if end.kind == "passive")


@pytest.mark.parametrize("name", NAMES)
def test_the_assumed_mass_is_what_the_bodies_weigh_without_bought_things(kits: dict[str, PartsKit], name: str) -> None:
    kit = kits[name]
    bought = sum(payload(carried.model).mass for carried in kit.robot.chassis.carries)
    for limb in kit.limbs:
        bought += sum(stage.case.servo.mass for stage in limb.stages) + limb.limb.end_mass
        bought += sum(tip.mass if tip.case is None else tip.case.servo.mass for tip in limb.tips)
    weight = sum(body.mass for body in assemble(kit.robot).bodies)
    assert assumed_printed_mass(kit) == pytest.approx(weight - bought, rel=1e-9)


def test_axles_and_bearings_go_through_the_forks(kits: dict[str, PartsKit]) -> None:
    part = next(part for part in kits["skatebot"].parts if part.kind == "steer link")
    for seat in part.pieces[0].axles:
        a, c = seat.axis, seat.center
        solid = part.pieces[0].solid
        assert overlap(solid, cylinder(c - 20.0 * a, c + 20.0 * a, 1.5)) == 0.0
        for side in (1.0, -1.0):  # the bearing has its place, a lip inside it holds its outer ring
            outer, inner = c + a * side * seat.outer, c + a * side * (seat.outer - 3.0)
            assert overlap(solid, cylinder(inner, outer, 3.5)) == pytest.approx(0.0, abs=1e-6)
            lip = cylinder(inner, inner - a * side * 1.3, 3.4)
            assert overlap(solid, lip) > 0.3 * lip.volume()


def test_parts_have_files_of_their_own(kits: dict[str, PartsKit]) -> None:
    for kit in kits.values():
        files = [part.file for part in kit.parts]
        assert len(set(files)) == len(files)
        assert all(isinstance(part, Part) and part.count > 0 for part in kit.parts)


def test_another_program_finds_the_same_volume_in_the_files(
    kits: dict[str, PartsKit], figures: dict[str, list[PartFigures]]
) -> None:
    import mujoco

    for part, found in zip(kits["agilebot"].parts, figures["agilebot"], strict=True):
        text = (
            '<mujoco><asset><mesh name="part" file="part.stl" scale="0.001 0.001 0.001" inertia="exact"/></asset><worldbody><body>'
            '<freejoint/><geom type="mesh" mesh="part" density="1240"/></body></worldbody></mujoco>'
        )
        model = mujoco.MjModel.from_xml_string(text, {"part.stl": stl_bytes(part.mesh())})
        assert model.body_mass[1] == pytest.approx(1240e-9 * found.volume, rel=1e-4)
