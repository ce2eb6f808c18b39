"""The replay as pictures: the character's shapes drawn where the simulation had them, as a strip of moments or a film."""

from __future__ import annotations

from collections.abc import Sequence
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Body, EndEffector, Shape
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.contact_shapes import contact_shape
from bunraku.formats.poses import of_pose
from bunraku.geometry.rotations import least_turn
from bunraku.verification.ground.heights import ground_height
from bunraku.verification.ground.replay import GroundReplay
from bunraku.verification.plots.figure import new_figure

_TIP_COLOR = (0.25, 0.25, 0.28, 1.0)
_LIGHT = np.array([0.3, -0.5, 0.81])
_AROUND = 14


def draw_strip(replay: GroundReplay, count: int = 8) -> Any:
    """``count`` moments of a replay from start to end, seen from the front left above, the camera going along."""
    moments = np.linspace(0, len(replay.record.times) - 1, count).round().astype(np.int64)
    columns = min(4, count)
    rows = -(-count // columns)
    scene = _Scene(replay)
    figure, axes = new_figure(rows, columns, height=9.0 / columns * scene.ratio, share=False)
    for axis, k in zip(axes.flat, moments, strict=False):
        scene.draw(axis, int(k))
        axis.set_title(f"{replay.record.times[k]:.2f} s", fontsize=8)
    for axis in axes.flat[count:]:
        axis.set_axis_off()
    return figure


def write_film(replay: GroundReplay, path: Path, *, rate: float = 20.0) -> None:
    """The replay as a GIF at ``rate`` pictures a second, whole or not at all."""
    from matplotlib import pyplot
    from PIL import Image

    if path.suffix.lower() != ".gif":
        raise BadInput("the name of a film should end in .gif", file=str(path))
    scene, times = _Scene(replay), replay.record.times
    figure, axis = pyplot.subplots(figsize=(4.8, 4.8 * scene.ratio), dpi=100)
    figure.subplots_adjust(0.0, 0.0, 1.0, 1.0)
    frames = []
    moments = np.searchsorted(times, np.arange(0.0, times[-1] + 1e-9, 1.0 / rate))
    for k in np.minimum(moments, len(times) - 1):
        axis.clear()
        scene.draw(axis, int(k))
        axis.text(0.02, 0.95, f"{times[k]:.2f} s", transform=axis.transAxes, fontsize=9)
        figure.canvas.draw()
        frames.append(Image.fromarray(np.asarray(figure.canvas.buffer_rgba())[..., :3].copy()).quantize(64))
    pyplot.close(figure)
    stream = BytesIO()
    frames[0].save(stream, format="GIF", save_all=True, append_images=frames[1:], duration=round(1000.0 / rate), loop=0)
    write_atomically(path, stream.getvalue())


class _Scene:
    """Faces of every shape in its body's frame, where the bodies were, and a camera that goes along."""

    def __init__(self, replay: GroundReplay) -> None:
        plan = replay.plan
        self._replay, self._plan = replay, plan
        self._rotation, self._position = plan.tree.poses(replay.coordinates.values)
        bodies = {body.name: body for body in plan.character.bodies}
        solids = [(body.name, shape) for body in plan.character.bodies for shape in body.shapes]
        hidden = [tip for tip in plan.character.end_effectors if not _drawn(bodies[tip.body], tip)]
        solids += [(tip.body, contact_shape(tip).changed(color=_TIP_COLOR)) for tip in hidden]
        faces = [(plan.tree.nodes[name], face, shape.color) for name, shape in solids for face in _faces(shape)]
        self._nodes = np.array([node for node, _, _ in faces], dtype=np.int64)
        self._corners = np.array(
            [np.concatenate([face, np.repeat(face[-1:], _AROUND - len(face), axis=0)]) for _, face, _ in faces]
        )
        self._colors = np.array([color for _, _, color in faces], dtype=np.float64)
        normals = np.cross(self._corners[:, 1] - self._corners[:, 0], self._corners[:, 2] - self._corners[:, 0])
        self._normals = normals / np.maximum(np.linalg.norm(normals, axis=1, keepdims=True), 1e-12)
        azimuth, rise = np.radians(-55.0), np.radians(22.0)
        back = np.array([np.cos(rise) * np.cos(azimuth), np.cos(rise) * np.sin(azimuth), np.sin(rise)])
        right = np.array([-np.sin(azimuth), np.cos(azimuth), 0.0])
        self._camera = np.stack([right, np.cross(back, right), back])
        self._size = 0.62 * float(np.linalg.norm(np.ptp(self._placed(0).reshape(-1, 3), axis=0)))
        self.ratio = 0.8

    def draw(self, axis: Any, k: int) -> None:
        """The moment of sample ``k``; faces from far to near, those turned away left out."""
        from matplotlib.collections import LineCollection, PolyCollection

        com = self._replay.record.com[k]
        floor = float(ground_height(self._plan.terrain, com[:1], com[1:2])[0])
        look = np.array([com[0], com[1], floor + 0.6 * (com[2] - floor)])
        lines = [(line - look) @ self._camera[:2].T for line in self._ground(look)]
        axis.add_collection(LineCollection(lines, colors="#c9ccd1", linewidths=0.6, zorder=1))
        normals = np.einsum("fij,fj->fi", self._rotation[k, self._nodes], self._normals)
        seen = np.flatnonzero(normals @ self._camera[2] > 0.0)
        world = self._placed(k)[seen] - look
        order = np.argsort((world @ self._camera[2]).mean(axis=1))
        colors = self._colors[seen].copy()
        colors[:, :3] *= 0.55 + 0.45 * np.maximum(normals[seen] @ _LIGHT, 0.0)[:, None]
        flat, shades = (world @ self._camera[:2].T)[order], colors[order]
        axis.add_collection(PolyCollection(flat, facecolors=shades, edgecolors=shades, linewidths=0.3, zorder=2))
        axis.set_xlim(-self._size, self._size)
        axis.set_ylim(-self._size * self.ratio, self._size * self.ratio)
        axis.set_aspect("equal")
        axis.set_axis_off()

    def _placed(self, k: int) -> Array:
        """Corners (faces, most corners, 3) of all faces in the world at sample ``k``."""
        turned = np.einsum("fij,fcj->fci", self._rotation[k, self._nodes], self._corners)
        return np.asarray(turned + self._position[k, self._nodes][:, None])

    def _ground(self, look: Array) -> list[Array]:
        """Lines of the ground every 5 cm around the place looked at, fixed in the world."""
        reach, step, fine = 2.2 * self._size, 0.05, 2 if self._plan.terrain is None else 120
        x = np.arange(np.ceil((look[0] - reach) / step), np.floor((look[0] + reach) / step) + 1) * step
        y = np.arange(np.ceil((look[1] - reach) / step), np.floor((look[1] + reach) / step) + 1) * step
        along, across, level = np.linspace(x[0], x[-1], fine), np.linspace(y[0], y[-1], fine), np.ones(fine)
        terrain = self._plan.terrain
        return [np.column_stack([along, b * level, ground_height(terrain, along, b * level)]) for b in y] + [
            np.column_stack([a * level, across, ground_height(terrain, a * level, across)]) for a in x
        ]


def _drawn(body: Body, tip: EndEffector) -> bool:
    """Whether a shape of the body already shows the end effector: all of a wheel's do, else one about its centre."""
    near = [np.linalg.norm(np.array(shape.pose.position) - np.array(tip.center)) < 0.25 * tip.radius for shape in body.shapes]
    return bool(body.shapes) and (tip.spins or any(near))


def _faces(shape: Shape) -> list[Array]:
    """Flat faces (corners, 3) of a shape in its body's frame, corners anticlockwise seen from outside; nothing for a mesh."""
    R, p = of_pose(shape.pose)
    size = shape.size
    match shape.kind:
        case "box":
            local = _box(np.array(size))
        case "sphere":
            local = _round([(size[0] * np.cos(a), size[0] * np.sin(a)) for a in np.linspace(-np.pi / 2, np.pi / 2, 8)])
        case "ellipsoid":
            ball = _round([(np.cos(a), np.sin(a)) for a in np.linspace(-np.pi / 2, np.pi / 2, 8)])
            local = [face * np.array(size) for face in ball]
        case "cylinder":
            local = _round([(0.0, -size[1]), (size[0], -size[1]), (size[0], size[1]), (0.0, size[1])])
        case "capsule":
            low = [(size[0] * np.cos(a), size[0] * np.sin(a) - size[1]) for a in np.linspace(-np.pi / 2, 0.0, 3)]
            local = _round([*low, *((r, -z) for r, z in reversed(low))])
        case _:
            return []
    return [face @ R.T + p for face in local]


def _box(half: Array) -> list[Array]:
    """The six faces of a box of these half lengths."""
    square = np.array([[1.0, 1.0], [-1.0, 1.0], [-1.0, -1.0], [1.0, -1.0]])
    faces = []
    for direction in (*np.eye(3), *-np.eye(3)):
        turn = least_turn((0.0, 0.0, 1.0), direction)
        corners = np.column_stack([square, np.ones(4)]) @ turn.T
        faces.append(np.round(corners) * half)
    return faces


def _round(outline: Sequence[tuple[float, float]]) -> list[Array]:
    """Faces of what turns about z with the outline (radius, height) from below to above; flat ends are one face each."""
    angle = 2.0 * np.pi * np.arange(_AROUND) / _AROUND
    ring = np.column_stack([np.cos(angle), np.sin(angle)])
    faces: list[Array] = []
    for (r0, z0), (r1, z1) in pairwise(outline):
        low = np.column_stack([r0 * ring, np.full(_AROUND, z0)])
        high = np.column_stack([r1 * ring, np.full(_AROUND, z1)])
        if abs(z1 - z0) < 1e-12:
            faces.append(low if r1 < r0 else high[::-1])
            continue
        for i in range(_AROUND):
            j = (i + 1) % _AROUND
            corners = [low[i], low[j], high[j], high[i]]
            if r0 < 1e-9:
                corners = [low[i], high[j], high[i]]
            elif r1 < 1e-9:
                corners = [low[i], low[j], high[j]]
            faces.append(np.array(corners))
    return faces
