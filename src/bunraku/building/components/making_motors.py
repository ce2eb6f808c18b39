"""A servo where it is attached: its case on the socket, and on its shaft a printed plate, or a bracket over it.

A shaft that points outward carries a plate on its horn. One that lies across carries a bracket that holds both of its ends and
reaches over the case, so that a limb goes on outward and stays in the middle plane where the socket is in it.
"""

from __future__ import annotations

from collections.abc import Mapping
from math import hypot, pi

import numpy as np

from bunraku.building.components.piece import Piece, body_of
from bunraku.building.components.placing import moved, pose_of, rounded
from bunraku.building.printing import PLA
from bunraku.building.servos import Servo
from bunraku.building.shapes import DARK, LIGHT, box_shape, cylinder_shape
from bunraku.building.solids import Solid, box, cylinder
from bunraku.character import Body, Frame, Joint, Pose, Shape
from bunraku.geometry.poses import Rigid

_UP = (0.0, 0.0, 1.0)
_GAP = 0.002
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
