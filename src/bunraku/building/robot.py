"""A robot as a hierarchy of components: a chassis with its payloads, limbs of servos in a row, wheels or feet at their ends."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from bunraku.building.tips import PLA, Filament
from bunraku.character.description import Vector3

Direction = Literal["+x", "-x", "+y", "-y", "+z", "-z"]
Color = tuple[float, float, float, float]


@dataclass(frozen=True)
class CarriedPayload:
    """A payload of the library at a ``place`` (its middle, in the frame of the chassis) [m]."""

    model: str
    place: Vector3 = (0.0, 0.0, 0.0)


@dataclass(frozen=True)
class Chassis:
    """The body: a printed hollow box of ``size`` (full lengths) [m] about ``center``, and what it carries."""

    size: Vector3
    center: Vector3 = (0.0, 0.0, 0.0)
    carries: tuple[CarriedPayload, ...] = ()
    color: Color = (0.86, 0.52, 0.22, 1.0)


@dataclass(frozen=True)
class Stage:
    """One servo of a limb. Its case is fixed to the link before (or the chassis), its horn to the link it moves.

    ``offset`` is the joint's place from the joint before, or in the chassis for the first [m], in axes that are the chassis's when
    all angles are zero. The joint turns about ``axis`` through ``rest`` [rad] at home, and ``reach`` to both sides of that. The
    horn's face is ``shift`` [m] along the axis from the joint's place; the case lies on the side ``case`` of it, and its long side
    extends from the shaft towards ``lean``.
    """

    name: str
    axis: Literal["x", "y", "z"]
    offset: Vector3
    rest: float = 0.0
    reach: float = 1.2
    shift: float = 0.0
    case: Direction = "-x"
    lean: Direction = "+z"
    servo: str = "Dynamixel XM430-W210"


@dataclass(frozen=True)
class Tip:
    """A wheel or foot of the library at ``offset`` from the last joint (or in the chassis) [m].

    Overrides of the library's figures where given. The motor of an active wheel sits beside it, ``motor_side`` of its centre.
    """

    model: str
    offset: Vector3
    name: str = ""
    axis: Vector3 = (0.0, 1.0, 0.0)
    radius: float | None = None
    friction: float | None = None
    rolling_resistance: float | None = None
    servo: str = "Pololu 25D gearmotor 9.7:1 HP 12 V"
    motor_side: Literal["+y", "-y"] = "-y"


@dataclass(frozen=True)
class Limb:
    """A row of servos that ends in wheels or feet. A limb to be mirrored is described on the left and exists on both sides.

    Mirrored, its name is put behind L and R: ``F`` makes ``LF`` and ``RF``. In the middle plane stands what is not mirrored. A limb
    that carries something else than wheels and feet, a head, ends in a box of ``end_mass`` [kg] and ``end_size`` [m].
    """

    name: str
    stages: tuple[Stage, ...]
    tips: tuple[Tip, ...] = ()
    mirror: bool = True
    end_mass: float = 0.0
    end_size: Vector3 = (0.05, 0.05, 0.05)
    end_offset: Vector3 = (0.0, 0.0, 0.0)
    end_color: Color = (0.93, 0.91, 0.86, 1.0)


@dataclass(frozen=True)
class Robot:
    """A whole robot; :func:`bunraku.building.assemble.assemble` makes the character of it."""

    name: str
    chassis: Chassis
    limbs: tuple[Limb, ...]
    material: Filament = PLA
    groups: dict[str, tuple[str, ...]] = field(default_factory=dict)
    source: str = ""

    def changed(self, limbs: Sequence[Limb]) -> Robot:
        """The same robot with other limbs."""
        return replace(self, limbs=tuple(limbs))
