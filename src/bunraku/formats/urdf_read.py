"""URDF in: links, joints, limits and primitive shapes of a robot, with a list of what was dropped or changed.

The root link is fixed to the world (a limits overlay can free it). A link called "world" without mass or shapes, if it is the root,
is the world. Meshes are kept by name only.
"""

from __future__ import annotations

from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD, Body, Character, Coupling, Joint, Motor, Shape
from bunraku.formats.places import located
from bunraku.formats.poses import as_pose
from bunraku.formats.xml_tree import Element, Notes, read_xml
from bunraku.geometry.euler import roll_pitch_yaw_matrix
from bunraku.geometry.poses import Rigid, compose
from bunraku.geometry.rotations import least_turn

_KINDS = {
    "revolute": "hinge",
    "continuous": "hinge",
    "prismatic": "slide",
    "fixed": "fixed",
    "floating": "free",
    "planar": "planar",
}
MAX_LINKS = 9_000
_READ = {"link", "joint", "material"}


def read_urdf(data: bytes, *, file: str, folder: Path | None = None) -> tuple[Character, tuple[str, ...]]:
    """A character from URDF, and the list of what was dropped or changed. ``folder`` is not used: meshes are not opened."""
    robot = read_xml(data, file=file, root=("robot",))
    notes = Notes()
    for child in robot.children:
        if child.tag not in _READ:
            left_over = ":" in child.tag
            notes.add(f"<{child.tag[:60]}> {'left over from xacro: run xacro first' if left_over else 'dropped'}")
    reader = _Reader(robot, notes)
    with located(file, f"line {robot.line}, robot"):
        return reader.character(), notes.listed()


class _Reader:
    """Links and joints by name, and what is made of them."""

    def __init__(self, robot: Element, notes: Notes) -> None:
        self.robot, self.notes = robot, notes
        self.links = _by_name(robot.all("link"), "links")
        self.joints = _by_name(robot.all("joint"), "joints")
        if not self.links:
            raise robot.wrong("the robot has no <link>; a robot needs at least one")
        if len(self.links) > MAX_LINKS:
            raise robot.wrong(f"the robot has {len(self.links)} links; at most {MAX_LINKS} are read")
        self.colors = {material.get("name"): color for material in robot.all("material") if (color := _color(material)) is not None}
        self.closing: set[str] = set()
        self.root = self._root()
        self.rename: dict[str, str] = {}
        if WORLD in self.links:
            if self.root == WORLD and not self.links[WORLD].children:
                self.rename[WORLD] = WORLD
            else:
                self.rename[WORLD] = _free_name("world_link", self.links)
                notes.add(f"the link 'world' is called {self.rename[WORLD]!r} here: 'world' is the ground")

    def _root(self) -> str:
        parent: dict[str, tuple[str, Element]] = {}
        for joint in self.joints.values():
            ends = []
            for tag in ("parent", "child"):
                end = joint.first(tag)
                if end is None:
                    raise joint.wrong(f"the joint has no <{tag} link=.../>; name the link it connects")
                ends.append(end.need("link"))
                if ends[-1] not in self.links:
                    raise joint.wrong(f"the {tag} link {ends[-1][:80]!r} is not in the file; add the link or correct the name")
            if ends[1] in parent:
                self.closing.add(joint.need("name"))
                self.notes.add(f"joint {joint.get('name')[:80]}: a second parent of {ends[1][:80]!r}; closes a loop, without motor")
                continue
            parent[ends[1]] = (ends[0], joint)
        roots = [name for name in self.links if name not in parent]
        if len(roots) > 1:
            second = self.links[roots[1]]
            raise second.wrong(f"{len(roots)} links have no parent ({', '.join(roots[:3])}...); connect them: one root is accepted")
        rooted = set(roots)
        for name in self.links:
            path: dict[str, None] = {}
            at = name
            while at not in rooted:
                if at in path:
                    loop = " - ".join(list(path)[list(path).index(at) :][:8])
                    raise parent[at][1].wrong(f"the links {loop} hang on each other and not on a root link; connect one to a root")
                path[at] = None
                at = parent[at][0]
            rooted.update(path)
        return roots[0]

    def character(self) -> Character:
        bodies = [self._body(name, link) for name, link in self.links.items() if self.rename.get(name) != WORLD]
        joints: list[Joint] = []
        loops: list[Joint] = []
        motors: list[Motor] = []
        if self.rename.get(self.root) != WORLD:
            base = _free_name(f"{self.root}_on_world", self.joints)
            joints.append(Joint(name=base, kind="fixed", parent=WORLD, child=self._name(self.root)))
        for name, element in self.joints.items():
            joined = self._joint(name, element, bodies)
            if name in self.closing:
                loops += joined
                continue
            joints += joined
            motor = self._motor(name, element)
            if motor is not None:
                motors.append(motor)
        return Character(
            name=self.robot.get("name") or "robot",
            bodies=tuple(bodies),
            joints=tuple(joints),
            loops=tuple(loops),
            motors=tuple(motors),
            couplings=tuple(self._couplings()),
            source=f"URDF {Path(self.robot.file).name}",
        )

    def _name(self, link: str) -> str:
        return self.rename.get(link, link)

    def _body(self, name: str, link: Element) -> Body:
        mass, com, inertia = 0.0, np.zeros(3), np.zeros((3, 3))
        inertial = link.first("inertial")
        if inertial is not None:
            R, com = _origin(inertial)
            heavy, spread = inertial.first("mass"), inertial.first("inertia")
            mass = heavy.number("value", 0.0) if heavy is not None else 0.0
            if mass < 0.0:
                raise inertial.wrong(f"the mass {mass} kg is negative; write a mass of at least 0")
            if spread is not None:
                xx, yy, zz, xy, xz, yz = (spread.number(key, 0.0) for key in ("ixx", "iyy", "izz", "ixy", "ixz", "iyz"))
                inertia = R @ np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]]) @ R.T
                if np.array_equal(R, np.eye(3)):
                    inertia = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
        for child in link.children:
            if child.tag not in ("inertial", "visual", "collision"):
                self.notes.add(f"<{child.tag[:60]}> of a link dropped")
        with located(link.file, link.place):
            return Body(
                name=self._name(name),
                mass=mass,
                center_of_mass=_three(com),
                inertia=tuple(float(inertia[i, j]) for i, j in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))),
                shapes=tuple(self._shapes(link)),
            )

    def _shapes(self, link: Element) -> list[Shape]:
        shapes: list[Shape] = []
        for part in link.children:
            if part.tag not in ("visual", "collision"):
                continue
            geometry = part.first("geometry")
            solid = geometry.children[0] if geometry is not None and geometry.children else None
            if solid is None:
                self.notes.add(f"a <{part.tag}> without geometry dropped")
                continue
            shape = self._shape(part, solid)
            if shape is None:
                continue
            twin = next((i for i, s in enumerate(shapes) if s.changed(collides=True, color=shape.color) == shape), None)
            if part.tag == "collision" and shape.kind != "mesh" and twin is not None:
                shapes[twin] = shapes[twin].changed(collides=True)
            else:
                shapes.append(shape)
        return shapes

    def _shape(self, part: Element, solid: Element) -> Shape | None:
        pose = as_pose(_origin(part))
        size: tuple[float, ...]
        file = None
        match solid.tag:
            case "box":
                full = solid.numbers("size", 3)
                size = _three((np.zeros(3) if full is None else full) / 2)
            case "sphere":
                size = (solid.number("radius", 0.0),)
            case "cylinder" | "capsule":
                size = (solid.number("radius", 0.0), solid.number("length", 0.0) / 2)
            case "mesh":
                scale = solid.numbers("scale", (1, 3))
                scale = np.ones(3) if scale is None else np.broadcast_to(scale, 3) if len(scale) == 1 else scale
                if len(scale) != 3:
                    raise solid.wrong("the scale of a mesh takes 1 or 3 numbers, 2 arrived")
                size, file = _three(scale), solid.get("filename")
                self.notes.add(f"the mesh of a <{part.tag}> is kept by name only")
            case other:
                self.notes.add(f"the geometry <{other[:60]}> dropped")
                return None
        color = self._material(part)
        looks = {} if color is None else {"color": color}
        collides = part.tag == "collision" and solid.tag != "mesh"
        with located(solid.file, solid.place):
            return Shape(kind=solid.tag, size=size, pose=pose, collides=collides, file=file, **looks)

    def _material(self, part: Element) -> tuple[float, float, float, float] | None:
        material = part.first("material")
        if material is None:
            return None
        own = _color(material)
        return own if own is not None else self.colors.get(material.get("name"))

    def _joint(self, name: str, element: Element, bodies: list[Body]) -> list[Joint]:
        kind = element.get("type")
        if kind not in _KINDS:
            raise element.wrong(f"the joint type {kind[:40]!r} is not known; accepted: {', '.join(_KINDS)}")
        ends = [self._name(end.get("link")) for tag in ("parent", "child") if (end := element.first(tag)) is not None]
        X = _origin(element)
        for child in element.children:
            if child.tag not in ("origin", "parent", "child", "axis", "limit", "dynamics", "mimic"):
                self.notes.add(f"<{child.tag[:60]}> of a joint dropped")
        axis_element, dynamics = element.first("axis"), element.first("dynamics")
        axis = axis_element.numbers("xyz", 3) if axis_element is not None else None
        axis = np.array([1.0, 0.0, 0.0]) if axis is None else axis
        if kind in ("fixed", "floating"):
            axis = np.array([0.0, 0.0, 1.0])
        if float(np.linalg.norm(axis)) < 1e-6:
            raise element.wrong("the axis has length zero; write a direction such as 0 0 1")
        more: dict[str, float] = {}
        if dynamics is not None:
            more = {"damping": max(dynamics.number("damping", 0.0), 0.0), "friction": max(dynamics.number("friction", 0.0), 0.0)}
        joints: list[Joint] = []
        with located(element.file, element.place):
            if kind == "planar" and abs(axis[2] / np.linalg.norm(axis) - 1.0) > 1e-12:
                R = least_turn((0.0, 0.0, 1.0), axis)
                X, middle = compose(X, (R, np.zeros(3))), _free_name(f"{name}_plane", self.links)
                if name in self.closing:
                    ends_in = as_pose((R, np.zeros(3)))
                    return [Joint(name=name, kind="planar", parent=ends[0], child=ends[1], pose=as_pose(X), child_pose=ends_in)]
                bodies.append(Body(name=middle))
                back = as_pose((R.T, np.zeros(3)))
                joints.append(
                    Joint(name=_free_name(f"{name}_back", self.joints), kind="fixed", parent=middle, child=ends[1], pose=back)
                )
                ends[1] = middle
            joints.insert(
                0,
                Joint(
                    name=name,
                    kind=_KINDS[kind],
                    parent=ends[0],
                    child=ends[1],
                    pose=as_pose(X),
                    axis=_three(axis),
                    range=self._range(element, kind),
                    **more,
                ),
            )
        return joints

    def _range(self, element: Element, kind: str) -> tuple[float, float] | None:
        if kind not in ("revolute", "prismatic"):
            return None
        limit = element.first("limit")
        if limit is None or not {"lower", "upper"} & set(limit.attributes):
            self.notes.add(f"a {kind} joint states no range; it is free to turn or slide without end")
            return None
        lower, upper = limit.number("lower", 0.0), limit.number("upper", 0.0)
        if lower > upper:
            self.notes.add(f"joint {element.get('name')}: the range {lower}..{upper} is empty and was dropped")
            return None
        return lower, upper

    def _motor(self, name: str, element: Element) -> Motor | None:
        if element.get("type") not in ("revolute", "continuous", "prismatic") or element.first("mimic") is not None:
            return None
        limit = element.first("limit")
        stated: dict[str, float] = {}
        for key, field in (("velocity", "velocity"), ("effort", "stall_torque")):
            value = limit.number(key, 0.0) if limit is not None else 0.0
            if value > 0.0:
                stated[field] = value
            else:
                self.notes.add(f"a motor without a stated {key} limit")
        return Motor(name=name, coordinate=name, range=None, **stated)

    def _couplings(self) -> list[Coupling]:
        """Mimics, those of a mimic led on to the joint that has a motor: q = ratio q_driver + offset."""
        led: dict[str, tuple[str, float, float] | None] = {}
        for start, element in self.joints.items():
            path: dict[str, Element] = {}
            name = start
            while name not in led and (mimic := self.joints[name].first("mimic")) is not None:
                if name in path:
                    raise element.wrong(f"the joints {', '.join(path)[:200]} mimic each other in a circle; drop one <mimic>")
                path[name] = mimic
                driver = mimic.need("joint")
                if driver not in self.joints:
                    self.notes.add(f"joint {name}: mimics {driver[:80]!r}, which is not in the file; the mimic was dropped")
                    led[name] = None
                    break
                name = driver
            end = led.get(name, (name, 1.0, 0.0))
            for follower, mimic in reversed(path.items()):
                if end is not None and follower not in led:
                    ratio, offset = mimic.number("multiplier", 1.0), mimic.number("offset", 0.0)
                    end = (end[0], ratio * end[1], ratio * end[2] + offset)
                led[follower] = end
        couplings = []
        for follower, end in led.items():
            if end is None:
                continue
            driver, ratio, offset = end
            kinds = (self.joints[follower].get("type"), self.joints[driver].get("type"))
            if ratio == 0.0 or not set(kinds) <= {"revolute", "continuous", "prismatic"}:
                self.notes.add(f"joint {follower}: a mimic with ratio {ratio:g} between {kinds[0]} and {kinds[1]} dropped")
                continue
            couplings.append(Coupling(driver=driver, follower=follower, ratio=ratio, offset=offset))
        return couplings


def _by_name(elements: list[Element], kind: str) -> dict[str, Element]:
    named: dict[str, Element] = {}
    for element in elements:
        name = element.need("name")
        if name in named:
            raise element.wrong(f"two {kind} share the name {name[:80]!r} (the first on line {named[name].line}); rename one")
        named[name] = element
    return named


def _origin(element: Element) -> Rigid:
    """The pose of an <origin>: xyz, and rpy about fixed axes, R = Rz(yaw) Ry(pitch) Rx(roll)."""
    origin = element.first("origin")
    if origin is None:
        return np.eye(3), np.zeros(3)
    xyz, rpy = origin.numbers("xyz", 3), origin.numbers("rpy", 3)
    R = np.eye(3) if rpy is None or not np.any(rpy) else roll_pitch_yaw_matrix(rpy)
    return R, np.zeros(3) if xyz is None else xyz


def _color(material: Element) -> tuple[float, float, float, float] | None:
    color = material.first("color")
    rgba = color.numbers("rgba", 4) if color is not None else None
    return None if rgba is None else (float(rgba[0]), float(rgba[1]), float(rgba[2]), float(rgba[3]))


def _three(values: Array) -> tuple[float, float, float]:
    return float(values[0]), float(values[1]), float(values[2])


def _free_name(base: str, taken: dict[str, Element]) -> str:
    name = base
    while name in taken:
        name += "_"
    return name
