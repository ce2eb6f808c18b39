"""Whether the mechanism has room in the skin: how far struts and servo cases stay inside the skin's inner surface.

The surface is asked through its signed distance, negative inside, less the thickness of the skin. A part has the clearance
-(distance + thickness) at its worst sample, less its radius; below zero it comes through the skin.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.building.creatures.mechanism import Mechanism, servo_case

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
