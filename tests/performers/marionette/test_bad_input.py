"""What cannot be performed is refused in a sentence, or ends with a status, in bounded time; nothing is written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, write_character
from bunraku.motion import Clip, JointCurves
from bunraku.optimization.solution import Status
from bunraku.performers.performer import make_performer


@pytest.fixture(scope="module")
def puppet() -> Character:
    return read_character("marionette")


def still(name: str = "l_elbow", value: float = 0.0, frames: int = 40) -> Clip:
    return Clip("wish", joints=JointCurves((name,), 100.0, np.full((frames, 1), value)))


def short(puppet: Character) -> Character:
    """Its first string is 0.2 m long; home needs 0.9 m."""
    free = tuple(carriage.changed(winch_range=None) for carriage in puppet.carriages)
    return puppet.changed(strings=(puppet.strings[0].changed(length=0.2), *puppet.strings[1:]), carriages=free)


def twins(puppet: Character) -> Character:
    """Two strings from one carriage to one hook."""
    return puppet.changed(strings=(*puppet.strings, puppet.strings[0].changed(name="twin")))


def near(puppet: Character) -> Character:
    """Two carriages 1 cm apart that must keep 5 cm."""
    x, y, z = puppet.carriages[1].home
    return puppet.changed(carriages=(puppet.carriages[0].changed(home=(x + 0.01, y, z)), *puppet.carriages[1:]))


def beside(puppet: Character) -> Character:
    """A carriage that stands outside its range."""
    return puppet.changed(carriages=(puppet.carriages[0].changed(x_range=(0.2, 0.5)), *puppet.carriages[1:]))


def stiff(puppet: Character) -> Character:
    """An elbow whose range leaves out the angle at which it hangs."""
    joints = tuple(joint.changed(range=(1.2, 1.5)) if joint.name == "l_elbow" else joint for joint in puppet.joints)
    return puppet.changed(joints=joints)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        (short, r"too short: l_shoulder_string \(0\.2 m, 0\.7\d m missing\)"),
        (twins, "'twin' repeats what the others demand"),
        (near, "beyond a limit at the start: separation of .*carriage"),
        (beside, "beyond a limit at the start: range of l_shoulder_carriage.x"),
        (stiff, "l_elbow at .* outside its range"),
    ],
)
def test_puppets_that_cannot_start_are_refused(puppet: Character, change: object, words: str) -> None:
    assert callable(change)
    with pytest.raises(BadInput, match=words):
        make_performer("marionette").perform(change(puppet), still())


@pytest.mark.parametrize(
    ("clip", "options", "words"),
    [
        (still("tail"), {}, "'tail', which is no coordinate of 'marionette'; known: base"),
        (still("l_elbo"), {}, "did you mean l_elbow"),
        (still(), {"tension_margin": 50.0}, r"less than 50 N: l_shoulder_string \(13\.1 N\).*smaller margin"),
        (still(), {"start": 9.0}, r"start at 9 s is beyond the end of the wish, which lasts 0\.39 s"),
        (still(), {"start": 0.2, "duration": 0.3}, "choose start and duration inside it"),
        (still(), {"duration": 0.02}, r"3 samples of the wish at 100 Hz .* at least 4 are needed: .* of 0\.03 s or more"),
        (still(), {"start": 0.38}, "2 samples of the wish at 100 Hz .* at least 4 are needed"),
        (Clip("empty"), {}, "no joint curves"),
    ],
)
def test_wishes_that_cannot_be_stated_are_refused(puppet: Character, clip: Clip, options: dict[str, float], words: str) -> None:
    with pytest.raises(BadInput, match=words):
        make_performer("marionette", options).perform(puppet, clip)


def test_a_curve_that_is_not_finite_is_refused() -> None:
    with pytest.raises(BadInput, match="nan at"):
        still(value=float("nan"))


def test_a_jump_of_three_metres_ends_with_a_status_and_within_every_limit(puppet: Character) -> None:
    jump = np.zeros((30, 1))
    jump[15:] = 3.0
    clip = Clip("jump", joints=JointCurves(("base.tx",), 100.0, jump))
    performance = make_performer("marionette", {"blend": 0.0, "max_iterations": 12}).perform(puppet, clip)
    certificate = performance.certificate
    assert certificate.status in (Status.CONVERGED, Status.MAX_ITERATIONS, Status.STALLED)
    assert certificate.figures["iterations"] <= 12
    # the puppet cannot be there, and the certificate says how the wish was changed; it cannot jump either, and is half a metre away
    assert any("the path of its root was made 0." in note for note in certificate.notes)
    assert certificate.check("imitation error").value > 0.3
    assert certificate.check("dynamics residual").holds
    if certificate.status is not Status.CONVERGED:
        assert certificate.notes[0] == certificate.status.sentence


def test_the_command_line_says_it_in_one_line_and_writes_nothing(puppet: Character, tmp_path: Path) -> None:
    write_character(tmp_path / "short.character.yaml", short(puppet))
    (tmp_path / "hole.csv").write_text("time_s,l_elbow_rad\n0.0,0.0\n0.01,nan\n0.02,0.0\n0.03,0.0\n")
    (tmp_path / "mute.clip.yaml").write_text("bunraku: clip/1\nname: mute\nduration_s: 2.0\n")
    before = sorted(path.name for path in tmp_path.iterdir())
    for words, said in (
        (["short.character.yaml", "puppet-wave"], "too short: l_shoulder_string"),
        (["marionette", "hole.csv"], "not finite"),
        (["marionette", "puppet-wave", "--tension-margin", "50"], "less than 50 N"),
        (["marionette", "puppet-wave", "--start", "99"], "beyond the end"),
        (["marionette", "mute.clip.yaml"], "joint"),
    ):
        done = subprocess.run(
            [sys.executable, "-m", "bunraku.cli.main", "perform", *words, "-o", "out.performance.npz"],
            cwd=tmp_path,
            capture_output=True,
            text=True,
        )
        lines = [line for line in done.stderr.splitlines() if line.startswith("bunraku: ")]
        assert done.returncode == 2, done.stderr
        assert len(lines) == 1
        assert said in lines[0]
        assert "Traceback" not in done.stderr
        assert sorted(path.name for path in tmp_path.iterdir()) == before
