"""Pictures: every part on a sheet, and the finished robot."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from math import ceil
from typing import Any

import numpy as np

from bunraku.building.shapes import DARK, LIGHT, RUBBER
from bunraku.fabrication.collisions import assembled, body_poses
from bunraku.fabrication.forks import RUBBER as RING
from bunraku.fabrication.kit import PartsKit
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import MM, Solid, ball, cylinder, moved, triangles

_LIGHT_FROM = np.array([0.55, -0.30, 0.78])
_FINE = 7.0


def picture_of_parts(named: Sequence[tuple[str, TriangleMesh, Solid]]) -> bytes:
    """A sheet with every part as it lies on the bed; each with its title, mesh and solid in that place. PNG."""
    from matplotlib import pyplot

    columns = min(4, len(named))
    rows = ceil(len(named) / columns)
    figure = pyplot.figure(figsize=(3.4 * columns, 3.3 * rows))
    for number, (title, mesh, solid) in enumerate(named):
        axes = figure.add_subplot(rows, columns, number + 1, projection="3d")
        draw_solids(axes, [(solid.refine_to_length(max(_FINE, mesh.size().max() / 25.0)), LIGHT[:3])], (32.0, -52.0), 0.86)
        axes.set_title(title, fontsize=9, y=0.95)
    figure.subplots_adjust(0.01, 0.01, 0.99, 0.95, 0.02, 0.08)
    return png(figure)


def picture_of_robot(kit: PartsKit) -> bytes:
    """The finished robot at home, from the front left and from the side. PNG."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=(13.0, 6.0))
    colored = [(solid.refine_to_length(12.0), color) for solid, color in _looks(kit)]
    for number, view in enumerate(((22.0, 35.0), (8.0, 90.0))):
        axes = figure.add_subplot(1, 2, number + 1, projection="3d")
        draw_solids(axes, colored, view, 1.05)
    figure.subplots_adjust(0.0, 0.0, 1.0, 1.0, 0.0, 0.0)
    return png(figure)


def _looks(kit: PartsKit) -> list[tuple[Solid, tuple[float, float, float]]]:
    """Everything to be seen, with its colour: what is printed, servos, wheels, rubber rings and feet."""
    shell = kit.robot.chassis.color[:3]
    colors = {"servo": DARK[:3], "wheel": RUBBER[:3]}
    seen = [
        (thing.solid, shell if thing.role == "printed" and thing.body == "body" else colors.get(thing.role, LIGHT[:3]))
        for thing in assembled(kit)
        if thing.name != "axle spacer" and thing.role != "payload"
    ]
    poses = body_poses(kit)
    for limb in kit.limbs:
        for tip in limb.tips:
            radius, half = MM * tip.radius, MM * tip.model.width / 2.0
            if tip.model.kind == "ball":
                R, p = poses[tip.parent]
                seen.append((moved(ball(MM * tip.center, radius), R, p), RUBBER[:3]))
            elif tip.case is not None:
                ring = cylinder(-half * tip.axis, half * tip.axis, radius) - cylinder(
                    -2 * half * tip.axis, 2 * half * tip.axis, radius - RING
                )
                seen.append((moved(ring, *poses[tip.name]), RUBBER[:3]))
    return seen


def draw_solids(axes: Any, solids: Sequence[tuple[Solid, Sequence[float]]], view: tuple[float, float], zoom: float) -> None:
    """Triangles that face the viewer, shaded by how they face the light."""
    from mpl_toolkits.mplot3d.art3d import Poly3DCollection

    up, round_ = np.radians(view)
    eye = np.array([np.cos(up) * np.cos(round_), np.cos(up) * np.sin(round_), np.sin(up)])
    light = eye * 0.25 + _LIGHT_FROM
    if light @ eye < 0.5 * np.linalg.norm(light):  # seen from the dark side
        light = light / np.linalg.norm(light) + eye
    light = light / np.linalg.norm(light)
    corners, colors = [], []
    for solid, color in solids:
        vertices, numbers = triangles(solid)
        faces = vertices[numbers]
        normals = np.cross(faces[:, 1] - faces[:, 0], faces[:, 2] - faces[:, 0])
        normals /= np.linalg.norm(normals, axis=1, keepdims=True) + 1e-30
        front = normals @ eye > -0.05
        shade = 0.30 + 0.70 * np.clip(normals[front] @ light, 0.0, 1.0) ** 1.3
        corners.append(faces[front])
        colors.append(np.clip(shade[:, None] * np.array(color), 0.0, 1.0))
    every, paint = np.concatenate(corners), np.concatenate(colors)
    axes.add_collection3d(Poly3DCollection(every, facecolors=paint, edgecolors=paint, linewidths=0.5))
    low, high = every.reshape(-1, 3).min(axis=0), every.reshape(-1, 3).max(axis=0)
    middle, lengths = (low + high) / 2.0, np.maximum(high - low, 1.0)
    for setter, center, length in zip((axes.set_xlim, axes.set_ylim, axes.set_zlim), middle, lengths, strict=True):
        setter(center - length / 2.0, center + length / 2.0)
    axes.set_box_aspect(lengths, zoom=zoom)
    axes.set_proj_type("ortho")
    axes.view_init(*view)
    axes.set_axis_off()


def png(figure: Any) -> bytes:
    """A figure as the bytes of a PNG; it is closed."""
    from matplotlib import pyplot

    stream = BytesIO()
    figure.savefig(stream, format="png", dpi=110, metadata={"Software": None})
    pyplot.close(figure)
    return stream.getvalue()
