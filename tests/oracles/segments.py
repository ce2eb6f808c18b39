"""What connects a parent to a child: the contract that hinges and slides keep, and flexible parts (`flexible/`) too.

A segment starts at a base frame B (parent pose and constant transform) and ends at a child frame C. The recursions of
`lagrangian_kernels.py` see nothing of it but, for each of its coordinates a, a screw and the rate of that screw; everything
beyond C moves with them.

To write a segment:

1. Give ``pose``, ``screws`` and ``screw_rates`` as formulas in the base frame, and let :func:`check_segment` judge them.
2. Put the same formulas into the kernels, one row (slot) per coordinate: S_a = world(T_a), Sdot_a = [V_B, S_a] + world(T_a').
   Rigid joints (``move_segment``) have T' = 0; flexible segments stand in `flexible/recursion`.
3. A segment whose own mass moves with its coordinates adds to A_a, B_a, d_a the momentum per unit rate Pi_a, its derivative b_a
   and the first moment N_a, and for pairs inside one segment the terms of its second derivatives; all other pairs are unchanged
   (`flexible/hessian`).
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.optimization.derivative_check import SlopeReport, check_jacobian

Vector = tuple[float, float, float]


class Segment(ABC):
    """A connection with ``count`` coordinates; all quantities in the base frame."""

    count: int

    @abstractmethod
    def pose(self, q: Array) -> tuple[Array, Array]:
        """Rotation (3, 3) and position (3,) of the child frame in the base frame at coordinates q (count,)."""

    @abstractmethod
    def screws(self, q: Array) -> Array:
        """T (count, 6): twist (angular; linear at the base origin) of the child frame per unit rate of each coordinate."""

    @abstractmethod
    def screw_rates(self, q: Array, v: Array) -> Array:
        """T' (count, 6): derivative of the screws along the velocity v (count,)."""


@dataclass(frozen=True)
class HingeSegment(Segment):
    """Turns about a unit ``axis`` through the base origin."""

    axis: Vector
    count = 1

    def pose(self, q: Array) -> tuple[Array, Array]:
        """Rodrigues' rotation; the origin stays."""
        a = np.array(self.axis)
        K = np.array([[0.0, -a[2], a[1]], [a[2], 0.0, -a[0]], [-a[1], a[0], 0.0]])
        return np.eye(3) + np.sin(q[0]) * K + (1.0 - np.cos(q[0])) * (K @ K), np.zeros(3)

    def screws(self, q: Array) -> Array:
        """(axis; 0)."""
        return np.array([[*self.axis, 0.0, 0.0, 0.0]])

    def screw_rates(self, q: Array, v: Array) -> Array:
        """Zero: the axis is fixed in the base."""
        return np.zeros((1, 6))


@dataclass(frozen=True)
class SlideSegment(Segment):
    """Slides along a unit ``axis``."""

    axis: Vector
    count = 1

    def pose(self, q: Array) -> tuple[Array, Array]:
        """No turn; the origin moves along the axis."""
        return np.eye(3), q[0] * np.array(self.axis)

    def screws(self, q: Array) -> Array:
        """(0; axis)."""
        return np.array([[0.0, 0.0, 0.0, *self.axis]])

    def screw_rates(self, q: Array, v: Array) -> Array:
        """Zero."""
        return np.zeros((1, 6))


def check_segment(segment: Segment, q: ArrayLike, v: ArrayLike, *, seed: int = 0) -> tuple[SlopeReport, SlopeReport]:
    """Whether the screws are the derivative of the pose, and the rates that of the screws along v: two slope tests at q."""
    q, v = np.asarray(q, dtype=np.float64), np.asarray(v, dtype=np.float64)

    def pose(x: Array) -> Array:
        R, p = segment.pose(x)
        return np.concatenate([R.ravel(), p])

    def pose_jacobian(x: Array) -> Array:
        R, p = segment.pose(x)
        columns = []
        for T in segment.screws(x):
            w, u = T[:3], T[3:]
            columns.append(np.concatenate([np.cross(w, R, axisb=0, axisc=0).ravel(), u + np.cross(w, p)]))
        return np.array(columns).T

    def along(t: Array) -> Array:
        return segment.screws(q + t[0] * v).ravel()

    first = check_jacobian(pose, pose_jacobian, q, seed=seed)
    second = check_jacobian(along, lambda t: segment.screw_rates(q + t[0] * v, v).reshape(-1, 1), np.zeros(1), seed=seed)
    return first, second
