"""Where something is fixed: a body or frame of the tree, and a pose in it."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import WORLD
from bunraku.errors import BadInput
from bunraku.mechanics.tree import Tree

Vector = tuple[float, float, float]


@dataclass(frozen=True)
class Place:
    """A frame fixed to ``body`` (a body or frame of the tree, or ``world``): ``position`` [m] and ``rotation`` (3 rows) in it."""

    body: str
    position: Vector = (0.0, 0.0, 0.0)
    rotation: tuple[Vector, Vector, Vector] = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))


Where = Place | str


def find_place(where: Where) -> Place:
    """A place from a place or the name of a body or frame."""
    return Place(where) if isinstance(where, str) else where


def resolve(tree: Tree, where: Where) -> tuple[int, Array, Array]:
    """Tree node (-1 for the world), position (3,) and rotation (3, 3) of a place in that node."""
    place = find_place(where)
    position, rotation = np.array(place.position, dtype=np.float64), np.array(place.rotation, dtype=np.float64)
    if position.shape != (3,) or rotation.shape != (3, 3) or not (np.isfinite(position).all() and np.isfinite(rotation).all()):
        raise BadInput(f"the place on {place.body!r} needs a finite position of 3 numbers and a rotation of 3 x 3")
    if place.body == WORLD:
        return -1, position, rotation
    node, local, turn = tree.node(place.body)
    return node, local + turn @ position, turn @ rotation
