"""A character written for another program, on the command line."""

from __future__ import annotations

from pathlib import Path

import pytest

from bunraku.character import Character
from bunraku.cli.main import _run
from bunraku.formats.registry import read_character

ARM = """<robot name="arm">
  <link name="base"/>
  <link name="upper"><inertial><mass value="2"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/><axis xyz="0 0 1"/>
    <limit lower="-1" upper="1" velocity="3" effort="5"/></joint>
  <gazebo/>
</robot>
"""


def mass(character: Character) -> float:
    return sum(body.mass for body in character.bodies)


def test_every_format_is_read_back_as_the_same_robot(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    nao = read_character("nao")
    for name in ("nao.urdf", "nao.xml", "nao.character.yaml"):
        assert _run(["export", "nao", "-o", str(tmp_path / name)]) == 0
        shown = capsys.readouterr().err
        again = read_character(tmp_path / name)
        assert mass(again) == pytest.approx(mass(nao), rel=1e-6)
        assert set(nao.driven) <= set(again.coordinates)
        assert ("dropped" in shown) == name.endswith(".urdf"), "what a format has no place for is said"
    assert again == nao.changed(source=again.source)


def test_an_imported_robot_with_its_overlay_becomes_a_character_file(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    urdf, overlay, target = tmp_path / "arm.urdf", tmp_path / "arm.overlay.yaml", tmp_path / "arm.character.yaml"
    urdf.write_text(ARM)
    overlay.write_text('bunraku: overlay/1\nmotors:\n  - {match: "*", acceleration_deg_s2: 900, rate_hz: 50}\n')
    assert _run(["export", str(urdf), "--overlay", str(overlay), "-o", str(target)]) == 0
    assert "gazebo" in capsys.readouterr().err, "what the reader dropped is said"
    (motor,) = read_character(target).motors
    assert motor.velocity == pytest.approx(3.0)
    assert motor.acceleration == pytest.approx(15.7079632679)
    assert motor.rate == 50.0


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        (["nao"], ".urdf"),
        (["nao", "--format", "csv", "-o", "x.urdf"], "csv"),
        (["nao", "-o", "x.txt"], ".txt"),
        (["nao", "-o", "x.urdf", "--sparkle", "1"], "--sparkle"),
        (["nobody", "-o", "x.urdf"], "nobody"),
        (["missing.npz", "-o", "x.urdf", "--overlay", "y.yaml"], "overlay"),
        (["missing.npz", "-f", "csv", "--overlay", "y.yaml"], "overlay"),
        ([], "nothing to export"),
    ],
)
def test_what_cannot_be_exported_is_bad_input(
    words: list[str], expected: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    assert _run(["export", *words]) == 2
    assert expected in capsys.readouterr().err
    assert list(tmp_path.iterdir()) == []
