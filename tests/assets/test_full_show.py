"""The clip of the closing show: made by its script, faster than some motors, every stroke down on the drum on its beat."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.tree import compile_tree
from bunraku.motion.limits import MotionLimits
from bunraku.verification.beats import drum_head, stick_tip

SCRIPTS = Path(__file__).resolve().parents[2] / "scripts"


@pytest.fixture(scope="module")
def clip():
    return read_clip("full-show")


@pytest.fixture(scope="module")
def character():
    return read_character("drummer")


def test_the_files_are_those_of_the_script():
    """The clip's file whole, and the sound to one bit after the count, which only espeak-ng can speak."""
    if not (SCRIPTS / "make_show.py").is_file():
        pytest.skip("the scripts are not part of an installed package")
    code = (
        "import numpy as np, make_show as m\n"
        "from bunraku.formats.registry import read_clip\n"
        "clip = read_clip('full-show')\n"
        "words = [(w.text, w.start, w.end, w.stroke) for w in clip.words]\n"
        "assert (m.OUT / 'full-show.clip.yaml').read_text('utf-8') == m.clip_text(words)\n"
        "assert [w[0] for w in words] == list(m.COUNT)\n"
        "after = round(2.75 * m.RATE)\n"
        "assert np.abs(clip.audio.samples[after:] - m.music()[after:]).max() < 1.1 / 32767\n"
    )
    done = subprocess.run([sys.executable, "-c", code], cwd=SCRIPTS, capture_output=True, text=True, timeout=120)
    assert done.returncode == 0, done.stderr[-500:]


def test_the_elbows_are_wished_faster_than_their_motors_go(clip, character):
    limits = MotionLimits.of(character)
    values = limits.completed(clip.joints.names, clip.joints.values)
    speed = np.abs(np.diff(values, axis=0)).max(axis=0) * clip.joints.rate
    fast = {name for name, most, limit in zip(limits.names, speed, limits.velocity, strict=True) if most > limit}
    assert fast == {"left_elbow", "right_elbow"}
    lower, upper = limits.bounds(values)
    assert (values >= lower).all()
    assert (values <= upper).all()


def test_it_begins_and_ends_at_home_at_rest(clip, character):
    limits = MotionLimits.of(character)
    values = limits.completed(clip.joints.names, clip.joints.values)
    for end in (values[:5], values[-5:]):
        np.testing.assert_allclose(end, np.broadcast_to(limits.home, end.shape), atol=1e-5)
    assert clip.audio.duration == pytest.approx(clip.duration)


def test_every_stroke_ends_on_its_drum_on_its_beat(clip, character):
    """Of a stiff drummer: the tip is lowest at the beat, over its drum, and within 15 mm of the head."""
    tree, head = compile_tree(character), drum_head(character, "stage")
    hits = [mark for mark in clip.phrases if mark.stroke is not None]
    assert len(hits) == 14
    for mark in hits:
        side = mark.text.split()[0]
        frame = next(one for one in character.frames if one.name == f"{side}_hand")
        node, tip = tree.nodes[frame.body], np.array(frame.pose.position) + stick_tip(character, frame.name)
        k = round(mark.stroke * clip.joints.rate)
        path = []
        for row in clip.joints.values[k - 8 : k + 9]:
            q = tree.home.copy()
            q[[tree.index(name) for name in clip.joints.names]] = row
            at = tree.configuration(q)
            path.append(at.position[node] + at.rotation[node] @ tip)
        low = int(np.argmin([place[2] for place in path]))
        assert abs(low - 8) <= 1
        s = 1.0 if side == "left" else -1.0
        assert np.hypot(path[low][0] - 0.31, path[low][1] - 0.085 * s) < 0.072
        assert abs(path[low][2] - head) < 0.015
