"""A piece: what a component adds to a character, standing on one of its bodies; its mirror image; and the box one starts from."""

from __future__ import annotations

from dataclasses import dataclass, fields, replace
from typing import Literal

import numpy as np

from bunraku.building.components.placing import MIRROR, numbers, of_pose, pose_of, reflected, rounded
from bunraku.building.shapes import box_shape
from bunraku.building.solids import Solid, box_shell, joined, solid_body
from bunraku.building.tips import PLA
from bunraku.character import (
    WORLD,
    Body,
    Carriage,
    Character,
    ElasticMaterial,
    EndEffector,
    FlexiblePart,
    Frame,
    Joint,
    Motor,
    Pose,
    Shape,
    String,
)
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid, compose, inverse


@dataclass(frozen=True)
class Piece:
    """New parts of a character. Joints, frames and flexible parts may stand on the body ``root``, which is there already."""

    root: str
    bodies: tuple[Body, ...] = ()
    joints: tuple[Joint, ...] = ()
    motors: tuple[Motor, ...] = ()
    end_effectors: tuple[EndEffector, ...] = ()
    frames: tuple[Frame, ...] = ()
    flexibles: tuple[FlexiblePart, ...] = ()
    materials: tuple[ElasticMaterial, ...] = ()
    carriages: tuple[Carriage, ...] = ()
    strings: tuple[String, ...] = ()

    @property
    def names(self) -> set[str]:
        """Every new name; materials may be there already."""
        kinds = (field.name for field in fields(self) if field.name not in ("root", "materials"))
        return {part.name for kind in kinds for part in getattr(self, kind)}


def body_of(name: str, solids: list[Solid], shapes: list[Shape]) -> Body:
    """A body made of solids, with mass, centre and inertia from them, and the shapes that are seen."""
    body = solid_body(name, joined(solids), shapes, dust=1e-12)
    return body.changed(center_of_mass=numbers(body.center_of_mass))


def with_piece(character: Character, piece: Piece) -> Character:
    """The character with a piece added at the end of every list."""
    known = {material.name for material in character.materials}
    fresh = tuple(material for material in piece.materials if material.name not in known)
    kinds = ("bodies", "joints", "motors", "end_effectors", "frames", "flexibles", "carriages", "strings")
    more = {kind: (*getattr(character, kind), *getattr(piece, kind)) for kind in kinds if getattr(piece, kind)}
    return character.changed(**more, materials=(*character.materials, *fresh))


def mirrored(piece: Piece, X_root: Rigid, root: str, X_twin: Rigid) -> Piece:
    """The mirror image in y = 0 of a piece on the body ``root`` at X_root [zero pose], standing on the body ``root`` at X_twin.

    Every new body's frame is the mirror image M X M of the first one's, so that places v become M v, turns a become -M a.
    """

    def stand(pose: Pose, on: str) -> Pose:
        if on != piece.root:
            return pose_of(reflected(of_pose(pose)))
        return pose_of(compose(inverse(X_twin), reflected(compose(X_root, of_pose(pose)))))

    def name(on: str) -> str:
        return root if on == piece.root else on

    return replace(
        piece,
        root=root,
        bodies=tuple(_body(body) for body in piece.bodies),
        joints=tuple(
            joint.changed(parent=name(joint.parent), pose=stand(joint.pose, joint.parent), axis=_axial(joint.axis))
            for joint in piece.joints
        ),
        end_effectors=tuple(tip.changed(center=_place(tip.center), axis=_axial(tip.axis)) for tip in piece.end_effectors),
        frames=tuple(frame.changed(body=name(frame.body), pose=stand(frame.pose, frame.body)) for frame in piece.frames),
        flexibles=tuple(part.changed(base=name(part.base), pose=stand(part.pose, part.base)) for part in piece.flexibles),
        carriages=tuple(_carriage(carriage) for carriage in piece.carriages),
        strings=tuple(string.changed(point=_place(string.point)) for string in piece.strings),
    )


def _place(vector: tuple[float, float, float]) -> tuple[float, float, float]:
    return numbers(MIRROR * np.array(vector))


def _axial(vector: tuple[float, float, float]) -> tuple[float, float, float]:
    return numbers(-MIRROR * np.array(vector))


def _body(body: Body) -> Body:
    xx, yy, zz, xy, xz, yz = body.inertia
    shapes = tuple(shape.changed(pose=pose_of(reflected(of_pose(shape.pose)))) for shape in body.shapes)
    return body.changed(center_of_mass=_place(body.center_of_mass), inertia=(xx, yy, zz, -xy + 0.0, xz, -yz + 0.0), shapes=shapes)


def _carriage(carriage: Carriage) -> Carriage:
    limits = None if carriage.y_range is None else (-carriage.y_range[1], -carriage.y_range[0])
    return carriage.changed(home=_place(carriage.home), y_range=limits)


_COLOR = (0.30, 0.58, 0.66, 1.0)


def blank_character(
    name: str = "mine", *, size: tuple[float, float, float] = (0.2, 0.1, 0.04), base: Literal["free", "fixed"] = "free"
) -> Character:
    """One box ``body`` of ``size`` [m], printed with walls of 3 mm, lying on the ground on a free joint or fixed there."""
    if min(size) <= 2.0 * PLA.wall:
        raise BadInput(f"a box of {list(size)} m has no room for walls of {PLA.wall} m; make it larger")
    body = body_of("body", [box_shell(PLA.density, PLA.wall, (0.0, 0.0, 0.0), size)], [box_shape((0.0, 0.0, 0.0), size, _COLOR)])
    half = rounded(size[2] / 2.0)
    if base == "fixed":
        joint = Joint(name="base", kind="fixed", parent=WORLD, child="body", pose=Pose(position=(0.0, 0.0, half)))
        return Character(name=name, bodies=(body,), joints=(joint,))
    joint = Joint(name="base", kind="free", parent=WORLD, child="body")
    return Character(name=name, bodies=(body,), joints=(joint,), home={"base.tz": half})
