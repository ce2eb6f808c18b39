"""Mechanisms for creatures with four legs: three templates, one in its place (world frame of the home pose), its room in the skin.

A template says which joints a leg has, where along it, about which axis, and the servo of each. It knows no sizes but proportions:
joints lie at fractions of the length of a leg's curve, from the torso to the sole. Embedding (`embed`) gives them places.

A skin is asked through the signed distance of its surface, negative inside, less its thickness. A strut or servo case has the
clearance -(distance + thickness) at its worst sample, less its radius; below zero it comes through the skin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from math import radians
from typing import Literal

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case
from bunraku.building.servos import servo
from bunraku.errors import BadInput

LEGS = ("LF", "RF", "LH", "RH")
"""The legs in their order: left and right fore, left and right hind."""

Turn = Literal["x", "y", "z", "tangent"]


@dataclass(frozen=True)
class JointPlan:
    """A joint of a leg: its ``name``, the ``turn`` it makes at home, where it is, what drives it, how far it goes.

    ``turn``: about a world axis, or "tangent", the horizontal direction across the leg's plane (outward x up). ``at`` is its place
    as a fraction of the leg's curve, ``reach`` [rad] how far it turns to both sides of home. The skin folds about the joint unless
    it turns inside the torso, close above one that has a ``fold``. The case of the servo is in the parent and leans back to the
    torso, or, ``outward``, in the child and leans away from it; it is moved by ``shift`` [m] along the axis.
    """

    name: str
    turn: Turn
    at: float
    servo: str
    reach: float
    fold: bool = True
    outward: bool = False
    shift: float = 0.0


@dataclass(frozen=True)
class SpinePlan:
    """A hinge about z in the middle of the torso, which parts it in a fore and a hind half."""

    name: str
    servo: str
    reach: float


@dataclass(frozen=True)
class Template:
    """A mechanism: the joints of a leg from the hip down, alike for the four legs, and the joint of the spine if there is one.

    ``leg_length`` [m] is that of the leg it was drawn for: the scale of an embedding is the length of the curve over it.
    """

    name: str
    joints: tuple[JointPlan, ...]
    leg_length: float
    spine: SpinePlan | None = None

    @property
    def hinges(self) -> int:
        """Number of hinges of the whole mechanism."""
        return len(LEGS) * len(self.joints) + (self.spine is not None)


_SMALL = "MG995R"
_MIDDLE = "Dynamixel XM430-W210 at 14.8 V"
_LARGE = "Dynamixel XW540-T140 at 14.8 V"

TEMPLATES: dict[str, Template] = {
    entry.name: entry
    for entry in (
        Template(
            "beetle",
            (
                JointPlan("hip", "y", 0.22, _SMALL, radians(50.0)),
                JointPlan("knee", "y", 0.54, _SMALL, radians(70.0)),
                JointPlan("ankle", "y", 0.84, _SMALL, radians(70.0)),
            ),
            0.31,
        ),
        Template(
            "lizard",
            (
                JointPlan("yaw", "z", 0.10, _MIDDLE, radians(45.0), fold=False),
                JointPlan("lift", "tangent", 0.256, _LARGE, radians(45.0), outward=True),
                JointPlan("knee", "tangent", 0.53, _MIDDLE, radians(70.0)),
                JointPlan("ankle", "tangent", 0.82, _MIDDLE, radians(70.0)),
            ),
            0.34,
            SpinePlan("spine", _LARGE, radians(30.0)),
        ),
        Template(
            "monster",
            (
                JointPlan("roll", "x", 0.12, _LARGE, radians(35.0), fold=False),
                JointPlan("hip", "y", 0.285, _LARGE, radians(50.0), outward=True),
                JointPlan("knee", "y", 0.545, _LARGE, radians(70.0), outward=True),
                JointPlan("ankle", "y", 0.82, _MIDDLE, radians(70.0)),
            ),
            0.32,
        ),
    )
}


def template(name: str) -> Template:
    """The template of that name; raises BadInput naming the three when there is none."""
    if name not in TEMPLATES:
        raise BadInput(f"no mechanism template {name!r}; there are {', '.join(TEMPLATES)}")
    return TEMPLATES[name]


TORSO = "body"
"""The body on the free joint."""


@dataclass(frozen=True)
class CreatureHinge:
    """A hinge at ``place`` (3,) [m] about the unit vector ``axis`` (3,), all angles zero at home.

    ``lean`` is the unit direction, across the axis, in which the long side of the servo's case extends from the shaft; ``carrier``,
    the parent or the child, is the body the case is screwed to; it is moved ``shift`` [m] along the axis. ``reach`` [rad] to both
    sides. ``limb`` is the unit direction of the limb there, downward, about which the skin folds; None where it does not.
    """

    name: str
    parent: str
    child: str
    place: Array
    axis: Array
    lean: Array
    servo: str
    carrier: str
    reach: float
    shift: float = 0.0
    limb: Array | None = None


@dataclass(frozen=True)
class Strut:
    """A printed strut of a body: a capsule from ``start`` to ``end`` (3,) [m] of ``radius``; with a ``wall`` [m], a tube."""

    body: str
    start: Array
    end: Array
    radius: float
    wall: float = 0.0


@dataclass(frozen=True)
class Sole:
    """The flat underside of a foot: middle ``center`` (3,) on the ground, ``radius`` [m]."""

    name: str
    body: str
    center: Array
    radius: float


@dataclass(frozen=True)
class Mechanism:
    """The whole: ``hinges`` parents first, ``links``, ``soles`` in the order of the legs, the frame ``origin`` (3,) of the torso.

    ``bays`` are the boxes for controller and battery in the torso, ``hulls`` those that stand for the bracing units of the torso:
    (body, center (3,), size (3,)) each. ``scale`` is that of the template.
    """

    name: str
    origin: Array
    hinges: tuple[CreatureHinge, ...]
    links: tuple[Strut, ...]
    soles: tuple[Sole, ...]
    bays: tuple[tuple[str, Array, Array], ...]
    hulls: tuple[tuple[str, Array, Array], ...]
    scale: float

    @property
    def bodies(self) -> tuple[str, ...]:
        """Names of the bodies, the torso first, then in the order of the hinges."""
        return (TORSO, *(hinge.child for hinge in self.hinges))

    def origins(self) -> dict[str, Array]:
        """Where the frame of each body stands; its axes are the world's at home."""
        return {TORSO: self.origin} | {hinge.child: hinge.place for hinge in self.hinges}


def servo_case(hinge: CreatureHinge) -> Case:
    """The servo of a hinge: its case in world coordinates.

    The shaft is ``shaft_offset`` from the middle of the long side, so the middle of the case is that far from the joint in the
    direction of its lean, and ``shift`` along the axis; the middle of its depth lies on the limb's middle line when that is zero.
    """
    model = servo(hinge.servo)
    across = np.cross(hinge.lean, hinge.axis)
    axes = np.column_stack([across, hinge.lean, hinge.axis])
    center = hinge.place + model.shaft_offset * hinge.lean + hinge.shift * hinge.axis
    horn = hinge.place + (hinge.shift + 0.5 * model.size[2]) * hinge.axis
    return Case(servo=model, center=center, axes=axes, horn=horn, flange=center + 0.5 * model.size[1] * hinge.lean)


Distance = Callable[[Array], Array]


@dataclass(frozen=True)
class Clearance:
    """The room [m] a ``part`` of a ``body`` has at its tightest point (3,), negative where it comes through the skin."""

    body: str
    part: str
    room: float
    place: Array


def clearances(mechanism: Mechanism, distance: Distance, thickness: float) -> tuple[Clearance, ...]:
    """The clearance of every strut and every servo case at home; ``distance`` of points (k, 3) to the skin's outside (k,) [m]."""
    parts: list[tuple[str, str, Array, float]] = []
    for link in mechanism.links:
        if link.wall == 0.0:
            points = link.start + np.linspace(0.0, 1.0, 9)[:, None] * (link.end - link.start)
            parts.append((link.body, "strut", points, thickness + link.radius))
    for hinge in mechanism.hinges:
        case = servo_case(hinge)
        edge = np.linspace(-0.5, 0.5, 5)
        grid = np.stack(np.meshgrid(edge, edge, edge, indexing="ij"), axis=-1).reshape(-1, 3)
        grid = grid[np.abs(grid).max(axis=1) == 0.5]
        points = case.center + (grid * np.array(case.servo.size)) @ case.axes.T
        parts.append((hinge.carrier, f"servo of {hinge.name}", points, thickness))
    if not parts:
        return ()
    away = -distance(np.concatenate([points for _, _, points, _ in parts]))  # at once: most of the cost is per call
    rooms = np.split(away, np.cumsum([len(points) for _, _, points, _ in parts])[:-1])
    return tuple(_worst(*part, room) for part, room in zip(parts, rooms, strict=True))


def collisions(mechanism: Mechanism, distance: Distance, thickness: float) -> tuple[Clearance, ...]:
    """The parts that come through the skin, worst first."""
    return tuple(
        sorted((part for part in clearances(mechanism, distance, thickness) if part.room < 0.0), key=lambda part: part.room)
    )


def _worst(body: str, part: str, points: Array, margin: float, away: Array) -> Clearance:
    k = int(np.argmin(away))
    return Clearance(body, part, float(away[k] - margin), points[k])
