"""URDF out: a character as links and single-axis joints, with a list of what the format has no place for."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection

import numpy as np

from bunraku.character import WORLD, Axis, Body, Character, Joint, Pose, Shape
from bunraku.formats.contact_shapes import contact_shape, split_shapes
from bunraku.formats.poses import as_pose, of_pose
from bunraku.formats.unbent import unbent, unbent_note
from bunraku.formats.xml_tree import element, numbers
from bunraku.geometry.euler import roll_pitch_yaw
from bunraku.geometry.poses import compose

_FAR = 1000.0


def write_urdf(character: Character) -> tuple[str, tuple[str, ...]]:
    """The character as URDF text, and the list of what was dropped or changed.

    A joint with several coordinates becomes a chain of massless links, one joint per coordinate with its name; a free base is
    left to whoever reads the file (the root link is the base); couplings become mimic; frames become massless fixed links. Flexible
    parts are written rigid and unbent. Wheels that spin turn on continuous joints; end effectors touch with a thin disc or a ball
    (`formats.contact_shapes`), what is drawn there is only seen.
    """
    text, notes = _Writer(unbent(character)).text()
    return text, (unbent_note(character), *notes) if character.flexibles else notes


class _Writer:
    def __init__(self, character: Character) -> None:
        self.character = character
        self.notes: list[str] = []
        self.links = {body.name for body in character.bodies} | {WORLD}
        self.joints = set(character.coordinates) | {joint.name for joint in character.joints}
        self.motors = {motor.coordinate: motor for motor in character.motors}
        self.tips = defaultdict(list)
        for tip in character.end_effectors:
            self.tips[tip.body].append(tip)
        self.followers = {coupling.follower: coupling for coupling in character.couplings}

    def text(self) -> tuple[str, tuple[str, ...]]:
        lines: list[str] = []
        on_world = [joint for joint in self.character.joints if joint.parent == WORLD]
        base = on_world[0] if len(on_world) == 1 and on_world[0].kind in ("free", "fixed") else None
        if base is not None and base.kind == "free":
            self.notes.append(f"the free base {base.name!r} is dropped: the root link {base.child!r} is the base")
        if base is not None and base.kind == "fixed" and base.pose != Pose():
            base = None
        if base is None or any(frame.body == WORLD for frame in self.character.frames):
            lines.append(element(1, "link", name=WORLD))
            base = base if base is not None and base.kind == "free" else None
        for body in self.character.bodies:
            lines += self._link(body)
        for joint in self.character.joints:
            if joint is not base:
                lines += self._joint(joint)
        if base is not None and f'<link name="{WORLD}"/>' in "".join(lines):
            lines += self._fixed(_new(f"{base.child}_on_world", self.joints), WORLD, base.child, Pose())
        for frame in self.character.frames:
            name = frame.name if frame.name not in self.links else _new(f"{frame.name}_frame", self.links)
            self.links.add(name)
            lines.append(element(1, "link", name=name))
            lines += self._fixed(_new(f"{name}_fixed", self.joints), frame.body, name, frame.pose)
        for field in ("dependent_ranges", "feet", "groups", "home", "may_touch", "carriages", "strings", "loops", "tendons"):
            if getattr(self.character, field):
                self.notes.append(f"{field} dropped: URDF has no place for them")
        if self.character.end_effectors:
            self.notes.append("of end effectors only the shape and the damping of the axle are written, not kind and friction")
        if any(joint.stiffness for joint in self.character.joints):
            self.notes.append("springs at joints dropped: URDF has no place for them")
        if any(motor.acceleration or motor.jerk or motor.delay or motor.no_load_speed for motor in self.character.motors):
            self.notes.append("of motors only velocity and effort are written")
        head = element(0, "robot", name=self.character.name).replace("/>", ">")
        return "\n".join(['<?xml version="1.0"?>', head, *lines, "</robot>", ""]), tuple(self.notes)

    def _link(self, body: Body) -> list[str]:
        lines = [element(1, "link", name=body.name).replace("/>", ">")]
        if body.mass > 0.0 or any(body.inertia):
            xx, yy, zz, xy, xz, yz = body.inertia
            parts = {"ixx": xx, "ixy": xy, "ixz": xz, "iyy": yy, "iyz": yz, "izz": zz}
            lines.append("    <inertial>")
            lines.append(element(3, "origin", xyz=numbers(body.center_of_mass), rpy="0 0 0"))
            lines.append(element(3, "mass", value=numbers([body.mass])))
            lines.append(element(3, "inertia", **{key: numbers([value]) for key, value in parts.items()}))
            lines.append("    </inertial>")
        tips = self.tips.get(body.name, [])
        for shape, touches in split_shapes(body, tips):
            lines += self._shape(body.name, shape, ("visual", "collision") if touches else ("visual",))
        for tip in tips:
            lines += self._shape(body.name, contact_shape(tip), ("collision",))
        return [*lines, "  </link>"] if len(lines) > 1 else [element(1, "link", name=body.name)]

    def _shape(self, body: str, shape: Shape, tags: tuple[str, ...]) -> list[str]:
        parts: list[tuple[str, Pose]]
        match shape.kind:
            case "box":
                parts = [(element(4, "box", size=numbers(2 * part for part in shape.size)), shape.pose)]
            case "sphere":
                parts = [(element(4, "sphere", radius=numbers(shape.size)), shape.pose)]
            case "cylinder" | "capsule":
                r, h = shape.size
                parts = [(element(4, "cylinder", radius=numbers([r]), length=numbers([2 * h])), shape.pose)]
                if shape.kind == "capsule":
                    self._note("a capsule is written as a cylinder and two spheres")
                    for end in (-h, h):
                        pose = as_pose(compose(of_pose(shape.pose), (np.eye(3), np.array([0.0, 0.0, end]))))
                        parts.append((element(4, "sphere", radius=numbers([r])), pose))
            case "mesh":
                parts = [(element(4, "mesh", filename=shape.file or "", scale=numbers(shape.size)), shape.pose)]
            case _:
                self._note(f"an {shape.kind} of {body} is dropped: URDF has none")
                return []
        lines = []
        for solid, pose in parts:
            for tag in tags:
                lines += [f"    <{tag}>", _origin(3, pose), "      <geometry>", solid, "      </geometry>"]
                if tag == "visual":
                    lines += ['      <material name="">', element(4, "color", rgba=numbers(shape.color)), "      </material>"]
                lines.append(f"    </{tag}>")
        return lines

    def _joint(self, joint: Joint) -> list[str]:
        axes = joint.axes
        if not axes:
            return self._fixed(joint.name, joint.parent, joint.child, joint.pose)
        lines: list[str] = []
        at, pose = joint.parent, joint.pose
        for i, axis in enumerate(axes):
            below = joint.child
            if i < len(axes) - 1:
                below = _new(f"{joint.child}.{axis.name.rsplit('.', 1)[-1]}", self.links)
                self.links.add(below)
                lines.append(element(1, "link", name=below))
            lines += self._axis(axis, joint, at, below, pose)
            at, pose = below, Pose()
        return lines

    def _axis(self, axis: Axis, joint: Joint, parent: str, child: str, pose: Pose) -> list[str]:
        kind = "prismatic" if axis.kind == "slide" else ("continuous" if axis.range is None else "revolute")
        limits = axis.range
        if kind == "prismatic" and limits is None:
            self._note(f"a slide without range is written with +-{_FAR:g} m")
            limits = (-_FAR, _FAR)
        lines = [element(1, "joint", name=axis.name, type=kind).replace("/>", ">"), _origin(2, pose)]
        lines += [element(2, "parent", link=parent), element(2, "child", link=child)]
        lines.append(element(2, "axis", xyz=numbers(axis.direction)))
        motor = self.motors.get(axis.name)
        effort = motor.torque_fraction * motor.stall_torque if motor is not None and motor.stall_torque is not None else 0.0
        velocity = motor.velocity if motor is not None and motor.velocity is not None else 0.0
        if motor is not None and not (effort and velocity):
            self._note("an effort or velocity limit that is not stated is written as 0")
        values = {} if limits is None else {"lower": numbers([limits[0]]), "upper": numbers([limits[1]])}
        lines.append(element(2, "limit", **values, effort=numbers([effort]), velocity=numbers([velocity])))
        if joint.damping or joint.friction:
            lines.append(element(2, "dynamics", damping=numbers([joint.damping]), friction=numbers([joint.friction])))
        if axis.name in self.followers:
            c = self.followers[axis.name]
            lines.append(element(2, "mimic", joint=c.driver, multiplier=numbers([c.ratio]), offset=numbers([c.offset])))
        return [*lines, "  </joint>"]

    def _fixed(self, name: str, parent: str, child: str, pose: Pose) -> list[str]:
        self.joints.add(name)
        lines = [element(1, "joint", name=name, type="fixed").replace("/>", ">"), _origin(2, pose)]
        return [*lines, element(2, "parent", link=parent), element(2, "child", link=child), "  </joint>"]

    def _note(self, text: str) -> None:
        if text not in self.notes:
            self.notes.append(text)


def _origin(depth: int, pose: Pose) -> str:
    """Xyz and rpy with R = Rz(yaw) Ry(pitch) Rx(roll)."""
    angles = roll_pitch_yaw(of_pose(pose)[0]) if pose.quaternion != (1.0, 0.0, 0.0, 0.0) else np.zeros(3)
    return element(depth, "origin", xyz=numbers(pose.position), rpy=numbers(angles))


def _new(name: str, taken: Collection[str]) -> str:
    while name in taken:
        name += "_"
    return name
