"""``bunraku inspect`` and ``perform`` with characters that bend."""

from __future__ import annotations

import json

import numpy as np
import pytest

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Joint, Motor, PartShape, Pose
from bunraku.cli.main import _run
from bunraku.formats.registry import read_performance, write_character, write_clip
from bunraku.motion import Clip, JointCurves


@pytest.fixture
def bending(tmp_path, monkeypatch):
    """A rod on a motor as a file."""
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)
    shape = PartShape(kind="rod", length=0.3, diameter=0.004, cell=0.0035)
    character = Character(
        name="rod",
        bodies=(
            Body(name="hub", mass=0.1, inertia=(1e-4,) * 3 + (0.0,) * 3),
            Body(name="tip", mass=0.1, inertia=(1e-5,) * 3 + (0.0,) * 3),
        ),
        joints=(
            Joint(name="shoulder", kind="hinge", parent="world", child="hub", axis=(0.0, 1.0, 0.0), range=(-1.0, 1.0)),
            Joint(name="rod", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.0, 0.0, 0.3))),
        ),
        motors=(Motor(name="shoulder", coordinate="shoulder", velocity=4.0, acceleration=40.0),),
        materials=(ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0),),
        flexibles=(FlexiblePart(name="rod", material="steel", shape=shape, base="hub", children=({"body": "tip"},)),),
    )
    write_character(tmp_path / "rod.character.yaml", character)
    t = np.arange(101) / 50.0
    write_clip(tmp_path / "nod.clip.yaml", Clip("nod", joints=JointCurves(("shoulder",), 50.0, 0.2 * np.sin(2 * t)[:, None])))
    return character


def told(arguments, capfd) -> tuple[int, str, str]:
    code = _run(arguments)
    out, err = capfd.readouterr()
    return code, out, err


def test_inspect_tells_of_flexible_parts(bending, capfd) -> None:
    code, out, _ = told(["inspect", "rod.character.yaml", "--json"], capfd)
    assert code == 0
    facts = json.loads(out)
    steel = 7850 * np.pi * 0.002**2 * 0.3
    assert facts["mass_kg"] == pytest.approx(0.2 + steel, rel=2e-3)
    (line,) = facts["flexible parts"]
    f1 = np.sqrt(3 * 200e9 * np.pi * 0.004**4 / 64 / (0.3**3 * (0.1 + 33 / 140 * steel))) / (2 * np.pi)
    assert line.startswith("rod: rod of steel, 0.3 m, 0.02")
    assert float(line.split("first frequency ")[1].split(" Hz")[0]) == pytest.approx(f1, rel=0.008)
    assert "from hub to tip (0.1 kg beyond)" in line


def test_a_performer_that_knows_no_bending_says_so(bending, capfd) -> None:
    code, _, err = told(
        ["perform", "rod.character.yaml", "nod.clip.yaml", "--performer", "reference", "-o", "a.performance.npz"], capfd
    )
    line = "flexible parts are taken as rigid and unbent: rod; nothing is done against their vibration"
    assert line in err
    performance = read_performance("a.performance.npz")
    assert line in performance.certificate.notes
    assert performance.character == bending
    assert code in (0, 1)
