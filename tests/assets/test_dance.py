"""The built-in dance: what its script makes, a person's size and accelerations, and a dance to look at."""

import importlib.util
from pathlib import Path

import numpy as np
import pytest

import bunraku.assets
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.mechanics.tree import compile_tree
from bunraku.retargeting.retarget import retarget
from bunraku.retargeting.skeleton import bone_motion

NAME = "chicken-dance"
FOLDER = Path(bunraku.assets.__file__).parent / "clips"
G = 9.81


@pytest.fixture(scope="module")
def clip():
    return read_clip(NAME)


@pytest.fixture(scope="module")
def puppet(clip):
    """Places of the marionette's frames over time at 100 Hz, and the curves of its wish."""
    marionette = read_character("marionette")
    tree = compile_tree(marionette)
    result = retarget(clip, marionette, rate=100.0)
    poses = [tree.configuration(q) for q in result.clip.joints.values]
    return result, lambda frame: np.array([pose.pose(frame)[1] for pose in poses])


def test_the_file_is_what_the_script_makes():
    script = Path(__file__).resolve().parents[2] / "scripts" / "make_dance.py"
    if not script.is_file():
        pytest.skip("the script is not part of an installed package")
    spec = importlib.util.spec_from_file_location("make_dance", script)
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    made, there = module.bvh().split("MOTION"), (FOLDER / f"{NAME}.bvh").read_text(encoding="utf-8").split("MOTION")
    assert made[0] == there[0]
    assert made[1].splitlines()[:3] == there[1].splitlines()[:3]
    rows = [np.array([line.split() for line in text.splitlines()[3:]], dtype=float) for text in (made[1], there[1])]
    np.testing.assert_allclose(rows[0], rows[1], atol=1.5e-3)  # the last digit written may round otherwise elsewhere
    assert (FOLDER / f"{NAME}.clip.yaml").read_text(encoding="utf-8") == module.CLIP


def test_it_is_a_person_who_starts_and_ends_at_rest(clip):
    assert NAME in built_in("clip")
    assert clip.duration == pytest.approx(8.0)
    skeleton = clip.skeleton
    assert skeleton.scaled
    bones = bone_motion(skeleton)
    top = bones.position("Head")[:, 2] + 0.17
    assert top[0] == pytest.approx(1.75, abs=0.03)
    floor = np.minimum(bones.position("LeftFoot")[:, 2], bones.position("RightFoot")[:, 2])
    assert np.abs(floor - floor[0]).max() < 0.03  # one foot always stands
    for end in (slice(0, 3), slice(-3, None)):
        assert np.abs(np.diff(bones.positions[end], axis=0)).max() < 2e-4  # 1 cm/s
    np.testing.assert_allclose(bones.positions[0], bones.positions[-1], atol=1e-4)


def test_strings_could_follow_it(puppet):
    """A string pulls, so no point may fall faster than g; wrists exceed 0.8 g for less than one percent of the time."""
    _, place = puppet
    for frame, most in (("wrist", 0.9), ("elbow", 0.8), ("knee", 0.7), ("shoulder", 0.4)):
        for side in "lr":
            fall = -np.diff(place(f"{side}_{frame}"), 2, axis=0)[:, 2] * 100.0**2
            assert fall.max() < most * G
            assert np.mean(fall > 0.8 * G) < 0.01


def test_it_is_lively_and_within_what_a_puppet_reaches(puppet):
    result, place = puppet
    assert max(error.worst for error in result.report.targets) < 1e-3
    curves = result.clip.joints
    assert np.abs(np.diff(curves.values, axis=0)).max() * 100.0 < 10.0
    head, hips = place("head")[:, 2], curves.column("base.tz")
    for side, other in (("l", "r"), ("r", "l")):
        hand, elbow, knee = place(f"{side}_hand"), place(f"{side}_elbow"), place(f"{side}_knee")
        assert (hand[:, 2] - head).max() > 0.1  # hands up
        flaps = np.diff(np.sign(np.diff(elbow[100:300, 2])))
        assert np.count_nonzero(flaps < 0) >= 3  # wings up again and again
        assert (knee[:, 2] - place(f"{other}_knee")[:, 2]).max() > 0.04  # each knee by turns
    assert hips[0] - hips.min() > 0.05
    assert np.ptp(curves.column("base.rz")) > 0.6
    assert np.ptp(curves.column("base.rx")) > 0.2
