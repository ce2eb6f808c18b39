"""Printed parts of a skinned character while they are made, and what all of them go through: cuts, pilot holes, lightening."""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np

from bunraku.arrays import Array
from bunraku.fabrication.draft import LEAST_WALL, Draft, Hole, screw
from bunraku.fabrication.shaping import Solid, bore, bounds, box, cylinder, difference, middle_of
from bunraku.fabrication.skinned.blocks import local_size
from bunraku.fabrication.skinned.bracing import THICK, lightening
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.servos import PlacedServo, place_servos
from bunraku.fabrication.skinned.shell import SkinShell, cleaned, offset
from bunraku.fabrication.skinned.torso import Bay

FIT = 0.5
"""Gap [mm] between a bracing unit and the parts inside it."""
_DRIVER = 30.0


@dataclass
class DrawnPart:
    """A part to print, in the world frame of the home pose [mm]; ``frame`` (3, 3): the axes it is drawn and printed along."""

    name: str
    kind: str
    body: str
    solid: Solid
    frame: Array
    holes: list[Hole] = field(default_factory=list)
    cases: list[tuple[str, Solid]] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)
    draft: Draft | None = None


@dataclass
class Skeleton:
    """The printed parts, the servos in them, and what could not be drawn, in sentences."""

    parts: list[DrawnPart]
    servos: dict[str, PlacedServo]
    bays: list[Bay]
    faults: list[str]

    def rigid(self, body: str) -> list[Solid]:
        """All solids fixed to a body: its printed parts and the servos it carries."""
        own = [part.solid for part in self.parts if part.body == body]
        return own + [servo.body() for servo in self.servos.values() if servo.carrier == body]


class Maker:
    """The parts while they are made: ``skeleton`` so far, ``fixed`` what each body takes in space, ``room`` inside the skin."""

    def __init__(self, layout: Layout, shell: SkinShell, torso_room: Solid, printer: tuple[float, float, float]) -> None:
        self.layout, self.shell, self.torso_room, self.printer = layout, shell, torso_room, printer
        self.room = offset(shell.inner, -0.3)
        self.servos = place_servos(layout, self.room)
        self.skeleton = Skeleton([], self.servos, [], [])
        self.fixed: dict[str, Solid] = {}

    def add(self, name: str, kind: str, body: str, draft: Draft, frame: Array, clip: bool = True) -> DrawnPart:
        """Add what a draft shows, cut to the ``room`` unless it is made to it."""
        solid = cleaned(draft.solid() ^ self.room if clip else draft.solid())
        part = DrawnPart(name, kind, body, solid, frame, draft.holes, draft.cases, draft.notes, draft)
        self.skeleton.parts.append(part)
        return part

    def ends(self, body: str) -> tuple[tuple[PlacedServo, ...], tuple[PlacedServo, ...]]:
        """The servos that a body carries, and those whose horns it holds on to."""
        near = self.servos_at(body)
        return tuple(s for s in near if s.carrier == body), tuple(s for s in near if s.carrier != body)

    def servos_at(self, body: str) -> list[PlacedServo]:
        """The servos of the hinges of a body."""
        return [servo for servo in self.servos.values() if body in (servo.hinge.parent, servo.hinge.child)]

    def light(self, draft: Draft, shell: Solid, keep: list[Solid], name: str, body: str, frame: Array) -> DrawnPart:
        """Add a bracing unit, with holes if they leave it whole, its glue and what is in ``keep`` backed by material."""
        big = max(local_size(shell, frame)) > 150.0
        glue = self.layout.glue.get(body, np.zeros((0, 3)))
        holes = lightening(shell, keep, glue, (16.0, 12.0, 9.0, 6.5, 4.5) if big else (9.0, 6.5, 4.5))
        part = self.add(name, "bracing", body, draft, frame, clip=False)
        lighter = cleaned(difference(part.solid, holes)) if holes else part.solid
        if len(lighter.decompose()) <= len(part.solid.decompose()):
            part.solid = lighter
        return part


def wide(pillar: Solid) -> Solid:
    """A box about a pillar that lightening leaves alone."""
    return box(middle_of(pillar), np.ptp(bounds(pillar), axis=0) + 3.0 * THICK)


def unit(vector: Array) -> Array:
    """A vector made 1 long."""
    return vector / max(float(np.linalg.norm(vector)), 1e-9)


def bored(solid: Solid, hole: Hole) -> Solid:
    """A solid with a pilot hole."""
    return solid - bore(hole.center - hole.axis, hole.center + (hole.seat + 1.0) * hole.axis, hole.diameter / 2.0)


def hole_room(hole: Hole) -> Solid:
    """A hole with material about it, which lightening leaves alone."""
    return cylinder(hole.center - 2.0 * hole.axis, hole.center + (hole.seat + 2.0) * hole.axis, hole.diameter / 2.0 + 1.5)


def holds(block: Solid, hole: Hole) -> bool:
    """Whether there is material all round a hole: a wall from its face to the seat of its screw's head."""
    low, high = hole.center + 0.1 * hole.axis, hole.center + (hole.seat - 0.1) * hole.axis
    ring = cylinder(low, high, hole.diameter / 2.0 + LEAST_WALL)
    wall = ring - cylinder(low, high, hole.diameter / 2.0 + 0.1)
    return float((block ^ wall).volume()) > 0.995 * float(wall.volume())


def driver(hole: Hole) -> Solid | None:
    """The way of a screw's head and of the driver to a hole; None where no screw comes from that side."""
    if hole.screw is None or hole.pilot:
        return None
    start = hole.center + hole.seat * hole.axis
    return cylinder(start, start + _DRIVER * hole.axis, screw(hole.screw).head_diameter / 2.0)
