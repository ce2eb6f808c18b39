import json

import pytest

from bunraku.cli.main import _run
from bunraku.formats.registry import read_clip

SHORT = """bunraku: clip/1
name: short
modes:
  duration_s: 2.4
  sequence:
  - {primitive: puppet-bow, start_s: 0}
  - {primitive: puppet-reach, start_s: 1.0}
  accents:
  - {time_s: 2.0, primitive: puppet-reach, coordinates: [l_shoulder.y]}
"""


def test_choreograph_writes_a_clip_with_better_times(tmp_path, capsys):
    source, target = tmp_path / "short.clip.yaml", tmp_path / "out.clip.yaml"
    source.write_text(SHORT)
    assert _run(["choreograph", str(source), "marionette", "-o", str(target), "--least", "0.3", "--json"]) == 0
    facts = json.loads(capsys.readouterr().out)
    assert facts["optimized_cost"] < facts["equal_cost"]
    assert facts["saving"] == pytest.approx(1.0 - facts["optimized_cost"] / facts["equal_cost"])
    clip = read_clip(target)
    assert list(clip.modes.switching_times) == pytest.approx(facts["optimized_times_s"])
    assert clip.joints.duration == pytest.approx(2.4)
    assert facts["optimized_minimum_tension_n"] >= 0.1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["no-problem"], "has no modes"),
        (["marionette-show", "nao"], "no strings"),
        (["marionette-show", "-o", "x.csv"], "should end in .clip.yaml"),
        (["marionette-show", "-o", "nowhere/x.clip.yaml"], "does not exist"),
        (["marionette-show", "-o", "/etc/hostname/x.clip.yaml"], "is a file"),
        (["marionette-show", "--fade", "0"], "fade"),
        (["marionette-show", "--least", "9"], "do not fit"),
        (["no-such-show"], "neither a file nor a built-in clip"),
    ],
)
def test_bad_input_is_one_line(arguments, words, capsys, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert _run(["choreograph", *arguments]) == 2
    assert words in capsys.readouterr().err
    assert not list(tmp_path.iterdir())


@pytest.mark.parametrize("arguments", [["no-problem"], ["marionette-show", "nao"], ["marionette-show", "--fade", "0"]])
def test_what_is_refused_is_refused_before_anything_is_compiled(arguments, monkeypatch):
    from bunraku.flow import compiling

    def compiled(*groups, **_):
        raise AssertionError(f"{groups} were compiled")

    monkeypatch.setattr(compiling, "compile_ahead", compiled)
    assert _run(["choreograph", *arguments]) == 2
