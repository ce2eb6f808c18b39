"""The whole way: files, figures, exit code."""

from __future__ import annotations

import csv
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Character, SkinMesh
from bunraku.cli.main import _run
from bunraku.fabrication.mesh import read_stl
from bunraku.fabrication.skinned.report import SkinnedFabrication, screws_of
from bunraku.formats.registry import write_character
from bunraku.formats.skin_file import write_skin

Made = tuple[SkinnedFabrication, Path]


def _rubber(mesh: SkinMesh) -> float:
    """Mass [kg] of the skin from its tetrahedra."""
    a, b, c, d = (mesh.nodes[mesh.cells[:, k]] for k in range(4))
    return float(1100.0 * np.abs(np.einsum("ij,ij->i", b - a, np.cross(c - a, d - a))).sum() / 6.0)


def test_a_walker_is_made(made: Made, made_walker: tuple[Character, SkinMesh]) -> None:
    walker, out = made
    assert walker.faults() == []
    facts = walker.facts()
    assert facts["sound"] is True
    assert facts["motors"] == {"MG995R": 4}
    for part in facts["parts"]:
        found = read_stl(out / part["file"])
        assert found.open_edges() == 0
        assert found.volume() == pytest.approx(1000.0 * part["volume_cm3"], rel=1e-5)
        assert (out / part["step"]).read_text("ascii").startswith("ISO-10303-21;")
    assert facts["rubber_kg"] == pytest.approx(_rubber(made_walker[1]), rel=1e-3)
    names = [
        "assembly.md",
        "bill-of-materials.csv",
        "exploded.png",
        "mould.png",
        "moulds",
        "parts",
        "skeleton.png",
        "skin",
        "skin.png",
    ]
    assert sorted(path.name for path in out.iterdir()) == names
    assert "comes out" in (out / "assembly.md").read_text()


def test_the_bill_counts_screws_and_rubber(made: Made, made_walker: tuple[Character, SkinMesh]) -> None:
    walker, out = made
    rows = list(csv.DictReader((out / "bill-of-materials.csv").open()))
    cast = sum(float(row["mass_g_each"]) for row in rows if row["kind"] == "rubber")
    assert cast == pytest.approx(1000.0 * _rubber(made_walker[1]), rel=1e-2)
    screws = screws_of(walker)
    assert screws["M4x12"] == screws["nut M4"] == 16  # four through the ears of each servo
    horns = sum(len(servo.horns) for servo in walker.skeleton.servos.values())
    assert screws["M3x4"] == 4 * horns
    assert {row["item"]: int(row["count"]) for row in rows if row["kind"] == "screw"} == {
        name: count for name, count in screws.items() if not name.startswith("nut")
    }


def test_what_does_not_hold_is_said(made: Made) -> None:
    walker, _ = made
    first = walker.written[0]
    large = replace(first, figures=replace(first.figures, fits=False))
    worse = replace(walker, written=[large, *walker.written[1:]], in_skin=[("servo of L.hip", 30.0)])
    assert not worse.holds
    assert [words in " ".join(worse.faults()) for words in ("does not fit a printer", "30 mm³ too far into the skin")] == [
        True,
        True,
    ]
    stuck = replace(walker, moulds=[replace(walker.moulds[0], core_strain=1.5), *walker.moulds[1:]])
    assert stuck.faults() == ["skin L: would have to stretch by 150 % to come out of its mould"]


@pytest.mark.parametrize("sound", [True, False])
def test_the_verb_leads_there(
    made: Made, made_walker: tuple[Character, SkinMesh], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, sound: bool
) -> None:
    from bunraku.fabrication.skinned import fabricate

    walker = made[0] if sound else replace(made[0], in_skin=[("servo of L.hip", 30.0)])
    asked = []

    def instead(who: Character, folder: Path, **options: object) -> SkinnedFabrication:
        asked.append((who.name, options))
        return walker

    monkeypatch.setattr(fabricate, "fabricate_skinned", instead)
    write_skin(made_walker[1], tmp_path / "walker.skin.npz")
    write_character(tmp_path / "walker.character.yaml", made_walker[0])
    arguments = [str(tmp_path / "walker.character.yaml"), "-o", str(tmp_path / "out"), "--printer", "300,300,300"]
    assert _run(["fabricate", *arguments]) == (0 if sound else 1)
    assert asked == [("walker", {"printer": (300.0, 300.0, 300.0), "infill": 1.0})]
