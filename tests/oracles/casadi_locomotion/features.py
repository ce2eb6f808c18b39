"""What the rows of a sample are made of, as CasADi functions of its coordinates: the places and directions of everything.

A sample is s = (q, f, y): coordinates (nq), ground forces (3 ne), features y = K(q): x the centre of mass; c and R (principal axes)
of each lump; A the axis and O the place of each joint; C the centre and a the axle of each end effector, and R of the ball feet.
"""

from __future__ import annotations

from dataclasses import dataclass

import casadi as ca  # noqa: TID253
import numpy as np

from casadi_locomotion.data import Robot


@dataclass
class Sample:
    """One sample taken apart. Lists run over lumps, joints, effectors."""

    q: ca.SX
    f: list[ca.SX]
    x: ca.SX
    c: list[ca.SX]
    R: list[ca.SX]
    A: list[ca.SX]
    O: list[ca.SX]  # noqa: E741
    C: list[ca.SX]
    a: list[ca.SX]
    b: list[ca.SX]
    base: ca.SX


class Features:
    """The map K and the layout of a sample. ``turned``: principal axes of each lump in its node, ``squares`` its moments."""

    def __init__(self, robot: Robot) -> None:
        self.robot = robot
        self.turned, self.squares = [], []
        for S in robot.lump_moment:
            s, V = np.linalg.eigh(S)
            self.squares.append(s)
            self.turned.append(V * np.sign(np.linalg.det(V)))
        self.beside = [_beside(axle) for axle in robot.axle]
        q = ca.SX.sym("q", robot.nq)
        self.y = ca.Function("K", [q], [self._features(q)])
        self.ny = self.y.size1_out(0)
        self.ns = robot.nv + self.ny

    def _features(self, q: ca.SX) -> ca.SX:
        robot, tree = self.robot, self.robot.tree
        R: list[ca.SX] = []
        p: list[ca.SX] = []
        axis: list[ca.SX] = []
        for i, up in enumerate(tree.parent):
            E, r = ca.DM(tree.fixed_rotation[i]), ca.DM(tree.fixed_position[i])
            base, at = (E, r) if up < 0 else (R[up] @ E, p[up] + R[up] @ r)
            k = robot.coordinate[i]
            angle = q[k] if k >= 0 else robot.frozen[i]
            axis.append(base @ ca.DM(tree.axis[i]))
            R.append(base @ _turn(tree.axis[i], angle) if tree.kind[i] == 1 else base)
            p.append(at + axis[i] * angle if tree.kind[i] == 2 else at)
        parts: list[ca.SX] = []
        x = ca.SX(3, 1)
        for node, m, c in zip(robot.lump_node, robot.lump_mass, robot.lump_center, strict=True):
            x += m / robot.mass * (p[node] + R[node] @ ca.DM(c))
        parts.append(x)
        for node, c, V in zip(robot.lump_node, robot.lump_center, self.turned, strict=True):
            parts += [p[node] + R[node] @ ca.DM(c), ca.vec(R[node] @ ca.DM(V))]
        for node in robot.joint_node:
            parts += [axis[node], p[node]]
        for node, C, a, b, tip in zip(robot.tip_node, robot.center, robot.axle, self.beside, robot.effectors, strict=True):
            parts += [p[node] + R[node] @ ca.DM(C)]
            if tip.kind == "ball":
                parts += [ca.vec(R[node])]
            else:
                parts += [R[node] @ ca.DM(a), R[node] @ ca.DM(b)]
        parts.append(p[robot.base])
        return ca.vertcat(*parts)

    def sample(self, s: ca.SX) -> Sample:
        """Take a vector s (ns) apart."""
        robot, at = self.robot, 0

        def take(count: int) -> ca.SX:
            nonlocal at
            at += count
            return s[at - count : at]

        q = take(robot.nq)
        f = [take(3) for _ in range(robot.ne)]
        x = take(3)
        c, R, A, O, C, a, b = [], [], [], [], [], [], []  # noqa: E741
        for _ in robot.lump_node:
            c.append(take(3))
            R.append(ca.reshape(take(9), 3, 3))
        for _ in robot.joint_node:
            A.append(take(3))
            O.append(take(3))
        for tip in robot.effectors:
            C.append(take(3))
            a.append(ca.reshape(take(9), 3, 3) if tip.kind == "ball" else take(3))
            b.append(ca.SX(3, 1) if tip.kind == "ball" else take(3))
        return Sample(q, f, x, c, R, A, O, C, a, b, take(3))


def _turn(axis: np.ndarray, angle: ca.SX) -> ca.SX:
    s, c = ca.sin(angle), ca.cos(angle)
    x, y, z = (float(part) for part in axis)
    K = ca.DM(np.array([[0.0, -z, y], [z, 0.0, -x], [-y, x, 0.0]]))
    return ca.DM.eye(3) + s * K + (1.0 - c) * (K @ K)


def _beside(axle: np.ndarray) -> np.ndarray:
    """A unit vector across the axle: the mark on the wheel that tells its spin."""
    other = np.eye(3)[int(np.argmin(np.abs(axle)))]
    across = np.cross(axle, other)
    return across / np.linalg.norm(across)
