"""Wheels and feet where they are attached.

On a side, a free wheel turns about the socket's normal, next to it. Under or over something a fork holds it and it turns about the
socket's y axis; feet stand on a stem. A driven wheel takes the place of the plate on the horn of a motor.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import pi

import numpy as np

from bunraku.building.components.piece import Piece, body_of
from bunraku.building.components.placing import moved, pose_of
from bunraku.building.shapes import LIGHT, RUBBER, capsule_shape, cylinder_shape, sphere_shape
from bunraku.building.solids import Solid, capsule_shell, cylinder, sphere
from bunraku.building.tips import PLA, TipModel
from bunraku.character import Body, EndEffector, Joint, Shape
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid

Vector = tuple[float, float, float]
_UP: Vector = (0.0, 0.0, 1.0)
_SIDE: Vector = (0.0, 1.0, 0.0)
_GAP = 0.002
_PRONG = 0.004
_STEM = 0.006


def wheel_body(model: TipModel, radius: float, name: str, center: Vector, axis: Vector) -> Body:
    """A wheel as a body: tyre and hub about ``center`` [m]."""
    solid = cylinder(model.mass_of(radius), center, axis, radius, model.width)
    tyre = cylinder_shape(center, axis, radius, model.width, RUBBER)
    hub = cylinder_shape(center, axis, 0.5 * radius, model.width + 0.002, LIGHT, collides=False)
    return body_of(name, [solid], [tyre, hub])


def tip_piece(model: TipModel, sizes: Mapping[str, float | str], root: str, X: Rigid, upright: bool, name: str) -> Piece:
    """A free wheel or a foot on ``root`` at its frame ``X``; ``upright``: the socket faces up or down at home."""
    if model.kind == "active":
        raise BadInput(f"the wheel {model.name!r} is driven: attach a motor here first, then the wheel to its horn")
    radius, stem = float(sizes["radius"]), float(sizes["stem"])
    if model.kind == "passive":
        return _wheel(model, radius, stem, root, X, upright, name)
    return _foot(model, radius, stem, root, X, upright, name)


def _wheel(model: TipModel, radius: float, stem: float, root: str, X: Rigid, upright: bool, name: str) -> Piece:
    axis = _SIDE if upright else _UP
    drag = model.rolling_resistance
    bodies: list[Body] = []
    joints: list[Joint] = []
    place, parent, at = (0.0, 0.0, _GAP + model.width / 2.0), root, X
    if upright:
        place, parent = (0.0, 0.0, stem + radius), f"{name} fork"
        bodies.append(_fork(model, stem + radius, parent))
        joints.append(Joint(name=parent, kind="fixed", parent=root, child=parent, pose=pose_of(X)))
        at = (np.eye(3), np.zeros(3))
    bodies.append(wheel_body(model, radius, name, (0.0, 0.0, 0.0), axis))
    pose = pose_of(moved(at, place))
    joints.append(
        Joint(name=f"{name}.axle", kind="hinge", parent=parent, child=name, pose=pose, axis=axis, damping=drag * radius**2)
    )
    tip = wheel_tip(model, name, (0.0, 0.0, 0.0), axis, radius)
    return Piece(root, bodies=tuple(bodies), joints=tuple(joints), end_effectors=(tip,))


def _fork(model: TipModel, length: float, name: str) -> Body:
    side = model.width / 2.0 + _GAP + _PRONG
    solids: list[Solid] = []
    shapes: list[Shape] = []
    for y in (side, -side):
        start, end = np.array([0.0, y, _PRONG]), np.array([0.0, y, length])
        solids.append(_printed(start, end, _PRONG))
        shapes.append(capsule_shape(start, end, _PRONG, LIGHT))
    return body_of(name, solids, shapes)


def _foot(model: TipModel, radius: float, stem: float, root: str, X: Rigid, upright: bool, name: str) -> Piece:
    center = (0.0, 0.0, stem + radius)
    axis = _SIDE if upright else _UP
    start, end = np.array([0.0, 0.0, _STEM / 2.0]), np.array(center)
    solids, shapes = [_printed(start, end, _STEM / 2.0)], [capsule_shape(start, end, _STEM / 2.0, LIGHT)]
    mass = model.mass_of(radius)
    if model.kind == "ball":
        solids.append(sphere(mass, center, radius))
        shapes.append(sphere_shape(center, radius, RUBBER))
    else:
        solids.append(cylinder(mass, center, axis, radius, model.width))
        shapes.append(cylinder_shape(center, axis, radius, model.width, RUBBER))
    joint = Joint(name=name, kind="fixed", parent=root, child=name, pose=pose_of(X))
    return Piece(
        root,
        bodies=(body_of(name, solids, shapes),),
        joints=(joint,),
        end_effectors=(wheel_tip(model, name, center, axis, radius),),
    )


def _printed(start: np.ndarray, end: np.ndarray, radius: float) -> Solid:
    """A thin printed bar: solid, as walls of 3 mm leave no room."""
    length = float(np.linalg.norm(end - start))
    if PLA.wall < radius:
        return capsule_shell(PLA.density, PLA.wall, start, end, radius)
    mass = PLA.density * pi * radius**2 * length
    return cylinder(mass, (start + end) / 2.0, end - start, radius, length)


def wheel_tip(model: TipModel, name: str, center: Vector, axis: Vector, radius: float) -> EndEffector:
    """The end effector of a wheel or foot whose body has its name."""
    return EndEffector(
        name=name,
        kind=model.kind,
        body=name,
        center=center,
        axis=axis,
        radius=radius,
        width=model.width,
        friction=model.friction,
        rolling_resistance=model.rolling_resistance,
    )
