"""Which robots can be imported, and does their forward kinematics survive?

Reads every URDF of the package example-robot-data and every MJCF model of dm_control's suite and walkers, compares the world
poses of all bodies at random configurations with MuJoCo's own reading of the same file, and again after a round trip through
our URDF and MJCF. Prints a table with the largest differences and what was dropped; exits 1 if one exceeds 1e-8 or a file that
MuJoCo reads is refused. Needs: pip install example-robot-data dm_control (the extra check-all), or folders as arguments.
"""

from __future__ import annotations

import importlib.util
import sys
import xml.etree.ElementTree as ET
from pathlib import Path

import mujoco  # noqa: TID253
import numpy as np

from bunraku.character import Character
from bunraku.errors import BunrakuError
from bunraku.formats.mjcf_coordinates import coordinates_to_qpos, qpos_to_coordinates
from bunraku.formats.mjcf_read import read_mjcf
from bunraku.formats.mjcf_write import export_mjcf
from bunraku.formats.urdf_read import read_urdf
from bunraku.formats.urdf_write import write_urdf
from bunraku.mechanics.tree import compile_tree

BAR = 1e-8
CONFIGURATIONS = 4


def find(arguments: list[str]) -> tuple[list[Path], list[Path]]:
    """The URDF and MJCF files to read: below the folders given, or where the packages are installed."""
    folders = [Path(argument) for argument in arguments] or [Path(entry) for entry in sys.path if entry]
    urdfs, models = set(), set()
    for folder in folders:
        for base in (folder / "cmeel.prefix/share/example-robot-data/robots", folder / "example-robot-data/robots"):
            urdfs |= set(base.rglob("*.urdf"))
        models |= set((folder / "dm_control/suite").glob("*.xml"))
        models |= set((folder / "dm_control/locomotion/walkers/assets").rglob("*.xml"))
        models |= set((folder / "dm_control/third_party/ant").glob("*.xml"))
    return sorted(urdfs), sorted(models)


def mujoco_urdf(path: Path, *, bare: bool) -> mujoco.MjModel:
    """MuJoCo's own reading of a URDF, its meshes and other shapes removed, no body fused into another.

    ``bare``: with a unit inertia for every link, for files whose inertias MuJoCo refuses.
    """
    robot = ET.parse(path).getroot()
    for link in robot.iter("link"):
        for part in [*link.findall("visual"), *link.findall("collision"), *(link.findall("inertial") if bare else [])]:
            link.remove(part)
        if bare:
            inertial = ET.SubElement(link, "inertial")
            ET.SubElement(inertial, "mass", value="1")
            ET.SubElement(inertial, "inertia", ixx="1", iyy="1", izz="1", ixy="0", ixz="0", iyz="0")
    for entry in robot.findall("mujoco"):
        robot.remove(entry)
    extension = ET.SubElement(robot, "mujoco")
    settings = {"fusestatic": "false", "boundmass": "1e-6", "boundinertia": "1e-9", "balanceinertia": "true"}
    ET.SubElement(extension, "compiler", settings)
    return mujoco.MjModel.from_xml_string(ET.tostring(robot, encoding="unicode"))


def mujoco_mjcf(path: Path, *, bare: bool) -> mujoco.MjModel:
    """MuJoCo's own reading of an MJCF file; ``bare``: of its bodies and joints alone, for files whose meshes are not there."""
    if not bare:
        return mujoco.MjModel.from_xml_path(str(path))
    root = ET.parse(path).getroot()
    for part in root.findall("include"):
        root.remove(part)
        root.extend(ET.parse(path.parent / part.attrib["file"]).getroot())
    for section in list(root):
        if section.tag not in ("compiler", "default", "worldbody"):
            root.remove(section)
    for element in root.iter():
        for part in [
            part for part in element if part.tag not in ("compiler", "default", "worldbody", "body", "joint", "freejoint", "frame")
        ]:
            element.remove(part)
    for body in [body for world in root.findall("worldbody") for body in world.iter("body")]:
        ET.SubElement(body, "inertial", pos="0 0 0", mass="1", diaginertia="1 1 1")
    return mujoco.MjModel.from_xml_string(ET.tostring(root, encoding="unicode"))


def random_qpos(model: mujoco.MjModel, rng: np.random.Generator) -> np.ndarray:
    """Configurations (m, nq) with unit quaternions."""
    qpos = rng.uniform(-1.2, 1.2, (CONFIGURATIONS, model.nq))
    for joint in range(model.njnt):
        first = int(model.jnt_qposadr[joint]) + (3 if model.jnt_type[joint] == 0 else 0)
        if model.jnt_type[joint] in (0, 1):
            turn = qpos[:, first : first + 4]
            qpos[:, first : first + 4] = turn / np.linalg.norm(turn, axis=1, keepdims=True)
    return qpos


def mujoco_poses(model: mujoco.MjModel, qpos: np.ndarray) -> dict[str, np.ndarray]:
    """World pose (m, 12) of every body, rotation rows then position."""
    data = mujoco.MjData(model)
    found = {model.body(i).name or f"body_{i}": np.empty((len(qpos), 12)) for i in range(1, model.nbody)}
    for k, row in enumerate(qpos):
        data.qpos[:] = row
        mujoco.mj_kinematics(model, data)
        for i, name in enumerate(found, start=1):
            found[name][k] = [*data.xmat[i], *data.xpos[i]]
    return found


def our_poses(character: Character, q: np.ndarray) -> dict[str, np.ndarray]:
    """The same by our forward kinematics."""
    tree = compile_tree(character)
    rotation, position = tree.poses(q)
    return {
        name: np.concatenate([rotation[:, node].reshape(len(q), 9), position[:, node]], axis=1) for name, node in tree.nodes.items()
    }


def difference(one: dict[str, np.ndarray], two: dict[str, np.ndarray], wanted: set[str]) -> float:
    """Largest difference of the poses of the bodies in ``wanted``; infinite if one of them is missing."""
    if not wanted <= set(one) or not wanted <= set(two):
        return float("inf")
    return max((float(np.abs(one[name] - two[name]).max()) for name in wanted), default=0.0)


def moved(character: Character, other: Character, q: np.ndarray) -> np.ndarray:
    """Configurations of ``other`` with the same coordinates by name."""
    column = {name: i for i, name in enumerate(character.coordinates)}
    out = np.zeros((len(q), len(other.coordinates)))
    for i, name in enumerate(other.coordinates):
        out[:, i] = q[:, column[name]] if name in column else 0.0
    return out


def examine(path: Path, rng: np.random.Generator) -> tuple[str, list[float], tuple[str, ...], int, int]:
    """Verdict, differences (own reading, MJCF in MuJoCo, MJCF, URDF), what was dropped, numbers of bodies and coordinates."""
    urdf = path.suffix == ".urdf"
    own = mujoco_urdf if urdf else mujoco_mjcf
    notes: list[str] = []
    try:
        model = own(path, bare=False)
    except ValueError as error:
        notes.append(f"MuJoCo refuses the whole file ({str(error).splitlines()[0]}), compared with its bare bodies and joints")
        model = own(path, bare=True)
    try:
        read = read_urdf if urdf else read_mjcf
        character, dropped = read(path.read_bytes(), file=path.name, folder=path.parent)
    except BunrakuError as error:
        return ("no body in it: refused" if model.nbody <= 1 else "REFUSED: " + str(error)[:150]), [], (str(error),), 0, 0
    counts = len(character.bodies), len(character.coordinates)
    notes += dropped
    qpos = random_qpos(model, rng)
    q = qpos_to_coordinates(character, model, qpos)
    ours = our_poses(character, q)
    theirs = mujoco_poses(model, qpos)
    theirs.pop("world", None)
    worst = [difference(ours, theirs, set(theirs))]
    text, more = export_mjcf(character, free_base_as_quaternion=False, floor=False)
    written = mujoco.MjModel.from_xml_string(text)
    replay = mujoco_poses(written, coordinates_to_qpos(character, written, q))
    massive = {body.name for body in character.bodies if body.mass > 0.0}
    worst.append(difference(ours, replay, massive | set(replay)))
    again, _ = read_mjcf(text.encode(), file="written.xml")
    worst.append(difference(ours, our_poses(again, moved(character, again, q)), massive | set(replay)))
    text, less = write_urdf(character)
    third, _ = read_urdf(text.encode(), file="written.urdf")
    free = [joint for joint in character.joints if joint.kind == "free"]
    held = q.copy()
    if len(free) == 1 and sum(joint.parent == "world" for joint in character.joints) == 1:
        held[:, [character.coordinates.index(axis.name) for axis in free[0].axes]] = 0.0
    worst.append(difference(our_poses(character, held), our_poses(third, moved(character, third, held)), set(ours)))
    return ("ok" if max(worst) <= BAR else "DIFFERS"), worst, (*notes, *more, *less), *counts


def main() -> int:
    urdfs, models = find(sys.argv[1:])
    if not urdfs or not models:
        print(f"found {len(urdfs)} URDF and {len(models)} MJCF files: pip install example-robot-data dm_control", file=sys.stderr)
        return 2 if importlib.util.find_spec("dm_control") is None else 1
    rng = np.random.default_rng(20)
    failed, dropped = 0, {}
    print(f"{'file':44} {'bodies':>6} {'coords':>6} {'own':>8} {'MuJoCo':>8} {'MJCF':>8} {'URDF':>8}  verdict")
    for path in [*urdfs, *models]:
        name = "/".join(path.parts[-2:])[-44:]
        try:
            verdict, worst, notes, bodies, coordinates = examine(path, rng)
        except Exception as error:
            verdict, worst, notes, bodies, coordinates = f"CRASHED: {type(error).__name__}: {error}"[:150], [], (), 0, 0
        failed += verdict[0].isupper()
        dropped[name] = notes
        columns = " ".join(f"{value:8.1e}" for value in worst) or " " * 35
        print(f"{name:44} {bodies:6} {coordinates:6} {columns}  {verdict}", flush=True)
    print("\nWhat was dropped or changed")
    for name, notes in dropped.items():
        print(f"{name}: {'; '.join(notes)[:600] or 'nothing'}")
    print(f"\n{len(urdfs)} URDF and {len(models)} MJCF files, {failed} failed (bar {BAR:g})")
    return 1 if failed else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
