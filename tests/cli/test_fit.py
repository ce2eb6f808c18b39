import json

import numpy as np
import pytest

from bunraku.cli.main import _run
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.identification.part import part_rig


def test_a_synthetic_marker_gives_back_the_rod(tmp_path, capsys, monkeypatch):
    """The rod of the notes, 60 Hz, 0.5 mm of noise, 4 s: modulus within 1 %, damping within 10 %, delay within 2 ms."""
    monkeypatch.chdir(tmp_path)
    young, beta, delay = 187e9, 9e-4, 0.023
    command = read_clip("tick").need_joints("a test")
    x = part_rig(read_character("one-rod"), "rod").driven(command, 4.0).simulate(young / 200e9, beta, 5e-4)
    t = np.arange(0.0, 4.0, 1 / 60)
    seen = np.column_stack([np.interp(np.maximum(t - delay, 0.0), 5e-4 * np.arange(len(x)), x[:, i]) for i in (0, 2)])
    seen = 1e3 * (seen + 5e-4 * np.random.default_rng(0).normal(size=seen.shape)) @ np.array([[0.8, 0.6], [-0.6, 0.8]]) + 100.0
    rows = "".join(f"{a:.6f},{b:.4f},{c:.4f}\n" for a, (b, c) in zip(t, seen, strict=True))
    (tmp_path / "marker.csv").write_text("time_s,x_mm,y_mm\n" + rows)
    words = ["fit", "one-rod", "marker.csv", "--part", "rod", "--clip", "tick", "-o", "new.character.yaml", "--json", "--plot"]
    assert _run(words) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["young_pa"] == pytest.approx(young, rel=0.01)
    assert facts["strain_damping_s"] == pytest.approx(beta, rel=0.1)
    assert facts["delay_s"] == pytest.approx(delay, abs=2e-3)
    assert facts["noise_m"] == pytest.approx(5e-4, rel=0.15)
    assert facts["young_interval_pa"][0] < facts["young_pa"] < facts["young_interval_pa"][1]
    assert facts["warnings"] == []
    new = read_character("new.character.yaml")
    assert new.materials[0].young == pytest.approx(facts["young_pa"])
    assert new.motors[0].delay == pytest.approx(facts["delay_s"])
    assert (tmp_path / "marker-fit.png").stat().st_size > 10_000


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["one-rod", "marker.csv", "--part", "arm"], "no flexible part 'arm'; its flexible parts are rod"),
        (["nao", "marker.csv", "--part", "rod"], "it has no flexible part"),
        (["one-rod", "nowhere.csv", "--part", "rod"], "there is no such file"),
        (["one-rod", "marker.csv", "--part", "rod", "--clip", "go-away"], "none is a motor's coordinate: shoulder"),
        (["one-rod", "marker.csv", "--part", "rod", "--at", "nose"], "neither a frame nor a body"),
        (["one-rod", "marker.csv", "--part", "rod", "-o", "x.json"], "should end in .character.yaml"),
        (["one-rod", "marker.csv", "--part", "rod", "--clip", "tick"], "no vibration stands out"),
        (["one-rod", "units.csv", "--part", "rod"], "gives no unit"),
    ],
)
def test_bad_input_is_one_line(arguments, words, tmp_path, capsys, monkeypatch):
    monkeypatch.chdir(tmp_path)
    noise = np.random.default_rng(0).normal(size=(240, 2))
    rows = "".join(f"{k / 60:.5f},{a:.4f},{b:.4f}\n" for k, (a, b) in enumerate(noise))
    (tmp_path / "marker.csv").write_text("time_s,x_mm,y_mm\n" + rows)
    (tmp_path / "units.csv").write_text("time_s,x,y\n" + rows)
    assert _run(["fit", *arguments]) == 2
    error = capsys.readouterr().err
    assert words in error
    assert error.count("\n") == 1
