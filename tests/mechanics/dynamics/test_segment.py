"""The contract of a segment: its checker, and the compiled recursion against it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import pytest
from segments import HingeSegment, Segment, SlideSegment, check_segment

from bunraku.mechanics.dynamics import lagrangian_kernels as kernels
from bunraku.mechanics.dynamics import lagrangian_layout as layout
from bunraku.mechanics.dynamics.system import build_system

AXIS = (0.48, -0.6, 0.64)


@dataclass(frozen=True)
class Universal(Segment):
    """Two hinges, z then x, as one segment: its second screw turns with the first coordinate."""

    error: float = 0.0
    count = 2

    def pose(self, q):
        return HingeSegment((0.0, 0.0, 1.0)).pose(q[:1])[0] @ HingeSegment((1.0, 0.0, 0.0)).pose(q[1:])[0], np.zeros(3)

    def screws(self, q):
        x = [np.cos(q[0]), np.sin(q[0]) + self.error, 0.0]
        return np.array([[0.0, 0.0, 1.0, 0.0, 0.0, 0.0], [*x, 0.0, 0.0, 0.0]])

    def screw_rates(self, q, v):
        return np.array([np.zeros(6), [-np.sin(q[0]) * v[0], np.cos(q[0]) * v[0], 0.0, 0.0, 0.0, 0.0]])


@pytest.mark.parametrize("segment", [HingeSegment(AXIS), SlideSegment(AXIS), Universal()])
def test_screws_are_derivatives_of_the_pose(segment) -> None:
    rng = np.random.default_rng(0)
    first, second = check_segment(segment, rng.normal(size=segment.count), rng.normal(size=segment.count))
    assert first.holds
    assert second.holds


def test_a_wrong_screw_is_seen() -> None:
    assert not check_segment(Universal(error=1e-3), [0.3, 0.5], [1.0, 0.7])[0].holds


def test_the_kernel_moves_segments_as_the_contract_says(random_tree) -> None:
    tree = random_tree(3, coupled=False)
    system = build_system(tree)
    model = system.model
    q = np.random.default_rng(1).normal(size=7)
    W = np.empty((len(model.node_i), layout.WORK))
    kernels.kinematics(model.node_i, model.node_f, q, W)
    for i, row in enumerate(model.node_i):
        parent, kind, c = row[layout.PARENT], row[layout.KIND], row[layout.COORDINATE]
        R, p = (W[parent, :9].reshape(3, 3), W[parent, 9:12]) if parent >= 0 else (np.eye(3), np.zeros(3))
        E, r = model.node_f[i, 2:11].reshape(3, 3), model.node_f[i, 11:14]
        B, b = R @ E, p + R @ r
        segment = (HingeSegment if kind == layout.HINGE else SlideSegment)(tuple(np.eye(3)[row[layout.AXIS]]))
        sign = model.node_f[i, layout.RATIO]
        turn, move = segment.pose(sign * q[c : c + 1])
        np.testing.assert_allclose(W[i, :9].reshape(3, 3), B @ turn, atol=1e-14)
        np.testing.assert_allclose(W[i, 9:12], b + B @ move, atol=1e-14)
        T = sign * segment.screws(q[c : c + 1])[0]
        w = B @ T[:3]
        np.testing.assert_allclose(W[i, 12:15], w, atol=1e-14)
        np.testing.assert_allclose(W[i, 15:18], B @ T[3:] + np.cross(b, w), atol=1e-14)
