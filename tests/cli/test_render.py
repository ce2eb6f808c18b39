"""Films, pages, contact sheets and reports on the command line: whole or not at all, and as asked for."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
import zlib
from dataclasses import replace
from io import BytesIO
from pathlib import Path

import numpy as np
import pytest

from bunraku.assets.examples import DEMOS, Demo
from bunraku.character import Body, Character, Joint, Motor, Pose, Shape
from bunraku.cli.main import _run
from bunraku.formats.registry import read_performance, write_performance
from bunraku.motion import Audio, Certificate, Channel, Check, JointCurves, Performance, Provenance
from bunraku.optimization.monitor import SILENT
from bunraku.optimization.solution import Status
from bunraku.studio.rendering import Taste, rendered

RATE = 50.0


def nodding(seconds: float = 0.6, *, reach: float = 0.5) -> Performance:
    """A board that nods by ``reach`` [rad], whose joint allows 1 rad, with a tone of 440 Hz."""
    shape = Shape(kind="box", size=(0.05, 0.2, 0.2), pose=Pose(position=(0.0, 0.0, 0.3)), color=(0.2, 0.3, 0.9, 1.0))
    character = Character(
        name="board",
        bodies=(Body(name="b", mass=1.0, inertia=(0.1, 0.1, 0.1, 0.0, 0.0, 0.0), shapes=(shape,)),),
        joints=(Joint(name="nod", kind="hinge", parent="world", child="b", axis=(0, 1, 0), range=(-1.0, 1.0)),),
        motors=(Motor(name="m", coordinate="nod", velocity=20.0),),
    )
    t = np.arange(round(seconds * RATE) + 1) / RATE
    values = reach * np.sin(2.0 * np.pi * t / seconds)
    curves = JointCurves(("nod",), RATE, values[:, None])
    tone = 0.5 * np.sin(2.0 * np.pi * 440.0 * np.arange(round(seconds * 8000)) / 8000.0)
    return Performance(
        character, "nod", (Channel("nod", "position", "rad", RATE, values),), curves, curves,
        Certificate(Status.CONVERGED, (Check("velocity excess", 0.0, "rad/s", 1e-9),), ("a note to read",)),
        Provenance("speech", {"clip": "abc"}, {"q1": 50.0}, {"bunraku": "0.1.0"}, 7), audio=Audio(tone, 8000.0),
    )  # fmt: skip


@pytest.fixture
def file(tmp_path: Path) -> Path:
    path = tmp_path / "nod.performance.npz"
    write_performance(path, nodding())
    return path


def left_behind(folder: Path) -> set[str]:
    return {path.name for path in folder.iterdir()}


def test_a_film_has_the_size_the_rate_and_the_voice(file: Path, tmp_path: Path) -> None:
    ffmpeg = pytest.importorskip("imageio_ffmpeg").get_ffmpeg_exe()
    goal = tmp_path / "nod.mp4"
    assert _run(["render", str(file), "-o", str(goal), "--size", "96x64", "--fps", "20"]) == 0
    said = subprocess.run([ffmpeg, "-i", str(goal)], capture_output=True, check=False).stderr.decode()
    assert "96x64" in said
    assert "20 fps" in said
    read = [ffmpeg, "-loglevel", "error", "-i", str(goal), "-f", "s16le", "-ac", "1", "-ar", "8000", "-"]
    sound = np.frombuffer(subprocess.run(read, capture_output=True, check=True).stdout, dtype=np.int16)
    power = np.abs(np.fft.rfft(sound[800:4000]))
    assert np.fft.rfftfreq(3200, 1.0 / 8000.0)[int(np.argmax(power))] == pytest.approx(440.0, abs=3.0)
    assert abs(len(sound) / 8000.0 - 0.6) < 0.05
    assert left_behind(tmp_path) == {"nod.performance.npz", "nod.mp4"}


def test_a_gif_lasts_as_long_as_the_performance(file: Path, tmp_path: Path) -> None:
    from PIL import Image

    assert _run(["render", str(file), "-o", str(tmp_path / "nod.gif"), "--size", "64", "--fps", "30", "--no-target"]) == 0
    with Image.open(tmp_path / "nod.gif") as picture:
        total = 0
        for k in range(picture.n_frames):
            picture.seek(k)
            total += picture.info["duration"]
        assert picture.size == (114, 64)
    assert abs(total - 600) <= 10


def test_a_sheet_has_rows_before_and_after(file: Path, tmp_path: Path) -> None:
    from PIL import Image

    done = nodding()
    wide = tmp_path / "wide.performance.npz"
    write_performance(wide, replace(done, wish=JointCurves(done.wish.names, RATE, 1.6 * done.wish.values)))
    one, two, same = (tmp_path / f"{name}.png" for name in ("one", "two", "same"))
    assert _run(["render", str(wide), "-o", str(one), "--size", "80", "--poses", "4", "--dark"]) == 0
    assert _run(["render", str(wide), "-o", str(two), "--size", "80", "--poses", "4", "--before"]) == 0
    assert _run(["render", str(file), "-o", str(same), "--size", "80", "--poses", "4", "--before"]) == 0
    with Image.open(one) as plain, Image.open(two) as both, Image.open(same) as alike:
        assert both.size == (plain.size[0], plain.size[1] + 83)
        assert np.asarray(plain.convert("L")).mean() < 90 < np.asarray(both.convert("L")).mean()
        assert alike.size[1] == plain.size[1], "no second row of what is the same"


def test_what_goes_beyond_a_limit_is_red(tmp_path: Path) -> None:
    from PIL import Image

    red = {}
    for name, reach in (("within", 0.9), ("beyond", 1.3)):
        write_performance(tmp_path / f"{name}.performance.npz", nodding(reach=reach))
        assert _run(["render", str(tmp_path / f"{name}.performance.npz"), "-o", str(tmp_path / f"{name}.png"), "--size", "80"]) == 0
        with Image.open(tmp_path / f"{name}.png") as picture:
            red[name] = int(_red(np.asarray(picture)).sum())
    assert red["within"] == 0
    assert red["beyond"] > 500


def test_a_sheet_with_the_wish_is_red_too_where_it_is_performed(tmp_path: Path) -> None:
    """The rows of the wish are grey, and so is a film of it."""
    from PIL import Image

    done = nodding(reach=1.3)
    done = replace(done, wish=JointCurves(done.wish.names, RATE, 1.6 * done.wish.values))
    found = {}
    for suffix in (".png", ".gif"):
        taste = Taste(height=80, width=142, before=True, wish=False, poses=4)
        with Image.open(BytesIO(rendered(done, suffix, taste, SILENT))) as picture:
            found[suffix] = _red(np.asarray(picture.convert("RGB")))
    upper, lower = np.array_split(found[".png"], 2)
    assert lower.sum() > 500 > 5 > upper.sum()
    assert found[".gif"].sum() == 0


def _red(picture: np.ndarray) -> np.ndarray:
    pixels = picture.astype(int)
    return (pixels[..., 0] - pixels[..., 1] > 60) & (pixels[..., 0] - pixels[..., 2] > 60)


def test_a_page_carries_its_sound_and_loads_nothing(file: Path, tmp_path: Path) -> None:
    pytest.importorskip("viser")
    goal = tmp_path / "nod.html"
    assert _run(["render", str(file), "-o", str(goal)]) == 0
    page = goal.read_text()
    assert page.count("data:audio/wav;base64,") == 1
    assert page.index("bunraku-voice") < page.rindex("</body>")
    assert 'src="http' not in page


@pytest.mark.parametrize(
    ("words", "expected"),
    [
        ([], "0 performances"),
        (["FILE", "-o", "x.avi"], ".avi"),
        (["FILE", "-o", "x.mp4", "--size", "wide"], "wide"),
        (["FILE", "-o", "x.mp4", "--size", "99999x9"], "99999"),
        (["FILE", "-o", "x.mp4", "--view", "inside"], "inside"),
        (["FILE", "-o", "x.mp4", "--start", "3"], "0.600"),
        (["FILE", "-o", "x.mp4", "--fps", "-1"], "-1"),
        (["FILE", "-o", "x.png", "--poses", "4000"], "4000"),
        (["FILE", "-o", "x.html", "--start", "0"], "--start"),
        (["FILE", "-o", "x.HTML", "--end", "3", "--fps", "25"], "--fps, --end"),
        (["FILE", "-o", "x.html", "--size", "640x360"], "--size"),
        (["FILE", "-o", "x.html", "--view", "front"], "--view"),
        (["FILE", "-o", "x.html", "--before"], "--before"),
        (["FILE", "-o", "x.html", "--no-follow"], "--follow"),
        (["FILE", "-o", "x.html", "--poses", "4", "--dark"], "--poses"),
        (["FILE", "--full"], "--demos"),
        (["--demos", "nobody", "-o", "x"], "nobody"),
    ],
)
def test_what_cannot_be_drawn_is_said_in_a_line(
    words: list[str], expected: str, file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    before = left_behind(tmp_path)
    assert _run(["render", *(str(file) if word == "FILE" else word for word in words)]) == 2
    said = capsys.readouterr().err
    assert expected in said
    assert len(said.strip().splitlines()) == 1
    assert left_behind(tmp_path) == before


def test_a_cancelled_film_leaves_nothing(tmp_path: Path) -> None:
    write_performance(tmp_path / "long.performance.npz", nodding(120.0))
    command = [sys.executable, "-m", "bunraku.cli.main", "render", "long.performance.npz", "-o", "long.mp4", "--size", "640x480"]
    with subprocess.Popen(command, cwd=tmp_path, stderr=subprocess.PIPE, env=os.environ | {"TMPDIR": str(tmp_path)}) as program:
        while not any(tmp_path.glob("tmp*/silent.mp4")):  # until the film has begun
            assert program.poll() is None, "it ended too early"
            time.sleep(0.05)
        program.send_signal(signal.SIGINT)
        _, said = program.communicate()
    assert program.returncode == 130, said
    assert b"stopping; nothing is written" in said
    assert left_behind(tmp_path) == {"long.performance.npz"}


def test_options_are_written_for_people(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from bunraku.verification.report.pages import Pages

    rows: dict[str, str] = {}
    monkeypatch.setattr(Pages, "facts", lambda pages, facts: rows.update(facts))
    given = nodding()
    options = {"held": [], "joints": ("a", "b"), "compression": "", "exact": True, "q1": 50.0}
    write_performance(tmp_path / "x.performance.npz", replace(given, provenance=replace(given.provenance, options=options)))
    assert _run(["report", str(tmp_path / "x.performance.npz"), "--no-sheet", "-o", str(tmp_path / "x.pdf")]) in (0, 1)
    assert [rows[key] for key in options] == ["none", "a, b", "none", "yes", "50.0"]


@pytest.mark.parametrize("words", [[], ["--no-sheet"]])
def test_a_cancelled_report_leaves_nothing(
    words: list[str], file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from bunraku.verification import verify

    def interrupted(*args: object, **options: object) -> verify.Verdict:
        os.kill(os.getpid(), signal.SIGINT)
        return judged(*args, **options)

    judged = verify.verify
    monkeypatch.setattr(verify, "verify", interrupted)
    monkeypatch.chdir(tmp_path)
    assert _run(["report", str(file), *words]) == 130
    assert "stopping; nothing is written" in capsys.readouterr().err
    assert left_behind(tmp_path) == {file.name}


def test_demos_are_drawn_from_what_was_performed_before(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setitem(DEMOS, "nodding", Demo("speech", "board", "nod", {}, "a board nods", "nowhere"))
    (tmp_path / "kept" / "nodding").mkdir(parents=True)
    file.rename(tmp_path / "kept" / "nodding" / file.name)
    out = tmp_path / "films"
    assert _run(["render", "--demos", "nodding", "--from", str(tmp_path / "kept"), "-o", str(out), "--size", "96x64"]) == 0
    assert left_behind(out) == {"nodding.png", "nodding.mp4"}
    assert "kept" in capsys.readouterr().err


def test_the_demo_of_a_captured_skeleton_is_retargeted_first(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(DEMOS, "dancing", Demo("speech", "nao", "chicken-dance", {}, "a robot dances", "speech"))
    assert _run(["render", "--demos", "dancing", "-o", str(tmp_path), "--size", "96x64", "--end", "0.2"]) == 0
    made = read_performance(tmp_path / "dancing" / "chicken-dance.performance.npz")
    assert set(made.motion.names) == set(made.character.coordinates)
    assert np.ptp(made.positions().values, axis=0).max() > 0.5


def test_a_demo_that_breaks_does_not_stop_the_others(
    file: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("breaking", "nodding"):
        monkeypatch.setitem(DEMOS, name, Demo("speech", "board", "nod", {}, "a board nods", "nowhere"))
    (tmp_path / "kept" / "nodding").mkdir(parents=True)
    file.rename(tmp_path / "kept" / "nodding" / file.name)
    words = ["render", "--demos", "breaking", "nodding", "--from", str(tmp_path / "kept"), "-o", str(tmp_path / "films")]
    assert _run([*words, "--size", "96x64"]) == 1
    assert left_behind(tmp_path / "films") == {"nodding.png", "nodding.mp4"}
    said = capsys.readouterr().err
    (line,) = [one for one in said.splitlines() if "ModuleNotFoundError" in one]
    assert line.startswith("breaking: ")
    assert "not made: breaking" in said


def test_the_report_to_sign_says_what_file_it_is_for(file: Path, tmp_path: Path) -> None:
    import hashlib

    goal, page = tmp_path / "nod.pdf", tmp_path / "nod.html"
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    code = _run(["report", str(file), "-o", str(goal), "--no-replay", "--no-sheet"])
    assert code in (0, 1)
    assert goal.read_bytes().startswith(b"%PDF-")
    assert _run(["report", str(file), "-o", str(page), "--no-replay"]) == code
    text = page.read_text()
    assert digest in text
    assert "Moments of the performance" in text
    for words in ("What was asked", "What is promised", "How it was verified", "Signature", "a note to read"):
        assert words in text
    assert "It was NOT replayed" in text
    assert "was replayed in MuJoCo" not in text
    again = goal.read_bytes()
    assert _run(["report", str(file), "-o", str(goal), "--no-replay", "--no-sheet"]) == code
    assert goal.read_bytes() == again, "the same performance gives the same bytes"


def pdf_text(data: bytes) -> str:
    """The words of a PDF as its content streams show them: a reader of its own, for plain fonts."""
    lines = []
    for stream in re.findall(rb"stream\r?\n(.*?)\r?\nendstream", data, re.DOTALL):
        try:
            content = zlib.decompress(stream)
        except zlib.error:
            continue
        for piece in re.findall(rb"\bBT\b(.*?)\bET\b", content, re.DOTALL):
            words = re.findall(rb"\(((?:\\.|[^()\\])*)\)", piece)
            lines.append(b"".join(re.sub(rb"\\(.)", rb"\1", word) for word in words).decode("cp1252"))
    return "\n".join(lines)


def bare(text: str) -> str:
    """Letters and digits alone, without the pairs that a font may draw as one sign of its own."""
    return re.sub(r"ffi|ffl|ff|fi|fl|[\W_]", "", text)


@pytest.mark.parametrize("excess", [False, True])
def test_the_pdf_to_sign_says_all_that_the_page_says(file: Path, tmp_path: Path, excess: bool) -> None:
    import hashlib

    from bunraku.verification.report.html import asked

    performance = read_performance(file)
    if excess:
        broken = Check("a torque that is too much", 3.25, "N·m", 1.5, note="at the worst moment")
        checks = (*performance.certificate.checks, broken)
        performance = performance.changed(certificate=replace(performance.certificate, checks=checks))
        write_performance(file, performance)
    digest = hashlib.sha256(file.read_bytes()).hexdigest()
    goal = tmp_path / "nod.pdf"
    code = _run(["report", str(file), "-o", str(goal), "--no-replay", "--no-sheet"])
    found = bare(pdf_text(goal.read_bytes()))
    for heading in ("What was asked", "What is promised", "How it was verified", "Where it came from", "Show engineer"):
        assert bare(heading) in found
    certificate = performance.certificate
    for words in (asked(performance), certificate.status.sentence, "It was NOT replayed", digest, *certificate.notes):
        assert bare(words) in found
    for check in certificate.checks:
        bar = "" if check.threshold is None else f"{check.threshold:.4g}"
        assert bare(f"{check.name}{check.value:.4g} {check.unit}{bar}{check.note}") in found
    for key, value in performance.provenance.inputs.items():
        assert bare(f"hash of {key}{value}") in found
    assert (bare("Proven: ") in found) == (code == 0)
    assert (bare("Not proven") in found) == (code != 0)
    assert (bare("A PROMISE ABOVE DOES NOT HOLD") in found) == (code != 0)
    if excess:
        assert code == 1
        assert bare("broken a torque that is too much 3.25 N·m 1.5") in found


def test_a_report_of_another_kind_is_refused(file: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert _run(["report", str(file), "-o", "x.docx"]) == 2
    assert ".pdf" in capsys.readouterr().err
