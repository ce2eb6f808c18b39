"""A character compiled to flat arrays: one kinematic tree in generalized coordinates, model as data.

Node i is a body or one axis of a joint with several; ``parent[i] < i`` (-1: the world). Its frame is the parent's, moved by
the constant pose (``fixed_rotation[i]``, ``fixed_position[i]``), then turned about or slid along ``axis[i]`` (in that frame)
by the coordinate ``q[coordinate[i]]``. Coupled coordinates are expanded by :meth:`Tree.expand`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, Pose
from bunraku.errors import BadInput
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.tree import tree_kernels as kernels

Indices = NDArray[np.int64]


@dataclass(frozen=True)
class Tree:
    """The arrays. ``nodes[name]`` is the node carrying a body; masses and inertias belong to body nodes."""

    names: tuple[str, ...]
    nodes: dict[str, int]
    parent: Indices
    kind: Indices
    coordinate: Indices
    fixed_rotation: Array
    fixed_position: Array
    axis: Array
    mass: Array
    center_of_mass: Array
    inertia: Array
    frames: dict[str, tuple[int, Array, Array]]
    home: Array
    couplings: tuple[tuple[int, int, float, float], ...]

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def arrays(self) -> kernels.TreeArrays:
        """What the recursions take first."""
        return kernels.TreeArrays(self.parent, self.kind, self.coordinate, self.fixed_rotation, self.fixed_position, self.axis)

    def index(self, coordinate: str) -> int:
        """Where a coordinate stands in ``q``."""
        return self.names.index(coordinate)

    def node(self, name: str) -> tuple[int, Array, Array]:
        """Node, local position (3,) and local rotation (3, 3) of a frame or body of that name."""
        if name in self.frames:
            return self.frames[name]
        if name in self.nodes:
            return self.nodes[name], np.zeros(3), np.eye(3)
        known = ", ".join(sorted(self.frames) or sorted(self.nodes))
        raise BadInput(f"there is no frame or body {name!r}; frames are {known[:300]}")

    def expand(self, names: tuple[str, ...], values: Array, base: Array | None = None) -> Array:
        """Full configurations (m, nq) from curves of some coordinates: the rest at ``base`` (home), followers following."""
        q = np.tile(self.home if base is None else base, (len(values), 1))
        place = {name: i for i, name in enumerate(self.names)}
        for j, name in enumerate(names):
            if name not in place:
                raise BadInput(f"the character has no coordinate {name!r}; it has {', '.join(self.names[:12])}")
            q[:, place[name]] = values[:, j]
        for driver, follower, ratio, offset in self.couplings:
            q[:, follower] = ratio * q[:, driver] + offset
        return q

    def configuration(self, q: Array) -> Configuration:
        """Forward kinematics at ``q`` (nq,)."""
        n = len(self.parent)
        rotation, position, world_axis = np.empty((n, 3, 3)), np.empty((n, 3)), np.empty((n, 3))
        kernels.forward_kinematics(self.arrays, np.ascontiguousarray(q, dtype=np.float64), rotation, position, world_axis)
        return Configuration(self, np.array(q, dtype=np.float64), rotation, position, world_axis)

    def poses(self, q: Array) -> tuple[Array, Array]:
        """World rotations (m, n, 3, 3) and positions (m, n, 3) of all nodes at configurations ``q`` (m, nq)."""
        n = len(self.parent)
        rotation, position = np.empty((len(q), n, 3, 3)), np.empty((len(q), n, 3))
        kernels.forward_kinematics_many(self.arrays, np.ascontiguousarray(q, dtype=np.float64), rotation, position)
        return rotation, position


@dataclass(frozen=True)
class Configuration:
    """A tree at one configuration: forward kinematics has been run."""

    tree: Tree
    q: Array
    rotation: Array
    position: Array
    world_axis: Array

    def pose(self, name: str) -> tuple[Array, Array]:
        """World rotation (3, 3) and position (3,) of a body or frame."""
        node, local, turn = self.tree.node(name)
        return self.rotation[node] @ turn, self.position[node] + self.rotation[node] @ local

    def jacobian(self, name: str) -> tuple[Array, Array]:
        """Linear and angular velocity Jacobians (3, nq each), in world axes, of a body's or frame's origin."""
        node, local, _ = self.tree.node(name)
        linear, angular = np.empty((3, self.tree.nq)), np.empty((3, self.tree.nq))
        point = self.position[node] + self.rotation[node] @ local
        kernels.point_jacobian(self.tree.arrays, self.position, self.world_axis, node, point, linear, angular)
        return linear, angular

    def center_of_mass(self) -> Array:
        """World centre of mass (3,) of the whole character."""
        out = np.empty(3)
        kernels.center_of_mass(self.tree.mass, self.tree.center_of_mass, self.rotation, self.position, out)
        return out


def rotation_of(pose: Pose) -> Array:
    """The rotation matrix of a pose's quaternion."""
    return matrix_of_quaternion(pose.quaternion)


def compile_tree(character: Character) -> Tree:
    """Flatten a character into tree arrays; joints keep their order of coordinates, nodes are sorted parents first."""
    names = character.coordinates
    place = {name: i for i, name in enumerate(names)}
    bodies = {body.name: body for body in character.bodies}
    waiting = list(character.joints)
    nodes: dict[str, int] = {WORLD: -1}
    rows: list[tuple[int, int, int, Array, Array, Array, str]] = []
    while waiting:
        later = []
        for joint in waiting:
            if joint.parent not in nodes:
                later.append(joint)
                continue
            at, turn, move = nodes[joint.parent], rotation_of(joint.pose), np.array(joint.pose.position)
            axes = joint.axes
            for i, axis in enumerate(axes):
                code = kernels.HINGE if axis.kind == "hinge" else kernels.SLIDE
                rows.append(
                    (at, code, place[axis.name], turn, move, np.array(axis.direction), joint.child if i == len(axes) - 1 else "")
                )
                at, turn, move = len(rows) - 1, np.eye(3), np.zeros(3)
            if not axes:
                rows.append((at, kernels.FIXED, -1, turn, move, np.array([0.0, 0.0, 1.0]), joint.child))
            nodes[joint.child] = len(rows) - 1
        waiting = later
    del nodes[WORLD]
    n = len(rows)
    mass, com, inertia = np.zeros(n), np.zeros((n, 3)), np.zeros((n, 3, 3))
    for name, node in nodes.items():
        body = bodies[name]
        xx, yy, zz, xy, xz, yz = body.inertia
        mass[node], com[node] = body.mass, body.center_of_mass
        inertia[node] = [[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]
    frames = {
        frame.name: (nodes[frame.body], np.array(frame.pose.position), rotation_of(frame.pose))
        for frame in character.frames
        if frame.body != WORLD
    }
    home = np.array([character.home.get(name, 0.0) for name in names])
    couplings = tuple((place[c.driver], place[c.follower], c.ratio, c.offset) for c in character.couplings)
    for driver, follower, ratio, offset in couplings:
        home[follower] = ratio * home[driver] + offset
    return Tree(
        names,
        nodes,
        np.array([row[0] for row in rows], dtype=np.int64),
        np.array([row[1] for row in rows], dtype=np.int64),
        np.array([row[2] for row in rows], dtype=np.int64),
        np.array([row[3] for row in rows]),
        np.array([row[4] for row in rows]),
        np.array([row[5] for row in rows]),
        mass,
        com,
        inertia,
        frames,
        home,
        couplings,
    )
