"""Spots of a character that must stay off the ground: its shapes as spheres, with how near each may come."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import Character, Shape
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel
from bunraku.mechanics.tree import compile_tree


class Spots(NamedTuple):
    """Node (k,), place in its frame (k, 3) [m] and least height (k,) [m] of the place above the ground."""

    node: NDArray[np.int64]
    place: Array
    least: Array


NO_SPOTS = Spots(np.zeros(0, dtype=np.int64), np.zeros((0, 3)), np.zeros(0))


def ground_spots(character: Character, model: CentroidalModel, clearance: float) -> Spots:
    """Two spheres at the ends of every colliding shape, to stay ``clearance`` [m] above the ground.

    A spot that is nearer at home keeps nine tenths of what it has there; one that touches at home is left out, and so are all of a
    wheel and the shape of a foot itself, also where it hangs in the air at home.
    """
    feet = {(tip.body, tip.center) for tip in character.end_effectors if not tip.spins}
    tree = compile_tree(character)
    wheels = {tip.body for tip in character.end_effectors if tip.spins}
    K = kinematics(model, model.home[None]).arrays
    nodes, places, least = [], [], []
    for body in character.bodies:
        if body.name in wheels:
            continue
        b = tree.nodes[body.name]
        for shape in body.shapes:
            if not shape.collides or shape.kind == "mesh" or (body.name, shape.pose.position) in feet:
                continue
            turn = matrix_of_quaternion(shape.pose.quaternion)
            ends, reach = _ends(shape)
            for end in ends:
                place = np.array(shape.pose.position) + turn @ end
                height = float((K.P[0, b] + K.R[0, b] @ place)[2]) - reach
                if height > 1e-4:
                    nodes.append(b)
                    places.append(place)
                    least.append(reach + min(clearance, 0.9 * height))
    if not nodes:
        return NO_SPOTS
    return Spots(np.array(nodes, dtype=np.int64), np.array(places), np.array(least))


def _ends(shape: Shape) -> tuple[Array, float]:
    """Centres (k, 3) of spheres inside a shape, near its ends along its longest side, and their radius [m]."""
    size = np.array(shape.size, dtype=np.float64)
    if shape.kind == "sphere":
        return np.zeros((1, 3)), float(size[0])
    if shape.kind in ("capsule", "cylinder"):
        half = float(size[1]) if shape.kind == "capsule" else max(float(size[1] - size[0]), 0.0)
        return np.array([[0.0, 0.0, half], [0.0, 0.0, -half]]), float(size[0])
    axis = int(np.argmax(size))
    radius = float(np.sort(size)[1])
    end = np.zeros(3)
    end[axis] = max(float(size[axis]) - radius, 0.0)
    return np.array([end, -end]), radius
