"""A small symmetric character with two arms and a head, and its own motion as a captured skeleton."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pytest

from bunraku.character import Body, Character, Coupling, DependentRange, Frame, Joint, Motor, Pose
from bunraku.mechanics.tree import Tree, compile_tree
from bunraku.motion import Clip, SkeletonMotion

BONES = {
    "Hips": ("pelvis", ""),
    "Spine1": ("torso", "Hips"),
    "Head": ("head", "Spine1"),
    "LeftArm": ("l_shoulder", "Spine1"),
    "LeftForeArm": ("l_elbow", "LeftArm"),
    "LeftHand": ("l_hand", "LeftForeArm"),
    "RightArm": ("r_shoulder", "Spine1"),
    "RightForeArm": ("r_elbow", "RightArm"),
    "RightHand": ("r_hand", "RightForeArm"),
}
LEGS = {
    "LeftUpLeg": ("l_hip", "Hips"),
    "LeftLeg": ("l_knee", "LeftUpLeg"),
    "LeftFoot": ("l_foot", "LeftLeg"),
    "RightUpLeg": ("r_hip", "Hips"),
    "RightLeg": ("r_knee", "RightUpLeg"),
    "RightFoot": ("r_foot", "RightLeg"),
}


def make_puppet(*, velocity: float = 8.0, waist: bool = False) -> Character:
    """Arms of five hinges as a NAO's, stretched forward at zero; the head's pitch range depends on its yaw."""
    joints = [
        Joint(name="stand", kind="fixed", parent="world", child="pelvis", pose=Pose(position=(0, 0, 0.3))),
        Joint(name="waist", kind="hinge" if waist else "fixed", parent="pelvis", child="torso", axis=(0, 0, 1)),
        Joint(name="head_yaw", kind="hinge", parent="torso", child="neck", pose=Pose(position=(0, 0, 0.13)), range=(-2, 2)),
        Joint(name="head_pitch", kind="hinge", parent="neck", child="head", axis=(0, 1, 0), range=(-0.7, 0.5)),
    ]
    frames = [Frame(name=name, body=name) for name in ("torso", "pelvis", "head")]
    for side, s in (("l", 1.0), ("r", -1.0)):
        at = [(0, 0.1 * s, 0.1), (0, 0, 0), (0.1, 0.015 * s, 0), (0, 0, 0), (0.06, 0, 0)]
        turns = [(0, 1, 0), (0, 0, 1), (1, 0, 0), (0, 0, 1), (1, 0, 0)]
        ranges = [(-2.1, 2.1), (-0.4, 1.4), (-2.1, 2.1), (-1.8, -0.03), (-1.8, 1.8)]
        parent = "torso"
        for i, name in enumerate(("shoulder_pitch", "shoulder_roll", "elbow_yaw", "elbow_roll", "wrist")):
            mirrored = s < 0 and i != 0
            joints.append(
                Joint(
                    name=f"{side}_{name}",
                    kind="hinge",
                    parent=parent,
                    child=f"{side}_{name}_body",
                    axis=turns[i],
                    pose=Pose(position=at[i]),
                    range=tuple(sorted(-r for r in ranges[i])) if mirrored else ranges[i],
                )
            )
            parent = f"{side}_{name}_body"
        frames += [
            Frame(name=f"{side}_shoulder", body=f"{side}_shoulder_pitch_body"),
            Frame(name=f"{side}_elbow", body=f"{side}_elbow_yaw_body"),
            Frame(name=f"{side}_hand", body=f"{side}_wrist_body", pose=Pose(position=(0.05, 0, 0))),
        ]
    hinges = [joint.name for joint in joints if joint.kind == "hinge"]
    knots = ((-2.0, -0.3, 0.2), (0.0, -0.7, 0.5), (2.0, -0.3, 0.2))
    return Character(
        name="puppet",
        bodies=tuple(Body(name=joint.child) for joint in joints),
        joints=tuple(joints),
        motors=tuple(Motor(name=name, coordinate=name, velocity=velocity) for name in hinges),
        dependent_ranges=(DependentRange(coordinate="head_pitch", on="head_yaw", knots=knots),),
        frames=tuple(frames),
    )


def as_skeleton(tree: Tree, q: np.ndarray, rate: float, legs: bool = False) -> SkeletonMotion:
    """The character's own motion as a skeleton whose bones have the axes of its frames; at rest as at zero."""
    bones = BONES | LEGS if legs else BONES
    names = tuple(bones)

    def world(values: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        found = [tree.configuration(row) for row in values]
        poses = [[one.pose(frame) for frame, _ in bones.values()] for one in found]
        return np.array([[p[0] for p in row] for row in poses]), np.array([[p[1] for p in row] for row in poses])

    def local(R: np.ndarray, p: np.ndarray) -> tuple[np.ndarray, np.ndarray]:
        turns, moves = R.copy(), p.copy()
        for b, (_, parent) in enumerate(bones.values()):
            if parent:
                a = names.index(parent)
                turns[:, b] = np.swapaxes(R[:, a], 1, 2) @ R[:, b]
                moves[:, b] = np.einsum("mba,mb->ma", R[:, a], p[:, b] - p[:, a])
        return turns, moves

    turns, moves = local(*world(q))
    _, offsets = local(*world(np.zeros((1, tree.nq))))
    parents = tuple(-1 if not parent else names.index(parent) for _, parent in bones.values())
    return SkeletonMotion(names, parents, offsets[0], rate, moves, turns, {})


def smooth_motion(tree: Tree, seed: int, frames: int, rate: float) -> np.ndarray:
    """Slow sines about the middle of each range, elbows bent, amplitudes well inside."""
    generator = np.random.default_rng(seed)
    character = make_puppet()
    ranges = {axis.name: axis.range or (-0.4, 0.4) for axis in character.axes}
    t = np.arange(frames) / rate
    q = np.zeros((frames, tree.nq))
    for j, name in enumerate(tree.names):
        low, high = ranges.get(name, (-0.4, 0.4))
        low, high = (-0.25, 0.15) if name == "head_pitch" else (low, high)
        middle, size = 0.5 * (low + high), 0.2 * (high - low)
        q[:, j] = middle + size * np.sin(2 * np.pi * generator.uniform(0.2, 0.5) * t + generator.uniform(0, 6))
    return q


@pytest.fixture(scope="session")
def puppet() -> Character:
    return make_puppet()


@pytest.fixture(scope="session")
def puppet_maker() -> Callable[..., Character]:
    return make_puppet


@pytest.fixture(scope="session")
def captured(puppet: Character) -> tuple[Clip, np.ndarray]:
    """A clip of the puppet's own motion at 50 Hz, and the joint angles it was made from."""
    tree = compile_tree(puppet)
    q = smooth_motion(tree, 3, 100, 50.0)
    return Clip("own motion", skeleton=as_skeleton(tree, q, 50.0)), q


@pytest.fixture(scope="session")
def skeleton_of() -> Callable[..., SkeletonMotion]:
    return as_skeleton


@pytest.fixture(scope="session")
def motion_of() -> Callable[..., np.ndarray]:
    return smooth_motion


@pytest.fixture(scope="session")
def coupled_arm() -> Character:
    """Two links of 1 m in a plane, the second hinge turned by the first's motor: q2 = -2 q1 + 0.3; and one fixed beyond."""
    return Character(
        name="scissors",
        bodies=(Body(name="upper"), Body(name="lower")),
        joints=(
            Joint(name="q1", kind="hinge", parent="world", child="upper"),
            Joint(name="q2", kind="hinge", parent="upper", child="lower", pose=Pose(position=(1, 0, 0))),
        ),
        couplings=(Coupling(driver="q1", follower="q2", ratio=-2.0, offset=0.3),),
        motors=(Motor(name="m", coordinate="q1"),),
        frames=(Frame(name="tip", body="lower", pose=Pose(position=(1, 0, 0))),),
    )
