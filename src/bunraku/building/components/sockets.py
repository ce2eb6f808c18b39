"""Where something can be attached to a character: faces and ends of its shapes, horns of its motors, its named frames, the world.

Sockets follow from the description alone, and so do their names: a face is called after its body and the side it is on when all
coordinates are zero ("body left front"), a horn after its motor, a frame after itself. Those covered by another shape at home are
left out.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.building.character_geometry import Frames, home_frames, zero_frames
from bunraku.building.components.placing import MIRROR, moved, of_pose, pose_of
from bunraku.character import WORLD, Body, Character, Joint, Pose, Shape
from bunraku.geometry.poses import Rigid

SocketKind = Literal["face", "horn", "end", "axle", "frame", "world"]
MOST = 200
"""No character has more sockets than this; of one with more, those of the bodies' middles come first."""
_SIDES = (("front", "back"), ("left", "right"), ("top", "below"))
_NEAR = 0.0025
_WIDE = 0.025
_ABOVE = 1.5


@dataclass(frozen=True)
class Socket:
    """A place to attach something: ``pose`` X_BS in ``body`` (or the world), z its outward normal, x forward where it can be.

    ``twin`` is the name of the socket that mirrors it in y = 0: its own in the middle plane, empty where there is none.
    """

    name: str
    body: str
    pose: Pose
    kind: SocketKind
    twin: str = ""


@dataclass(frozen=True)
class _Place:
    name: str
    body: str
    X: Rigid
    kind: SocketKind
    rank: int


def sockets(character: Character) -> tuple[Socket, ...]:
    """The sockets of a character, in the order of its bodies, the world's last; at most `MOST`."""
    frames = zero_frames(character)
    places = _horns(character, frames) + _frames(character)
    spinning = {tip.body for tip in character.end_effectors if tip.spins}
    for body in character.bodies:
        places += _of_body(body, frames[body.name], "axle" if body.name in spinning else "end")
    places = _apart(_numbered(places))
    home = home_frames(character)
    free = [
        kept
        for kept, hidden in zip(places, covered(character, home, [(one.body, one.X) for one in places]), strict=True)
        if not hidden
    ]
    free = sorted(free, key=lambda one: one.rank)[: MOST - 2]
    order = {name: index for index, name in enumerate([body.name for body in character.bodies])}
    free = sorted(free, key=lambda one: order[one.body])
    free += [
        _Place("world floor", WORLD, (np.eye(3), np.zeros(3)), "world", 0),
        _Place("world above", WORLD, (np.diag([1.0, -1.0, -1.0]), np.array([0.0, 0.0, _ABOVE])), "world", 0),
    ]
    return _twinned(free, frames)


def _horns(character: Character, frames: Frames) -> list[_Place]:
    """The horn of each motor that turns a hinge: where the frame "NAME horn" is, else at the end of the shaft."""
    hinges = {joint.name: joint for joint in character.joints if joint.kind == "hinge"}
    named = {(frame.name, frame.body): frame for frame in character.frames}
    wheels = {tip.body for tip in character.end_effectors if tip.spins}
    bodies = {body.name: body for body in character.bodies}
    places = []
    for motor in character.motors:
        joint = hinges.get(motor.coordinate)
        if joint is None or joint.child in wheels:
            continue
        own = named.get((f"{motor.name} horn", joint.child))
        X = of_pose(own.pose) if own is not None else _shaft_end(joint, bodies[joint.child], frames[joint.child][0])
        places.append(_Place(f"{motor.name} horn", joint.child, X, "horn", 0))
    return places


def _shaft_end(joint: Joint, body: Body, R: Array) -> Rigid:
    axis = np.array(joint.axes[0].direction)
    height = 0.0
    for shape in body.shapes:
        turn, place = of_pose(shape.pose)
        beside = place - axis * float(place @ axis)
        if shape.kind == "cylinder" and abs(float(turn[:, 2] @ axis)) > 1.0 - 1e-9 and float(np.linalg.norm(beside)) < 1e-6:
            height = max(height, float(place @ axis) + shape.size[1])
    return _facing(axis, R), height * axis


def _frames(character: Character) -> list[_Place]:
    horns = {f"{motor.name} horn" for motor in character.motors}
    return [
        _Place(f"{frame.name} frame", frame.body, of_pose(frame.pose), "frame", 1)
        for frame in character.frames
        if frame.name not in horns and frame.body != WORLD
    ]


def _of_body(body: Body, X: Rigid, ends: SocketKind) -> list[_Place]:
    places: list[_Place] = []
    for shape in body.shapes:
        places += _of_shape(body.name, shape, X[0], ends)
    if not places:
        places.append(_Place(f"{body.name} origin", body.name, (_facing(X[0].T[:, 2], X[0]), np.zeros(3)), "frame", 2))
    return places


def _of_shape(body: str, shape: Shape, R: Array, ends: SocketKind) -> list[_Place]:
    turn, middle = of_pose(shape.pose)
    places: list[_Place] = []

    def add(normal: Array, place: Array, kind: SocketKind, rank: int, *more: Array) -> None:
        name = " ".join([body, *(_side(R @ direction) for direction in (normal, *more))])
        places.append(_Place(name, body, (_facing(normal, R), place), kind, rank))

    if shape.kind in ("capsule", "cylinder"):
        reach = shape.size[1] + (shape.size[0] if shape.kind == "capsule" else 0.0)
        for sign in (1.0, -1.0):
            add(sign * turn[:, 2], middle + sign * reach * turn[:, 2], ends, 2)
    elif shape.kind != "mesh":
        half = (shape.size[0],) * 3 if shape.kind == "sphere" else shape.size
        for k in range(3):
            for sign in (1.0, -1.0):
                normal = sign * turn[:, k]
                add(normal, middle + half[k] * normal, "face", 2)
                if shape.kind == "box":
                    for shift, *directions in _corners(turn, half, k):
                        add(normal, middle + half[k] * normal + shift, "face", 3, *directions)
    return places


def _corners(turn: Array, half: tuple[float, ...], k: int) -> list[tuple[Array, ...]]:
    """Places off the middle of a face, with the directions they are named by: its two ends, or its four corners."""
    wide = [j for j in range(3) if j != k and half[j] > _WIDE]
    reach = {j: half[j] - min(0.02, 0.5 * half[j]) for j in wide}
    if not wide:
        return []
    if len(wide) == 1:
        return [(sign * reach[wide[0]] * turn[:, wide[0]], sign * turn[:, wide[0]]) for sign in (1.0, -1.0)]
    a, b = wide
    return [
        (s * reach[a] * turn[:, a] + t * reach[b] * turn[:, b], s * turn[:, a], t * turn[:, b])
        for s in (1.0, -1.0)
        for t in (1.0, -1.0)
    ]


def _side(direction: Array) -> str:
    k = int(np.argmax(np.abs(np.round(direction, 9))))
    return _SIDES[k][0 if direction[k] > 0.0 else 1]


def _facing(normal: Array, R: Array) -> Array:
    """Axes (columns, in the body) of a socket: z the ``normal``, x towards the world's x.

    Where the normal is that itself, y is towards the world's y. ``R`` turns the body's axes into the world's.
    """
    forward, left = R.T[:, 0], R.T[:, 1]
    if abs(float(normal @ forward)) < 0.9:
        x = forward - normal * float(forward @ normal)
    else:
        x = _cross(left - normal * float(left @ normal), normal)
    x = x / np.sqrt(x @ x)
    return np.stack([x, _cross(normal, x), normal], axis=1)


def _cross(a: Array, b: Array) -> Array:
    (p, q, r), (x, y, z) = a.tolist(), b.tolist()
    return np.array([q * z - r * y, r * x - p * z, p * y - q * x])


def _numbered(places: list[_Place]) -> Iterator[_Place]:
    """Names made different: the second of the same name gets a 2, and so on."""
    seen: Counter[str] = Counter()
    for one in places:
        seen[one.name] += 1
        yield one if seen[one.name] == 1 else replace(one, name=f"{one.name} {seen[one.name]}")


def _apart(places: Iterable[_Place]) -> list[_Place]:
    """Of sockets of one body that look the same way from nearly the same place, the first; horns and frames stay in any case."""
    kept: dict[str, list[_Place]] = {}
    for one in places:
        others = kept.setdefault(one.body, [])
        if one.rank == 1 or not any(
            float(one.X[0][:, 2] @ other.X[0][:, 2]) > 0.999 and float(np.abs(one.X[1] - other.X[1]).max()) < _NEAR
            for other in others
            if other.rank != 1
        ):
            others.append(one)
    return [one for others in kept.values() for one in others]


def _twinned(places: list[_Place], frames: Frames) -> tuple[Socket, ...]:
    placed = [moved(frames[one.body], one.X[1], one.X[0]) for one in places]
    here = np.array([np.concatenate([X[1], X[0][:, 2]]) for X in placed])
    mirrored = here * np.concatenate([MIRROR, MIRROR])
    kinds = np.array([one.kind for one in places])
    near = (np.abs(mirrored[:, None] - here[None]).max(axis=2) < 1e-6) & (kinds[:, None] == kinds[None])

    def twin(index: int) -> str:
        twins = np.flatnonzero(near[index])
        return places[index].name if index in twins else places[int(twins[0])].name if len(twins) else ""

    return tuple(Socket(one.name, one.body, pose_of(one.X), one.kind, twin(index)) for index, one in enumerate(places))


_STEP = 0.0015


def covered(character: Character, frames: Frames, places: list[tuple[str, Rigid]]) -> NDArray[np.bool_]:
    """Whether something lies in front of each place (n,): 1.5 mm along z of a frame on a body is inside a shape at ``frames``."""
    points = np.zeros((len(places), 3))
    for index, (name, X) in enumerate(places):
        points[index] = moved(moved(frames[name], X[1], X[0]), (0.0, 0.0, _STEP))[1]
    hidden = np.zeros(len(places), dtype=bool)
    for body in character.bodies:
        R, p = frames[body.name]
        for shape in body.shapes:
            turn, middle = of_pose(shape.pose)
            hidden |= inside(shape, (points - p - R @ middle) @ (R @ turn))
    return hidden


def inside(shape: Shape, points: Array) -> NDArray[np.bool_]:
    """Which points (n, 3) [m], in the shape's own axes from its middle, are inside it; a mesh holds none."""
    places: NDArray[np.bool_]
    if shape.kind == "box":
        places = np.abs(points / np.maximum(np.array(shape.size), 1e-12)).max(axis=1) < 1.0
    elif shape.kind in ("sphere", "ellipsoid"):
        size = np.maximum(np.array(shape.size * (3 if shape.kind == "sphere" else 1)), 1e-12)
        square: Array = ((points / size) ** 2).sum(axis=1)
        places = square < 1.0
    elif shape.kind == "cylinder":
        places = (np.abs(points[:, 2]) < shape.size[1]) & (np.hypot(points[:, 0], points[:, 1]) < shape.size[0])
    elif shape.kind == "capsule":
        beyond = np.maximum(np.abs(points[:, 2]) - shape.size[1], 0.0)
        places = points[:, 0] ** 2 + points[:, 1] ** 2 + beyond**2 < shape.size[0] ** 2
    else:
        places = np.zeros(len(points), dtype=bool)
    return places
