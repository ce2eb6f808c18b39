"""MJCF in: bodies, joints, inertias, primitive shapes, sites, joint actuators, linear joint couplings and closed loops.

A body of MJCF may have several joints, each with its own anchor and reference; here every joint has its own child, so
massless bodies called ``body@joint`` stand between. Bodies, joints and sites without a name are called ``body_N``, ``joint_N``,
``site_N`` by MuJoCo's index N. What has no place in a character is dropped and listed.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Frame, Joint
from bunraku.formats.mjcf_actuators import read_couplings, read_motors
from bunraku.formats.mjcf_context import Context, included
from bunraku.formats.mjcf_geoms import combined, read_geom, read_inertial
from bunraku.formats.mjcf_loops import read_loops
from bunraku.formats.places import located
from bunraku.formats.poses import as_pose
from bunraku.formats.xml_tree import MAX_ELEMENTS, Element, Notes, read_xml
from bunraku.geometry.euler import euler_angles
from bunraku.geometry.poses import NO_MOVE, Rigid, compose
from bunraku.geometry.rotations import axis_angle, least_turn

_KINDS = ("hinge", "slide", "ball", "free")
_SILENT = {"compiler", "option", "size", "statistic", "visual", "default", "asset", "worldbody", "actuator", "equality", "contact"}
_QUIET = {"camera", "light"}
_SEQUENCE = "zyx"

Content = tuple[Element, Rigid, str, str]


def read_mjcf(data: bytes, *, file: str, folder: Path | None = None) -> tuple[Character, tuple[str, ...]]:
    """A character from MJCF, and the list of what was dropped or changed; includes are read from the tree round ``folder``."""
    root = included(read_xml(data, file=file, root=("mujoco",)), folder)
    notes = Notes()
    for child in root.children:
        if child.tag not in _SILENT:
            notes.add(f"<{child.tag[:40]}> with {len(child.children)} entries dropped")
    with located(file, f"line {root.line}, mujoco"):
        return _Reader(root, notes).character(), notes.listed()


class _Reader:
    """Collects the parts of the character while walking down the bodies in MuJoCo's order."""

    def __init__(self, root: Element, notes: Notes) -> None:
        self.root, self.notes, self.context = root, notes, Context(root)
        assets = [part for section in root.all("asset") for part in section.children]
        self.assets = {(part.tag, part.get("name") or Path(part.get("file")).stem): part for part in assets}
        self.taken = {e.get("name") for e in root.walk() if e.tag == "body"}
        self.joint_names = {e.get("name") for e in root.walk() if e.tag in ("joint", "freejoint")}
        self.bodies: list[Body] = []
        self.joints: list[Joint] = []
        self.frames: list[Frame] = []
        self.home: dict[str, float] = {}
        self.reference: dict[str, float] = {}
        self.counts = {"body": 0, "joint": 0, "site": 0}
        self.visited = 0

    def character(self) -> Character:
        worlds = self.root.all("worldbody")
        if not worlds:
            raise self.root.wrong("the model has no <worldbody>; a model needs one with at least one body")
        contents = [part for world in worlds for part in self._content(world, NO_MOVE, world.get("childclass"), "")]
        if any(part[0].tag == "geom" for part in contents):
            self.notes.add("geoms fixed to the world dropped")
        self._sites(WORLD, contents)
        for part in contents:
            if part[0].tag == "body":
                self._body(WORLD, *part)
        if not self.bodies:
            raise self.root.wrong("the model has no <body>; a character needs at least one")
        coordinates = {axis.name: axis for joint in self.joints for axis in joint.axes}
        motors = read_motors(self.context, self.root, coordinates, self.notes)
        couplings = read_couplings(self.root, coordinates, self.reference, motors, self.notes)
        loops, frames = read_loops(self.root, self.bodies, self.joints, self.frames, self.home, self.notes)
        names = {body.name for body in self.bodies}
        pairs = []
        for section in self.root.all("contact"):
            for entry in section.children:
                if entry.tag == "exclude" and entry.get("body1") in names and entry.get("body2") in names:
                    pairs.append((entry.get("body1"), entry.get("body2")))
                else:
                    self.notes.add(f"<{entry.tag[:40]}> of contact dropped")
        return Character(
            name=self.root.get("model") or "model",
            bodies=tuple(self._total_mass()),
            joints=tuple(self.joints),
            loops=loops,
            motors=motors,
            couplings=couplings,
            frames=frames,
            home=self.home,
            may_touch=tuple(pairs),
            source=f"MJCF {Path(self.root.file).name}",
        )

    def _content(self, element: Element, X: Rigid, childclass: str, suffix: str) -> Iterator[Content]:
        """The children of a body, those inside <frame> and <replicate> included, with pose, default class and name suffix."""
        for child in element.children:
            self.visited += 1
            if self.visited > MAX_ELEMENTS:
                raise child.wrong(f"more than {MAX_ELEMENTS} elements after replication; such a model is not read")
            if child.tag == "frame":
                inside = compose(X, self.context.pose(child))
                yield from self._content(child, inside, child.get("childclass") or childclass, suffix)
            elif child.tag == "replicate":
                yield from self._replicated(child, X, child.get("childclass") or childclass, suffix)
            elif child.tag in ("composite", "flexcomp", "flex", "attach", "plugin"):
                self.notes.add(f"<{child.tag}> of a body dropped")
            else:
                yield child, X, childclass, suffix

    def _replicated(self, element: Element, X: Rigid, childclass: str, suffix: str) -> Iterator[Content]:
        count = int(element.number("count", 0.0))
        if not 1 <= count <= 10_000:
            raise element.wrong(f"count={element.get('count')[:20]!r}; 1 to 10000 copies are accepted")
        offset, euler = element.numbers("offset", 3), element.numbers("euler", 3)
        step: Rigid = (np.eye(3) if euler is None else self.context.euler(euler), np.zeros(3))
        move = np.zeros(3) if offset is None else offset
        digits = len(str(count - 1))
        local = NO_MOVE
        for k in range(count):
            own = f"{element.get('sep')}{k:0{digits}d}"
            yield from self._content(element, compose(X, local), childclass, own + suffix)
            local = (local[0] @ step[0], local[1] + local[0] @ move)

    def _name(self, element: Element, kind: str, suffix: str) -> str:
        index = self.counts[kind]
        self.counts[kind] += 1
        name = element.get("name")
        if name:
            return name + suffix
        name = f"{kind}_{index + (kind == 'body')}"
        while kind == "body" and name in self.taken:
            name += "_"
        return name

    def _sites(self, body: str, contents: list[Content]) -> None:
        for element, X, childclass, suffix in contents:
            if element.tag != "site":
                continue
            named = bool(element.get("name"))
            name = self._name(element, "site", suffix)
            if not named:
                self.notes.add("a site without a name dropped")
                continue
            site = self.context.resolved(element, childclass)
            fromto = site.numbers("fromto", 6)
            pose = self.context.pose(site)
            if fromto is not None:
                if np.array_equal(fromto[:3], fromto[3:]):
                    raise site.wrong("the two ends of fromto are the same point; move one")
                pose = (least_turn((0.0, 0.0, 1.0), fromto[:3] - fromto[3:]), (fromto[:3] + fromto[3:]) / 2)
            self.frames.append(self._made(Frame, site, name=name, body=body, pose=as_pose(compose(X, pose))))

    def _body(self, parent: str, element: Element, X: Rigid, childclass: str, suffix: str) -> None:
        name = self._name(element, "body", suffix)
        if element.get("mocap") == "true":
            self.notes.add("a mocap body is fixed to the world")
        inner = element.get("childclass") or childclass
        contents = list(self._content(element, NO_MOVE, inner, suffix))
        for part in contents:
            if part[0].tag not in {"joint", "freejoint", "inertial", "geom", "site", "body"} | _QUIET:
                self.notes.add(f"<{part[0].tag[:40]}> of a body dropped")
        self._hang(parent, name, element, compose(X, self.context.pose(element)), contents)
        self.bodies.append(self._solid(name, element, contents))
        self._sites(name, contents)
        for part in contents:
            if part[0].tag == "body":
                self._body(name, *part)

    def _hang(self, parent: str, child: str, element: Element, X_PC: Rigid, contents: list[Content]) -> None:
        """Joints between parent and child.

        With anchor p_i, turn J_i and reference r_i in the child's frame, X(q) = X_PC prod_i T(p_i) J_i(q_i - r_i) T(-p_i). What
        remains constant behind a joint, J_i(-r_i) T(-p_i), moves into the pose of the next one.
        """
        parts = [part for part in contents if part[0].tag in ("joint", "freejoint")]
        if not parts:
            name = _new(f"{child}_fixed", self.joint_names)
            self.joints.append(self._made(Joint, element, name=name, kind="fixed", parent=parent, child=child, pose=as_pose(X_PC)))
            return
        here, rest = parent, X_PC
        for i, (raw, X_frame, childclass, suffix) in enumerate(parts):
            joint = self.context.resolved(raw, childclass) if raw.tag == "joint" else raw
            kind = "free" if raw.tag == "freejoint" else joint.get("type", "hinge")
            if kind not in _KINDS:
                raise joint.wrong(f"the joint type {kind[:40]!r} is not known; accepted: {', '.join(_KINDS)}")
            name = self._name(raw, "joint", suffix)
            if kind == "free":
                if parent != WORLD or len(parts) > 1:
                    raise joint.wrong("a free joint must be the only joint of a body directly in the world")
                self._free(name, child, joint, X_PC)
                return
            anchor = joint.numbers("pos", 3)
            anchor = X_frame[1] + X_frame[0] @ (np.zeros(3) if anchor is None else anchor)
            axis = joint.numbers("axis", 3)
            axis = X_frame[0] @ (np.array([0.0, 0.0, 1.0]) if axis is None else axis)
            if float(np.linalg.norm(axis)) < 1e-10:
                raise joint.wrong("the axis has length zero; write a direction such as 0 0 1")
            scale = self.context.to_radians if kind == "hinge" else 1.0
            reference = joint.number("ref", 0.0) * scale if kind != "ball" else 0.0
            before = compose(rest, (np.eye(3), anchor))
            rest = _behind(kind, axis, reference, anchor)
            last = i == len(parts) - 1 and not (np.any(rest[1]) or reference)
            below = child if last else _new(f"{child}@{name}", self.taken)
            if not last:
                self.bodies.append(Body(name=below))
            self._add(joint, name, kind, here, below, before, axis, reference)
            here = below
        if here != child:
            name = _new(f"{child}_fixed", self.joint_names)
            self.joints.append(self._made(Joint, element, name=name, kind="fixed", parent=here, child=child, pose=as_pose(rest)))

    def _add(
        self, joint: Element, name: str, kind: str, parent: str, child: str, pose: Rigid, axis: Array, reference: float
    ) -> None:
        if joint.number("stiffness", 0.0):
            self.notes.add("the spring of a joint dropped")
        limits = self._range(joint, kind) if kind in ("hinge", "slide") else None
        damping = joint.numbers("damping", (1, 6))
        if kind == "ball" and "range" in joint.attributes:
            self.notes.add("the range of a ball joint (a cone) dropped")
        self.joints.append(
            self._made(
                Joint,
                joint,
                name=name,
                kind=kind,
                parent=parent,
                child=child,
                pose=as_pose(pose),
                axis=tuple(axis.tolist()),
                sequence=_SEQUENCE,
                range=limits,
                damping=0.0 if damping is None else max(float(damping[0]), 0.0),
                friction=max(joint.number("frictionloss", 0.0), 0.0),
                armature=max(joint.number("armature", 0.0), 0.0),
            )
        )
        if reference:
            self.reference[name] = reference
            self.home[name] = reference

    def _free(self, name: str, child: str, joint: Element, X: Rigid) -> None:
        """A free base: MuJoCo's coordinates are the pose in the world, and the body's own pose is where it starts."""
        if joint.get("align") == "true" or (self.context.setting("alignfree", "false") == "true" and joint.get("align") != "false"):
            self.notes.add("the alignment of a free body with its principal axes dropped")
        armature = max(joint.number("armature", 0.0), 0.0)
        free = self._made(Joint, joint, name=name, kind="free", parent=WORLD, child=child, sequence=_SEQUENCE, armature=armature)
        self.joints.append(free)
        start = np.concatenate([X[1], euler_angles(X[0], _SEQUENCE)[0]])
        self.home |= {axis.name: float(value) for axis, value in zip(free.axes, start, strict=True) if value}

    def _range(self, joint: Element, kind: str) -> tuple[float, float] | None:
        limits = joint.numbers("range", 2)
        limited = joint.get("limited", "auto")
        if limits is None or limited == "false" or (limited == "auto" and not self.context.autolimits):
            return None
        scale = self.context.to_radians if kind == "hinge" else 1.0
        if limits[0] > limits[1]:
            raise joint.wrong(f"the range {joint.get('range')} is empty; write the lower end first")
        return float(limits[0]) * scale, float(limits[1]) * scale

    def _solid(self, name: str, element: Element, contents: list[Content]) -> Body:
        geoms = [
            read_geom(self.context, self.context.resolved(part, childclass), X, self.notes, self.assets)
            for part, X, childclass, _ in contents
            if part.tag == "geom"
        ]
        inertial = next((part for part, *_ in contents if part.tag == "inertial"), None)
        mode = self.context.setting("inertiafromgeom", "auto")
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        if inertial is not None and mode != "true":
            mass, com, inertia = read_inertial(self.context, inertial)
        elif mode != "false":
            mass, com, inertia = combined([share for _, share in geoms if share is not None])
        mass = max(mass, self._bound("boundmass"))
        least = self._bound("boundinertia")
        moments, axes = np.linalg.eigh(inertia)
        if least > 0.0 and moments[0] < least:
            inertia = (axes * np.maximum(moments, least)) @ axes.T
        return self._made(
            Body,
            element,
            name=name,
            mass=mass,
            center_of_mass=tuple(com.tolist()),
            inertia=tuple(float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))),
            shapes=tuple(shape for shape, _ in geoms if shape is not None),
        )

    def _bound(self, key: str) -> float:
        return self.context.compiler[key].number(key, 0.0) if key in self.context.compiler else 0.0

    def _total_mass(self) -> list[Body]:
        asked, total = self._bound("settotalmass"), sum(body.mass for body in self.bodies)
        if asked <= 0.0 or total <= 0.0:
            return self.bodies
        scale = asked / total
        return [body.changed(mass=body.mass * scale, inertia=tuple(part * scale for part in body.inertia)) for body in self.bodies]

    @staticmethod
    def _made(model: type, element: Element, **fields: object):  # type: ignore[no-untyped-def]
        with located(element.file, element.place):
            return model(**fields)


def _behind(kind: str, axis: Array, reference: float, anchor: Array) -> Rigid:
    """J(-r) T(-p): what stays constant behind a joint with anchor p and reference r."""
    if kind == "hinge" and reference:
        R = axis_angle(axis, -reference)
        return R, -R @ anchor
    if kind == "slide" and reference:
        return np.eye(3), -anchor - axis / float(np.linalg.norm(axis)) * reference
    return np.eye(3), -anchor


def _new(name: str, taken: set[str]) -> str:
    """A name that is not taken, and now is."""
    while name in taken:
        name += "_"
    taken.add(name)
    return name
