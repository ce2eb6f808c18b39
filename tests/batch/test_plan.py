"""Plans: what differs makes another key, what does not keeps it; bad ones are refused with file, line and field."""

from __future__ import annotations

import shutil
from collections.abc import Callable
from importlib.metadata import version
from pathlib import Path

import pytest

from bunraku.batch.plan import read_plan
from bunraku.batch.sources import pack
from bunraku.batch.working import _shaped, run_versions
from bunraku.errors import BadInput
from bunraku.formats import provenance

Planned = Callable[..., Path]
LEGS = """bunraku: batch/1
characters: [skatebot]
clips: [skate]
vary:
  - name: share
    low: 0.4
    high: 0.6
    count: 3
    design_mm: {F.knee z: [-80, -120], F.ankle z: [-100, -60]}
"""


def test_the_runs_of_a_grid(planned: Planned) -> None:
    plan = read_plan(planned())
    assert len(plan.runs) == 12
    assert plan.columns == ("character", "clip", "performer", "intensity", "tempo")
    assert plan.varied == ("intensity", "tempo")
    assert plan.runs[0].options == {"intensity": 0.5}
    assert plan.runs[-1].options == {"intensity": 1.4}
    assert plan.runs[-1].clip_changes == {"tempo": 4}


def test_keys_are_of_the_content(planned: Planned, folder: Path, tmp_path_factory: pytest.TempPathFactory) -> None:
    path = planned()
    keys = [run.key for run in read_plan(path).runs]
    assert len(set(keys)) == 12
    elsewhere = tmp_path_factory.mktemp("elsewhere") / "copy"
    shutil.copytree(folder, elsewhere)
    (elsewhere / "stranger.txt").write_text("not mine")
    assert [run.key for run in read_plan(elsewhere / path.name).runs] == keys
    fewer = read_plan(planned(("count: 4", "count: 2"))).runs
    assert [run.key for run in fewer] == keys[:3] + keys[-3:], "the ends of the range are the same runs"
    more = read_plan(planned(("measure: [holds, ", "measure: ["))).runs
    assert [run.key for run in more] == keys, "what the table shows changes no run"
    for before, after in (
        ("[speech]", '[""]'),
        ("measure:", "verify: true\nmeasure:"),
        ("measure:", "options: {jerk: 9}\nmeasure:"),
    ):
        assert not {run.key for run in read_plan(planned((before, after))).runs} & set(keys)


def test_a_file_that_a_clip_refers_to_is_part_of_the_key(planned: Planned, folder: Path) -> None:
    path = planned()
    before = {run.key for run in read_plan(path).runs}
    curves = folder / "nods.csv"
    curves.write_text(curves.read_text().replace("20.0", "20.5"))
    assert not before & {run.key for run in read_plan(path).runs}


def test_names_in_a_gltf_are_written_as_addresses(tmp_path: Path) -> None:
    (tmp_path / "my takes").mkdir()
    (tmp_path / "my takes" / "große walk.bin").write_bytes(bytes(8))
    (tmp_path / "walk.gltf").write_text('{"buffers": [{"byteLength": 8, "uri": "my%20takes/gro%C3%9Fe%20walk.bin"}]}')
    assert set(pack("walk", tmp_path / "walk.gltf").contents) == {"walk.gltf", "my takes/große walk.bin"}


def test_dimensions_move_together(tmp_path: Path) -> None:
    path = tmp_path / "legs.batch.yaml"
    path.write_text(LEGS)
    found = [run.dimensions for run in read_plan(path).runs]
    assert found[0] == {"F.knee z": pytest.approx(-0.08), "F.ankle z": pytest.approx(-0.1)}
    assert found[1] == {"F.knee z": pytest.approx(-0.1), "F.ankle z": pytest.approx(-0.08)}
    assert found[2] == {"F.knee z": pytest.approx(-0.12), "F.ankle z": pytest.approx(-0.06)}
    for dimensions in found:
        assert sum(dimensions.values()) == pytest.approx(-0.18)


def test_dimensions_are_those_of_the_character_with_its_overlay(tmp_path: Path) -> None:
    """What a run can set, its plan may; what it cannot, the plan is refused for."""
    (tmp_path / "other.overlay.yaml").write_text("bunraku: overlay/1\nname: other\n")
    text = LEGS.replace("clips:", "overlay: other.overlay.yaml\nclips:")
    path = tmp_path / "legs.batch.yaml"
    path.write_text(text)
    with pytest.raises(BadInput, match=r"vary\[0\].*no dimension 'F\.knee z'"):
        read_plan(path)
    path.write_text(text.replace("F.knee z", "joint LF.knee z").replace("F.ankle z", "joint LF.ankle z"))
    plan = read_plan(path)
    knee = next(joint for joint in _shaped(plan.job(plan.runs[0])).joints if joint.name == "LF.knee")
    assert knee.pose.position[2] == pytest.approx(-0.08)


def test_the_versions_of_what_computes_a_run_are_part_of_its_key(planned: Planned, monkeypatch: pytest.MonkeyPatch) -> None:
    both = planned(("[speech]", "[speech, ruckig, toppra]"), ("  - {option: intensity, low: 0.5, high: 1.4, count: 4}\n", ""))

    def keys(package: str = "") -> dict[str, set[str]]:
        found: dict[str, set[str]] = {}
        with monkeypatch.context() as patch:
            patch.setattr(provenance, "version", lambda name: "0.1" if name == package else version(name))
            for run in read_plan(both).runs:
                found.setdefault(run.performer, set()).add(run.key)
        return found

    now = keys()
    for package, changed in (
        ("daqp", {"speech", "ruckig", "toppra"}),
        ("piqp", {"speech", "ruckig", "toppra"}),
        ("ruckig", {"ruckig"}),
        ("toppra", {"toppra"}),
        ("mujoco", set()),
    ):
        assert {name for name, found in keys(package).items() if not found & now[name]} == changed, package
    assert read_plan(both).job(read_plan(both).runs[-1])["versions"].keys() >= {"numba", "daqp", "piqp", "toppra"}
    assert "mujoco" in run_versions("verify")


def test_patterns_and_samples(planned: Planned, folder: Path) -> None:
    for name in ("b", "a"):
        shutil.copy(folder / "yes.clip.yaml", folder / f"take-{name}.clip.yaml")
    sampling = "sampling: {kind: latin-hypercube, runs: 8, seed: 4}\nmeasure:"
    plan = read_plan(planned(("[yes.clip.yaml]", '["take-*.clip.yaml"]'), ("measure:", sampling), (", count: 4", "")))
    labels = [run.clip.label for run in plan.runs]
    assert len(labels) == 8
    assert sorted(set(labels)) == ["take-a.clip.yaml", "take-b.clip.yaml"]
    assert labels.count("take-a.clip.yaml") == 4
    assert sorted(int((run.options["intensity"] - 0.5) / 0.9 * 8) for run in plan.runs) == list(range(8))


def test_the_same_run_twice_is_one_run(planned: Planned) -> None:
    plan = read_plan(planned(("[1, 2, 4]", "[1, 2, 2]")))
    assert len(plan.runs) == 8
    assert plan.repeated == 4


@pytest.mark.parametrize(
    ("before", "after", "line", "words"),
    [
        ("batch/1", "clip/1", "line 1", "a batch file is needed"),
        ("nodder.character.yaml", "noddy.character.yaml", "line 2, characters[0]", "neither a file beside the plan nor"),
        ("nodder.character.yaml", "../nodder.character.yaml", "line 2, characters[0]", "leads out of the folder"),
        ("[yes.clip.yaml]", '["*.bvh"]', "line 3, clips[0]", "no file beside the plan matches"),
        ("[yes.clip.yaml]", '["../*"]', "line 3, clips[0]", "leads out of the folder"),
        ("[speech]", "[speach]", "line 4, performers[0]", "there is no performer"),
        ("option: intensity", "option: intensiti", "line 6, vary[0].option", "did you mean intensity"),
        ("option: intensity", "optoin: intensity", "line 6, vary[0].optoin", "not known in a vary entry; did you mean option"),
        ("clip: tempo", "clip: temper", "line 7, vary[1].clip", "temper"),
        (", count: 4", "", "line 6, vary[0]", "needs a count"),
        ("values: [1, 2, 4]", "low: 1", "line 7, vary[1]", "low and high together"),
        ("values: [1, 2, 4]", "values: [1], option: jerk", "line 7, vary[1]", "one of option, clip or design"),
        ("values: [1, 2, 4]", "values: []", "line 7, vary[1].values", "at least 1"),
        ("clip: tempo, values: [1, 2, 4]", "option: intensity, values: [1]", "nods.batch.yaml", "two columns"),
        ("measure:", "sampling: {kind: random}\nmeasure:", "line 8, sampling", "takes runs"),
        ("measure:", "timeout: 3\nmeasure:", "line 8, timeout", "timeout_s"),
        ("measure:", "retries: -1\nmeasure:", "line 8, retries", "greater than or equal to 0"),
        ("measure:", "colour: red\nmeasure:", "line 8, colour", "not known in a batch"),
        ("count: 4", "count: 100000", "line 5, vary", "at most 100000 are run"),
    ],
)
def test_bad_plans(planned: Planned, before: str, after: str, line: str, words: str) -> None:
    with pytest.raises(BadInput) as error:
        read_plan(planned((before, after)))
    assert "nods.batch.yaml" in str(error.value)
    assert line in str(error.value)
    assert words in str(error.value)
    assert "\n" not in str(error.value)


def test_options_that_no_chosen_performer_has(planned: Planned) -> None:
    unnamed = ("performers: [speech]\n", "")
    assert read_plan(planned(unnamed)).runs[0].options == {"intensity": 0.5}
    with pytest.raises(BadInput, match=r"line 5, vary\[0\].option: .*\(speech\) .*'intensiti'; did you mean intensity\?"):
        read_plan(planned(unnamed, ("option: intensity", "option: intensiti")))
    with pytest.raises(BadInput, match=r"line 4, options.acelleration: .*did you mean acceleration\?"):
        read_plan(planned(("performers: [speech]", "options: {acelleration: 3}")))


@pytest.mark.parametrize(
    ("before", "after", "words"),
    [("F.knee z", "F.nee z", "no dimension"), ("-120", "-1200", "cannot be built"), ("design_mm", "design", "design_m")],
)
def test_bad_dimensions(tmp_path: Path, before: str, after: str, words: str) -> None:
    path = tmp_path / "legs.batch.yaml"
    path.write_text(LEGS.replace(before, after))
    with pytest.raises(BadInput, match=words) as error:
        read_plan(path)
    assert "vary[0]" in str(error.value)
