"""A mechanism in its place: hinges, links and soles of a creature, in the world frame of the home pose; and its room in the skin.

A skin is asked through the signed distance of its surface, negative inside, less its thickness. A strut or servo case has the
clearance -(distance + thickness) at its worst sample, less its radius; below zero it comes through the skin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case
from bunraku.building.servos import servo

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
