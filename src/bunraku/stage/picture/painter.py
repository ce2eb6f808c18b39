"""The painter: a camera, lights and colours, and pictures of figures on the ground."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.stage.picture.camera import Camera
from bunraku.stage.picture.raster_kernels import blurred, fill, ground, resolve
from bunraku.stage.picture.triangles import Triangles, linear

Small = NDArray[np.float32]

MOST_PIXELS = 4096
"""The largest width or height of a picture [px]."""
SHADOW = 352
"""Pixels of the shadow map in each direction."""
SAMPLES = 2
"""Samples a pixel in each direction."""
OPACITY = 0.55
"""Of a see-through figure."""
APART = 0.006
"""A see-through figure is seen where it is nearer than the solid one by more than this times the size of what is looked at."""


@dataclass(frozen=True)
class Theme:
    """Colours (sRGB) of backdrop, horizon, floor, lines and strong lines; how dark shadows are; the lights (linear).

    ``key`` and ``fill``: light from two sides by Lambert's law; ``sky`` and ``earth``: from all over above and below; ``gloss``.
    """

    backdrop: tuple[tuple[float, float, float], ...]
    shadow: float = 0.55
    key: float = 0.78
    fill: float = 0.16
    sky: tuple[float, float, float] = (0.36, 0.38, 0.42)
    earth: tuple[float, float, float] = (0.17, 0.16, 0.15)
    gloss: float = 0.10
    ink: tuple[int, int, int] = (40, 42, 46)

    def lights(self, towards: Array, other: Array) -> Small:
        """As the kernels take them: ways to key and fill, sky, earth, strengths of key and fill, gloss; (7, 3)."""
        rows = [towards, other, self.sky, self.earth, (self.key,) * 3, (self.fill,) * 3, (self.gloss,) * 3]
        return np.array(rows, dtype=np.float32)


LIGHT = Theme(((0.90, 0.92, 0.945), (0.965, 0.97, 0.975), (0.935, 0.94, 0.945), (0.80, 0.815, 0.83), (0.70, 0.715, 0.735)))
DARK = Theme(
    ((0.075, 0.08, 0.09), (0.13, 0.135, 0.15), (0.16, 0.165, 0.18), (0.23, 0.24, 0.26), (0.30, 0.31, 0.335)),
    shadow=0.65,
    sky=(0.30, 0.31, 0.34),
    ink=(222, 224, 228),
)


@dataclass(frozen=True, eq=False)
class Painter:
    """Draws pictures of ``width`` x ``height`` pixels as a camera sees them.

    ``floor``: the height of the ground [m]. ``size``: of what is looked at [m]; the spacing of lines and the reach of shadows go
    by it. ``middle`` (2,): about where lines are strongest. The picture of the ground is kept as long as the camera stands.
    """

    camera: Camera
    width: int
    height: int
    size: float
    floor: float = 0.0
    middle: tuple[float, float] = (0.0, 0.0)
    theme: Theme = LIGHT
    samples: int = SAMPLES
    _kept: dict[str, Any] = field(default_factory=dict, repr=False)

    def __post_init__(self) -> None:
        if not (16 <= self.width <= MOST_PIXELS and 16 <= self.height <= MOST_PIXELS):
            raise BadInput(f"a picture of {self.width} x {self.height} pixels was asked for; give from 16 to {MOST_PIXELS} each")

    def draw(self, solid: Triangles, ghost: Triangles | None = None, *, opacity: float = OPACITY) -> NDArray[np.uint8]:
        """A picture (height, width, 3) of a figure, and of a see-through one over it."""
        picture = self._paper().copy()
        part, light = self._part(solid, ghost, opacity)
        picture[part] = encoded(light)
        return picture

    def light(self, solid: Triangles, ghost: Triangles | None = None, *, opacity: float = OPACITY) -> Small:
        """The same in linear light, (height, width, 3)."""
        picture = self._ground().copy()
        part, light = self._part(solid, ghost, opacity)
        picture[part] = light
        return picture

    def _part(self, solid: Triangles, ghost: Triangles | None, opacity: float) -> tuple[tuple[slice, slice], Small]:
        """The part of the picture that figures and their shadow change, and what it is like."""
        frame = self.camera.frame
        towards, lights = self._lights(frame)
        light_frame, shadow, mask, texel = self._shadow(solid, towards)
        seen = [self.camera.seen(one.points, self.width, self.height) for one in (solid, ghost) if one is not None]
        part = self._bounds([*seen, self.camera.seen(self._fallen(light_frame), self.width, self.height)])
        top, left = part[0].start, part[1].start
        picture = self._ground()[part].copy()
        step = 2.0 * float(np.tan(0.5 * self.camera.field)) / self.height
        view = (self.camera.place, frame, step, 0.5 * self.width - left, 0.5 * self.height - top)
        one = self._filled(solid, seen[0], top, left, picture.shape)
        two = (
            self._filled(_NOTHING, _UNSEEN, 0, 0, (0, 0))
            if ghost is None
            else self._filled(ghost, seen[1], top, left, picture.shape)
        )
        light = (lights, light_frame, shadow, mask)
        resolve(picture, self.samples, view, light, 1.5 * texel, self.floor, one, two, float(opacity), APART * self.size)
        return part, picture

    def _fallen(self, light_frame: Array) -> Small:
        """The corners (4, 3) [m] on the ground of what the shadow map holds."""
        A = np.vstack([light_frame[:2, :3], [0.0, 0.0, 1.0]])
        corners = [[u, v, self.floor] for u in (0.0, SHADOW) for v in (0.0, SHADOW)]
        return np.linalg.solve(A, (np.array(corners) - [*light_frame[:2, 3], 0.0]).T).T.astype(np.float32)

    def _bounds(self, seen: Sequence[tuple[Small, ...]]) -> tuple[slice, slice]:
        """The rows and columns in which something is seen."""
        low, high = np.array([np.inf, np.inf]), np.array([-np.inf, -np.inf])
        size = np.array([self.height, self.width])
        for x, y, w in seen:
            if (w <= 0.0).any():
                return slice(0, self.height), slice(0, self.width)
            low = np.minimum(low, [y.min() - 1.0, x.min() - 1.0])
            high = np.maximum(high, [y.max() + 2.0, x.max() + 2.0])
        first = np.clip(low, 0, size).astype(np.int64)
        last = np.clip(high, first, size).astype(np.int64)
        return slice(int(first[0]), int(last[0])), slice(int(first[1]), int(last[1]))

    def _filled(self, figure: Triangles, seen: tuple[Small, ...], top: int, left: int, shape: tuple[int, ...]) -> tuple[Any, ...]:
        """A figure as `resolve` takes it: vertices, faces, colours, and buffers of the part of the picture at ``top``, ``left``."""
        x, y, w = seen
        fine = np.float32(self.samples)
        vertices = np.column_stack([fine * (x - left), fine * (y - top), w, figure.points, figure.normals]).astype(np.float32)
        rows, columns = shape[0] * self.samples, shape[1] * self.samples
        near, owner = np.zeros((rows, columns), dtype=np.float32), np.full((rows, columns), -1, dtype=np.int32)
        fill(vertices, figure.faces, figure.single, near, owner)
        return vertices, figure.faces, figure.colors, near, owner

    def _paper(self) -> NDArray[np.uint8]:
        """The ground as bytes."""
        if "paper" not in self._kept:
            self._kept["paper"] = encoded(self._ground())
        return self._kept["paper"]

    def _ground(self) -> Small:
        if "ground" not in self._kept:
            picture = np.empty((self.height, self.width, 3), dtype=np.float32)
            tangent, cell, colors = float(np.tan(0.5 * self.camera.field)), _round(0.16 * self.size), linear(self.theme.backdrop)
            middle = np.array(self.middle)
            ground(self.camera.place, self.camera.frame, tangent, self.floor, middle, cell, 2.6 * self.size, colors, picture)
            self._kept["ground"] = picture
        return self._kept["ground"]

    def _lights(self, frame: Array) -> tuple[Array, Small]:
        """The way to the key light, from the left of the camera and above, and all lights as the kernels take them."""
        level = np.array([frame[2, 0], frame[2, 1], 0.0])
        level /= np.linalg.norm(level) or 1.0
        key = -0.55 * level - 0.62 * frame[0] + np.array([0.0, 0.0, 1.25])
        other = -0.6 * level + 1.0 * frame[0] + np.array([0.0, 0.0, 0.35])
        key, other = key / np.linalg.norm(key), other / np.linalg.norm(other)
        return key, self.theme.lights(key, other)

    def _shadow(self, figure: Triangles, towards: Array) -> tuple[Array, Small, Small, float]:
        """The map of what is nearest to the key light, and how dark the ground is; with the frame (3, 4) of its pixels.

        What is at (X, Y, Z) is in its pixel (u, v) at the height d towards the light, (u, v, d) = frame (X, Y, Z, 1); the last is
        the size of a pixel [m]. What is high above the ground darkens it less.
        """
        across = np.cross([0.0, 1.0, 0.0], towards)
        across /= np.linalg.norm(across)
        axes = np.stack([across, np.cross(across, towards), towards])  # the second downward, as in a picture
        at = figure.points @ axes.T.astype(np.float32)
        low, high = at[:, :2].min(axis=0), at[:, :2].max(axis=0)
        edge = 16.0
        texel = float(max((high - low).max(), 1e-6)) / (SHADOW - 2.0 * edge)
        shift = edge - low / texel
        frame = np.vstack([np.column_stack([axes[:2] / texel, shift]), [*axes[2], 0.0]])
        base = float(at[:, 2].min()) - 1.0
        vertices = np.column_stack([at[:, :2] / texel + shift, at[:, 2] - base]).astype(np.float32)
        near, owner = np.zeros((SHADOW, SHADOW), dtype=np.float32), np.full((SHADOW, SHADOW), -1, dtype=np.int32)
        fill(vertices, figure.faces, figure.single, near, owner)
        mask = self._darkness(figure, owner[::2, ::2])
        shadow = np.where(owner >= 0, near + np.float32(base), np.float32(-np.inf))
        return frame, shadow, mask, texel

    def _darkness(self, figure: Triangles, owner: NDArray[np.int32]) -> Small:
        """How dark the ground is at every second pixel of the shadow map: less below what is high, soft at the edges."""
        above = np.maximum(figure.points[:, 2][figure.faces].mean(axis=1) - self.floor, 0.0)
        strong = np.append(np.exp(-1.1 * above / self.size), 0.0).astype(np.float32)
        mask = strong[owner]
        return np.float32(self.theme.shadow) * blurred(blurred(mask, 3), 2)


def encoded(light: Small) -> NDArray[np.uint8]:
    """Linear light as bytes for a screen (sRGB)."""
    steps = np.clip(light * np.float32(4095.0) + np.float32(0.5), 0.0, 4095.0).astype(np.uint16)
    return _TABLE[steps]


def _table() -> NDArray[np.uint8]:
    value = np.arange(4096) / 4095.0
    shown = np.where(value <= 0.0031308, 12.92 * value, 1.055 * value ** (1.0 / 2.4) - 0.055)
    return np.round(255.0 * shown).astype(np.uint8)


_TABLE = _table()


def _round(value: float) -> float:
    """The nearest below of 1, 2 and 5 times a power of ten."""
    power = 10.0 ** np.floor(np.log10(value))
    return float(power * max(step for step in (1.0, 2.0, 5.0) if step * power <= value * 1.0000001))


_NOTHING = Triangles(
    np.zeros((0, 3), np.float32), np.zeros((0, 3), np.float32), np.zeros((0, 3), np.int32), np.zeros((0, 3), np.float32)
)
_UNSEEN = (np.zeros(0, np.float32),) * 3
