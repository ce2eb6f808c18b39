"""A skin: an elastic shell round the whole character, glued to its bodies, with soles that stand on the ground.

The mesh is a file beside the character (`formats.skin_file`); the description names it, the materials of its regions and the digest
of its content. Its nodes are where they are when the character stands in its home pose and nothing pulls at the skin.
"""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass
from typing import Annotated, TypeAlias

import numpy as np
from numpy.typing import NDArray
from pydantic import Field

from bunraku.arrays import Array
from bunraku.character.description import Description, Name, some
from bunraku.character.end_effector import EndEffector
from bunraku.errors import BadInput

Indices: TypeAlias = NDArray[np.int64]

PATCHES = 5
"""Patches of a sole that touch the ground each for itself."""


class Skin(Description):
    """The skin of a character: the ``file`` of its mesh, and the name of the material of each region of it."""

    file: str
    materials: Annotated[tuple[Name, ...], Field(min_length=1, max_length=100)]
    digest: Annotated[str, Field(max_length=64)] = ""


@dataclass(frozen=True)
class SkinMesh:
    """The mesh of a skin, in the world frame of the home pose.

    ``nodes`` (n, 3) [m]; ``cells`` (m, 10) quadratic tetrahedra in the order of `geometry.tetrahedra`; ``region`` (m,) into the
    materials of the `Skin`; ``glue_node`` (g,) nodes fixed to the body ``bodies[glue_body]`` (g,); ``sole_node`` (k,) nodes
    of soles and ``sole_patch`` (k,) the patch of each: patch p is number p % PATCHES of the sole p // PATCHES, soles in the order
    of the character's end effectors. No node is both glue and sole.
    """

    nodes: Array
    cells: Indices
    region: Indices
    bodies: tuple[str, ...]
    glue_node: Indices
    glue_body: Indices
    sole_node: Indices
    sole_patch: Indices

    def __post_init__(self) -> None:
        for name, kind in (
            ("nodes", np.float64),
            *((name, np.int64) for name in self.__dataclass_fields__ if name not in ("nodes", "bodies")),
        ):
            array = np.ascontiguousarray(getattr(self, name), dtype=kind)
            object.__setattr__(self, name, array)
        n, m = len(self.nodes), len(self.cells)
        if self.nodes.ndim != 2 or self.nodes.shape[1] != 3 or self.cells.ndim != 2 or self.cells.shape[1] != 10:
            raise BadInput(f"a skin has nodes {self.nodes.shape} and cells {self.cells.shape}; (n, 3) and (m, 10) are needed")
        if not np.isfinite(self.nodes).all() or self.region.shape != (m,) or (m and self.region.min() < 0):
            raise BadInput("a skin has nodes that are no numbers, or not one region for each cell")
        for name in ("cells", "glue_node", "sole_node"):
            array = getattr(self, name)
            if array.size and (array.min() < 0 or array.max() >= n):
                raise BadInput(f"the {name} of a skin name nodes {array.min()} to {array.max()}; it has 0 to {n - 1}")
        if self.glue_node.shape != self.glue_body.shape or self.sole_node.shape != self.sole_patch.shape:
            raise BadInput("every glue node of a skin needs its body, every sole node its patch")
        if self.glue_body.size and (self.glue_body.min() < 0 or self.glue_body.max() >= len(self.bodies)):
            raise BadInput(f"glue names body {self.glue_body.max()}; the skin lists {len(self.bodies)} bodies")
        for name in ("glue_node", "sole_node"):
            array = getattr(self, name)
            if len(np.unique(array)) < len(array):
                raise BadInput(f"a node is listed twice among {name}")
        both = np.intersect1d(self.glue_node, self.sole_node)
        if len(both):
            raise BadInput(f"node {both[0]} of a skin is glued and part of a sole; what carries a sole's force must be free")

    @property
    def soles(self) -> int:
        """Number of soles."""
        return int(self.sole_patch.max()) // PATCHES + 1 if len(self.sole_patch) else 0


def check_skin(skin: Skin | None, materials: Collection[str], effectors: Collection[EndEffector]) -> None:
    """Raise ValueError when a skin does not fit a character."""
    if skin is None:
        return
    for name in skin.materials:
        if name not in materials:
            raise ValueError(f"the skin is made of {name!r}, which is no material; known: {some(sorted(materials))}")
    other = [tip.name for tip in effectors if tip.kind != "sole"]
    if other:
        raise ValueError(f"a skinned character stands on soles; the end effector {other[0]!r} is something else")
