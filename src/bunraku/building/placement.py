"""Where the components of a robot are: both sides of mirrored limbs, joints, servo cases, and the printed connectors between."""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from bunraku.arrays import Array
from bunraku.building.robot import Direction, Limb, Robot, Stage, Tip
from bunraku.building.servos import Servo, servo
from bunraku.building.tips import TipModel, tip_model
from bunraku.geometry.rotations import axis_angle

_LETTERS = {"x": 0, "y": 1, "z": 2}
_GAP = 0.002


@dataclass(frozen=True)
class Case:
    """The case of a servo in the frame of the body it is screwed to: a box, the horn's face and the two faces that take screws.

    ``center`` (3,) [m] and ``axes`` (3, 3), whose columns point across the servo, along its long side and out of its shaft: the
    directions of ``servo.size``. ``horn`` is the middle of the horn's face, ``flange`` the middle of the face at the end of the
    long side, which a connector is screwed to.
    """

    servo: Servo
    center: Array
    axes: Array
    horn: Array
    flange: Array

    def moved(self, by: Array) -> Case:
        """The same case moved by (3,) [m]."""
        return replace(self, center=self.center + by, horn=self.horn + by, flange=self.flange + by)


@dataclass(frozen=True)
class PlacedStage:
    """A joint: its names, its place in the parent, its axis, rest angle and range, and the servo's case in the parent's frame."""

    joint: str
    body: str
    parent: str
    position: Array
    axis: Array
    rest: float
    limits: tuple[float, float]
    case: Case


@dataclass(frozen=True)
class PlacedTip:
    """A wheel or foot: its names, its carrier, centre and axis in the carrier's frame, and its motor's case if it has one."""

    name: str
    axle: str
    parent: str
    model: TipModel
    center: Array
    axis: Array
    radius: float
    mass: float
    friction: float
    rolling_resistance: float
    case: Case | None

    @property
    def spins(self) -> bool:
        """Whether it turns on an axle."""
        return self.model.kind in ("passive", "active")


@dataclass(frozen=True)
class PlacedLimb:
    """One limb of one side, root first."""

    name: str
    limb: Limb
    side: float
    stages: tuple[PlacedStage, ...]
    tips: tuple[PlacedTip, ...]


@dataclass(frozen=True)
class Connector:
    """A printed link: from the horn of a servo through ``corners`` (places on its way [m]) to what it carries.

    ``start`` is the servo whose horn holds it (None: the chassis), ``end`` the case of the next one (None: a passive axle, a foot
    or a plain end). All places in the frame of ``body``.
    """

    body: str
    start: Case | None
    end: Case | None
    corners: tuple[Array, ...]
    radius: float


def place(robot: Robot) -> tuple[PlacedLimb, ...]:
    """All limbs, those to be mirrored first on the left, then on the right."""
    return tuple(
        _place_limb(limb, side, f"{letter}{limb.name}")
        for limb in robot.limbs
        for side, letter in (((1.0, "L"), (-1.0, "R")) if limb.mirror else ((1.0, ""),))
    )


def _place_limb(limb: Limb, side: float, name: str) -> PlacedLimb:
    parent, stages = "body", []
    for stage in limb.stages:
        stages.append(_place_stage(stage, side, name, parent))
        parent = stages[-1].body
    tips = tuple(_place_tip(tip, side, name, parent) for tip in limb.tips)
    return PlacedLimb(name, limb, side, tuple(stages), tips)


def _place_stage(stage: Stage, side: float, limb: str, parent: str) -> PlacedStage:
    position = _mirrored(stage.offset, side)
    axis = np.eye(3)[_LETTERS[stage.axis]]
    turn = 1.0 if stage.axis == "y" else side
    rest = turn * stage.rest
    horn = position + _mirrored(stage.shift * axis, side)
    case = _case(servo(stage.servo), horn, _direction(stage.case, side), _direction(stage.lean, side))
    name = f"{limb}.{stage.name}"
    return PlacedStage(name, f"{name}_link", parent, position, axis, rest, (rest - stage.reach, rest + stage.reach), case)


def _place_tip(tip: Tip, side: float, limb: str, parent: str) -> PlacedTip:
    model = tip_model(tip.model)
    name = f"{limb}{tip.name}"
    center = _mirrored(tip.offset, side)
    axis = np.array(tip.axis) / np.linalg.norm(tip.axis) * np.array([side, 1.0, side])
    radius = model.radius if tip.radius is None else tip.radius
    case = None
    if model.kind == "active":
        inward = axis * (side if tip.motor_side == "+y" else -side)
        drive = servo(tip.servo)
        face = center + inward * (model.width / 2.0 + _GAP + drive.horn_height)
        case = _case(drive, face, inward, np.array([0.0, 0.0, 1.0]))
    return PlacedTip(
        name=name,
        axle=f"{name}.axle",
        parent=parent,
        model=model,
        center=center,
        axis=axis,
        radius=radius,
        mass=model.mass_of(radius),
        friction=model.friction if tip.friction is None else tip.friction,
        rolling_resistance=model.rolling_resistance if tip.rolling_resistance is None else tip.rolling_resistance,
        case=case,
    )


def connectors(robot: Robot, limbs: tuple[PlacedLimb, ...] | None = None) -> tuple[Connector, ...]:
    """The printed links of a robot, one path per thing a link carries.

    A link of a limb in the middle plane holds on to both ends of its servo's shaft, horn and idler, so that it is symmetric too.
    """
    connected: list[Connector] = []
    for limb in place(robot) if limbs is None else limbs:
        links: list[Connector] = []
        for index, stage in enumerate(limb.stages):
            start = stage.case.moved(-stage.position)  # the link's own frame stands at its joint
            if index + 1 < len(limb.stages):
                case = limb.stages[index + 1].case
                links.append(Connector(stage.body, start, case, (start.horn, case.flange), 0.010))
            links += [_to_tip(stage, start, tip, limb.side) for tip in limb.tips if tip.parent == stage.body]
            if index + 1 == len(limb.stages) and limb.limb.end_mass > 0.0:
                links.append(Connector(stage.body, start, None, (start.horn, _mirrored(limb.limb.end_offset, limb.side)), 0.010))
        if not limb.stages:
            links += [_strut(robot, tip, limb.side) for tip in limb.tips if tip.case is None]
        connected += links if limb.limb.mirror else [twin for link in links for twin in _both_sides(link)]
    return tuple(connected)


def _to_tip(stage: PlacedStage, start: Case, tip: PlacedTip, side: float) -> Connector:
    if not tip.spins:
        return Connector(stage.body, start, None, (start.horn, tip.center), 0.008)
    end = _beside(tip, side) if tip.case is None else tip.case.flange
    elbow = end + stage.axis * ((start.horn - end) @ stage.axis)
    return Connector(stage.body, start, tip.case, (start.horn, elbow, end), 0.005)


def _strut(robot: Robot, tip: PlacedTip, side: float) -> Connector:
    """What holds a wheel or foot under the chassis itself."""
    end = _beside(tip, side) if tip.model.kind == "passive" else tip.center
    foot = np.array([end[0], end[1], robot.chassis.center[2] - robot.chassis.size[2] / 2.0])
    return Connector("body", None, None, (foot, end), 0.005)


def _beside(tip: PlacedTip, side: float) -> Array:
    """The end of a passive wheel's axle."""
    return tip.center + tip.axis * side * (tip.model.width / 2.0 + 0.007)


def _both_sides(link: Connector) -> list[Connector]:
    other = tuple(_mirrored(corner, -1.0) for corner in link.corners)
    if all(np.allclose(one, two, atol=1e-12) for one, two in zip(link.corners, other, strict=True)):
        return [link]
    return [link, Connector(link.body, link.start, link.end, other, link.radius)]


def _case(drive: Servo, horn: Array, behind: Array, lean: Array) -> Case:
    """The case of a servo whose horn's face is at ``horn``, lying ``behind`` it, its long side towards ``lean``."""
    _, long, deep = drive.size
    lean = lean - behind * (lean @ behind)
    lean = lean / np.linalg.norm(lean)
    center = horn + behind * (drive.horn_height + deep / 2.0) + lean * drive.shaft_offset
    axes = np.stack([np.cross(lean, -behind), lean, -behind], axis=1)
    flange = center + lean * (long / 2.0)
    if drive.flange_in_front:
        flange = horn + behind * (drive.horn_height - 0.003)
    return Case(drive, center, axes, horn, flange)


def _mirrored(vector: Array | tuple[float, float, float], side: float) -> Array:
    return np.asarray(vector, dtype=float) * np.array([1.0, side, 1.0])


def _direction(name: Direction, side: float) -> Array:
    return _mirrored(np.eye(3)[_LETTERS[name[1]]] * (1.0 if name[0] == "+" else -1.0), side)


def home_frames(limbs: tuple[PlacedLimb, ...]) -> dict[str, tuple[Array, Array]]:
    """Rotation (3, 3) and position (3,) [m] of every link at rest, in the frame of the chassis, which is "body"."""
    frames = {"body": (np.eye(3), np.zeros(3))}
    for limb in limbs:
        for stage in limb.stages:
            R, p = frames[stage.parent]
            frames[stage.body] = (R @ axis_angle(stage.axis, stage.rest), p + R @ stage.position)
    return frames


def home_tips(limbs: tuple[PlacedLimb, ...]) -> tuple[Array, Array]:
    """Centres and axes (n, 3) of all tips at the rest angles, in the frame of the chassis."""
    frames = home_frames(limbs)
    tips = [(*frames[tip.parent], tip) for limb in limbs for tip in limb.tips]
    centers = np.array([p + R @ tip.center for R, p, tip in tips])
    return centers.reshape(-1, 3), np.array([R @ tip.axis for R, _, tip in tips]).reshape(-1, 3)
