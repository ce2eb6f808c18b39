"""What each component adds where it stands: bodies with inertias from their geometry, joints, motors, shapes.

Everything is described in the frame A of its place on the body it is attached to: z outward from the socket, turned and moved
as its dimensions say. A servo whose shaft points outward carries a plate on its horn. One whose shaft lies across carries a bracket
that holds both of its ends and reaches over the case, so that a limb goes on outward and stays in the middle plane where the socket
is in it.

A free wheel on a side turns about the socket's normal, next to it. Under or over something a fork holds it and it turns about the
socket's y axis; feet stand on a stem. A driven wheel takes the place of the plate on the horn of a motor.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from math import cos, hypot, pi, sin

import numpy as np

from bunraku.arrays import Array
from bunraku.building.components.library import BARS, BRASS_DENSITY, RODS, Component, Value
from bunraku.building.components.piece import Piece, body_of
from bunraku.building.components.placing import moved, numbers, pose_of, rounded
from bunraku.building.servos import Servo, servo
from bunraku.building.shapes import DARK, LIGHT, RUBBER, box_shape, capsule_shape, cylinder_shape, sphere_shape
from bunraku.building.solids import Solid, box, capsule_shell, cylinder, sphere
from bunraku.building.tips import PLA, TIPS, TipModel, payload, tip_model
from bunraku.character import Body, Carriage, EndEffector, FlexiblePart, Frame, Joint, PartInterface, PartShape, Pose, Shape, String
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import axis_angle

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


_BRASS = (0.79, 0.63, 0.26, 1.0)


@dataclass(frozen=True)
class Spot:
    """Where a component goes: the body it stands on, the socket's frame X_BS in it, and the body's pose X_WB at home."""

    body: str
    X: Rigid
    home: Rigid

    def frame(self, sizes: Mapping[str, Value]) -> Rigid:
        """The frame A: the socket's moved by x and y, then turned about its normal."""
        shift = (number(sizes, "x"), number(sizes, "y"), 0.0)
        return moved(self.X, shift, axis_angle((0.0, 0.0, 1.0), number(sizes, "turn")))

    @property
    def upright(self) -> bool:
        """Whether the socket faces up or down at home, rather than to a side."""
        return bool(abs((self.home[0] @ self.X[0])[2, 2]) > 0.7)


def number(sizes: Mapping[str, Value], name: str) -> float:
    """A dimension that is a number; one that is not taken is 0."""
    return float(sizes.get(name, 0.0))


def make(component: Component, sizes: Mapping[str, Value], spot: Spot, name: str) -> Piece:
    """The piece of a component with checked dimensions, all its names beginning with ``name``."""
    match component.kind:
        case "motor":
            return motor_piece(servo(component.name), sizes, spot.body, spot.frame(sizes), name)
        case "wheel" | "foot":
            return tip_piece(tip_model(component.name), sizes, spot.body, spot.frame(sizes), spot.upright, name)
        case "connector" | "link":
            return _link(component, sizes, spot, name)
        case "rod":
            return _rod(component, sizes, spot, name)
        case "string":
            return _string(sizes, spot, name)
        case "payload":
            return _carried(component, sizes, spot, name)


def weight_of(component: Component, sizes: Mapping[str, Value]) -> float:
    """What a component weighs [kg] with these dimensions, all that it brings included."""
    spot = Spot("body", (np.eye(3), np.zeros(3)), (np.eye(3), np.zeros(3)))
    if component.kind == "wheel" and TIPS[component.name].kind == "active":
        return TIPS[component.name].mass_of(number(sizes, "radius"))
    piece = make(component, component.checked(sizes), spot, "part")
    rods = sum(
        pi / 4.0 * float(part.shape.diameter or 0.0) ** 2 * float(part.shape.length or 0.0) * material.density
        for part in piece.flexibles
        for material in piece.materials
        if material.name == part.material
    )
    return sum(body.mass for body in piece.bodies) + rods


def _direction(sizes: Mapping[str, Value]) -> Array:
    tilt = number(sizes, "tilt")
    return np.array([sin(tilt), 0.0, cos(tilt)])


def _link(component: Component, sizes: Mapping[str, Value], spot: Spot, name: str) -> Piece:
    """A tube or bar along its own z: its frame stands at the socket, its far end at z = length."""
    tilt = axis_angle((0.0, 1.0, 0.0), number(sizes, "tilt"))
    X = moved(spot.frame(sizes), (0.0, 0.0, 0.0), tilt)
    length = number(sizes, "length")
    solid: Solid
    if component.kind == "connector":
        radius = number(sizes, "radius")
        if length <= 2.0 * radius:
            raise BadInput(f"a link of {length:g} m cannot be {2.0 * radius:g} m thick; make it longer or thinner")
        start, end = np.array([0.0, 0.0, radius]), np.array([0.0, 0.0, length - radius])
        solid = capsule_shell(PLA.density, PLA.wall, start, end, radius)
        shape = capsule_shape(start, end, radius, LIGHT)
    else:
        rod = BARS[component.name]
        radius, middle, up = number(sizes, "thickness") / 2.0, (0.0, 0.0, length / 2.0), (0.0, 0.0, 1.0)
        solid = cylinder(rod.density * pi * radius**2 * length, middle, up, radius, length)
        shape = cylinder_shape(middle, up, radius, length, rod.color)
    joint = Joint(name=name, kind="fixed", parent=spot.body, child=name, pose=pose_of(X))
    return Piece(spot.body, bodies=(body_of(name, [solid], [shape]),), joints=(joint,))


def _rod(component: Component, sizes: Mapping[str, Value], spot: Spot, name: str) -> Piece:
    """A flexible rod, and the brass ball at its end, whose middle is where the rod ends."""
    material = RODS[component.name.removesuffix(" rod")]
    X = moved(spot.frame(sizes), (0.0, 0.0, 0.0), axis_angle((0.0, 1.0, 0.0), number(sizes, "tilt")))
    length, weight = number(sizes, "length"), number(sizes, "weight")
    radius = (3.0 * weight / (4.0 * pi * BRASS_DENSITY)) ** (1.0 / 3.0)
    tip = f"{name} tip"
    ball = body_of(tip, [sphere(weight, np.zeros(3), radius)], [sphere_shape((0.0, 0.0, 0.0), rounded(radius), _BRASS)])
    joint = Joint(name=name, kind="fixed", parent=spot.body, child=tip, pose=pose_of(moved(X, (0.0, 0.0, length))))
    part = FlexiblePart(
        name=name,
        material=material.name,
        shape=PartShape(kind="rod", length=length, diameter=number(sizes, "diameter")),
        base=spot.body,
        pose=pose_of(X),
        children=(PartInterface(body=tip),),
    )
    frame = Frame(name=tip, body=tip)
    return Piece(spot.body, bodies=(ball,), joints=(joint,), frames=(frame,), flexibles=(part,), materials=(material,))


def _string(sizes: Mapping[str, Value], spot: Spot, name: str) -> Piece:
    """A hook at the socket, and a carriage straight above it at home; its limits are those of the built-in marionette."""
    if spot.body == "world":
        raise BadInput("a string hangs from a carriage to a hook on a body; pick a socket of a body, not of the world")
    X, length = spot.frame(sizes), number(sizes, "length")
    place = moved(spot.home, X[1])[1] + np.array([0.0, 0.0, length])
    x, y, z = numbers(place)
    carriage = Carriage(
        name=f"{name} carriage",
        home=(x, y, z),
        x_range=(rounded(x - 0.6), rounded(x + 0.6)),
        y_range=(rounded(y - 0.6), rounded(y + 0.6)),
        velocity=1.0,
        acceleration=10.0,
        separation=0.05,
        winch_range=(rounded(0.2 * length), rounded(1.6 * length)),
        winch_velocity=0.6,
        winch_acceleration=10.0,
    )
    hook = Frame(name=f"{name} hook", body=spot.body, pose=Pose(position=numbers(X[1])))
    string = String(name=name, carriage=carriage.name, hook=hook.name)
    return Piece(spot.body, frames=(hook,), carriages=(carriage,), strings=(string,))


def _carried(component: Component, sizes: Mapping[str, Value], spot: Spot, name: str) -> Piece:
    """A box lying on the socket with its smallest side up."""
    thing = payload(component.name)
    middle = (0.0, 0.0, thing.size[2] / 2.0)
    body = body_of(name, [box(thing.mass, middle, thing.size)], [box_shape(middle, thing.size, DARK)])
    joint = Joint(name=name, kind="fixed", parent=spot.body, child=name, pose=pose_of(spot.frame(sizes)))
    return Piece(spot.body, bodies=(body,), joints=(joint,))


_ACROSS = np.array([[1.0, 0.0, 0.0], [0.0, 0.0, 1.0], [0.0, -1.0, 0.0]])


def motor_piece(servo: Servo, sizes: Mapping[str, float | str], root: str, X: Rigid, name: str) -> Piece:
    """The case "NAME case" fixed to ``root`` at its frame ``X``, the hinge NAME with its motor, and what turns, "NAME output"."""
    sink, reach = float(sizes["sink"]), float(sizes["reach"])
    _, long, deep = servo.size
    if sizes["shaft"] == "outward":
        middle, axes = (0.0, servo.shaft_offset, deep / 2.0 - sink), np.eye(3)
        place, axis = (0.0, 0.0, deep + servo.horn_height - sink), _UP
        turning, frame = bare_horn(servo, f"{name} output"), Pose(position=(0.0, 0.0, PLA.wall))
    else:
        middle, axes = (0.0, 0.0, long / 2.0 - sink), _ACROSS
        place, axis = (0.0, 0.0, long / 2.0 + servo.shaft_offset - sink), (0.0, 1.0, 0.0)
        turning, top = _bracket(servo, f"{name} output")
        frame = Pose(position=(0.0, 0.0, top))
    case = body_of(f"{name} case", [box(servo.mass, middle, servo.size, axes)], [box_shape(middle, servo.size, DARK, axes=axes)])
    limits = (-reach, reach)
    joints = (
        Joint(name=f"{name} case", kind="fixed", parent=root, child=case.name, pose=pose_of(X)),
        Joint(
            name=name,
            kind="hinge",
            parent=case.name,
            child=turning.name,
            pose=pose_of(moved((np.eye(3), np.zeros(3)), place)),
            axis=axis,
            range=limits,
        ),
    )
    horn = Frame(name=f"{name} horn", body=turning.name, pose=frame)
    return Piece(root, bodies=(case, turning), joints=joints, motors=(servo.motor(name, name, limits),), frames=(horn,))


def bare_horn(servo: Servo, name: str) -> Body:
    """The printed plate on a horn: a disc of the horn's radius and a wall's thickness, outward from its face."""
    middle, radius = (0.0, 0.0, PLA.wall / 2.0), servo.horn_radius
    disc = cylinder(PLA.density * pi * radius**2 * PLA.wall, middle, _UP, radius, PLA.wall)
    return body_of(name, [disc], [cylinder_shape(middle, _UP, radius, PLA.wall, LIGHT)])


def _bracket(servo: Servo, name: str) -> tuple[Body, float]:
    """Two cheeks on the ends of a shaft along y, and the bridge that joins them beyond the case; how high [m] its top is."""
    wide, long, deep = servo.size
    cheek = deep / 2.0 + servo.horn_height + PLA.wall / 2.0
    clear = hypot(wide / 2.0, long / 2.0 - servo.shaft_offset) + _GAP
    low, top, width = -servo.horn_radius, rounded(clear + PLA.wall), 2.0 * servo.horn_radius
    parts = [((0.0, side * cheek, (low + clear) / 2.0), (width, PLA.wall, clear - low)) for side in (1.0, -1.0)]
    parts.append(((0.0, 0.0, clear + PLA.wall / 2.0), (width, 2.0 * cheek + PLA.wall, PLA.wall)))
    solids: list[Solid] = [box(PLA.density * float(np.prod(size)), middle, size) for middle, size in parts]
    shapes: list[Shape] = [box_shape(middle, size, LIGHT) for middle, size in parts]
    return body_of(name, solids, shapes), top
