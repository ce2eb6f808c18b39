"""Retargeting onto a puppet that hangs free: all its coordinates, where it is and how it is turned included."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from scipy.spatial.transform import Rotation

from bunraku.character import Joint, Motor
from bunraku.errors import BadInput
from bunraku.formats.bvh import read_bvh
from bunraku.formats.registry import read_character
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Clip
from bunraku.retargeting.bends import bend_normals
from bunraku.retargeting.inverse_kinematics import Solver
from bunraku.retargeting.retarget import retarget
from bunraku.retargeting.skeleton import bone_motion, dropped_first
from bunraku.retargeting.wished import middle_angles, wish_limits, wished_coordinates

EXACT = Solver(temporal_weight=0.0, home_weight=0.0, middle_weight=0.0)
LIMBS = [("Left", "l"), ("Right", "r")]
RATE = 50.0
STILL = 30  # frames of the start, in which the puppet hangs at home and so shows its heading


@pytest.fixture(scope="module")
def marionette():
    return read_character("marionette")


@pytest.fixture(scope="module")
def tree(marionette):
    return compile_tree(marionette)


def gently(tree, seed, frames=110):
    """From home into sines of all coordinates, elbows and knees bent as at home."""
    generator = np.random.default_rng(seed)
    t = np.arange(frames - STILL) / RATE
    size = np.array([0.1 if ".t" in name else 0.35 for name in tree.names])
    waves = np.sin(2 * np.pi * generator.uniform(0.3, 0.7, tree.nq) * t[:, None]) * generator.uniform(0.5, 1.0, tree.nq)
    q = np.tile(tree.home, (frames, 1))
    q[STILL:] += size * waves
    knees = [tree.index(name) for name in ("l_knee", "r_knee")]
    q[STILL:, knees] += 0.4 * np.clip(t[:, None], 0.0, 1.0)  # away from straight
    return q


def person(skeleton_of, tree, q):
    return Clip("own motion", skeleton=skeleton_of(tree, q, RATE, legs=True))


def test_a_puppet_follows_its_own_motion_exactly(marionette, tree, skeleton_of):
    q = gently(tree, 1)
    result = retarget(person(skeleton_of, tree, q), marionette, low_pass=np.inf, solver=EXACT)
    curves = result.clip.joints
    assert curves.names == marionette.coordinates
    assert len(curves.names) == 22
    np.testing.assert_allclose(curves.values[:, :3], q[:, :3], atol=1e-9)
    np.testing.assert_allclose(curves.values[:, 3:], q[:, 3:], atol=1e-3)
    assert max(error.worst for error in result.report.targets) < 1e-4
    points = result.rig.changed(limbs=tuple(limb.changed(turn="none") for limb in result.rig.limbs))  # no plane of bends
    plain = retarget(person(skeleton_of, tree, q), marionette, rig=points, low_pass=np.inf, solver=EXACT).clip.joints.values
    np.testing.assert_allclose(plain, q, atol=1e-6)
    near = retarget(person(skeleton_of, tree, q), marionette, low_pass=np.inf).clip.joints.values
    np.testing.assert_allclose(near[:, :3], q[:, :3], atol=1e-4)
    assert np.sqrt(np.mean((near - q) ** 2, axis=0)).max() < 2e-3


def test_heading_place_and_size_of_the_person_change_nothing(marionette, tree, skeleton_of):
    clip = person(skeleton_of, tree, gently(tree, 2))
    there = retarget(clip, marionette).clip.joints.values
    skeleton = clip.skeleton
    for angle, size in ((2.1, 1.0), (-3.0, 1.0), (0.0, 4.0)):
        turn = Rotation.from_euler("z", angle).as_matrix()
        turns, moves = skeleton.rotations.copy(), size * skeleton.translations
        turns[:, 0] = turn @ turns[:, 0]
        moves[:, 0] = moves[:, 0] @ turn.T + [3.0, -2.0, 0.4]
        other = replace(skeleton, rotations=turns, translations=moves, offsets=size * skeleton.offsets)
        np.testing.assert_allclose(retarget(clip.changed(skeleton=other), marionette).clip.joints.values, there, atol=1e-8)
    assert np.abs(there - there[0]).max() > 0.3


def test_the_path_is_scaled_by_the_legs_and_as_wished(marionette, tree, skeleton_of):
    q = gently(tree, 3)
    clip = person(skeleton_of, tree, q)
    base = retarget(clip, marionette, low_pass=np.inf, solver=EXACT).clip.joints.values
    short = retarget(clip, marionette, low_pass=np.inf, solver=EXACT, root_motion=0.3).clip.joints.values
    np.testing.assert_allclose(short[:, :3] - tree.home[:3], 0.3 * (q[:, :3] - tree.home[:3]), atol=1e-7)
    np.testing.assert_allclose(short[:, 3:], base[:, 3:], atol=1e-7)
    moves = clip.skeleton.translations.copy()
    for name in ("LeftLeg", "LeftFoot", "RightLeg", "RightFoot"):
        moves[:, clip.skeleton.names.index(name)] *= 2.5  # longer legs, same path
    long = replace(clip.skeleton, translations=moves)
    tall = retarget(clip.changed(skeleton=long), marionette, low_pass=np.inf, solver=EXACT).clip.joints.values
    np.testing.assert_allclose(tall[:, :3] - tree.home[:3], (q[:, :3] - tree.home[:3]) / 2.5, atol=1e-7)
    np.testing.assert_allclose(tall[:, 3:], base[:, 3:], atol=1e-7)


def test_turning_on_and_on_goes_on_and_on(marionette, tree, skeleton_of):
    q = np.tile(tree.home, (180, 1))
    turned = np.concatenate([np.zeros(STILL), np.linspace(0.0, 5 * np.pi, 150)])
    q[:, tree.index("base.rz")] = turned
    found = retarget(person(skeleton_of, tree, q), marionette, low_pass=np.inf, solver=EXACT).clip.joints
    np.testing.assert_allclose(found.column("base.rz"), turned, atol=1e-7)
    assert np.abs(np.diff(found.values, axis=0)).max() < 0.11


def test_an_elbow_never_breaks(marionette, tree, skeleton_of):
    """An arm straightens, is turned about itself unseen, and bends: the puppet turns it too, and does not bend it backwards."""
    elbow, twist = tree.index("l_elbow"), tree.index("l_shoulder.z")
    k = np.arange(400)
    q = np.tile(tree.home, (400, 1))
    q[:, elbow] = np.interp(k, [100, 200, 220, 320], [tree.home[elbow], 0.0, 0.0, -1.2])
    q[:, twist] += np.interp(k, [200, 220], [0.0, 2.6])
    found = retarget(person(skeleton_of, tree, q), marionette, low_pass=np.inf).clip.joints
    assert found.column("l_elbow").max() < 0.3 + 1e-9
    np.testing.assert_allclose(found.values[-1], q[-1], atol=5e-3)
    np.testing.assert_allclose(found.values[k < 190], q[k < 190], atol=5e-3)
    assert np.abs(np.diff(found.values, axis=0)).max() < 0.5


def test_the_plane_of_bends_passes_smoothly_through_straight_times():
    """Bent in one plane, straight for 0.4 s, bent in another, 2 rad further: exact while bent, halfway in the middle, no jump."""
    k, home = np.arange(240), np.array([0.0, 1.0, 0.0])
    bend = np.interp(k, [80, 100, 140, 160], [0.8, 0.0, 0.0, 0.8])
    turn = np.where(k < 120, 0.0, 2.0)
    d1 = np.tile([0.0, 0.0, -1.0], (len(k), 1))
    d2 = np.stack([np.sin(bend) * np.cos(turn), np.sin(bend) * np.sin(turn), -np.cos(bend)], axis=1)
    n = bend_normals(d1, d2, 100.0, home)
    angle = np.unwrap(np.arctan2(n[:, 1], n[:, 0]))
    angle -= angle[0]
    sign = np.sign(angle[-1])
    np.testing.assert_allclose(np.abs(angle[[10, 70, 170, 230]]), [0.0, 0.0, 2.0, 2.0], atol=1e-3)
    assert np.abs(angle[119:121].mean()) == pytest.approx(1.0, abs=0.05)
    assert (sign * np.diff(angle) > -1e-6).all()
    assert np.abs(np.diff(angle)).max() < 0.12
    straight = bend_normals(d1, d1, 100.0, home)
    np.testing.assert_allclose(straight, np.tile(home, (len(k), 1)), atol=1e-9)


def test_middle_angles_are_pushed_back_from_the_singular_pose(marionette, tree, skeleton_of):
    """Arm level, elbow's axis vertical: outer and inner turn of the ball are one there."""
    assert middle_angles(marionette) == ("base.rx", "l_hip.x", "r_hip.x", "l_shoulder.x", "r_shoulder.x")
    q = np.tile(tree.home, (200, 1))
    q[:, tree.index("l_shoulder.x")] = np.interp(np.arange(200), [50, 150], [0.0, 0.5 * np.pi])
    clip = person(skeleton_of, tree, q)
    free = retarget(clip, marionette, low_pass=np.inf, solver=Solver(temporal_weight=3e-5, middle_weight=0.0)).clip.joints
    kept = retarget(clip, marionette, low_pass=np.inf)
    assert np.abs(free.column("l_shoulder.x")).max() > 1.55
    assert np.abs(kept.clip.joints.column("l_shoulder.x")).max() < 1.45
    before = kept.clip.joints.values[:100]
    np.testing.assert_allclose(before, q[:100], atol=5e-3)
    assert kept.report.target("right arm end").worst < 1e-5


def test_a_planar_root_goes_and_turns_as_far_as_it_can(marionette, skeleton_of):
    joints = (Joint(name="base", kind="planar", parent="world", child="trunk"), *marionette.joints[1:])
    home = {name: value for name, value in marionette.home.items() if not name.startswith("base.")}
    flat = marionette.changed(joints=joints, home=home)
    tree = compile_tree(flat)
    q = gently(tree, 6)
    q[STILL:, :2] = 0.2 * np.sin(np.arange(len(q) - STILL)[:, None] / [9.0, 13.0])
    found = retarget(person(skeleton_of, tree, q), flat, low_pass=np.inf, solver=EXACT).clip.joints
    assert found.names[:3] == ("base.tx", "base.ty", "base.rz")
    np.testing.assert_allclose(found.values[:, :3], q[:, :3], atol=1e-7)
    np.testing.assert_allclose(found.values, q, atol=1e-3)


def test_which_coordinates_a_wish_names(marionette, coupled_arm):
    nao = read_character("nao")
    assert wished_coordinates(nao) == nao.driven
    assert wished_coordinates(marionette) == marionette.coordinates
    strong = marionette.changed(motors=(Motor(name="m", coordinate="l_elbow", velocity=5.0),))
    assert wished_coordinates(strong) == marionette.coordinates
    limits = wish_limits(strong)
    assert limits.names == marionette.coordinates
    assert limits.velocity[limits.names.index("l_elbow")] == 5.0
    assert np.isinf(np.delete(limits.velocity, limits.names.index("l_elbow"))).all()
    loose = coupled_arm.changed(motors=())
    assert wished_coordinates(loose) == ("q1", "q2")
    assert wish_limits(loose).names == ("q1",)  # q2 follows
    assert wished_coordinates(coupled_arm) == ("q1",)


def test_low_pass_halves_at_the_cutoff_without_delay(tree, skeleton_of):
    t = np.arange(600) / RATE
    q = np.tile(tree.home, (len(t), 1))
    q[:, 0] = 0.05 * np.sin(2 * np.pi * 6.0 * t) + 0.2 * np.sin(2 * np.pi * 0.3 * t)
    motion = bone_motion(skeleton_of(tree, q, RATE, legs=True))
    x = motion.low_passed(6.0).position("Hips")[100:500, 0]
    fast = x - 0.2 * np.sin(2 * np.pi * 0.3 * t[100:500])
    np.testing.assert_allclose(fast, 0.025 * np.sin(2 * np.pi * 6.0 * t[100:500]), atol=2e-4)
    turn = bone_motion(skeleton_of(tree, np.tile(tree.home, (40, 1)), RATE, legs=True))
    np.testing.assert_allclose(turn.low_passed(6.0).rotations, turn.rotations, atol=1e-12)
    assert motion.low_passed(np.inf) is motion
    with pytest.raises(BadInput, match="low-pass at 0"):
        motion.low_passed(0.0)


def test_bad_root_motion_is_refused(marionette, tree, skeleton_of):
    clip = person(skeleton_of, tree, gently(tree, 1, 40))
    with pytest.raises(BadInput, match="root motion of -1"):
        retarget(clip, marionette, root_motion=-1.0)


@pytest.mark.shared
@pytest.mark.parametrize("name", ["18_15", "02_05", "18_11"])
def test_real_recordings_on_the_marionette(data, marionette, tree, name):
    """Within 0.1 cm of the targets; and, found independently of them, limbs point in the world as the person's do.

    Up to the heading all directions d_i are told by their heights and by the angles between them, d_i . d_j.
    """
    clip = read_bvh((data / f"cmu_{name}.bvh").read_bytes(), file=name)
    skeleton = clip.skeleton
    clip = clip.changed(skeleton=replace(skeleton, translations=skeleton.translations[:700], rotations=skeleton.rotations[:700]))
    smooth = retarget(clip, marionette, rate=100.0)
    assert smooth.report.status.good
    assert smooth.report.dropped_first_frame
    assert max(error.rms for error in smooth.report.targets) < 2e-4
    assert max(error.worst for error in smooth.report.targets) < 1.2e-3
    curves = smooth.clip.joints
    assert np.abs(np.diff(curves.values, axis=0)).max() * curves.rate < 15.0
    assert max(np.abs(curves.column(middle)).max() for middle in middle_angles(marionette)) < 1.3
    np.testing.assert_allclose(curves.values[0, :3], tree.home[:3], atol=1e-4)
    raw = retarget(clip, marionette, low_pass=np.inf).clip.joints
    bones = bone_motion(dropped_first(clip.skeleton))
    poses = [tree.configuration(q) for q in raw.values[::10]]
    ours, theirs = [], []
    for side, s in LIMBS:
        for a, b, c in (("Arm", "ForeArm", "Hand"), ("UpLeg", "Leg", "Foot")):
            frames = [f"{s}_{part}" for part in (("shoulder", "elbow", "hand") if a == "Arm" else ("hip", "knee", "foot"))]
            for (start, end), (p, e) in zip(((a, b), (b, c)), ((0, 1), (1, 2)), strict=True):
                theirs.append((bones.position(side + end) - bones.position(side + start))[::10])
                ours.append(np.array([one.pose(frames[e])[1] - one.pose(frames[p])[1] for one in poses]))
    d, w = (np.array([part / np.linalg.norm(part, axis=1, keepdims=True) for part in parts]) for parts in (ours, theirs))
    np.testing.assert_allclose(d[..., 2], w[..., 2], atol=0.02)
    np.testing.assert_allclose(np.einsum("ima,jma->mij", d, d), np.einsum("ima,jma->mij", w, w), atol=0.03)
