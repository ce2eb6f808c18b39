"""What an MJCF file states once for all its elements: includes, compiler settings, default classes, orientations.

Attributes of an element come from its default class (nested classes inherit), then from itself.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path

import numpy as np

from bunraku.arrays import Array
from bunraku.formats.files import read_reference, tree_around
from bunraku.formats.places import Where
from bunraku.formats.xml_tree import MAX_ELEMENTS, Element, read_xml
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import axis_angle, least_turn, matrix_of_quaternion

ACTUATORS = frozenset(
    ["motor", "position", "velocity", "intvelocity", "general", "damper", "cylinder", "muscle", "adhesion", "dcmotor", "plugin"]
)
_TURNS = ("quat", "axisangle", "euler", "xyaxes", "zaxis")
_UNIT = {"x": (1.0, 0.0, 0.0), "y": (0.0, 1.0, 0.0), "z": (0.0, 0.0, 1.0)}
MAX_INCLUDES = 200


def included(root: Element, folder: Path | None) -> Element:
    """The file with every ``<include file=.../>`` replaced by what it names, inside the tree round ``folder`` (`tree_around`)."""
    tree = None if folder is None else tree_around(folder)
    total, seen = sum(1 for _ in root.walk()), 0
    waiting = [(root, 0)]
    while waiting:
        here, depth = waiting.pop()
        children: list[Element] = []
        for child in here.children:
            if child.tag != "include":
                children.append(child)
                waiting.append((child, depth))
                continue
            seen += 1
            if seen > MAX_INCLUDES or depth > 20:
                raise child.wrong(f"more than {MAX_INCLUDES} includes, or includes in a circle; such a file is not read")
            name = child.need("file")
            data = read_reference(name, folder, Where(child.file, (), {(): child.line}, "include"), tree=tree)
            part = read_xml(data, file=name, root=("mujoco", "mujocoinclude"))
            total += sum(1 for _ in part.walk())
            if total > MAX_ELEMENTS:
                raise child.wrong(f"more than {MAX_ELEMENTS} elements with its includes; such a file is not read")
            wrapper = Element("include", {}, child.file, child.line, part.children)
            children.append(wrapper)
            waiting.append((wrapper, depth + 1))
        here.children = children
    _unwrap(root)
    return root


def _unwrap(root: Element) -> None:
    for here in list(root.walk()):
        while any(child.tag == "include" for child in here.children):
            here.children = [part for c in here.children for part in (c.children if c.tag == "include" else [c])]


@dataclass
class Context:
    """The settings of one MJCF file."""

    root: Element
    compiler: dict[str, Element] = field(default_factory=dict)
    classes: dict[str, dict[str, dict[str, str]]] = field(default_factory=dict)

    def __post_init__(self) -> None:
        for element in self.root.all("compiler"):
            for key in element.attributes:
                self.compiler[key] = element
        if self.setting("coordinate", "local") != "local":
            raise self.compiler["coordinate"].wrong("coordinate must be 'local'; save the model with a MuJoCo of today")
        self.to_radians = np.pi / 180.0 if self.setting("angle", "degree") == "degree" else 1.0
        self.sequence = self.setting("eulerseq", "xyz")
        if len(self.sequence) != 3 or set(self.sequence.lower()) - set("xyz"):
            raise self.compiler["eulerseq"].wrong(f"eulerseq={self.sequence[:20]!r} is no sequence of three axes such as 'xyz'")
        self.autolimits = self.setting("autolimits", "true") == "true"
        self.classes["main"] = {}
        for element in self.root.all("default"):
            self._defaults(element, "main")

    def setting(self, key: str, default: str) -> str:
        """A setting of <compiler>."""
        return self.compiler[key].get(key) if key in self.compiler else default

    def _defaults(self, element: Element, name: str) -> None:
        mine = self.classes[name]
        for child in element.children:
            if child.tag == "default":
                continue
            tag = "actuator" if child.tag in ACTUATORS else child.tag
            mine[tag] = mine.get(tag, {}) | child.attributes
        for child in element.all("default"):
            inner = child.need("class")
            start = {tag: dict(values) for tag, values in mine.items()}
            for tag, values in self.classes.get(inner, {}).items():
                start[tag] = start.get(tag, {}) | values
            self.classes[inner] = start
            self._defaults(child, inner)

    def resolved(self, element: Element, childclass: str) -> Element:
        """The element with the attributes of its class filled in."""
        name = element.get("class") or childclass or "main"
        if name not in self.classes:
            raise element.wrong(
                f"the default class {name[:60]!r} is not in the file; known: {', '.join(sorted(self.classes))[:200]}"
            )
        tag = "actuator" if element.tag in ACTUATORS else element.tag
        values = dict(self.classes[name].get(tag, {}))
        if any(key in element.attributes for key in _TURNS):
            values = {key: value for key, value in values.items() if key not in _TURNS}
        return Element(element.tag, values | element.attributes, element.file, element.line, element.children)

    def pose(self, element: Element) -> Rigid:
        """The pose of a body, geom, site, inertial or frame: ``pos`` and one of the ways to write a turn."""
        position = element.numbers("pos", 3)
        return self.turn(element), np.zeros(3) if position is None else position

    def turn(self, element: Element) -> Array:
        """The rotation matrix of quat, axisangle, euler, xyaxes or zaxis; none is no turn."""
        given = [key for key in _TURNS if key in element.attributes]
        if not given:
            return np.eye(3)
        key = given[-1]
        values = element.numbers(key, {"quat": 4, "axisangle": 4, "euler": 3, "xyaxes": 6, "zaxis": 3}[key])
        if values is None:
            return np.eye(3)
        if key == "euler":
            return self.euler(values)
        if key == "quat":
            self._direction(element, key, values)
            return matrix_of_quaternion(values)
        if key == "axisangle":
            self._direction(element, key, values[:3])
            return axis_angle(values[:3], float(values[3]) * self.to_radians)
        if key == "zaxis":
            return least_turn((0.0, 0.0, 1.0), self._direction(element, key, values))
        x = self._direction(element, key, values[:3])
        y = values[3:] - x * float(x @ values[3:])
        y = self._direction(element, key, y)
        return np.column_stack([x, y, np.cross(x, y)])

    def euler(self, values: Array) -> Array:
        """The turn by three angles in the file's unit: small letters of eulerseq turn moving axes, capitals fixed ones."""
        R = np.eye(3)
        for letter, angle in zip(self.sequence, values, strict=True):
            step = axis_angle(_UNIT[letter.lower()], float(angle) * self.to_radians)
            R = R @ step if letter.islower() else step @ R
        return R

    @staticmethod
    def _direction(element: Element, key: str, values: Array) -> Array:
        norm = float(np.linalg.norm(values))
        if norm < 1e-10:
            raise element.wrong(f"{key} has a direction of length zero; write one such as 0 0 1")
        return values / norm
