"""Left and right: which coordinate, end effector and body of a character mirrors which, found from its geometry alone.

Reflected in the plane y = 0 a point (x, y, z) becomes (x, -y, z). A turn is an axial vector: its axis (a, b, c) becomes
(-a, b, -c). So a hinge at p with axis a (at zero angles) has as its mirror the hinge at the reflected place whose axis is the
reflected one, or the opposite, and then the angle changes sign. The base mirrors itself: ty, rz and rx change sign.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array, Indices
from bunraku.building.character_geometry import zero_frames
from bunraku.building.solids import solid_of
from bunraku.character import WORLD, Body, Character, Joint
from bunraku.errors import BadInput

_POINT = np.array([1.0, -1.0, 1.0])
_TURN = np.array([-1.0, 1.0, -1.0])


@dataclass(frozen=True)
class Mirror:
    """The mirror of a character: of each coordinate the one that mirrors it and the sign, of each end effector the other one.

    A mirrored pose q' has q'[name] = sign q[other], with (other, sign) = ``coordinates[name]``; the mirrored force on an end
    effector is that on ``end_effectors[name]`` with its y negated. ``joints`` names the mirror of every joint, fixed ones too.
    """

    coordinates: dict[str, tuple[str, float]]
    end_effectors: dict[str, str]
    joints: dict[str, str] = field(default_factory=dict)

    def of(self, names: Sequence[str]) -> tuple[Indices, Array]:
        """Permutation k and signs s of some coordinates, q' = s q[k]; the mirror of each must be among them."""
        place = {name: index for index, name in enumerate(names)}
        for name in names:
            if self.coordinates[name][0] not in place:
                raise BadInput(
                    f"the mirror of {name!r} is {self.coordinates[name][0]!r}, which is not among the chosen; choose both"
                )
        pairs = [self.coordinates[name] for name in names]
        return np.array([place[other] for other, _ in pairs], dtype=np.int64), np.array([sign for _, sign in pairs])


def mirror_map(character: Character, *, tolerance: float = 1e-6) -> Mirror:
    """The mirror of a character in its plane y = 0; raises BadInput naming what has no mirror when it is not symmetric.

    Compared are places [m] and axes of joints and end effectors, home angles, ranges, and masses with their centres (relative
    ``tolerance`` of the whole mass times metre); inertias and the wheels' radii too.
    """
    frames = zero_frames(character)
    twin_joint = _match_joints(character, frames, tolerance)
    names = character.coordinates
    place = {name: index for index, name in enumerate(names)}
    other, sign = np.zeros(len(names), dtype=np.int64), np.ones(len(names))
    for joint in character.joints:
        twin = twin_joint[joint.name]
        for mine, yours, s in zip(joint.axes, twin.axes, _signs(joint, twin, frames) or [], strict=True):
            k, j = place[mine.name], place[yours.name]
            other[k], sign[k] = j, s
    _check_values(character, other, sign, tolerance)
    coordinates = {name: (names[other[k]], float(sign[k])) for k, name in enumerate(names)}
    twin_body = {joint.child: twin_joint[joint.name].child for joint in character.joints} | {WORLD: WORLD}
    _check_masses(character, frames, twin_body, tolerance)
    joints = {name: twin.name for name, twin in twin_joint.items()}
    return Mirror(coordinates, _match_tips(character, frames, twin_body, tolerance), joints)


def _match_joints(character: Character, frames: dict[str, tuple[Array, Array]], tolerance: float) -> dict[str, Joint]:
    """The mirror of every joint: same kind, mirrored parent, place and axes."""
    twins: dict[str, Joint] = {}
    body_twin = {WORLD: WORLD}
    taken: set[str] = set()
    for joint in character.joints:
        fits = [
            candidate
            for candidate in character.joints
            if candidate.name not in taken
            and candidate.kind == joint.kind
            and body_twin.get(joint.parent) == candidate.parent
            and np.allclose(frames[joint.child][1] * _POINT, frames[candidate.child][1], atol=tolerance, rtol=0.0)
            and _signs(joint, candidate, frames) is not None
        ]
        if not fits:
            raise BadInput(
                f"{character.name!r} is not symmetric: nothing mirrors the joint {joint.name!r} at "
                f"{np.round(frames[joint.child][1], 4).tolist()} m; make left and right alike, or plan without symmetry"
            )
        twins[joint.name] = fits[0]
        taken.add(fits[0].name)
        body_twin[joint.child] = fits[0].child
    return twins


def _signs(joint: Joint, twin: Joint, frames: dict[str, tuple[Array, Array]]) -> list[float] | None:
    """+1 or -1 for each axis; None when an axis is neither the mirror nor its opposite."""
    signs = []
    for mine, yours in zip(joint.axes, twin.axes, strict=True):
        a = frames[joint.child][0] @ np.array(mine.direction)
        b = frames[twin.child][0] @ np.array(yours.direction)
        along = float((a * (_TURN if mine.kind == "hinge" else _POINT)) @ b)
        if abs(abs(along) - 1.0) > 1e-9:
            return None
        signs.append(float(np.sign(along)))
    return signs


def _check_values(character: Character, other: Indices, sign: Array, tolerance: float) -> None:
    home = np.array([character.home.get(name, 0.0) for name in character.coordinates])
    wrong = np.abs(home - sign * home[other]) > tolerance
    if wrong.any():
        k = int(np.argmax(wrong))
        raise BadInput(
            f"{character.name!r} is not symmetric: at home {character.coordinates[k]!r} is {home[k]:g} and its mirror "
            f"{character.coordinates[other[k]]!r} {home[other[k]]:g}"
        )
    for k, axis in enumerate(character.axes):
        twin = character.axes[other[k]]
        mine = None if axis.range is None else axis.range
        yours = None if twin.range is None else (twin.range if sign[k] > 0.0 else (-twin.range[1], -twin.range[0]))
        if (mine is None) != (yours is None) or (mine and yours and not np.allclose(mine, yours, atol=tolerance)):
            raise BadInput(f"{character.name!r} is not symmetric: the ranges of {axis.name!r} and {twin.name!r} differ")


def _check_masses(character: Character, frames: dict[str, tuple[Array, Array]], twins: dict[str, str], tolerance: float) -> None:
    total = sum(body.mass for body in character.bodies)
    bodies = {body.name: body for body in character.bodies}
    for body in character.bodies:
        twin = bodies[twins[body.name]]
        (moment, inertia), (mirrored, turned) = (_spread(part, frames) for part in (body, twin))
        wrong = abs(body.mass - twin.mass) > tolerance * total
        wrong |= not np.allclose(moment * _POINT, mirrored, atol=tolerance * total, rtol=0.0)
        if wrong or not np.allclose(_POINT[:, None] * inertia * _POINT, turned, atol=tolerance * total, rtol=0.0):
            raise BadInput(
                f"{character.name!r} is not symmetric: the masses of {body.name!r} and {twin.name!r} do not mirror each other"
            )


def _spread(body: Body, frames: dict[str, tuple[Array, Array]]) -> tuple[Array, Array]:
    """Mass times place (3,) and the inertia (3, 3) of a body, in the world."""
    (R, p), solid = frames[body.name], solid_of(body)
    return body.mass * (p + R @ solid.center), R @ solid.inertia @ R.T


def _match_tips(
    character: Character, frames: dict[str, tuple[Array, Array]], twins: dict[str, str], tolerance: float
) -> dict[str, str]:
    tips = character.end_effectors
    places = [frames[tip.body][1] + frames[tip.body][0] @ np.array(tip.center) for tip in tips]
    mirrored = {}
    for tip, place in zip(tips, places, strict=True):
        fits = [
            j
            for j, candidate in enumerate(tips)
            if candidate.kind == tip.kind
            and candidate.body == twins[tip.body]
            and abs(candidate.radius - tip.radius) <= tolerance
            and np.allclose(place * _POINT, places[j], atol=tolerance, rtol=0.0)
        ]
        if not fits:
            raise BadInput(f"{character.name!r} is not symmetric: no end effector mirrors {tip.name!r}")
        mirrored[tip.name] = tips[fits[0]].name
    return mirrored


def twin_bodies(character: Character, *, tolerance: float = 1e-6) -> dict[str, str]:
    """The mirror of each body that has one: of the same mass, its frame and its centre of mass at the mirrored places.

    A body in the middle plane is its own. The character need not be symmetric as a whole.
    """
    frames = zero_frames(character)
    total = sum(body.mass for body in character.bodies) or 1.0
    poses = [(*frames[body.name], body) for body in character.bodies]
    here = np.array([np.concatenate([p, p + R @ np.array(body.center_of_mass), [body.mass / total]]) for R, p, body in poses])
    mirrored = here * np.concatenate([_POINT, _POINT, [1.0]])
    near = np.abs(mirrored[:, None] - here[None]).max(axis=2) < tolerance
    names = [body.name for body in character.bodies]
    twins = [np.flatnonzero(row) for row in near]
    return {name: name if k in twins[k] else names[int(twins[k][0])] for k, name in enumerate(names) if len(twins[k])}
