"""The verb: files, figures, exit codes, and what is refused."""

from __future__ import annotations

import json
from pathlib import Path
from types import SimpleNamespace

import pytest

from bunraku.building.robots.builtin import built_in_robot
from bunraku.character import Character, Pose
from bunraku.cli.main import _run
from bunraku.errors import BadInput
from bunraku.fabrication.fabricate import PRINTER
from bunraku.fabrication.kit import lie_down, make_kit
from bunraku.fabrication.mesh import read_stl, stl_bytes
from bunraku.fabrication.notes import PACKAGED, assembly_notes, screws
from bunraku.fabrication.subject import robot_as
from bunraku.formats.registry import read_character, write_character


def test_the_car_is_made(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["fabricate", "car", "-o", str(tmp_path / "car"), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["watertight"] is True
    assert facts["fits_printer"] is True
    assert facts["motors"] == {"Dynamixel AX-12W": 4}
    for part in facts["parts"]:
        mesh = read_stl(tmp_path / "car" / part["file"])
        assert mesh.open_edges() == 0
        assert mesh.volume() == pytest.approx(1000.0 * part["volume_cm3"], rel=1e-5)
        assert sorted(mesh.size()) == pytest.approx(sorted(part["size_mm"]), abs=1e-3)
        assert mesh.corners.min() == pytest.approx(0.0, abs=1e-4)
    assert facts["printed_mass_kg"] == pytest.approx(sum(part["count"] * part["mass_kg"] for part in facts["parts"]))
    assert facts["printed_mass_kg"] == pytest.approx(1240e-6 * sum(part["count"] * part["volume_cm3"] for part in facts["parts"]))
    names = {path.name for path in (tmp_path / "car").iterdir()}
    assert names == {"parts", "bill-of-materials.csv", "assembly.md", "parts.png", "robot.png"}
    assert "LF.axle" in (tmp_path / "car" / "assembly.md").read_text()
    for part, told in zip(make_kit(built_in_robot("car")).parts, facts["parts"], strict=True):  # the same bytes again
        lying = lie_down(part.mesh(), PRINTER).put(part.mesh())
        assert (tmp_path / "car" / told["file"]).read_bytes()[80:] == stl_bytes(lying)[80:]


def test_a_small_printer_fails_with_exit_1(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["fabricate", "car", "-o", str(tmp_path), "--printer", "90,90,90", "--infill", "0.5", "--json"]) == 1
    said = capsys.readouterr()
    assert "does not fit a printer of 90 x 90 x 90 mm" in said.err
    facts = json.loads(said.out)
    assert facts["fits_printer"] is False
    assert {part["name"]: part["fits_printer"] for part in facts["parts"]}["rim"] is True
    assert facts["printed_mass_kg"] == pytest.approx(0.5 * 1240e-6 * sum(p["count"] * p["volume_cm3"] for p in facts["parts"]))


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["nao"], "not made of components"),
        (["car", "--printer", "200,200"], "three lengths"),
        (["car", "--printer", "200,200,-1"], "three lengths"),
        (["car", "--infill", "2"], "infill"),
    ],
)
def test_bad_input_is_one_line_and_exit_2(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], arguments: list[str], words: str
) -> None:
    assert _run(["fabricate", *arguments, "-o", str(tmp_path / "out")]) == 2
    said = capsys.readouterr().err
    assert words in said
    assert said.count("\n") == 1
    assert not (tmp_path / "out").exists()


def test_a_file_is_no_folder_for_parts(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "afile"
    file.write_text("mine")
    for place in (file, file / "below"):
        assert _run(["fabricate", "car", "-o", str(place)]) == 2
        assert capsys.readouterr().err == f"bunraku: {file}: this is a file; give a folder\n"
    assert file.read_text() == "mine"


def test_screws_of_two_lengths_are_explained() -> None:
    kit = make_kit(built_in_robot("skatebot"))
    notes = assembly_notes(kit, [SimpleNamespace(size=(1.0, 1.0, 1.0))] * len(kit.parts), (), ())  # type: ignore[list-item]
    assert "M2x3 of the maker's package" in notes
    assert any(name.startswith("M2x") and name != "M2x3" for name in screws(kit))
    assert PACKAGED in notes


def _raised(character: Character, names: tuple[str, ...], by: float) -> Character:
    joints = []
    for joint in character.joints:
        x, y, z = joint.pose.position
        joints.append(joint.model_copy(update={"pose": Pose(position=(x, y, z + by))}) if joint.name in names else joint)
    return character.model_copy(update={"joints": tuple(joints)})


def test_an_edited_character_is_made_as_edited(tmp_path: Path) -> None:
    walker = read_character("walker")
    longer = _raised(walker, ("LF.knee", "RF.knee"), -0.02)
    path = tmp_path / "longer.character.yaml"
    write_character(path, longer)
    robot = robot_as(read_character(path), built_in_robot("walker"))
    assert robot.limbs[0].stages[2].offset[2] == pytest.approx(built_in_robot("walker").limbs[0].stages[2].offset[2] - 0.02)
    assert robot.limbs[1].stages == built_in_robot("walker").limbs[1].stages
    assert robot.limbs[0].tips[0].offset == built_in_robot("walker").limbs[0].tips[0].offset
    with pytest.raises(BadInput, match="mirror images"):
        robot_as(_raised(walker, ("LF.knee",), -0.02), built_in_robot("walker"))
