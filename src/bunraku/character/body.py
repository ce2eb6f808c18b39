"""Rigid bodies: mass, shapes, and the named frames fixed to them."""

from __future__ import annotations

from typing import Literal

import numpy as np
from pydantic import Field, field_validator, model_validator

from bunraku.character.description import Description, Name, Quaternion, Vector3, quantity
from bunraku.geometry.rotations import matrix_of_quaternion


class Pose(Description):
    """Where a frame B stands in a frame A: ``X_AB``, position and unit quaternion (w, x, y, z)."""

    position: Vector3 = quantity("length", (0.0, 0.0, 0.0))
    quaternion: Quaternion = (1.0, 0.0, 0.0, 0.0)

    @field_validator("quaternion")
    @classmethod
    def _unit(cls, value: Quaternion) -> Quaternion:
        norm = sum(part * part for part in value) ** 0.5
        if norm < 1e-6:
            raise ValueError("a quaternion of length zero is no rotation; write 1, 0, 0, 0 for none")
        if abs(norm - 1.0) < 1e-15:
            return value
        return (value[0] / norm, value[1] / norm, value[2] / norm, value[3] / norm)

    def inverse(self) -> Pose:
        """Where A stands in B: ``X_BA``."""
        w, x, y, z = self.quaternion
        turned = matrix_of_quaternion((w, -x, -y, -z)) @ np.array(self.position)
        return Pose(position=(-float(turned[0]), -float(turned[1]), -float(turned[2])), quaternion=(w, -x, -y, -z))


class Shape(Description):
    """A primitive solid fixed to a body, for collisions, drawing and foreign physics.

    ``size`` by kind: box (half lengths x, y, z); sphere (radius); capsule and cylinder (radius, half length along z);
    ellipsoid (half axes x, y, z); mesh (scale x, y, z, with ``file`` naming the mesh, kept but not interpreted).
    """

    kind: Literal["box", "sphere", "capsule", "cylinder", "ellipsoid", "mesh"]
    size: tuple[float, ...] = quantity("length", min_length=1, max_length=3)
    pose: Pose = Pose()
    collides: bool = True
    color: tuple[float, float, float, float] = (0.75, 0.75, 0.78, 1.0)
    file: str | None = None

    @model_validator(mode="after")
    def _check(self) -> Shape:
        count = {"box": 3, "sphere": 1, "capsule": 2, "cylinder": 2, "ellipsoid": 3, "mesh": 3}[self.kind]
        if len(self.size) != count:
            raise ValueError(f"a {self.kind} takes {count} numbers as size, {len(self.size)} arrived")
        if self.kind != "mesh" and min(self.size) < 0:
            raise ValueError(f"sizes are not negative, {min(self.size)} arrived")
        return self


class Body(Description):
    """A rigid body. ``inertia`` is (ixx, iyy, izz, ixy, ixz, iyz) about the centre of mass, in body axes."""

    name: Name
    mass: float = quantity("mass", 0.0, ge=0.0)
    center_of_mass: Vector3 = quantity("length", (0.0, 0.0, 0.0))
    inertia: tuple[float, float, float, float, float, float] = quantity("inertia", (0.0,) * 6)
    shapes: tuple[Shape, ...] = ()


class Frame(Description):
    """A named frame fixed to a body: hands, soles, eyes, tool points, string attachments."""

    name: Name
    body: Name
    pose: Pose = Pose()


class Foot(Description):
    """A part that stands on the ground: the corner points of its sole in the body's frame."""

    name: Name
    body: Name
    points: tuple[Vector3, ...] = quantity("length", min_length=1)
    friction: float = Field(0.8, gt=0.0)
