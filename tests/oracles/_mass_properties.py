"""What a rigid model weighs and where its joints are, at a configuration: of MuJoCo's models, and of our characters."""

from __future__ import annotations

import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np

from bunraku.character import Character
from bunraku.mechanics.tree import compile_tree

LIGHT = 1e-5
"""Bodies of less [kg] are not compared: MuJoCo is told to give the massless ones a millionth of a kilogram."""


class Facts(NamedTuple):
    """World axes. ``bodies``: mass [kg], centre (3,) [m], inertia about it (3, 3) [kg m^2], of bodies that weigh something.

    ``joints``: axis (3,) and a point on it (3,), of hinges and slides; ``frames``: position (3,) and rotation (3, 3).
    """

    bodies: dict[str, tuple[float, np.ndarray, np.ndarray]]
    joints: dict[str, tuple[bool, np.ndarray, np.ndarray]]
    frames: dict[str, tuple[np.ndarray, np.ndarray]]

    @property
    def mass(self) -> float:
        """Total mass [kg]."""
        return sum(mass for mass, *_ in self.bodies.values())


def facts_of_model(model: Any, qpos: np.ndarray) -> Facts:
    """As MuJoCo has compiled it."""
    import mujoco

    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    bodies, joints, frames = {}, {}, {}
    for i in range(1, model.nbody):
        if model.body_mass[i] > LIGHT:
            R = data.ximat[i].reshape(3, 3)
            name = model.body(i).name or f"body_{i}"
            bodies[name] = float(model.body_mass[i]), data.xipos[i].copy(), (R * model.body_inertia[i]) @ R.T
    for j in range(model.njnt):
        if model.jnt_type[j] >= 2:
            name = model.joint(j).name or f"joint_{j}"
            joints[name] = bool(model.jnt_type[j] == 3), data.xaxis[j].copy(), data.xanchor[j].copy()
    for s in range(model.nsite):
        frames[model.site(s).name] = data.site_xpos[s].copy(), data.site_xmat[s].reshape(3, 3).copy()
    return Facts(bodies, joints, frames)


def facts_of_character(character: Character, q: np.ndarray) -> Facts:
    """As our tree has it."""
    tree = compile_tree(character)
    at = tree.configuration(q)
    bodies, joints = {}, {}
    for body in character.bodies:
        if body.mass > LIGHT:
            R, p = at.pose(body.name)
            xx, yy, zz, xy, xz, yz = body.inertia
            tensor = np.array([[xx, xy, xz], [xy, yy, yz], [xz, yz, zz]])
            bodies[body.name] = body.mass, p + R @ np.array(body.center_of_mass), R @ tensor @ R.T
    hinges = {axis.name: axis.kind == "hinge" for axis in character.axes}
    for node, coordinate in enumerate(tree.coordinate):
        if coordinate >= 0:
            name = tree.names[coordinate]
            joints[name] = hinges[name], at.world_axis[node].copy(), at.position[node].copy()
    frames = {frame.name: at.pose(frame.name)[::-1] for frame in character.frames}
    return Facts(bodies, joints, frames)


def differences(one: Facts, two: Facts, *, without: frozenset[str] = frozenset()) -> dict[str, float]:
    """By how much two models of one thing differ, relative to their size: mass, centres, inertias, axes, anchors, frames.

    Compared are bodies, joints and frames that both name, ``without`` some bodies; those that one lacks count as "missing".
    """
    heavy = (set(one.bodies) | set(two.bodies)) - without
    both = heavy & set(one.bodies) & set(two.bodies)
    size = max((float(np.abs(one.bodies[name][1]).max()) for name in both), default=0.0) + 0.1
    worst = dict.fromkeys(("mass", "centre", "inertia", "axis", "anchor", "frame"), 0.0)
    worst["missing"] = float(len(heavy - both))
    for name in both:
        (m, c, inertia), (m2, c2, inertia2) = one.bodies[name], two.bodies[name]
        worst["mass"] = max(worst["mass"], abs(m - m2) / m)
        worst["centre"] = max(worst["centre"], float(np.abs(c - c2).max()) / size)
        scale = max(float(np.abs(inertia).max()), 1e-9)
        worst["inertia"] = max(worst["inertia"], float(np.abs(inertia - inertia2).max()) / scale)
    for name in set(one.joints) & set(two.joints):
        (hinge, axis, point), (_, axis2, point2) = one.joints[name], two.joints[name]
        worst["axis"] = max(worst["axis"], float(np.abs(axis - axis2).max()))
        if hinge:
            worst["anchor"] = max(worst["anchor"], float(np.linalg.norm(np.cross(axis, point2 - point))) / size)
    for name in set(one.frames) & set(two.frames):
        (p, R), (p2, R2) = one.frames[name], two.frames[name]
        worst["frame"] = max(worst["frame"], float(np.abs(p - p2).max()) / size, float(np.abs(R - R2).max()))
    return worst


def mujoco_urdf(path: Path) -> Any:
    """MuJoCo's own reading of a URDF, without its meshes, no body fused into another."""
    import mujoco

    robot = ET.parse(path).getroot()
    for link in robot.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision")]:
            link.remove(part)
    for entry in robot.findall("mujoco"):
        robot.remove(entry)
    extension = ET.SubElement(robot, "mujoco")
    settings = {"fusestatic": "false", "boundmass": "1e-6", "boundinertia": "1e-9", "balanceinertia": "true"}
    ET.SubElement(extension, "compiler", settings)
    return mujoco.MjModel.from_xml_string(ET.tostring(robot, encoding="unicode"))


def mujoco_mjcf(path: Path) -> Any:
    """MuJoCo's own reading of an MJCF file; without its meshes where their files are not there."""
    import mujoco

    try:
        return mujoco.MjModel.from_xml_path(str(path))
    except ValueError:
        root = ET.parse(path).getroot()
        for parent in list(root.iter()):
            for part in list(parent):
                gone = (part.tag == "geom" and "mesh" in part.attrib) or (part.tag == "mesh" and parent.tag == "asset")
                if gone or part.tag in ("keyframe", "texture", "material"):
                    parent.remove(part)
                part.attrib.pop("material", None)
        return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def random_qpos(model: Any, rng: np.random.Generator) -> np.ndarray:
    """A configuration with unit quaternions."""
    qpos = rng.uniform(-1.2, 1.2, model.nq)
    for joint in range(model.njnt):
        first = int(model.jnt_qposadr[joint]) + (3 if model.jnt_type[joint] == 0 else 0)
        if model.jnt_type[joint] in (0, 1):
            qpos[first : first + 4] /= np.linalg.norm(qpos[first : first + 4])
    return qpos
