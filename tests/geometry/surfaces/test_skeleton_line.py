"""Skeleton lines: a Y has three leaves and one branch, a quadruped six leaves; scale and fineness do not matter."""

from __future__ import annotations

import numpy as np
import pytest

from _surfaces import RoundLimb, limb_surface, quadruped_limbs, random_quadruped, torus
from bunraku.geometry.surfaces.contraction import contracted
from bunraku.geometry.surfaces.distance import inside
from bunraku.geometry.surfaces.skeleton_line import SkeletonLine, coarser, skeleton_line
from bunraku.geometry.surfaces.surface import Surface

pytest.importorskip("igl")
TIPS = np.array([[0.3, 0.0, 0.0], [-0.2, 0.22, 0.0], [-0.15, -0.2, 0.1]])


@pytest.fixture(scope="module")
def fork() -> Surface:
    limbs = [RoundLimb(np.stack([np.zeros(3), tip]), np.array([0.04, 0.03])) for tip in TIPS]
    return limb_surface(limbs, spacing=0.012, blend=0.03)


def test_contraction_leaves_no_volume_and_keeps_the_length(fork: Surface) -> None:
    thin = contracted(fork)
    assert thin.volume < 1e-6
    assert thin.steps < 40
    for tip in TIPS:
        assert np.linalg.norm(thin.vertices - tip, axis=1).min() < 0.02


def test_contraction_does_not_depend_on_the_unit(fork: Surface) -> None:
    coarse = coarser(fork, 1500)
    one, other = contracted(coarse), contracted(coarse.moved(lambda points: 1000.0 * points))
    assert one.steps == other.steps
    np.testing.assert_allclose(other.vertices / 1000.0, one.vertices, atol=1e-4)


def check_fork(line: SkeletonLine) -> None:
    assert (len(line.leaves), len(line.branches), len(line.edges)) == (3, 1, len(line.nodes) - 1)
    assert np.linalg.norm(line.nodes[line.branches[0]]) < 0.04
    for tip in TIPS:
        assert np.linalg.norm(line.nodes[line.leaves] - tip, axis=1).min() < 0.02
    along = line.nodes[(line.degree == 2)]
    off = np.min([np.linalg.norm(along - np.clip(along @ t / (t @ t), 0, 1)[:, None] * t, axis=1) for t in TIPS], axis=0)
    assert off.max() < 0.3 * 0.04


def test_a_fork_has_three_leaves_and_one_branch(fork: Surface) -> None:
    line = skeleton_line(fork)
    check_fork(line)
    limbs = line.limbs()
    assert len(limbs) == 3
    assert all(path[0] == line.branches[0] and path[-1] in line.leaves for path in limbs)
    assert sum(len(path) - 1 for path in limbs) == len(line.edges)
    for node, radius in zip(line.nodes[line.degree == 2], line.radius[line.degree == 2], strict=True):
        share = np.linalg.norm(node) / 0.3
        assert radius == pytest.approx(0.04 - 0.01 * share, abs=0.012)


def test_a_coarser_surface_gives_the_same_line(fork: Surface) -> None:
    check_fork(skeleton_line(fork, faces=1200))


def test_a_tube_has_two_leaves_and_a_ring_none() -> None:
    tube = skeleton_line(
        limb_surface([RoundLimb(np.array([[0, 0, 0], [0.5, 0, 0.0]]), np.array([0.05, 0.05]))], spacing=0.015, blend=0.01)
    )
    assert (len(tube.leaves), len(tube.branches), len(tube.edges)) == (2, 0, len(tube.nodes) - 1)
    assert np.abs(tube.nodes[:, 1:]).max() < 0.005
    ring = skeleton_line(torus(0.3, 0.06, 50, 18))
    assert (len(ring.leaves), len(ring.branches), len(ring.edges)) == (0, 0, len(ring.nodes))
    np.testing.assert_allclose(np.linalg.norm(ring.nodes, axis=1), 0.3, atol=0.2 * 0.06)


def test_a_bump_is_no_limb() -> None:
    """What reaches less far from the axis than the tube is thick is dropped; what reaches further is a limb."""
    tube = RoundLimb(np.array([[0, 0, 0], [0.5, 0, 0.0]]), np.array([0.05, 0.05]))
    for height, leaves in ((0.06, 2), (0.25, 3)):
        bump = RoundLimb(np.array([[0.25, 0, 0], [0.25, 0, height]]), np.array([0.03, 0.025]))
        line = skeleton_line(limb_surface([tube, bump], spacing=0.013, blend=0.01), length=0.02)
        assert len(line.leaves) == leaves


@pytest.mark.parametrize("seed", [11, 103])
def test_a_quadruped_has_four_feet_a_head_and_a_tail(seed: int) -> None:
    surface = random_quadruped(seed, spacing=0.01)
    line = skeleton_line(surface, faces=4000)
    assert (len(line.leaves), len(line.branches), len(line.edges)) == (6, 2, len(line.nodes) - 1)
    assert inside(surface, line.nodes).mean() > 0.95
    leaves = line.nodes[line.leaves]
    for name, limb in quadruped_limbs(seed).items():
        if name != "torso":
            assert np.linalg.norm(leaves - limb.points[-1], axis=1).min() < 0.03, name
