"""A character to start from: one printed box, free to move or fixed to the world."""

from __future__ import annotations

from typing import Literal

from bunraku.building.components.piece import body_of
from bunraku.building.components.placing import rounded
from bunraku.building.printing import PLA
from bunraku.building.shapes import box_shape
from bunraku.building.solids import box_shell
from bunraku.character import WORLD, Character, Joint, Pose
from bunraku.errors import BadInput

_COLOR = (0.30, 0.58, 0.66, 1.0)


def blank_character(
    name: str = "mine",
    *,
    size: tuple[float, float, float] = (0.2, 0.1, 0.04),
    base: Literal["free", "fixed"] = "free",
) -> Character:
    """One box ``body`` of ``size`` [m], printed with walls of 3 mm, lying on the ground on a free joint or fixed there."""
    if min(size) <= 2.0 * PLA.wall:
        raise BadInput(f"a box of {list(size)} m has no room for walls of {PLA.wall} m; make it larger")
    body = body_of("body", [box_shell(PLA.density, PLA.wall, (0.0, 0.0, 0.0), size)], [box_shape((0.0, 0.0, 0.0), size, _COLOR)])
    half = rounded(size[2] / 2.0)
    if base == "fixed":
        joint = Joint(name="base", kind="fixed", parent=WORLD, child="body", pose=Pose(position=(0.0, 0.0, half)))
        return Character(name=name, bodies=(body,), joints=(joint,))
    joint = Joint(name="base", kind="free", parent=WORLD, child="body")
    return Character(name=name, bodies=(body,), joints=(joint,), home={"base.tz": half})
