"""The kit from a plan on: performances, films with sound, survey and tables; made once, refused in one line."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Pose, Shape
from bunraku.cli.main import _run
from bunraku.errors import Cancelled, MissingExtra
from bunraku.formats.registry import read_performance
from bunraku.formats.study_yaml import Conditions, ShownCondition, read_study_yaml
from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio, Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.stage.film import Film
from bunraku.stage.picture.shot import Frames, movie
from bunraku.study.acts import acts_of
from bunraku.study.answers import read_answers
from bunraku.study.design import FilmSubject, study_design
from bunraku.study.kit import make_kit
from bunraku.study.rehearsal import rehearse

NODDER = """bunraku: character/1
name: nodder
bodies:
  - {name: base, mass_kg: 1.0, shapes: [{kind: box, size_m: [0.05, 0.05, 0.05]}]}
  - {name: head, mass_kg: 0.3, center_of_mass_m: [0, 0, 0.05], inertia_kg_m2: [4.0e-4, 4.0e-4, 3.0e-4, 0, 0, 0],
     shapes: [{kind: sphere, size_m: [0.05], pose: {position_m: [0, 0, 0.05]}}]}
joints:
  - {name: stand, kind: fixed, parent: world, child: base}
  - {name: nod, kind: hinge, parent: base, child: head, pose: {position_m: [0, 0, 0.1]}, axis: [0, 1, 0], range_deg: [-60, 60]}
motors:
  - {name: nod, coordinate: nod, velocity_deg_s: 120}
"""
YES = """bunraku: clip/1
name: {name}
rate_hz: 50
joints:
  keys_deg: {{nod: [[0.0, 0], [0.3, {angle}], [0.6, 0], [0.9, {angle}], [1.2, 0]]}}
audio: {{file: voice.wav}}
"""
PLAN = """bunraku: study/1
title: Nods
character: nodder.character.yaml
clips: [yes.clip.yaml, no.clip.yaml]
participants: 4
film: {width: 96, height: 64, fps: 10}
"""


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "nodder.character.yaml").write_text(NODDER)
    (tmp_path / "yes.clip.yaml").write_text(YES.format(name="yes", angle=40))
    (tmp_path / "no.clip.yaml").write_text(YES.format(name="no", angle=-35))
    tone = 0.3 * np.sin(2.0 * np.pi * 440.0 * np.arange(19200) / 16000.0)
    (tmp_path / "voice.wav").write_bytes(wav_bytes(Audio(tone, 16000)))
    (tmp_path / "nods.study.yaml").write_text(PLAN)
    return tmp_path


def streams(film: Path) -> str:
    """What ffmpeg says of a file."""
    from imageio_ffmpeg import get_ffmpeg_exe

    return subprocess.run([get_ffmpeg_exe(), "-hide_banner", "-i", str(film)], capture_output=True, text=True, check=False).stderr


def command(folder: Path, *words: str) -> int:
    return _run(["study", str(folder / "nods.study.yaml"), *words])


def test_from_plan_to_kit_to_analysis(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    kit = folder / "kit"
    assert command(folder, "-o", str(kit), "--json") == 0
    told = json.loads(capsys.readouterr().out)
    plan = read_study_yaml((folder / "nods.study.yaml").read_bytes(), file="nods")
    design = study_design(plan)
    assert told["study"] == design.key
    assert {(one["behaviour"], one["condition"], one["performer"]) for one in told["films"]} == {
        (name, *how) for name in ("yes", "no") for how in (("control", "stretch"), ("optimized", "speech"))
    }
    for one in told["films"]:
        shown = design.films[one["code"]]
        assert (plan.behaviours[shown.behaviour], ("control", "optimized")[shown.condition]) == (one["behaviour"], one["condition"])
        performance = read_performance(kit / "performances" / f"{one['behaviour']}-{one['condition']}.performance.npz")
        assert performance.provenance.performer == one["performer"]
        assert performance.duration == pytest.approx(one["duration_s"])
        said = streams(kit / "films" / f"{one['code']}.mp4")
        assert "96x64" in said
        assert "Audio: aac" in said
    by_condition = {one["condition"]: one for one in told["films"] if one["behaviour"] == "yes"}
    assert by_condition["control"]["duration_s"] > 1.3 > by_condition["optimized"]["duration_s"]  # 40 degrees in 0.3 s are too fast
    page = (kit / "survey.html").read_text()
    assert page.count('<script type="text/plain" id="film-') == 4
    assert (kit / "assignments.csv").read_text().count("\n") == 1 + 4 * (2 + 4)

    before = {path: path.stat().st_mtime_ns for path in (kit / "films").iterdir()}
    assert command(folder, "-o", str(kit), "--beside") == 0
    assert {path: path.stat().st_mtime_ns for path in (kit / "films").iterdir()} == before
    assert '<script type="text/plain"' not in (kit / "survey.html").read_text()
    changed = kit / "films" / "film-01.mp4"
    changed.write_bytes(b"something else")
    assert command(folder, "-o", str(kit)) == 0
    assert {path for path, time in before.items() if path.stat().st_mtime_ns != time} == {changed}

    assert command(folder, "-o", str(kit), "--rehearse") == 0
    capsys.readouterr()
    assert command(folder, str(kit / "rehearsal.csv"), "-o", str(folder / "results"), "--json", "--without", "2") == 0
    out, said = capsys.readouterr()
    results: dict[str, Any] = json.loads(out)
    assert results["participants"] == 3
    assert results["pairs"]["naturalness"]["df"] == 2
    assert "participant 2 left out: as asked" in said
    assert (folder / "results" / "results.png").read_bytes().startswith(b"\x89PNG")
    assert "Nods" in (folder / "results" / "report.html").read_text()


def test_without_ffmpeg_nothing_is_begun(folder: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]) -> None:
    monkeypatch.setitem(sys.modules, "imageio_ffmpeg", None)
    assert command(folder, "-o", str(folder / "kit")) == 2
    assert "a film as MP4 (GIF and PNG are made without) needs the package imageio[ffmpeg]" in (said := capsys.readouterr().err)
    assert said.strip().endswith('pip install "bunraku[stage]"')
    with pytest.raises(MissingExtra):
        make_kit(read_study_yaml(PLAN.encode(), file="f"), folder, folder / "kit")
    assert not (folder / "kit").exists()


def test_performances_may_be_shown_instead(folder: Path) -> None:
    for performer, name in (("stretch", "a"), ("speech", "b")):
        done = folder / f"{name}.performance.npz"
        words = [str(folder / "nodder.character.yaml"), str(folder / "yes.clip.yaml"), "--performer", performer, "-o", str(done)]
        assert _run(["perform", *words]) in (0, 1)
    text = "bunraku: study/1\ntitle: t\nperformances: [{name: mine, control: a.performance.npz, optimized: b.performance.npz}]\n"
    plan = read_study_yaml((text + "participants: 2\nfilm: {width: 96, height: 64, fps: 10}\n").encode(), file="f")
    kit = make_kit(plan, folder, folder / "kit")
    assert [(one.behaviour, one.condition, one.performer) for one in kit.films] == [
        ("mine", "control", "stretch"),
        ("mine", "optimized", "speech"),
    ]


def test_the_camera_does_not_tell_the_conditions_apart(folder: Path) -> None:
    """The first pictures are alike but for what moves in a twentieth of a second, though one gesture is much larger.

    Alone, each would be seen from where it fills the picture.
    """
    plan = read_study_yaml(PLAN.encode(), file="f")
    weak = Conditions(optimized=ShownCondition(performer="speech", options={"intensity": 0.3}))
    (act, _) = acts_of(plan.model_copy(update={"conditions": weak}), folder)
    large, small = (perform(SILENT) for perform in act.perform)
    (first, *_), (second, *_) = (pair(one, other, plan).frames for one, other in ((large, small), (small, large)))
    alone = next(iter(movie(small, width=plan.film.width, height=plan.film.height, fps=plan.film.fps).frames))
    apart = np.abs(np.asarray(first, dtype=np.int64) - second)
    assert np.mean(apart > 8) < 0.02
    assert np.mean(np.abs(np.asarray(first, dtype=np.int64) - alone) > 8) > 0.05


def test_walkers_of_different_length_are_a_pair(folder: Path) -> None:
    """The camera goes along with each, though the other takes longer over the same way."""
    plan = read_study_yaml(PLAN.encode(), file="f")
    quick, slow = (_walking(seconds) for seconds in (1.0, 1.7))
    cameras = []
    for one, other, count in ((quick, slow, 10), (slow, quick, 17)):
        film = pair(one, other, plan)
        assert isinstance(film.frames, Frames)
        cameras.append(film.frames.scene.painter.camera)
        frames = list(film.frames)
        assert len(frames) == count
        seen = [np.abs(np.asarray(frame, dtype=np.int64) - frame[:1, :1]).max(axis=2) > 60 for frame in frames]
        assert min(int(pixels.sum()) for pixels in seen) > 20, "it is in every picture"
    for one, other in ((cameras[0].place, cameras[1].place), (cameras[0].target, cameras[1].target)):
        np.testing.assert_allclose(one, other, atol=1e-5, err_msg="the camera tells which it is")


def test_a_film_lasts_as_long_as_its_voice(folder: Path) -> None:
    plan = read_study_yaml(PLAN.encode(), file="f")
    silent = _walking(1.0)
    voiced = silent.changed(audio=Audio(np.zeros(32_000), 16_000.0))
    film = pair(voiced, silent, plan)
    frames = [np.asarray(frame, dtype=np.int64) for frame in film.frames]
    assert len(frames) == round(2.0 * plan.film.fps)
    assert len(list(pair(silent, voiced, plan).frames)) == round(plan.film.fps)
    for frame in frames[round(plan.film.fps) + 1 :]:
        np.testing.assert_array_equal(frame, frames[-1])


def pair(one: Performance, other: Performance, plan: Any) -> Film:
    """The film of one of a pair, as the kit makes it."""
    return movie(one, beside=other, width=plan.film.width, height=plan.film.height, fps=plan.film.fps)


def _walking(seconds: float) -> Performance:
    """A black box that goes 3 m along x."""
    shape = Shape(kind="box", size=(0.2, 0.2, 0.2), pose=Pose(position=(0.0, 0.0, 0.2)), color=(0.0, 0.0, 0.0, 1.0))
    character = Character(
        name="box",
        bodies=(Body(name="b", mass=1.0, shapes=(shape,)),),
        joints=(Joint(name="go", kind="slide", parent="world", child="b", axis=(1, 0, 0)),),
    )
    values = np.linspace(0.0, 3.0, round(50.0 * seconds) + 1)
    curves = JointCurves(("go",), 50.0, values[:, None])
    return Performance(
        character, "go", (Channel("go", "position", "m", 50.0, values),), curves, curves,
        Certificate(Status.CONVERGED, ()), Provenance("speech", {}, {}, {}, 0),
    )  # fmt: skip


def test_another_seed_puts_every_film_under_its_new_code(folder: Path) -> None:
    """Codes are drawn anew: a film that stood under a code before is not that of the code now."""
    plan = read_study_yaml(PLAN.encode(), file="f")
    first = make_kit(plan, folder, folder / "kit").design.films
    again = plan.model_copy(
        update={"seed": next(s for s in range(99) if _swapped(first, study_design(plan.model_copy(update={"seed": s})).films))}
    )
    reused, fresh = make_kit(again, folder, folder / "kit"), make_kit(again, folder, folder / "fresh")
    assert reused.films == fresh.films, "behaviour, condition, length and hash of every film"
    for film in (folder / "fresh" / "films").iterdir():
        assert (folder / "kit" / "films" / film.name).read_bytes() == film.read_bytes()


def _swapped(first: dict[str, FilmSubject], second: dict[str, FilmSubject]) -> bool:
    """Whether some code shows the same behaviour as before under the other condition."""
    return any(second[code].behaviour == shown.behaviour and second[code] != shown for code, shown in first.items())


class _Impatient(Monitor):
    """Asks to stop during the second film."""

    def __init__(self) -> None:
        self.films: list[str] = []

    def report(self, event: Event) -> None:
        if event.stage == "films" and "," in event.message and event.message not in self.films:
            self.films.append(event.message)

    @property
    def cancelled(self) -> bool:
        return len(self.films) > 1


def test_a_stopped_run_goes_on(folder: Path) -> None:
    plan = read_study_yaml(PLAN.encode(), file="f")
    with pytest.raises(Cancelled, match="the same command goes on"):
        make_kit(plan, folder, folder / "kit", monitor=_Impatient())
    (film,) = (folder / "kit" / "films").iterdir()
    assert not (folder / "kit" / "survey.html").exists()
    time = film.stat().st_mtime_ns
    assert len(make_kit(plan, folder, folder / "kit").films) == 4
    assert film.stat().st_mtime_ns == time


@pytest.mark.parametrize(
    ("change", "says"),
    [
        (("clips: [yes.clip.yaml, no.clip.yaml]", "clips: []"), "nothing is shown; list clips or performances"),
        (("no.clip.yaml", "yes.clip.yaml"), "'yes' twice"),
        (("no.clip.yaml", "../no.clip.yaml"), "leads out of the folder"),
        (("no.clip.yaml", "/etc/passwd"), "not a relative path"),
        (("no.clip.yaml", "none.clip.yaml"), "there is no such file"),
        (("no.clip.yaml", "nonesuch"), "neither a file nor a built-in clip"),
        (("participants: 4", "participants: 1"), "greater than or equal to 2"),
        (("participants: 4", "participants: 4\nconditions: {control: {performer: nobody}}"), "nobody"),
        (("participants: 4", "conditions: {control: {performer: clamp, options: {speed: 3}}}"), "speed"),
        (("title: Nods", "titel: Nods"), "titel"),
        (("width: 96", "width: 95"), "multiple of 2"),
        (("study/1", "study/2"), "made by a newer Bunraku"),
        (("study/1", "clip/1"), "a study file is needed"),
        (("participants: 4", "pairs: [{name: Bad Name, text: x}]"), "Bad Name"),
        (("participants: 4", "pairs: [{name: a, text: x}]\nratings: [{name: a, low: x, high: y}]"), "'a' twice"),
        (("participants: 4", "pairs: []\nratings: []"), "nothing is asked"),
    ],
)
def test_bad_plans_are_refused_in_one_line(
    folder: Path, capsys: pytest.CaptureFixture[str], change: tuple[str, str], says: str
) -> None:
    (folder / "nods.study.yaml").write_text(PLAN.replace(*change))
    assert command(folder, "-o", str(folder / "kit")) == 2
    said = capsys.readouterr().err
    assert said.count("\n") == 1
    assert says in said
    assert not (folder / "kit" / "survey.html").exists()


def test_bad_calls_are_refused_in_one_line(folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
    (folder / "empty").mkdir()
    (folder / "bad.csv").write_text("a,b\n1,2\n")
    for words, says in (
        ((str(folder / "bad.csv"),), "lacks the column 'study'"),
        ((str(folder / "none.csv"),), "there is no such file"),
        ((str(folder / "empty"),), "holds no .csv file"),
        (("--without", "1"), "give the tables of answers too"),
        ((str(folder / "bad.csv"), "--without", "x"), "takes numbers of participants"),
        ((str(folder / "bad.csv"), "--beside"), "have no place in an analysis"),
        (("-o", str(folder / "bad.csv")), "give a folder"),
    ):
        assert command(folder, *words) == 2
        said = capsys.readouterr().err
        assert said.count("\n") == 1
        assert says in said
    assert not (folder / "nods-results").exists()


def test_the_example_plan_is_the_papers() -> None:
    path = Path(__file__).resolve().parents[2] / "examples" / "studies" / "natural-and-in-time.study.yaml"
    plan = read_study_yaml(path.read_bytes(), file=str(path))
    design = study_design(plan)
    assert (len(plan.behaviours), plan.participants, plan.points) == (6, 38, 10)
    assert [one.name for one in plan.pairs] == ["naturalness", "synchrony"]
    assert [(one.low, one.high) for one in plan.ratings] == [
        ("rigid", "elegant"),
        ("artificial", "lifelike"),
        ("neutral", "intense"),
    ]
    assert (plan.conditions.control.performer, plan.conditions.optimized.performer) == ("stretch", "speech")
    assert not read_answers([("r", rehearse(design))], design).missing.any()
