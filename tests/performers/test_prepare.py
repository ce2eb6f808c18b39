"""Preparing a captured clip: retargeted once, kept between runs, honest about how it ended."""

from __future__ import annotations

import dataclasses
import importlib
from pathlib import Path

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.checkpoint import Checkpoint
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Clip, SkeletonMotion
from bunraku.optimization.solution import Status
from bunraku.performers.performer import make_performer
from bunraku.performers.prepare import prepare, read_rig

BONES = {"torso": "Chest", "head": "Head"} | {
    f"{side[0]}_{part}": f"{side.title()}{bone}"
    for side in ("left", "right")
    for part, bone in (("shoulder", "UpperArm"), ("elbow", "ForeArm"), ("hand", "Hand"))
}


@pytest.fixture(scope="module")
def capture() -> Clip:
    """The NAO's own frames while it nods and moves its arms: what can be followed exactly."""
    tree = compile_tree(read_character("nao"))
    q = np.tile(tree.home, (20, 1))
    phase = np.arange(20) / 20 * 2 * np.pi
    for name, middle, size in (
        ("HeadYaw", 0.0, 0.4),
        ("LShoulderPitch", 1.0, 0.3),
        ("LElbowRoll", -0.8, 0.2),
        ("RElbowRoll", 0.8, 0.0),
    ):
        q[:, tree.index(name)] = middle + size * np.sin(phase)
    places, turns = [], []
    for row in q:
        poses = [tree.configuration(row).pose(frame) for frame in BONES]
        turns.append([R for R, _ in poses])
        places.append([p for _, p in poses])
    R, p = np.array(turns), np.array(places)
    above = [-1, 0, 0, 2, 3, 0, 5, 6]
    local_R, local_p = R.copy(), p.copy()
    for j, i in enumerate(above):
        if i >= 0:
            local_R[:, j] = np.swapaxes(R[:, i], 1, 2) @ R[:, j]
            local_p[:, j] = np.einsum("nji,nj->ni", R[:, i], p[:, j] - p[:, i])
    skeleton = SkeletonMotion(tuple(BONES.values()), tuple(above), local_p[0], 25.0, local_p, local_R, {})
    return Clip("own", skeleton=skeleton)


def test_joint_curves_pass_untouched() -> None:
    clip = read_clip("not-done-yet")
    prepared = prepare(read_character("nao"), clip)
    assert prepared.clip is clip
    assert prepared.notes == ()
    assert prepared.status is Status.CONVERGED


def test_a_skeleton_is_retargeted_once(capture: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    nao = read_character("nao")
    kept = Checkpoint(tmp_path / "kept", "key")
    first = prepare(nao, capture, checkpoint=kept)
    assert np.ptp(first.clip.joints.column("HeadYaw")) == pytest.approx(0.8, abs=0.05)
    monkeypatch.setattr("bunraku.retargeting.retarget.retarget", lambda *a, **k: pytest.fail("retargeted again"))
    again = prepare(nao, capture, checkpoint=Checkpoint(tmp_path / "kept", "key"))
    assert np.array_equal(again.clip.joints.values, first.clip.joints.values)
    assert (again.clip.joints.names, again.clip.joints.rate, again.clip.held) == (
        nao.driven,
        first.clip.joints.rate,
        first.clip.held,
    )
    assert again.clip.skeleton is None
    assert "going on" in again.notes[0]
    assert again.status is first.status
    with pytest.raises(pytest.fail.Exception):
        prepare(nao, capture, checkpoint=Checkpoint(tmp_path / "kept", "another problem"))


def test_a_puppet_is_wished_whole_also_from_what_was_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    puppet, kept = read_character("marionette"), tmp_path / "kept"
    first = prepare(puppet, read_clip("chicken-dance"), checkpoint=Checkpoint(kept, "key"))
    assert first.clip.joints.names == puppet.coordinates
    monkeypatch.setattr("bunraku.retargeting.retarget.retarget", lambda *a, **k: pytest.fail("retargeted again"))
    again = prepare(puppet, read_clip("chicken-dance"), checkpoint=Checkpoint(kept, "key"))
    assert again.clip.joints.names == puppet.coordinates
    assert np.array_equal(again.clip.joints.values, first.clip.joints.values)


@pytest.mark.parametrize(("status", "kept"), [(Status.CANCELLED, False), (Status.MAX_ITERATIONS, True)])
def test_how_it_ended_is_carried_into_the_certificate(
    status: Status, kept: bool, capture: Clip, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    nao, checkpoint = read_character("nao"), Checkpoint(tmp_path / "kept", "key")
    module = importlib.import_module("bunraku.retargeting.retarget")
    solve = module.solve_motion
    monkeypatch.setattr(module, "solve_motion", lambda *a, **k: dataclasses.replace(solve(*a, **k), status=status))
    prepared = prepare(nao, capture, checkpoint=checkpoint)
    assert prepared.status is status
    assert checkpoint.path.exists() is kept
    if kept:
        assert prepare(nao, capture, checkpoint=checkpoint).status is status
    result = make_performer("clamp").perform(nao, prepared.clip)
    assert result.certificate.status.good
    marked = prepared.marked(result).certificate
    assert marked.status is status
    assert not marked.holds
    assert status.sentence in marked.notes[0]


def test_a_rig_that_is_not_there_is_bad_input(tmp_path: Path) -> None:
    with pytest.raises(BadInput, match="none"):
        read_rig(tmp_path / "none.rig.yaml")
