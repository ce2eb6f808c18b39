"""A system from a graph of frames: a plain description (a dictionary, as JSON gives it) of screw-by-screw mechanisms.

Keys. ``configs``: list of {name, kinematic}, all indices refer to it. ``inputs``: names. ``frames``: parents before children,
frame 0 the world; ``type`` tx, ty, tz, rx, ry, rz with a constant ``value`` or the index ``config``, or const_se3 with ``matrix``
(4 x 4, child in parent); ``mass`` [m, Ixx, Iyy, Izz] about the frame's origin in its axes. ``constraints``: distance (frame1,
frame2, distance or config), point1d (frame1, frame2, axis), point_on_plane (plane_frame, normal, point_frame). ``potentials``:
gravity (g), linear_spring (frame1, frame2, k, x0), config_spring (config, k, q0). ``forces``: damping (c), linear_damper (frames,
c), config_force (config, input), body_wrench and hybrid_wrench (frame, wrench: force then torque, numbers or {input}).
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from bunraku.character import WORLD
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.constraints import Constraint, Distance, PointOnPlane, PointToPoint
from bunraku.mechanics.dynamics.forces import CoordinateForce, Damping, Force, PointDamper, Wrench
from bunraku.mechanics.dynamics.potentials import CoordinateSpring, PointSpring, Potential
from bunraku.mechanics.dynamics.system import System, build_system
from bunraku.mechanics.tree import Tree
from bunraku.mechanics.tree.tree_kernels import FIXED, HINGE, SLIDE


def system_of_graph(graph: Mapping[str, Any], forces: tuple[Force, ...] = (), inputs: tuple[str, ...] = ()) -> System:
    """The system a graph describes, with further ``forces`` and ``inputs`` after its own. Frame i is the body named ``str(i)``."""
    try:
        return _build(graph, forces, inputs)
    except (KeyError, IndexError, TypeError, ValueError) as error:
        raise BadInput(
            f"the frame graph cannot be read ({type(error).__name__}: {error}); see tests/oracles/frame_graph.py"
        ) from error


def _build(graph: Mapping[str, Any], forces: tuple[Force, ...], inputs: tuple[str, ...]) -> System:
    names = tuple(config["name"] for config in graph["configs"])
    own = tuple(graph.get("inputs", ()))
    gravity = np.zeros(3)
    potentials: list[Potential] = []
    for row in graph.get("potentials", ()):
        match row["type"]:
            case "gravity":
                gravity = gravity + np.array(row["g"], dtype=np.float64)
            case "linear_spring":
                potentials.append(PointSpring(_frame(row["frame1"]), _frame(row["frame2"]), row["k"], row["x0"]))
            case "config_spring":
                potentials.append(CoordinateSpring(names[row["config"]], row["k"], row["q0"]))
            case other:
                raise BadInput(f"potential type {other!r}; known: gravity, linear_spring, config_spring")
    found: list[Force] = []
    for row in graph.get("forces", ()):
        match row["type"]:
            case "damping":
                found.append(Damping(dict(zip(names, row["c"], strict=False))))
            case "linear_damper":
                first, second = row["frames"]
                found.append(PointDamper(_frame(first), _frame(second), row["c"]))
            case "config_force":
                found.append(CoordinateForce(names[row["config"]], own[row["input"]]))
            case "body_wrench" | "hybrid_wrench":
                entries = [own[entry["input"]] if isinstance(entry, Mapping) else float(entry) for entry in row["wrench"]]
                axes = "body" if row["type"] == "body_wrench" else "hybrid"
                found.append(Wrench(_frame(row["frame"]), (*entries[:3],), (*entries[3:],), axes))  # type: ignore[arg-type]
            case other:
                raise BadInput(f"force type {other!r}; known: damping, linear_damper, config_force, body_wrench, hybrid_wrench")
    constraints: list[Constraint] = []
    for row in graph.get("constraints", ()):
        name = row.get("name", "")
        match row["type"]:
            case "distance":
                length = names[row["config"]] if row.get("config") is not None else float(row["distance"])
                constraints.append(Distance(_frame(row["frame1"]), _frame(row["frame2"]), length, name))
            case "point1d":
                axis = row["axis"] if isinstance(row["axis"], str) else "xyz"[row["axis"]]
                constraints.append(PointToPoint(_frame(row["frame1"]), _frame(row["frame2"]), axis, name))
            case "point_on_plane":
                constraints.append(PointOnPlane(_frame(row["plane_frame"]), tuple(row["normal"]), _frame(row["point_frame"]), name))
            case other:
                raise BadInput(f"constraint type {other!r}; known: distance, point1d, point_on_plane")
    return build_system(
        _tree(graph, names),
        kinematic=[config["name"] for config in graph["configs"] if config["kinematic"]],
        inputs=own + inputs,
        gravity=(gravity[0], gravity[1], gravity[2]),
        potentials=potentials,
        forces=(*found, *forces),
        constraints=constraints,
    )


def _frame(index: int) -> str:
    return WORLD if index == 0 else str(index)


def _tree(graph: Mapping[str, Any], names: tuple[str, ...]) -> Tree:
    frames = graph["frames"][1:]
    n = len(frames)
    kind, coordinate = np.full(n, FIXED, dtype=np.int64), np.full(n, -1, dtype=np.int64)
    rotation, position, axis = np.tile(np.eye(3), (n, 1, 1)), np.zeros((n, 3)), np.tile([0.0, 0.0, 1.0], (n, 1))
    mass, inertia = np.zeros(n), np.zeros((n, 3, 3))
    for i, frame in enumerate(frames):
        if frame["type"] == "const_se3":
            matrix = np.array(frame["matrix"], dtype=np.float64)
            rotation[i], position[i] = matrix[:3, :3], matrix[:3, 3]
        else:
            move, letter = frame["type"]
            direction = np.eye(3)["xyz".index(letter)]
            if frame.get("config") is not None:
                kind[i], coordinate[i], axis[i] = SLIDE if move == "t" else HINGE, frame["config"], direction
            elif move == "t":
                position[i] = frame["value"] * direction
            else:
                rotation[i] = _turn("xyz".index(letter), frame["value"])
        if frame.get("mass") is not None:
            mass[i], *moments = frame["mass"]
            inertia[i] = np.diag(moments)
    parent = np.array([frame["parent"] - 1 for frame in frames], dtype=np.int64)
    nodes = {str(i + 1): i for i in range(n)}
    return Tree(
        names,
        nodes,
        parent,
        kind,
        coordinate,
        rotation,
        position,
        axis,
        mass,
        np.zeros((n, 3)),
        inertia,
        {},
        np.zeros(len(names)),
        (),
    )


def _turn(axis: int, angle: float) -> np.ndarray[Any, np.dtype[np.float64]]:
    c, s = np.cos(angle), np.sin(angle)
    b, d = (axis + 1) % 3, (axis + 2) % 3
    result = np.eye(3)
    result[b, b], result[b, d], result[d, b], result[d, d] = c, -s, s, c
    return result
