"""Three mechanisms for creatures with four legs: which joints a leg has, where along it, about which axis, and the servo of each.

A template knows no sizes but proportions: joints lie at fractions of the length of a leg's curve, from the torso to the sole.
Embedding (`embed`) gives them places.
"""

from __future__ import annotations

from dataclasses import dataclass
from math import radians
from typing import Literal

from bunraku.errors import BadInput

LEGS = ("LF", "RF", "LH", "RH")
"""The legs in their order: left and right fore, left and right hind."""

Turn = Literal["x", "y", "z", "tangent"]


@dataclass(frozen=True)
class JointPlan:
    """A joint of a leg: its ``name``, the ``turn`` it makes at home, where it is, what drives it, how far it goes.

    ``turn``: about a world axis, or "tangent", the horizontal direction across the leg's plane (outward x up). ``at`` is its place
    as a fraction of the leg's curve, ``reach`` [rad] how far it turns to both sides of home. The skin folds about the joint unless
    it turns inside the torso, close above one that has a ``fold``. The case of the servo is in the parent and leans back to the
    torso, or, ``outward``, in the child and leans away from it; it is moved by ``shift`` [m] along the axis.
    """

    name: str
    turn: Turn
    at: float
    servo: str
    reach: float
    fold: bool = True
    outward: bool = False
    shift: float = 0.0


@dataclass(frozen=True)
class SpinePlan:
    """A hinge about z in the middle of the torso, which parts it in a fore and a hind half."""

    name: str
    servo: str
    reach: float


@dataclass(frozen=True)
class Template:
    """A mechanism: the joints of a leg from the hip down, alike for the four legs, and the joint of the spine if there is one.

    ``leg_length`` [m] is that of the leg it was drawn for: the scale of an embedding is the length of the curve over it.
    """

    name: str
    joints: tuple[JointPlan, ...]
    leg_length: float
    spine: SpinePlan | None = None

    @property
    def hinges(self) -> int:
        """Number of hinges of the whole mechanism."""
        return len(LEGS) * len(self.joints) + (self.spine is not None)


_SMALL = "MG995R"
_MIDDLE = "Dynamixel XM430-W210 at 14.8 V"
_LARGE = "Dynamixel XW540-T140 at 14.8 V"

TEMPLATES: dict[str, Template] = {
    entry.name: entry
    for entry in (
        Template(
            "beetle",
            (
                JointPlan("hip", "y", 0.22, _SMALL, radians(50.0)),
                JointPlan("knee", "y", 0.54, _SMALL, radians(70.0)),
                JointPlan("ankle", "y", 0.84, _SMALL, radians(70.0)),
            ),
            0.31,
        ),
        Template(
            "lizard",
            (
                JointPlan("yaw", "z", 0.10, _MIDDLE, radians(45.0), fold=False),
                JointPlan("lift", "tangent", 0.256, _LARGE, radians(45.0), outward=True),
                JointPlan("knee", "tangent", 0.53, _MIDDLE, radians(70.0)),
                JointPlan("ankle", "tangent", 0.82, _MIDDLE, radians(70.0)),
            ),
            0.34,
            SpinePlan("spine", _LARGE, radians(30.0)),
        ),
        Template(
            "monster",
            (
                JointPlan("roll", "x", 0.12, _LARGE, radians(35.0), fold=False),
                JointPlan("hip", "y", 0.285, _LARGE, radians(50.0), outward=True),
                JointPlan("knee", "y", 0.545, _LARGE, radians(70.0), outward=True),
                JointPlan("ankle", "y", 0.82, _MIDDLE, radians(70.0)),
            ),
            0.32,
        ),
    )
}


def template(name: str) -> Template:
    """The template of that name; raises BadInput naming the three when there is none."""
    if name not in TEMPLATES:
        raise BadInput(f"no mechanism template {name!r}; there are {', '.join(TEMPLATES)}")
    return TEMPLATES[name]
