"""A mechanism in its place: hinges, links and soles of a creature, in the world frame of the home pose."""

from __future__ import annotations

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
