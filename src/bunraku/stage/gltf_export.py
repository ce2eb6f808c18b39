"""The motion of a performance as a glTF animation, for Blender and others: one node a body, under the body that carries it."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.formats.gltf_animation import MovingNode, NodeMesh, animation_glb
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.motion import Performance
from bunraku.stage.channels import need_some, stride
from bunraku.stage.figure.figure import Figure
from bunraku.stage.json_export import channel_facts


def export_gltf(performance: Performance, *, rate: float | None = None, meshes: bool = True) -> bytes:
    """A ``.glb`` file: the planned motion of all bodies and carriages, a key for every sample; not what servos are sent.

    ``rate`` [Hz] thins the keys; it must divide the motor rate. ``meshes``: the shapes of the bodies too. Parts that bend are
    unbent. Channels whose plan no node shows (velocities, torques, string lengths) are numbers in the animation's ``extras``.
    """
    need_some(performance)
    step = stride(performance.rate, rate)
    figure = Figure(performance.character)
    kept = [j for j, name in enumerate(performance.motion.names) if name in figure.names]
    names = tuple(performance.motion.names[j] for j in kept)
    R, p = figure.poses(figure.configurations(names, performance.motion.values[::step][:, kept]))
    parents = _parents(figure)
    shapes = _shapes(figure) if meshes else {}
    nodes = []
    for body, parent in enumerate(parents):
        turn, place = R[:, body], p[:, body]
        if parent >= 0:
            turned = R[:, parent].transpose(0, 2, 1)
            turn, place = turned @ turn, np.einsum("nij,nj->ni", turned, place - p[:, parent])
        nodes.append(MovingNode(figure.bodies[body], parent, place, turn, shapes.get(body, ())))
    return animation_glb(nodes, performance.rate / step, name=performance.clip_name, extras=_extras(performance))


def _parents(figure: Figure) -> list[int]:
    """For each body the place of the body that carries it, -1 for the world."""
    place = {figure.tree.nodes[name]: i for i, name in enumerate(figure.bodies)}
    above = []
    for name in figure.bodies:
        node = int(figure.tree.parent[figure.tree.nodes[name]])
        while node >= 0 and node not in place:
            node = int(figure.tree.parent[node])
        above.append(place.get(node, -1))
    return above


def _shapes(figure: Figure) -> dict[int, tuple[NodeMesh, ...]]:
    """By body its solids in its frame, one mesh a color."""
    gathered: dict[tuple[int, tuple[float, ...]], list[tuple[Array, NDArray[np.int64]]]] = {}
    for kind, solids in figure.solids.items():
        vertices, faces = figure.mesh(kind)
        for i in range(len(solids)):
            points = vertices.astype(np.float64) * solids.scale[i] @ matrix_of_quaternion(solids.quaternion[i]).T
            color = tuple(float(part) for part in solids.color[i])
            gathered.setdefault((int(solids.body[i]), color), []).append((points + solids.position[i], faces.astype(np.int64)))
    meshes: dict[int, tuple[NodeMesh, ...]] = {}
    for (body, color), pieces in gathered.items():
        starts = np.cumsum([0, *(len(points) for points, _ in pieces)])
        whole = np.vstack([faces + start for (_, faces), start in zip(pieces, starts, strict=False)])
        mesh = NodeMesh(np.vstack([points for points, _ in pieces]), whole, (color[0], color[1], color[2], color[3]))
        meshes[body] = (*meshes.get(body, ()), mesh)
    return meshes


def _extras(performance: Performance) -> dict[str, Any]:
    listed = [channel_facts(channel) for channel in performance.channels if channel.kind != "position"]
    return {"character": performance.character.name, "rate_hz": performance.rate} | ({"channels": listed} if listed else {})
