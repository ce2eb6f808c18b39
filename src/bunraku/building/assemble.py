"""From components to a character: bodies with inertias from geometry, joints, motors, tips; what cannot be built is refused."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import Case, PlacedLimb, PlacedTip, connectors, home_frames, home_tips, place
from bunraku.building.robot import Robot
from bunraku.building.shapes import DARK, LIGHT, RUBBER, box_shape, capsule_shape, cylinder_shape, sphere_shape
from bunraku.building.solids import Solid, box, box_shell, capsule_shell, cylinder, joined, solid_body, sphere, three
from bunraku.building.tips import payload
from bunraku.character import WORLD, Body, Character, EndEffector, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput


@dataclass
class _Parts:
    """What each body is made of so far: solids that count and shapes that are seen."""

    solids: dict[str, list[Solid]] = field(default_factory=lambda: defaultdict(list))
    shapes: dict[str, list[Shape]] = field(default_factory=lambda: defaultdict(list))

    def add(self, body: str, solid: Solid, *shapes: Shape) -> None:
        self.solids[body].append(solid)
        self.shapes[body].extend(shapes)

    def body(self, name: str) -> Body:
        whole = joined(self.solids[name])
        if not whole.mass > 0.0:
            raise BadInput(f"the body {name!r} weighs {whole.mass:g} kg; give its components mass", place=name)
        return solid_body(name, whole, self.shapes[name])


def assemble(robot: Robot) -> Character:
    """The character of a robot. Smooth in every length of the description.

    The chassis is the body ``body`` on the free joint ``base``; each stage of the limb LF makes a hinge ``LF.name`` and the body
    ``LF.name_link``; each tip an end effector, wheels that spin with a body of its name on the hinge ``NAME.axle``. At home, joints
    are at their rest angles and the base so high that the tips touch z = 0, on average where a design lets them stand unevenly.
    """
    limbs = place(robot)
    check_robot(robot, limbs)
    parts = _Parts()
    _chassis(robot, limbs, parts)
    for limb in limbs:
        _limb(limb, parts)
    for link in connectors(robot, limbs):
        for start, end in zip(link.corners, link.corners[1:], strict=False):
            solid = capsule_shell(robot.material.density, robot.material.wall, start, end, link.radius)
            parts.add(link.body, solid, capsule_shape(start, end, link.radius, LIGHT))
    joints, motors, tips = _joints(limbs)
    stages = [stage for limb in limbs for stage in limb.stages]
    names = ["body", *(stage.body for stage in stages), *(tip.name for limb in limbs for tip in limb.tips if tip.spins)]
    home = {"base.tz": standing_height(limbs)} | {stage.joint: stage.rest for stage in stages if stage.rest != 0.0}
    return Character(
        name=robot.name,
        bodies=tuple(parts.body(name) for name in names),
        joints=joints,
        motors=motors,
        end_effectors=tips,
        groups=_groups(limbs) | robot.groups,
        home=home,
        may_touch=_neighbours(limbs),
        source=robot.source,
    )


def standing_height(limbs: tuple[PlacedLimb, ...]) -> float:
    """How high [m] the chassis stands at home: the mean over the tips of how far their lowest points hang below it."""
    centers, axes = home_tips(limbs)
    if not len(centers):
        return 0.0
    tips = [tip for limb in limbs for tip in limb.tips]
    drop = [
        tip.radius * (1.0 if tip.model.kind == "ball" else float(np.hypot(a[0], a[1]))) for tip, a in zip(tips, axes, strict=True)
    ]
    return float(np.mean(np.array(drop) - centers[:, 2]))


def _chassis(robot: Robot, limbs: tuple[PlacedLimb, ...], parts: _Parts) -> None:
    chassis, material = robot.chassis, robot.material
    shell = box_shell(material.density, material.wall, chassis.center, chassis.size)
    parts.add("body", shell, box_shape(chassis.center, chassis.size, chassis.color))
    for carried in chassis.carries:
        thing = payload(carried.model)
        place = np.array(chassis.center) + np.array(carried.place)
        parts.add("body", box(thing.mass, place, thing.size))


def _limb(limb: PlacedLimb, parts: _Parts) -> None:
    for stage in limb.stages:
        _add_case(stage.parent, stage.case, parts)
        horn = stage.case.servo
        shaft = stage.case.axes[:, 2]
        middle = stage.case.horn - stage.position - shaft * (horn.horn_height / 2.0)
        one_sided = limb.limb.mirror or abs(middle[1]) < 1e-9
        for spot in [middle] if one_sided else [middle, middle * np.array([1.0, -1.0, 1.0])]:
            disc = cylinder_shape(spot, shaft, horn.horn_radius, horn.horn_height, LIGHT, collides=False)
            parts.shapes[stage.body].append(disc)
    for tip in limb.tips:
        if tip.case is not None:
            _add_case(tip.parent, tip.case, parts)
        if not tip.spins:
            _add_foot(tip, parts)
            continue
        solid = cylinder(tip.mass, np.zeros(3), tip.axis, tip.radius, tip.model.width)
        tyre = cylinder_shape(np.zeros(3), tip.axis, tip.radius, tip.model.width, RUBBER)
        hub = cylinder_shape(np.zeros(3), tip.axis, 0.5 * tip.radius, tip.model.width + 0.002, LIGHT, collides=False)
        parts.add(tip.name, solid, tyre, hub)
    if limb.limb.end_mass > 0.0:
        last = limb.stages[-1].body
        place = np.array(limb.limb.end_offset) * np.array([1.0, limb.side, 1.0])
        parts.add(
            last, box(limb.limb.end_mass, place, limb.limb.end_size), box_shape(place, limb.limb.end_size, limb.limb.end_color)
        )


def _add_case(body: str, case: Case, parts: _Parts) -> None:
    solid = box(case.servo.mass, case.center, case.servo.size, case.axes)
    parts.add(body, solid, box_shape(case.center, case.servo.size, DARK, axes=case.axes, collides=False))


def _add_foot(tip: PlacedTip, parts: _Parts) -> None:
    if tip.model.kind == "ball":
        parts.add(tip.parent, sphere(tip.mass, tip.center, tip.radius), sphere_shape(tip.center, tip.radius, RUBBER))
        return
    solid = cylinder(tip.mass, tip.center, tip.axis, tip.radius, tip.model.width)
    parts.add(tip.parent, solid, cylinder_shape(tip.center, tip.axis, tip.radius, tip.model.width, RUBBER))


def _joints(limbs: tuple[PlacedLimb, ...]) -> tuple[tuple[Joint, ...], tuple[Motor, ...], tuple[EndEffector, ...]]:
    joints, axles, motors, drives, tips = [], [], [], [], []
    joints.append(Joint(name="base", kind="free", parent=WORLD, child="body", sequence="zyx"))
    for limb in limbs:
        for stage in limb.stages:
            place = Pose(position=three(stage.position))
            hinge = {"kind": "hinge", "parent": stage.parent, "child": stage.body, "pose": place, "axis": three(stage.axis)}
            joints.append(Joint(name=stage.joint, range=stage.limits, **hinge))
            motors.append(stage.case.servo.motor(stage.joint, stage.joint, stage.limits))
        for tip in limb.tips:
            tips.append(_end_effector(tip))
            if tip.spins:
                place = Pose(position=three(tip.center))
                drag = tip.rolling_resistance * tip.radius**2
                hinge = {"kind": "hinge", "parent": tip.parent, "child": tip.name, "pose": place, "axis": three(tip.axis)}
                axles.append(Joint(name=tip.axle, damping=drag, **hinge))
            if tip.case is not None:
                drives.append(tip.case.servo.wheel_motor(tip.axle, tip.axle))
    return (*joints, *axles), (*motors, *drives), tuple(tips)


def _end_effector(tip: PlacedTip) -> EndEffector:
    return EndEffector(
        name=tip.name,
        kind=tip.model.kind,
        body=tip.name if tip.spins else tip.parent,
        center=(0.0, 0.0, 0.0) if tip.spins else three(tip.center),
        axis=three(tip.axis),
        radius=tip.radius,
        width=tip.model.width,
        friction=tip.friction,
        rolling_resistance=tip.rolling_resistance,
    )


def _groups(limbs: tuple[PlacedLimb, ...]) -> dict[str, tuple[str, ...]]:
    groups = {limb.name: tuple(stage.joint for stage in limb.stages) for limb in limbs if limb.stages}
    legs = tuple(stage.joint for limb in limbs if limb.tips for stage in limb.stages)
    wheels = tuple(tip.axle for limb in limbs for tip in limb.tips if tip.spins)
    return groups | {name: members for name, members in (("legs", legs), ("wheels", wheels)) if members}


def _neighbours(limbs: tuple[PlacedLimb, ...]) -> tuple[tuple[str, str], ...]:
    """Bodies that may overlap: those of one limb, and the chassis with all of a limb but its tips."""
    pairs: list[tuple[str, str]] = []
    for limb in limbs:
        links = [stage.body for stage in limb.stages]
        wheels = [tip.name for tip in limb.tips if tip.spins]
        pairs += [("body", link) for link in (links if links else wheels)]
        pairs += combinations([*links, *wheels], 2)
    return tuple(pairs)


def check_robot(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    """Raise BadInput when a robot cannot be built as described: what is wrong, where, and what to change."""
    names = [limb.name for limb in limbs]
    twice = next((name for name in names if names.count(name) > 1), None)
    if twice is not None:
        raise BadInput(f"two limbs of {robot.name!r} are called {twice!r}; names must differ")
    wall = robot.material.wall
    if min(robot.chassis.size) <= 2.0 * wall:
        raise BadInput(
            f"the chassis of {robot.name!r} measures {list(robot.chassis.size)} m: with walls of {wall} m nothing is left; make it "
            "larger"
        )
    _check_masses(robot, limbs)
    _check_tips(limbs)
    _check_links(robot, limbs)


def _check_masses(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    if robot.material.density <= 0.0 or robot.material.wall <= 0.0:
        raise BadInput(
            f"printed parts of {robot.name!r} weigh nothing: density and wall of {robot.material.name!r} must be positive"
        )
    for limb in limbs:
        for tip in limb.tips:
            if tip.mass <= 0.0 or tip.radius <= 0.0:
                raise BadInput(f"the tip {tip.name!r} has mass {tip.mass:g} kg and radius {tip.radius:g} m; both must be positive")
        for stage in limb.stages:
            if stage.case.servo.mass <= 0.0:
                raise BadInput(f"the servo of {stage.joint!r}, {stage.case.servo.name!r}, has no mass; state it in kg")


def _check_tips(limbs: tuple[PlacedLimb, ...]) -> None:
    centers, _ = home_tips(limbs)
    tips = [(limb.name, tip) for limb in limbs for tip in limb.tips]
    for (i, (one, first)), (j, (two, second)) in combinations(enumerate(tips), 2):
        apart = float(np.linalg.norm(centers[i] - centers[j]))
        least = first.radius + second.radius
        if apart < least:
            which = "the limbs" if one != two else "them"
            raise BadInput(
                f"{first.name!r} and {second.name!r} overlap at home: {1e3 * apart:.1f} mm apart, their radii need "
                f"{1e3 * least:.1f} mm; move {which} apart or take smaller ones"
            )


def _check_links(robot: Robot, limbs: tuple[PlacedLimb, ...]) -> None:
    """Printed links of different limbs must not meet at home."""
    frames = home_frames(limbs)
    limb_of = {stage.body: limb.name for limb in limbs for stage in limb.stages}
    rods: dict[str, list[tuple[Array, Array, float, str]]] = defaultdict(list)
    for link in connectors(robot, limbs):
        if link.body not in limb_of:
            continue
        R, p = frames[link.body]
        for start, end in zip(link.corners, link.corners[1:], strict=False):
            rods[limb_of[link.body]].append((p + R @ start, p + R @ end, link.radius, link.body))
    for one, two in combinations(rods, 2):
        for a, b, r, first in rods[one]:
            for c, d, s, second in rods[two]:
                if float(np.linalg.norm(a + b - c - d) - np.linalg.norm(a - b) - np.linalg.norm(c - d)) > 2.0 * (r + s):
                    continue  # their middles are too far apart
                apart = segment_distance(a, b, c, d)
                if apart < r + s:
                    raise BadInput(
                        f"the limbs {one!r} and {two!r} collide at home: {first!r} and {second!r} come within {1e3 * apart:.1f} "
                        f"mm, they are {1e3 * (r + s):.1f} mm thick together; move the limbs apart or bend them otherwise"
                    )


def segment_distance(a: Array, b: Array, c: Array, d: Array) -> float:
    """The least distance [m] between the segments a-b and c-d (3,) each.

    With u = b - a, v = d - c, w = a - c: |w + s u - t v|² is least inside where its derivatives in s and t vanish; else on the
    border, where one of the four ends is nearest to the other segment.
    """
    distances = [_to_segment(a, c, d), _to_segment(b, c, d), _to_segment(c, a, b), _to_segment(d, a, b)]
    u, v, w = b - a, d - c, a - c
    uu, uv, vv = float(u @ u), float(u @ v), float(v @ v)
    determinant = uu * vv - uv * uv
    if determinant > 1e-12 * max(uu * vv, 1e-30):
        s = (uv * (v @ w) - vv * (u @ w)) / determinant
        t = (uu * (v @ w) - uv * (u @ w)) / determinant
        if 0.0 <= s <= 1.0 and 0.0 <= t <= 1.0:
            distances.append(float(np.linalg.norm(w + s * u - t * v)))
    return min(distances)


def _to_segment(point: Array, start: Array, end: Array) -> float:
    along = end - start
    square = float(along @ along)
    share = 0.0 if square == 0.0 else float(np.clip((point - start) @ along / square, 0.0, 1.0))
    return float(np.linalg.norm(start + share * along - point))
