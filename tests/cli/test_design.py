"""The design verb: a report, a new character that reads back, and refusals of one line."""

import json

import pytest

from bunraku.cli.main import _run
from bunraku.formats.registry import read_character


def test_design_repairs_the_tilted_car(tmp_path, capsys):
    made, picture = tmp_path / "car.character.yaml", tmp_path / "car.png"
    words = ["design", "tilted-car", "car-forward", "--optimize", "energy", "--only", "F.tip z,H.tip_z"]
    assert _run([*words, "-o", str(made), "--plot", str(picture), "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    change = {name: pair["after_m"] - pair["before_m"] for name, pair in facts["changed"].items()}
    assert change["H.tip z"] - change["F.tip z"] == pytest.approx(8.787e-3, abs=5e-5)
    assert facts["feasible"]
    assert facts["design_steps"] <= 4
    assert facts["energy_after"] < 0.5 * facts["energy_before"]
    axles = {joint.child: joint for joint in read_character(made).joints}
    assert axles["LH"].pose.position[2] - axles["LF"].pose.position[2] == pytest.approx(8.787e-3, abs=5e-5)
    assert picture.read_bytes()[1:4] == b"PNG"


def test_without_changes_the_dimensions_are_listed(capsys):
    assert _run(["design", "tilted-car", "car-forward", "--json"]) == 3  # it cannot drive as it is
    report = capsys.readouterr()
    assert "slip [m] stays violated" in report.err
    table = json.loads(report.out)["parameters"]
    assert table["F.tip z"]["energy_per_m"] > 0.0 > table["H.tip z"]["energy_per_m"]  # lower in front, higher behind


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["car", "car-forward", "--set", "nose=1"], "no parameter 'nose'; it has F.tip x"),
        (["car", "car-forward", "--set", "F.tip z=-1"], "cannot be built; -0.04 to"),
        (["car", "car-forward", "--set", "F.tip z"], "NAME=VALUE"),
        (["car", "car-forward", "--set", "F.tip z=low"], "is no length"),
        (["car", "car-forward", "--keep", "com"], "add --set"),
        (["car", "car-forward", "--set", "F.tip z=-21mm", "--keep", "mood"], "choose orientation"),
        (["car", "car-forward", "--optimize", "beauty"], "energy, target, torque"),
        (["car", "car-forward", "--optimize", "target"], "no targets"),
        (["car", "car-forward", "--only", "nose", "--optimize", "energy"], "no parameter 'nose'"),
        (["car", "arm-wave"], "has no gait"),
        (["nao", "car-forward"], "end effectors"),
        (["car", "car-forward", "-o", "x.yaml"], "should end in .character.yaml"),
    ],
)
def test_bad_input_is_answered_in_one_line(arguments, words, capsys):
    assert _run(["design", *arguments]) == 2
    said = capsys.readouterr().err.strip().splitlines()
    assert words in said[-1]
    assert len(said) == 1
