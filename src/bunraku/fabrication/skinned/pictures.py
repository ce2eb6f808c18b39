"""Pictures of a skinned character as it is made: the skeleton with and without bracing, an exploded view, skin pieces, a mould."""

from __future__ import annotations

from math import ceil
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.building.shapes import DARK, LIGHT
from bunraku.fabrication.pictures import draw_solids, png
from bunraku.fabrication.shaping import Solid, bounds, box, middle_of, moved
from bunraku.fabrication.skinned.layout import Layout
from bunraku.fabrication.skinned.moulds import Mould
from bunraku.fabrication.skinned.report import SkinnedFabrication
from bunraku.fabrication.skinned.shell import SkinShell
from bunraku.formats.atomic import write_atomically

Color = tuple[float, float, float]
View = tuple[float, float]
_COLORS: dict[str, Color] = {
    "link": LIGHT[:3],
    "bracing": (0.82, 0.66, 0.42),
    "bay": (0.55, 0.70, 0.55),
    "bracket": (0.62, 0.72, 0.88),
    "rubber": (0.55, 0.60, 0.42),
    "first": (0.62, 0.72, 0.88),
    "second": (0.88, 0.72, 0.62),
    "core": (0.82, 0.80, 0.45),
}
_FINE = 16.0


def write_pictures(fabrication: SkinnedFabrication, layout: Layout, shell: SkinShell, folder: Path) -> None:
    """Write skeleton.png, exploded.png, skin.png and mould.png."""
    write_atomically(folder / "skeleton.png", _skeleton(fabrication, shell))
    write_atomically(folder / "exploded.png", _exploded(fabrication, layout))
    write_atomically(folder / "skin.png", _skin(fabrication))
    write_atomically(folder / "mould.png", _moulds(fabrication))


def _draw(axes: Any, things: list[tuple[Solid, Color]], view: View, fill: float) -> None:
    """Draw things so large that they take ``fill`` of a square picture, by the boxes around them."""
    up, around = np.radians(view)
    screen = np.array(
        [[-np.sin(around), np.cos(around), 0.0], [-np.sin(up) * np.cos(around), -np.sin(up) * np.sin(around), np.cos(up)]]
    )
    boxes = np.array([bounds(solid) for solid, _ in things])
    corners = np.array([[one[i, 0], one[j, 1], one[k, 2]] for one in boxes for i in (0, 1) for j in (0, 1) for k in (0, 1)])
    seen = np.ptp(corners @ screen.T, axis=0).max()
    draw_solids(axes, things, view, fill * float(np.linalg.norm(np.ptp(corners, axis=0)) / seen))


def _sheet(
    panels: list[tuple[list[tuple[Solid, Color]], View, str]], columns: int, size: tuple[float, float], y: float, fill: float = 0.86
) -> bytes:
    """Things seen from somewhere with a title each, the titles at the height ``y``; ``size`` in inches. PNG."""
    from matplotlib import pyplot

    figure = pyplot.figure(figsize=size)
    for number, (things, view, title) in enumerate(panels, 1):
        axes = figure.add_subplot(ceil(len(panels) / columns), columns, number, projection="3d")
        _draw(axes, things, view, fill)
        axes.set_title(title, fontsize=10, y=y)
    figure.subplots_adjust(0.0, 0.0, 1.0, 0.95, 0.0, 0.05 if len(panels) > columns else 0.0)
    return png(figure)


def _fine(solid: Solid) -> Solid:
    return solid.refine_to_length(max(_FINE, float(np.ptp(bounds(solid), axis=0).max()) / 16.0))


def _things(fabrication: SkinnedFabrication, kinds: tuple[str, ...]) -> list[tuple[Solid, Color]]:
    seen = [(_fine(part.solid), _COLORS[part.kind]) for part in fabrication.skeleton.parts if part.kind in kinds]
    return seen + [(_fine(servo.body()), DARK[:3]) for servo in fabrication.skeleton.servos.values()]


def _skeleton(fabrication: SkinnedFabrication, shell: SkinShell) -> bytes:
    """The skeleton alone; with its bracing; with half of the skin."""
    middle, size = middle_of(shell.outer), np.ptp(bounds(shell.outer), axis=0)
    half = shell.rubber ^ box(middle + np.array([0.0, size[1] / 2.0, 0.0]), (2.0 * size[0], size[1], 2.0 * size[2]))
    bare = _things(fabrication, ("link", "bay", "bracket"))
    braced = _things(fabrication, ("link", "bay", "bracket", "bracing"))
    skinned = [*braced, (half, _COLORS["rubber"])]
    titled = ((bare, "links, brackets, bay, servos"), (braced, "with bracing units"), (skinned, "half of the skin"))
    return _sheet([(things, (20.0, -35.0), title) for things, title in titled], 3, (17.0, 6.0), 1.05)


def _exploded(fabrication: SkinnedFabrication, layout: Layout) -> bytes:
    """One limb pulled apart along itself, and the torso's parts pulled apart upwards and sideways."""
    limb = layout.limbs[0]
    panels = [(_apart(fabrication, limb.bodies), (15.0, -50.0), f"limb {limb.name}")]
    return _sheet([*panels, (_torso_apart(fabrication, layout), (25.0, -50.0), "torso")], 2, (15.0, 7.5), 1.06)


def _apart(fabrication: SkinnedFabrication, bodies: tuple[str, ...]) -> list[tuple[Solid, Color]]:
    """Bodies of a limb below each other, their bracing to both sides."""
    seen: list[tuple[Solid, Color]] = []
    for number, body in enumerate(bodies):
        down = np.array([0.0, 0.0, -70.0 * number])
        own = [part for part in fabrication.skeleton.parts if part.body == body]
        middle = middle_of(next((part.solid for part in own if part.kind == "link"), own[0].solid))
        for part in own:
            aside = middle_of(part.solid) - middle
            aside[2] *= 0.3
            far = 55.0 * aside / max(float(np.linalg.norm(aside)), 1.0) if part.kind == "bracing" else np.zeros(3)
            if part.kind == "bracing" and "cup" in part.name:
                far = np.array([0.0, 0.0, -45.0])
            seen.append((_fine(moved(part.solid, np.eye(3), down + far)), _COLORS[part.kind]))
        for servo in fabrication.skeleton.servos.values():
            if servo.carrier == body:
                beside = 45.0 * servo.case.axes[:, 2]
                seen.append((_fine(moved(servo.body(), np.eye(3), down + beside)), DARK[:3]))
    return seen


def _torso_apart(fabrication: SkinnedFabrication, layout: Layout) -> list[tuple[Solid, Color]]:
    seen: list[tuple[Solid, Color]] = []
    parts = [part for part in fabrication.skeleton.parts if part.body in layout.torso]
    middle = np.mean([middle_of(part.solid) for part in parts if part.kind == "bay"], axis=0)
    for part in parts:
        away = middle_of(part.solid) - middle
        pulled = np.array([0.25, 0.35, 0.0]) * away
        if part.kind == "bracing":
            pulled = 0.25 * away + 130.0 * part.frame[:, 2]  # away from the plane that parts it
        if part.kind == "bay":
            pulled = np.zeros(3)
        seen.append((_fine(moved(part.solid, np.eye(3), pulled)), _COLORS[part.kind]))
    return seen


def _skin(fabrication: SkinnedFabrication) -> bytes:
    """Every skin piece, with what is cut open looking at the viewer."""
    columns = min(3, len(fabrication.moulds))
    panels = [
        (
            [(mould.piece.rubber, _COLORS["rubber"])],
            _facing(mould.piece.opening.normal),
            f"{piece.name}\n{piece.volume / 1e3:.0f} cm³, {1e3 * piece.mass:.0f} g",
        )
        for mould, piece in zip(fabrication.moulds, fabrication.cast, strict=True)
    ]
    return _sheet(panels, columns, (5.0 * columns, 4.4 * ceil(len(panels) / columns)), 1.05, 0.85)


def _facing(normal: Array) -> View:
    """A view from the side that a normal points to, somewhat from above."""
    up = float(np.degrees(np.arcsin(np.clip(normal[2], -1.0, 1.0))))
    around = float(np.degrees(np.arctan2(normal[1], normal[0]))) if abs(normal[2]) < 0.95 else -60.0
    return (float(np.clip(0.8 * up + 12.0, -60.0, 60.0)), around + 25.0)


def _moulds(fabrication: SkinnedFabrication) -> bytes:
    """The mould of a limb and that of half a torso, opened along the pull."""
    shown = (fabrication.moulds[0], fabrication.moulds[-1])
    return _sheet([(*_opened(mould), f"{mould.piece.name}: mould, core, casting") for mould in shown], 2, (15.0, 7.0), 1.06)


def _opened(mould: Mould) -> tuple[list[tuple[Solid, Color]], View]:
    d = mould.parting.normal
    wide = float(np.abs(d) @ np.ptp(bounds(mould.piece.outer), axis=0))
    along = mould.piece.opening.normal
    aside = np.cross(d, along) if abs(float(d @ along)) < 0.9 else np.cross(d, np.eye(3)[int(np.argmin(np.abs(d)))])
    aside = aside / np.linalg.norm(aside)
    reach = np.abs(aside) @ np.ptp(bounds(mould.piece.outer), axis=0)
    shown = [
        (mould.parts[0][1], 1.1 * wide * d, "first"),
        (mould.parts[1][1], -1.1 * wide * d, "second"),
        (mould.parts[2][1], 0.0 * d, "core"),
        (mould.piece.rubber, 1.3 * float(reach) * aside, "rubber"),
    ]
    solids = [(_fine(moved(solid, np.eye(3), shift)), _COLORS[color]) for solid, shift, color in shown]
    return solids, _facing(0.75 * along + 0.35 * d + 0.4 * aside)
