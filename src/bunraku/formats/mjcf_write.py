"""MJCF out: a character as a MuJoCo model, for replay in foreign physics."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Axis, Body, Character, Frame, Joint, Motor, Pose, Shape
from bunraku.formats.contact_shapes import contact_shape, split_shapes
from bunraku.formats.mjcf_loops import loop_sites, write_loops, write_tendons
from bunraku.formats.poses import as_pose, of_pose
from bunraku.formats.unbent import unbent, unbent_note
from bunraku.formats.xml_tree import element, numbers
from bunraku.geometry.poses import NO_MOVE, Rigid, compose, inverse
from bunraku.mechanics.servos.gains import ServoGains, servo_gains

_TINY_MASS, _TINY_INERTIA = 1e-4, 1e-6


def write_mjcf(character: Character, **options: Any) -> str:
    """The character as MJCF text; see :func:`export_mjcf`, which takes the same options and also says what had to be changed."""
    return export_mjcf(character, **options)[0]


def export_mjcf(
    character: Character,
    *,
    free_base_as_quaternion: bool = True,
    floor: bool = True,
    self_collision: bool = True,
    actuators: bool = True,
    timestep_s: float = 0.002,
) -> tuple[str, tuple[str, ...]]:
    """The character as MJCF text, and the list of what was changed or dropped on the way.

    Names are kept: bodies, joints (one per coordinate), sites (frames), actuators (motors). Massless bodies between two
    moving joints are merged into the next body, which then has several joints. Motors become position servos with force
    kp (target - q) - kv v within +-torque_fraction * stall_torque, motors of wheels velocity servos with force kv (target - v); the
    gains are those of `mechanics.servos`, stated or of a scale with the robot, as in every replay. A servo whose derivative acts on
    the error cannot be said, and is noted: it lags by kv / kp behind the same commands.
    Couplings become joint equalities; joints that close loops connect and weld equalities; tendons over pulleys fixed tendons
    with a motor of their name, whose control is the tension. Strings become spatial tendons that grow no longer than the
    string, from a site of the carriage's name, on a mocap body at its home, to the site ``STRING.hook``. ``floor`` adds the
    plane z = 0; touching ground, feet use their own friction. Flexible parts are written rigid and unbent.
    End effectors touch with a geom of their name and friction, a thin disc or a ball (`formats.contact_shapes`); what is drawn
    there touches nothing.
    """
    writer = _Writer(unbent(character), free_base_as_quaternion, self_collision)
    if character.flexibles:
        writer.notes.append(unbent_note(character))
    world = [*writer.body_lines(WORLD, 2), *writer.carriages()]
    if floor:
        world.insert(0, '    <geom name="floor" type="plane" size="0 0 0.05" friction="0.8 0.005 0.0001" material="floor"/>')
        world.insert(0, '    <light directional="true" pos="0 0 4" dir="-0.4 0.3 -1"/>')
    lines = [
        element(1, "compiler", angle="radian", autolimits="true", inertiafromgeom="false", fusestatic="false"),
        element(1, "option", timestep=numbers([timestep_s]), integrator="implicitfast"),
    ]
    if floor:
        lines += [
            "  <asset>",
            '    <texture name="floor" type="2d" builtin="checker" width="256" height="256" rgb1=".82 .82 .8" rgb2=".76 .76 .74"/>',
            '    <material name="floor" texture="floor" texrepeat="4 4" texuniform="true"/>',
            "  </asset>",
        ]
    lines += ["  <worldbody>", *world, "  </worldbody>"]
    lines += _section("contact", writer.exclusions())
    lines += _section("tendon", [*writer.tendons(timestep_s), *write_tendons(character)])
    lines += _section("equality", writer.equalities(timestep_s))
    if actuators:
        lines += _section("actuator", writer.actuators())
    head = element(0, "mujoco", model=character.name).replace("/>", ">")
    return "\n".join([head, *lines, "</mujoco>", ""]), tuple(writer.notes)


def _section(name: str, lines: list[str]) -> list[str]:
    return [f"  <{name}>", *lines, f"  </{name}>"] if lines else []


@dataclass
class _Writer:
    """The state of one export: who hangs where, which bodies are merged, what was noted."""

    character: Character
    quaternion_base: bool
    self_collision: bool
    notes: list[str] = field(default_factory=list)

    def __post_init__(self) -> None:
        self.bodies = {body.name: body for body in self.character.bodies}
        self.below: dict[str, list[Joint]] = defaultdict(list)
        for joint in self.character.joints:
            self.below[joint.parent].append(joint)
        self.sites = defaultdict(list)
        for frame in self.character.frames:
            self.sites[frame.body].append(frame)
        frames = {frame.name: frame for frame in self.character.frames}
        for string in self.character.strings:
            on = frames.get(string.hook, Frame(name=string.hook, body=string.hook))
            pose = as_pose(compose(of_pose(on.pose), of_pose(Pose(position=string.point))))
            self.sites[on.body].append(Frame(name=f"{string.name}.hook", body=on.body, pose=pose))
        for site in loop_sites(self.character):
            self.sites[site.body].append(site)
        self.looped = {end for loop in self.character.loops for end in (loop.parent, loop.child)}
        self.feet = {foot.body: foot for foot in self.character.feet}
        self.tips = defaultdict(list)
        for tip in self.character.end_effectors:
            self.tips[tip.body].append(tip)
        self.ranges: dict[str, tuple[float, float]] = {}
        self.kinds = {axis.name: axis.kind for axis in self.character.axes}
        self.written: set[str] = set()

    def _massless(self, name: str) -> bool:
        body = self.bodies[name]
        return body.mass == 0.0 and not any(body.inertia)

    def _mergeable(self, chain: list[Joint]) -> bool:
        """Whether the last body of a chain that moves carries nothing and has one child, so that MuJoCo need not know it."""
        name = chain[-1].child
        return (
            any(joint.axes for joint in chain)
            and not self._is_free(chain[-1])
            and self._massless(name)
            and not self.bodies[name].shapes
            and not self.sites[name]
            and name not in self.feet
            and name not in self.tips
            and name not in self.looped
            and len(self.below[name]) == 1
            and self.below[name][0].kind != "free"
        )

    def _is_free(self, joint: Joint) -> bool:
        return joint.kind == "free" and joint.parent == WORLD and self.quaternion_base

    def body_lines(self, parent: str, depth: int) -> list[str]:
        lines: list[str] = []
        for site in self.sites[parent]:
            pose = {"pos": numbers(site.pose.position), "quat": numbers(site.pose.quaternion)}
            lines.append(element(depth, "site", name=site.name, **pose))
        for joint in self.below[parent]:
            lines += self._child(joint, depth)
        return lines

    def _child(self, joint: Joint, depth: int) -> list[str]:
        """One body, with the joints of the massless bodies merged into it.

        A joint of a merged body B appears in the frame of the final body C at ``X_CB``: its axis turned, its anchor moved.
        """
        chain = [joint]
        while self._mergeable(chain):
            chain.append(self.below[chain[-1].child][0])
        last = chain[-1]
        pose = as_pose(compose(*(of_pose(link.pose) for link in chain)))
        self.written.add(last.child)
        name = {"name": last.child, "pos": numbers(pose.position), "quat": numbers(pose.quaternion)}
        lines = [element(depth, "body", **name).replace("/>", ">")]
        X_BC: Rigid = NO_MOVE
        joints: list[str] = []
        for link in reversed(chain):
            joints = self._joints(link, inverse(X_BC), depth + 1) + joints
            X_BC = compose(of_pose(link.pose), X_BC) if link is not chain[0] else X_BC
        lines += joints
        lines += self._inertial(self.bodies[last.child], bool(joints), depth + 1)
        lines += self._geoms(self.bodies[last.child], depth + 1)
        lines += self.body_lines(last.child, depth + 1)
        lines.append("  " * depth + "</body>")
        return lines

    def _joints(self, joint: Joint, X_CB: Rigid, depth: int) -> list[str]:
        if self._is_free(joint):
            if any(joint.ranges) or joint.damping or joint.friction:
                self.notes.append(f"joint {joint.name}: ranges, damping and friction of a free base are not written")
            return [element(depth, "joint", name=joint.name, type="free")]
        lines = []
        for axis in joint.axes:
            values: dict[str, str] = {"name": axis.name, "type": axis.kind}
            if np.any(X_CB[1]):
                values["pos"] = numbers(X_CB[1])
            values["axis"] = numbers(X_CB[0] @ np.array(axis.direction))
            limits = self._limits(axis)
            if limits:
                values["range"] = numbers(limits)
            figures = {"damping": joint.damping, "frictionloss": joint.friction, "armature": joint.armature}
            if joint.stiffness and axis.name not in self.character.driven:
                figures |= {"stiffness": joint.stiffness, "springref": self.character.home.get(axis.name, 0.0)}
            for key, value in figures.items():
                if value:
                    values[key] = numbers([value])
            lines.append(element(depth, "joint", **values))
        return lines

    def _limits(self, axis: Axis) -> tuple[float, float] | None:
        if axis.range is not None and axis.range[0] == axis.range[1]:
            self.notes.append(f"coordinate {axis.name}: a range of width zero is not written; MuJoCo refuses it")
            return None
        return axis.range

    def _inertial(self, body: Body, moves: bool, depth: int) -> list[str]:
        mass, inertia = body.mass, np.array(body.inertia)
        if self._massless(body.name):
            carried = any(below.kind == "fixed" and not self._massless(below.child) for below in self.below[body.name])
            if not moves or carried:
                return []
            self.notes.append(f"body {body.name}: massless but moving; written with {_TINY_MASS} kg")
            mass, inertia = _TINY_MASS, np.array([_TINY_INERTIA] * 3 + [0.0] * 3)
        elif mass == 0.0:
            self.notes.append(f"body {body.name}: inertia without mass; written with {_TINY_MASS} kg")
            mass = _TINY_MASS
        repaired = _physical(inertia)
        if not np.array_equal(repaired, inertia):
            self.notes.append(f"body {body.name}: its inertia is that of no solid body; the nearest one that is was written")
            inertia = repaired
        place = {"pos": numbers(body.center_of_mass), "mass": numbers([mass]), "fullinertia": numbers(inertia)}
        return [element(depth, "inertial", **place)]

    def _geoms(self, body: Body, depth: int) -> list[str]:
        lines = []
        foot = self.feet.get(body.name)
        tips = self.tips.get(body.name, [])
        for shape, touches in split_shapes(body, tips):
            if shape.kind == "mesh" or min(shape.size) <= 0.0:
                self.notes.append(f"body {body.name}: a {shape.kind} {shape.file or 'of size zero'} is not written")
                continue
            kept = shape if touches == shape.collides else shape.changed(collides=False)
            lines.append(_geom(kept, depth, foot.friction if foot else None, self.self_collision))
        lines += [_geom(contact_shape(tip), depth, tip.friction, self.self_collision, tip.name) for tip in tips]
        if foot and not any(shape.collides and shape.kind != "mesh" for shape in body.shapes):
            self.notes.append(f"foot {foot.name}: its body has no colliding shape; spheres of 1 mm stand at the sole points")
            for point in foot.points:
                bead = Shape(kind="sphere", size=(0.001,), pose={"position": point})  # type: ignore[arg-type]
                lines.append(_geom(bead, depth, foot.friction, self.self_collision))
        return lines

    def exclusions(self) -> list[str]:
        pairs = {tuple(sorted(pair)) for pair in self.character.may_touch}
        pairs |= {tuple(sorted((joint.parent, joint.child))) for joint in (*self.character.joints, *self.character.loops)}
        known = sorted(pair for pair in pairs if pair[0] in self.written and pair[1] in self.written and pair[0] != pair[1])
        return [element(2, "exclude", body1=one, body2=two) for one, two in known]

    def equalities(self, timestep: float) -> list[str]:
        return write_loops(self.character, timestep, self.notes) + [
            element(2, "joint", joint1=c.follower, joint2=c.driver, polycoef=numbers([c.offset, c.ratio, 0, 0, 0]))
            for c in self.character.couplings
        ]

    def carriages(self) -> list[str]:
        lines = []
        for carriage in self.character.carriages:
            body = {"name": carriage.name, "pos": numbers(carriage.home), "mocap": "true"}
            lines += [element(2, "body", **body).replace("/>", ">"), element(3, "site", name=carriage.name), "    </body>"]
        if lines:
            self.notes.append("carriages stand at home as mocap bodies; their limits are not written, a replay moves them")
        return lines

    def tendons(self, timestep: float) -> list[str]:
        if not self.character.strings:
            return []
        from bunraku.mechanics.systems.strings import home_lengths

        lines = []
        for string, length in zip(self.character.strings, home_lengths(self.character), strict=True):
            limit = {
                "range": numbers([0.0, length]),
                "solreflimit": numbers([2.0 * timestep, 1.0]),
                "solimplimit": "0.99 0.999 0.001",
            }
            lines.append(element(2, "spatial", name=string.name, **limit, width="0.001", rgba="0.2 0.2 0.2 1").replace("/>", ">"))
            lines += [element(3, "site", site=string.carriage), element(3, "site", site=f"{string.name}.hook"), "    </spatial>"]
        return lines

    def actuators(self) -> list[str]:
        lines = self._servos(servo_gains(self.character)) if self.character.motors else []
        for tendon in self.character.tendons:
            pull = {"ctrlrange": numbers([0.0, tendon.max_tension]), "gear": "1"}
            lines.append(element(2, "motor", name=tendon.name, tendon=tendon.name, **pull))
        return lines

    def _servos(self, gains: ServoGains) -> list[str]:
        lines, lagging = [], []
        for k, motor in enumerate(self.character.motors):
            kp, kv = float(gains.stiffness[k]), float(gains.damping[k])
            if gains.wheel[k]:
                lines.append(self._velocity_servo(motor, kv))
                said = f"no gain of its speed is stated; {kv:.3g} is used"
            else:
                lines.append(self._position_servo(motor, kp, kv))
                said = f"no servo stiffness is stated; {kp:.3g} is used"
                lagging += [motor.name] if gains.on_error[k] else []
            if not gains.stated[k]:
                self.notes.append(f"motor {motor.name}: {said}")
        if lagging:
            few = ", ".join(lagging[:3]) + (" and others" if len(lagging) > 3 else "")
            self.notes.append(
                f"servos {few}: their derivative acts on the error, which MuJoCo's position servos cannot; sent the same commands, "
                "they damp the joint's own speed and come later by damping over stiffness"
            )
        return lines

    def _position_servo(self, motor: Motor, kp: float, kv: float) -> str:
        """A position servo of stiffness kp and damping kv, within the motor's torque and range."""
        values = {"name": motor.name, "joint": motor.coordinate, "kp": numbers([kp]), "kv": numbers([kv])}
        values |= _force_range(motor)
        own = next(axis.range for axis in self.character.axes if axis.name == motor.coordinate)
        ranges = [limits for limits in (motor.range, own) if limits is not None]
        if ranges:
            limits = max(lower for lower, _ in ranges), min(upper for _, upper in ranges)
            if limits[0] < limits[1]:
                values["ctrlrange"] = numbers(limits)
            else:
                self.notes.append(f"motor {motor.name}: its range and the joint's leave no room; no control range is written")
        return element(2, "position", **values)

    def _velocity_servo(self, motor: Motor, kv: float) -> str:
        """A velocity servo of gain kv [N·m·s/rad]: force kv (speed - v) within the motor's torque."""
        values = {"name": motor.name, "joint": motor.coordinate, "kv": numbers([kv])} | _force_range(motor)
        if motor.velocity is not None:
            values["ctrlrange"] = numbers([-motor.velocity, motor.velocity])
        return element(2, "velocity", **values)


def _force_range(motor: Motor) -> dict[str, str]:
    """The most torque that a motor gives, both ways, if it is stated."""
    torque = None if motor.stall_torque is None else motor.torque_fraction * motor.stall_torque
    return {} if torque is None else {"forcerange": numbers([-torque, torque])}


def _geom(shape: Shape, depth: int, friction: float | None, self_collision: bool, name: str = "") -> str:
    values = {"name": name} if name else {}
    values |= {"type": shape.kind, "size": numbers(shape.size), "pos": numbers(shape.pose.position)}
    values |= {"quat": numbers(shape.pose.quaternion), "rgba": numbers(shape.color)}
    if not shape.collides:
        values |= {"contype": "0", "conaffinity": "0", "group": "2"}
    elif not self_collision:
        values |= {"contype": "2", "conaffinity": "1"}
    if friction is not None and shape.collides:
        values |= {"friction": numbers([friction, 0.005, 0.0001]), "priority": "1"}
    return element(depth, "geom", **values)


def _physical(inertia: Array) -> Array:
    """The inertia (6,), principal moments raised to at least 1e-12 kg·m² and the largest cut to the sum of the others if needed."""
    xx, yy, zz, xy, xz, yz = inertia
    moments, axes = np.linalg.eigh(np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]))
    fixed = np.maximum(moments, max(1e-12, 1e-9 * float(moments[2])))
    if fixed[2] > fixed[0] + fixed[1]:
        fixed[2] = (fixed[0] + fixed[1]) * (1.0 - 1e-9)
    if np.array_equal(fixed, moments):
        return inertia
    full = (axes * fixed) @ axes.T
    return np.array([full[0, 0], full[1, 1], full[2, 2], full[0, 1], full[0, 2], full[1, 2]])
