"""The solids of a character as instances of a few unit shapes, so that each kind of shape is sent to the screen once.

A unit shape stretched by a scale, then placed, is a solid: 'box' (half lengths 1), 'ball' (radius 1), 'tube' (a cylinder of radius
1 and half height 1 along z). A capsule is a tube and two balls. A shape whose mesh is a file is a kind of its own, 'mesh:FILE'.
"""

from __future__ import annotations

from collections.abc import Collection, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Body, Character, EndEffector, Pose, Shape
from bunraku.errors import BadInput
from bunraku.formats.contact_shapes import contact_shape
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.poses import Rigid, compose
from bunraku.geometry.rotations import least_turn, quaternion_of_matrix
from bunraku.mechanics.tree import compile_tree

Indices = NDArray[np.int64]
Color = tuple[float, float, float, float]

TIP_COLOR: Color = (0.25, 0.25, 0.28, 1.0)
"""Of an end effector that no shape of its body shows."""

CARRIAGE_COLOR: Color = (0.35, 0.36, 0.40, 1.0)
"""Of the carriages that hold strings."""


@dataclass(frozen=True)
class Solids:
    """All solids of one kind: ``body`` (n,) into :func:`body_names`, the pose X_BS of each in its body's frame, scale and color.

    ``position`` (n, 3) [m], ``quaternion`` (n, 4) (w, x, y, z), ``scale`` (n, 3) [m, or of a mesh's own units], ``color`` (n, 4)
    red, green, blue, opacity, from 0 to 1. A point u of the unit shape is at position + R(quaternion) (scale u).
    """

    body: Indices
    position: Array
    quaternion: Array
    scale: Array
    color: Array

    def __len__(self) -> int:
        return len(self.body)


Instance = tuple[str, int, Rigid, tuple[float, float, float], Color]


def body_names(character: Character) -> tuple[str, ...]:
    """What is posed: the bodies of a character, then its carriages."""
    return (*(body.name for body in character.bodies), *(carriage.name for carriage in character.carriages))


def solids_of(character: Character, *, meshes: Sequence[str] = ()) -> dict[str, Solids]:
    """The solids of a character, by kind.

    ``meshes``: the files of mesh shapes that are at hand; other mesh shapes are left out. Bodies that would not be seen get sticks
    to their children; end effectors that no shape shows get what touches the ground; carriages get a box.
    """
    instances: list[Instance] = []
    place = {name: i for i, name in enumerate(body_names(character))}
    seen: set[str] = set()
    for body in character.bodies:
        shapes = [shape for shape in body.shapes if shape.kind != "mesh" or shape.file in meshes]
        for shape in shapes:
            instances += _instances(place[body.name], shape)
        for tip in character.end_effectors:
            if tip.body == body.name and not _shown(body, tip):
                instances += _instances(place[body.name], contact_shape(tip).changed(color=TIP_COLOR))
        if shapes:
            seen.add(body.name)
    size = home_size(character)
    for name, shape in sticks_of(character, seen, size):
        instances += _instances(place[name], shape)
    for carriage in character.carriages:
        half = 0.4 * carriage.separation or 0.02 * size
        instances.append(("box", place[carriage.name], (np.eye(3), np.zeros(3)), (half, half, 0.5 * half), CARRIAGE_COLOR))
    return {kind: _gathered([one for one in instances if one[0] == kind]) for kind in dict.fromkeys(one[0] for one in instances)}


def _instances(body: int, shape: Shape) -> list[Instance]:
    """A shape as one or more instances of unit shapes."""
    X_BS, size, color = of_pose(shape.pose), shape.size, shape.color
    match shape.kind:
        case "box":
            return [("box", body, X_BS, (size[0], size[1], size[2]), color)]
        case "sphere":
            return [("ball", body, X_BS, (size[0],) * 3, color)]
        case "ellipsoid":
            return [("ball", body, X_BS, (size[0], size[1], size[2]), color)]
        case "cylinder":
            return [("tube", body, X_BS, (size[0], size[0], size[1]), color)]
        case "capsule":
            ends = [compose(X_BS, (np.eye(3), np.array([0.0, 0.0, side * size[1]]))) for side in (-1.0, 1.0)]
            balls: list[Instance] = [("ball", body, end, (size[0],) * 3, color) for end in ends]
            return [("tube", body, X_BS, (size[0], size[0], size[1]), color), *balls] if size[1] > 0.0 else balls[:1]
        case "mesh":
            return [(f"mesh:{shape.file}", body, X_BS, (size[0], size[1], size[2]), color)]


def _gathered(ones: Sequence[Instance]) -> Solids:
    return Solids(
        np.array([one[1] for one in ones], dtype=np.int64),
        np.array([one[2][1] for one in ones], dtype=np.float64),
        quaternion_of_matrix(np.array([one[2][0] for one in ones])),
        np.array([one[3] for one in ones], dtype=np.float64),
        np.array([one[4] for one in ones], dtype=np.float64),
    )


def _shown(body: Body, tip: EndEffector) -> bool:
    """Whether a shape of the body already shows the end effector: all of a wheel's do, else one about its centre."""
    near = [np.linalg.norm(np.array(shape.pose.position) - np.array(tip.center)) < 0.25 * tip.radius for shape in body.shapes]
    return bool(body.shapes) and (tip.spins or any(near))


STICK_COLOR = (0.62, 0.64, 0.68, 1.0)
THICK = 0.012
"""Radius of a stick over the size of the character."""


def home_size(character: Character) -> float:
    """The diagonal [m] of the box around the origins of all bodies at home, carriages apart; 0.1 m if that is a point."""
    tree = compile_tree(character)
    places = tree.configuration(tree.home).position[[tree.nodes[body.name] for body in character.bodies]]
    size = float(np.linalg.norm(np.ptp(places, axis=0)))
    return size if size > 1e-6 else 0.1


def sticks_of(character: Character, seen: Collection[str], size: float) -> list[tuple[str, Shape]]:
    """Capsules, in the frames of their bodies, for every body that is not ``seen``.

    They run from the body's origin to where its joints are (those that a flexible part takes the place of left out), or to its
    farthest frame or centre of mass when it carries nothing; a body all at one point is a ball. Massless bodies that only stand
    between two coordinates at one place are left out. ``size`` [m] of the character gives their thickness.
    """
    bent = {(part.base, child.body) for part in character.flexibles for child in part.children}
    sticks = []
    for body in character.bodies:
        if body.name in seen:
            continue
        joints = [joint for joint in character.joints if joint.parent == body.name]
        ends = [np.array(joint.pose.position) for joint in joints if (body.name, joint.child) not in bent]
        ends = [end for end in ends if np.linalg.norm(end) > 1e-3 * size]
        if not ends and not joints:
            ends = _farthest(character, body)
        for end in ends:
            sticks.append((body.name, _stick(end, THICK * size)))
        if not ends and (body.mass > 0.0 or not joints):
            ball = Shape(kind="sphere", size=(1.5 * THICK * size,), pose=Pose(position=body.center_of_mass), color=STICK_COLOR)
            sticks.append((body.name, ball))
    return sticks


def _farthest(character: Character, body: Body) -> list[Array]:
    """The farthest frame of a body or its centre of mass, if that is away from its origin."""
    places = [np.array(frame.pose.position) for frame in character.frames if frame.body == body.name]
    far = max([*places, np.array(body.center_of_mass)], key=lambda at: float(np.linalg.norm(at)))
    return [far] if np.linalg.norm(far) > 1e-6 else []


def _stick(end: Array, radius: float) -> Shape:
    """A capsule from the origin to ``end`` (3,)."""
    length = float(np.linalg.norm(end))
    pose = as_pose((least_turn((0.0, 0.0, 1.0), end), 0.5 * end))
    return Shape(kind="capsule", size=(min(radius, 0.25 * length), 0.5 * length), pose=pose, color=STICK_COLOR)


Vertices = NDArray[np.float32]
Faces = NDArray[np.int32]

UNIT_KINDS = ("box", "ball", "tube")
AROUND, DOWN = 20, 12
"""Corners around a ball or tube; rows of faces from pole to pole of a ball."""


@cache
def unit_mesh(kind: str) -> tuple[Vertices, Faces]:
    """Vertices (v, 3) and faces (f, 3), counter-clockwise seen from outside, of the unit 'box', 'ball' or 'tube'.

    Edges that should look sharp have their vertices twice, so that smooth shading keeps them: the corners of a box three times,
    the rims of a tube twice.
    """
    if kind == "box":
        vertices, faces = _box()
    elif kind == "ball":
        angle = np.linspace(-0.5 * np.pi, 0.5 * np.pi, DOWN + 1)
        vertices, faces = _turned([(np.cos(a), np.sin(a)) for a in angle])
    elif kind == "tube":
        parts = [_turned(outline) for outline in ([(0, -1), (1, -1)], [(1, -1), (1, 1)], [(1, 1), (0, 1)])]
        vertices = np.vstack([part[0] for part in parts])
        before = np.cumsum([0, *(len(part[0]) for part in parts)])
        faces = np.vstack([part[1] + start for part, start in zip(parts, before, strict=False)])
    else:
        raise BadInput(f"there is no unit shape {kind!r}; known: {', '.join(UNIT_KINDS)}")
    arrays = vertices.astype(np.float32), faces.astype(np.int32)
    for array in arrays:
        array.flags.writeable = False
    return arrays


def _box() -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    vertices: list[NDArray[np.float64]] = []
    faces: list[list[list[int]]] = []
    square = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    for axis in range(3):
        for side in (-1.0, 1.0):
            face = np.zeros((4, 3))
            face[:, axis] = side
            face[:, (axis + 1) % 3], face[:, (axis + 2) % 3] = square.T
            start = 4 * len(faces)
            turn = [0, 1, 2, 3] if side > 0.0 else [3, 2, 1, 0]
            vertices.append(face[turn])
            faces.append([[start, start + 1, start + 2], [start, start + 2, start + 3]])
    return np.vstack(vertices), np.array(faces).reshape(-1, 3)


def _turned(outline: Sequence[tuple[float, float]]) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """What the outline (radius, height), from below to above, makes when it turns about z; a pole is one vertex."""
    angle = 2.0 * np.pi * np.arange(AROUND) / AROUND
    vertices: list[NDArray[np.float64]] = []
    rings: list[NDArray[np.int64]] = []
    count = 0
    for r, z in outline:
        corners = 1 if r < 1e-9 else AROUND
        vertices.append(np.column_stack([r * np.cos(angle), r * np.sin(angle), np.full(AROUND, z)])[:corners])
        rings.append(count + np.arange(AROUND) % corners)
        count += corners
    faces = []
    for low, high in pairwise(rings):
        low_next, high_next = np.roll(low, -1), np.roll(high, -1)
        if len(set(low.tolist())) > 1:
            faces.append(np.column_stack([low, low_next, high_next if len(set(high.tolist())) > 1 else high]))
        if len(set(high.tolist())) > 1:
            faces.append(np.column_stack([low, high_next, high]))
    return np.vstack(vertices), np.vstack(faces)
