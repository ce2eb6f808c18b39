"""Joints and the relations between them.

Every joint is a sequence of single-axis coordinates (DESIGN: nq = nv): a ball is three hinges, a free base three
sliders and three hinges. A single-axis joint's coordinate has the joint's name; others are ``joint.x`` and so on.
"""

from __future__ import annotations

from itertools import pairwise
from math import degrees
from typing import Literal

from pydantic import model_validator

from bunraku.character.body import Pose
from bunraku.character.description import Description, Name, Range, Vector3, quantity

JointKind = Literal["fixed", "hinge", "slide", "universal", "ball", "planar", "free"]
_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}


class Axis(Description):
    """One coordinate of a joint: its name, whether it turns or slides, about or along which axis, its range."""

    name: Name
    kind: Literal["hinge", "slide"]
    direction: Vector3
    range: Range | None = None


class Joint(Description):
    """Connects a parent body to a child: ``pose`` is the joint frame in the parent, where the child frame starts.

    ``axis`` (and ``second_axis`` of a universal joint) in the joint frame; ``sequence`` orders the turns of a ball or
    free joint, outermost first; ``range`` limits a single-axis joint, ``ranges`` the coordinates of any other. ``child_pose`` is
    where the joint frame stands in the child when that is not the child's own frame: at the far end of a rod that closes a loop.
    ``stiffness`` is that of a spring which draws each coordinate of a joint without motor to its home value.
    """

    name: Name
    kind: JointKind
    parent: Name
    child: Name
    pose: Pose = Pose()
    child_pose: Pose = Pose()
    axis: Vector3 = (0.0, 0.0, 1.0)
    second_axis: Vector3 = (0.0, 1.0, 0.0)
    sequence: Literal["xyz", "xzy", "yxz", "yzx", "zxy", "zyx"] = "zyx"
    range: Range | None = quantity("coordinate", None)
    ranges: tuple[Range | None, ...] = quantity("coordinate", ())
    damping: float = quantity("damping", 0.0, ge=0.0)
    stiffness: float = quantity("stiffness", 0.0, ge=0.0)
    friction: float = quantity("effort", 0.0, ge=0.0)
    armature: float = quantity("inertia", 0.0, ge=0.0)

    @model_validator(mode="after")
    def _check(self) -> Joint:
        for axis in (self.axis, self.second_axis):
            if sum(part * part for part in axis) < 1e-12:
                raise ValueError(f"joint {self.name}: an axis of length zero has no direction")
        if self.range is not None and self.kind not in ("hinge", "slide"):
            raise ValueError(f"joint {self.name}: range is for hinge and slide; a {self.kind} joint takes ranges")
        count = len(self._axes())
        if self.ranges and len(self.ranges) != count:
            raise ValueError(f"joint {self.name}: {len(self.ranges)} ranges for {count} coordinates")
        kinds: list[str] = [kind for _, kind, _ in self._axes()]
        for limits, kind in [(self.range, self.kind), *zip(self.ranges, kinds, strict=False)]:
            if limits is not None and limits[0] > limits[1]:
                raise ValueError(f"joint {self.name}: {_empty(limits, kind)}")
        return self

    def _axes(self) -> list[tuple[str, Literal["hinge", "slide"], Vector3]]:
        match self.kind:
            case "fixed":
                return []
            case "hinge":
                return [("", "hinge", self.axis)]
            case "slide":
                return [("", "slide", self.axis)]
            case "universal":
                return [(".1", "hinge", self.axis), (".2", "hinge", self.second_axis)]
            case "ball":
                return [(f".{a}", "hinge", _UNIT[a]) for a in self.sequence]
            case "planar":
                return [(".tx", "slide", _UNIT["x"]), (".ty", "slide", _UNIT["y"]), (".rz", "hinge", _UNIT["z"])]
            case "free":
                slides: list[tuple[str, Literal["hinge", "slide"], Vector3]] = [(f".t{a}", "slide", _UNIT[a]) for a in "xyz"]
                return slides + [(f".r{a}", "hinge", _UNIT[a]) for a in self.sequence]

    @property
    def axes(self) -> tuple[Axis, ...]:
        """The joint's coordinates in order, parent side first, with unit directions."""
        axes = self._axes()
        limits = self.ranges or ((self.range,) * len(axes))
        result = []
        for (suffix, kind, direction), limit in zip(axes, limits, strict=True):
            norm = sum(part * part for part in direction) ** 0.5
            unit = (direction[0] / norm, direction[1] / norm, direction[2] / norm)
            result.append(Axis(name=self.name + suffix, kind=kind, direction=unit, range=limit))
        return tuple(result)


def _empty(limits: Range, kind: str) -> str:
    """That a range is empty, in the units in which it may have been written."""
    low, high = limits
    written = f"[{low:g}, {high:g}] m"
    if kind == "hinge":
        written = f"[{degrees(low):g}, {degrees(high):g}] deg ([{low:.4g}, {high:.4g}] rad)"
    return f"range {written} is empty; write the lower end first"


class Coupling(Description):
    """One motor drives two joints: follower = ratio * driver + offset (coordinates)."""

    driver: Name
    follower: Name
    ratio: float = 1.0
    offset: float = quantity("coordinate", 0.0)


class DependentRange(Description):
    """The range of a coordinate as a piecewise linear function of another, from ``knots`` (on, lower, upper).

    Outside the first and last knot the end values hold.
    """

    coordinate: Name
    on: Name
    knots: tuple[tuple[float, float, float], ...] = quantity("coordinate", min_length=2)

    @model_validator(mode="after")
    def _check(self) -> DependentRange:
        places = [knot[0] for knot in self.knots]
        if any(b <= a for a, b in pairwise(places)):
            raise ValueError(f"the knots of {self.coordinate} must rise in {self.on}")
        if any(lower > upper for _, lower, upper in self.knots):
            raise ValueError(f"a knot of {self.coordinate} has lower above upper")
        if self.coordinate == self.on:
            raise ValueError(f"the range of {self.coordinate} cannot depend on itself")
        return self
