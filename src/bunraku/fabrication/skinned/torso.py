"""The torso's frame: a bay for controller and battery with columns for the bracing, and a bracket to every servo of the torso."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.character_geometry import home_frames
from bunraku.building.shapes import LIGHT
from bunraku.building.tips import payload
from bunraku.fabrication.draft import PLATE, Draft, Hole
from bunraku.fabrication.shaping import MM, Solid, bore, box, cylinder, hull, middle_of, overlap
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.links import SkeletonLink

WALL = 2.4
"""Thickness [mm] of the bay's walls and floor."""
COLUMN = 11.0
"""Side [mm] of its corner columns."""
_LIGHT = 8.0
"""Radius [mm] of the holes that make the bay light."""
_PLAY = 0.5
_SPREAD = (14.0, 12.0)
_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class Bay:
    """The box for what the torso carries: ``center`` (3,) and ``size`` (3,) [mm], along the world's axes at home."""

    body: str
    center: Array
    size: Array

    @property
    def outer(self) -> Array:
        """Full lengths of the tray around it."""
        return self.size + np.array([2.0, 2.0, 1.0]) * (WALL + _PLAY)

    def column(self, place: Array) -> Solid:
        """A column of the tray's height about a place."""
        return box(place - _UP * (WALL + _PLAY) / 2.0, (COLUMN, COLUMN, self.outer[2]))

    def columns(self, taken: list[Solid]) -> list[Array]:
        """Middles of four columns outside the walls, as far apart as can be, clear of what is ``taken``."""
        half = (self.outer[:2] + COLUMN) / 2.0 - 1.0
        ring = []
        for k in (0, 1):
            for at in np.linspace(-half[1 - k] + COLUMN, half[1 - k] - COLUMN, 9):
                for side in (1.0, -1.0):
                    place = self.center.copy()
                    place[k] += side * half[k]
                    place[1 - k] += at
                    ring.append(place)
        free = [place for place in ring if all(overlap(self.column(place), solid) < 0.5 for solid in taken)]
        chosen: list[Array] = []
        while free and len(chosen) < 4:
            far = [
                min(
                    [float(np.linalg.norm(place - other)) for other in chosen]
                    or [float(abs(place[0] - self.center[0]) + abs(place[1] - self.center[1]))]
                )
                for place in free
            ]
            if chosen and max(far) < 1.5 * COLUMN:
                break
            chosen.append(free[int(np.argmax(far))])
        return chosen


def bay_of(layout: Layout, body: str) -> Bay:
    """The bay of a body of the torso: its light box that nothing collides with, else room for a controller about its frame."""
    frames = home_frames(layout.character)
    shapes = next(each.shapes for each in layout.character.bodies if each.name == body)
    R, p = frames[body]
    for shape in shapes:
        if shape.kind == "box" and not shape.collides and shape.color[:3] == LIGHT[:3]:
            return Bay(body, MM * (p + R @ np.array(shape.pose.position)), 2.0 * MM * np.array(shape.size))
    below = [hinge.place for hinge in layout.children(body)]
    middle = np.mean(below, axis=0) if below else MM * p
    return Bay(body, middle, MM * np.array(payload("small controller").size) + np.array([0.0, 0.0, 10.0]))


def draw_bay(bay: Bay, brackets: list[list[Hole]], columns: list[Array]) -> Draft:
    """The tray: floor, walls, corner columns, holes that make it light, seats for a controller board, slots for a strap.

    ``brackets`` are the holes of what is screwed to its walls from outside; nuts go inside. ``columns`` carry the bracing.
    """
    draft = Draft("bay")
    outer, inner = bay.outer, bay.size + 2.0 * _PLAY
    base = bay.center - _UP * (WALL + _PLAY) / 2.0
    draft.add.append(box(base, outer))
    draft.cut.append(box(bay.center + _UP * 10.0, inner + np.array([0.0, 0.0, 20.0])))
    draft.add += [bay.column(place) for place in columns]
    floor = bay.center[2] - bay.size[2] / 2.0 - _PLAY
    for x in _row(bay.size[0]):
        for y in _row(bay.size[1]):
            spot = np.array([bay.center[0] + x, bay.center[1] + y, floor])
            draft.cut.append(cylinder(spot - 3.0 * WALL * _UP, spot + WALL * _UP, _LIGHT))
    taken = [hole.center for holes in brackets for hole in holes] + [
        place + h * _UP for place in columns for h in np.linspace(-bay.size[2] / 2.0, bay.size[2] / 2.0, 9)
    ]
    for k in (0, 1):
        n, u = np.eye(3)[k], np.eye(3)[1 - k]
        for at in _row(bay.size[1 - k]):
            for high in _row(bay.size[2]):
                for side in (1.0, -1.0):
                    spot = bay.center + side * n * bay.outer[k] / 2.0 + at * u + high * _UP
                    if all(np.linalg.norm(spot - hole) > _LIGHT + 6.0 for hole in taken):
                        draft.cut.append(cylinder(spot - 2.0 * WALL * n, spot + 2.0 * WALL * n, _LIGHT))
    for side in (1.0, -1.0):  # slots for a strap round the battery
        draft.cut.append(
            box(np.array([bay.center[0], bay.center[1] + side * (bay.size[1] / 2.0 - 3.0), floor]), (22.0, 3.0, 4.0 * WALL))
        )
    for holes in brackets:
        for hole in holes:
            draft.holes.append(Hole(hole.center, -hole.axis, 3.4, WALL, None, f"to {hole.group}"))
            draft.cut.append(bore(hole.center + hole.axis, hole.center - (WALL + 1.0) * hole.axis, 1.7))
    draft.cases.append(("controller and battery", box(bay.center, bay.size)))
    return draft


def _row(length: float) -> Array:
    """Where holes that make a wall light are along a length [mm], from its middle: evenly, a web between them and at the ends."""
    count = int((length - 4.0) // (2.0 * _LIGHT + 4.0))
    return (np.arange(count) - (count - 1) / 2.0) * (length - 4.0) / max(count, 1)


def draw_bracket(bay: Bay, link: SkeletonLink) -> list[Hole]:
    """Lead from the seat or yoke of a ``link`` of the torso to the bay, so that it becomes a bracket; returns its screws."""
    return fix_to_bay(link.draft, bay, link.blocks[0], link.draft.name)


def fix_to_bay(draft: Draft, bay: Bay, block: Solid, group: str) -> list[Hole]:
    """Lead from a ``block`` of a draft to a plate on the nearest wall of the bay; returns the plate's screws, which are drilled."""
    middle = middle_of(block)
    away = (middle - bay.center) / (bay.outer / 2.0)
    k = int(np.argmax(np.abs(away[:2])))
    n, u = np.zeros(3), np.zeros(3)
    n[k], u[1 - k] = np.sign(away[k]), 1.0
    low = bay.center[2] - bay.size[2] / 2.0 - _PLAY - WALL
    high = bay.center[2] + bay.size[2] / 2.0
    plate_u, plate_z = 2.0 * _SPREAD[0] + 9.0, min(2.0 * _SPREAD[1] + 9.0, high - low)
    room = max(bay.outer[1 - k] / 2.0 - plate_u / 2.0, 0.0)
    at = float(np.clip((middle - bay.center) @ u, -room, room))
    z = float(np.clip(middle[2], low + plate_z / 2.0, high - plate_z / 2.0))
    center = bay.center + n * bay.outer[k] / 2.0 + at * u
    center[2] = z
    thick = PLATE + 0.8
    axes = np.stack([u, np.cross(n, u), n], axis=1)
    draft.add.append(box(center + n * thick / 2.0, (plate_u, plate_z, thick), axes))
    draft.add.append(hull([box(center + n * thick / 2.0, (16.0, min(16.0, plate_z), thick), axes), block]))
    holes = []
    for a in (_SPREAD[0], -_SPREAD[0]):
        for b in ((plate_z - 9.0) / 2.0, -(plate_z - 9.0) / 2.0):
            holes.append(Hole(center + a * u + b * _UP, n, 3.4, 2.4, "M3", group, length=10))
    draft.drill(holes, thickness=40.0)
    return holes
