"""Bricks of the flexible characters: bodies whose mass and inertia are those of their solids, servos, materials, rods."""

from __future__ import annotations

from collections.abc import Sequence
from math import cos, radians, sin

import numpy as np

from bunraku.character import Body, ElasticMaterial, FlexiblePart, Frame, Joint, Motor, PartInterface, PartShape, Pose, Shape
from bunraku.formats.mjcf_geoms import combined, solid_inertia
from bunraku.geometry.rotations import matrix_of_quaternion

Vector = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]

STRAIGHT: Quaternion = (1.0, 0.0, 0.0, 0.0)
DOWN: Quaternion = (0.0, 1.0, 0.0, 0.0)  # z turned to -z about x
SERVO_MASS = 0.082
SERVO_HALF = (0.01425, 0.02325, 0.017)
BLACK, STEEL, BRASS = (0.16, 0.17, 0.19, 1.0), (0.66, 0.68, 0.71, 1.0), (0.79, 0.63, 0.26, 1.0)
IVORY, RED, BLUE, WOOD = (0.93, 0.9, 0.83, 1.0), (0.72, 0.13, 0.13, 1.0), (0.17, 0.33, 0.56, 1.0), (0.62, 0.43, 0.25, 1.0)
SKIN, GREEN = (0.91, 0.75, 0.6, 1.0), (0.2, 0.46, 0.36, 1.0)
GLASS, WATER = (0.82, 0.9, 0.94, 0.35), (0.35, 0.6, 0.82, 0.6)

SPRING_STEEL = ElasticMaterial(
    name="spring-steel",
    young=200e9,
    poisson=0.3,
    density=7850.0,
    strain_damping=7.4e-4,
    source="spring steel; the damping of a 0.7 m rod with 0.1 kg at its tip is 0.5 % of critical",
)


def turn(axis: str, degrees: float) -> Quaternion:
    """The quaternion of a turn about x, y or z."""
    half = radians(degrees) / 2.0
    parts = {"x": (sin(half), 0.0, 0.0), "y": (0.0, sin(half), 0.0), "z": (0.0, 0.0, sin(half))}[axis]
    return (round(cos(half), 12), round(parts[0], 12), round(parts[1], 12), round(parts[2], 12))


class Solid:
    """A shape with its mass [kg]; ``collides``: whether it keeps others out."""

    def __init__(
        self,
        kind: str,
        size: Sequence[float],
        mass: float,
        at: Vector = (0.0, 0.0, 0.0),
        quaternion: Quaternion = STRAIGHT,
        color: tuple[float, float, float, float] = STEEL,
        collides: bool = False,
    ) -> None:
        self.mass = mass
        self.shape = Shape(
            kind=kind,  # type: ignore[arg-type]
            size=tuple(size),
            pose=Pose(position=at, quaternion=quaternion),
            collides=collides,
            color=color,
        )


def servo(at: Vector = (0.0, 0.0, 0.0), axis: str = "y") -> Solid:
    """The housing of a Dynamixel XM430-W210, its longest side across the axis."""
    quaternion = {"x": turn("y", 90.0), "y": turn("x", 90.0), "z": STRAIGHT}[axis]
    return Solid("box", SERVO_HALF, SERVO_MASS, at, quaternion, BLACK)


def body(name: str, *solids: Solid) -> Body:
    """A body of the mass and inertia of its solids, rounded to five figures."""
    parts = []
    for solid in solids:
        shape = solid.shape
        pose = matrix_of_quaternion(shape.pose.quaternion), np.array(shape.pose.position)
        parts.append((solid.mass, pose, solid_inertia(shape.kind, shape.size, solid.mass)))
    mass, com, inertia = combined(parts)
    six = (*np.diag(inertia), inertia[0, 1], inertia[0, 2], inertia[1, 2])
    cut = [float(f"{value:.5g}") if abs(value) > 1e-12 else 0.0 for value in six]
    return Body(
        name=name,
        mass=float(f"{mass:.5g}"),
        center_of_mass=tuple(round(float(value), 6) for value in com),  # type: ignore[arg-type]
        inertia=tuple(cut),  # type: ignore[arg-type]
        shapes=tuple(solid.shape for solid in solids),
    )


def fixed(name: str, parent: str, child: str, at: Vector = (0.0, 0.0, 0.0), quaternion: Quaternion = STRAIGHT) -> Joint:
    """A fixed joint: what stands still, or what a flexible part carries."""
    return Joint(name=name, kind="fixed", parent=parent, child=child, pose=Pose(position=at, quaternion=quaternion))


def hinge(name: str, parent: str, child: str, axis: str, at: Vector, low: float, high: float) -> Joint:
    """A hinge about x, y or z with its range in degrees."""
    direction = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}[axis]
    return Joint(
        name=name,
        kind="hinge",
        parent=parent,
        child=child,
        axis=direction,
        pose=Pose(position=at),
        range=(round(radians(low), 6), round(radians(high), 6)),
    )


def motor(coordinate: str) -> Motor:
    """A Dynamixel XM430-W210 at 12 V; velocity and acceleration are what is asked of it here, not the maker's."""
    return Motor(
        name=coordinate,
        coordinate=coordinate,
        velocity=7.0,
        acceleration=250.0,
        stall_torque=3.0,
        no_load_speed=8.06,
        torque_fraction=0.8,
        continuous_torque=1.0,
        resolution=0.00153589,
        model="Dynamixel XM430-W210 at 12 V",
        source="ROBOTIS e-manual: 82 g, 28.5 x 46.5 x 34 mm, stall 3.0 N.m and 77 rpm at 12 V",
    )


def strong_motor(coordinate: str) -> Motor:
    """A Dynamixel XH430-W350 at 12 V, of the same size: slower, and stronger; a third of its stall torque continuously."""
    return motor(coordinate).changed(
        velocity=3.0,
        stall_torque=3.4,
        no_load_speed=3.14,
        continuous_torque=1.13,
        model="Dynamixel XH430-W350 at 12 V",
        source="ROBOTIS e-manual: 82 g, 28.5 x 46.5 x 34 mm, stall 3.4 N.m and 30 rpm at 12 V",
    )


def motor_pair(coordinate: str) -> Motor:
    """Two Dynamixel XM430-W210 at 12 V on one axis."""
    one = motor(coordinate)
    return one.changed(
        stall_torque=6.0,
        continuous_torque=2.0,
        model="two Dynamixel XM430-W210 at 12 V on one axis",
        source="ROBOTIS e-manual: 82 g, 28.5 x 46.5 x 34 mm, stall 3.0 N.m and 77 rpm at 12 V, each",
    )


def rod(
    name: str,
    base: str,
    child: str,
    length: float,
    millimetres: float,
    at: Vector = (0.0, 0.0, 0.0),
    quaternion: Quaternion = STRAIGHT,
) -> FlexiblePart:
    """A rod of spring steel on ``base`` that carries ``child`` at its end."""
    return FlexiblePart(
        name=name,
        material=SPRING_STEEL.name,
        shape=PartShape(kind="rod", length=length, diameter=millimetres / 1000.0),
        base=base,
        pose=Pose(position=at, quaternion=quaternion),
        children=(PartInterface(body=child),),
    )


def frame_at(name: str, of: Body) -> Frame:
    """A frame at the centre of mass of a body."""
    return Frame(name=name, body=of.name, pose=Pose(position=of.center_of_mass))
