"""What a full-order model is made of: rigid bodies, links between them, elastic pieces with interfaces. Values only."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Literal

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.poses import NO_MOVE, Rigid
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.solid import ElasticSolid

GROUND = "world"
"""The name of what does not move."""


@dataclass(frozen=True, eq=False)
class RigidBody:
    """A rigid body: mass [kg], ``center`` of mass (3,) [m] and ``inertia`` (3, 3) [kg m^2] about it, both in the body's axes.

    ``pose`` X_WB is where its frame stands before anything moves: the first guess of :meth:`FullOrderModel.rest`.
    """

    name: str
    mass: float
    inertia: ArrayLike = 0.0
    center: ArrayLike = (0.0, 0.0, 0.0)
    pose: Rigid = NO_MOVE

    def __post_init__(self) -> None:
        J = self.inertia_matrix
        if self.name == GROUND:
            raise BadInput(f"a body cannot be called {GROUND!r}: that is the ground")
        if not (np.isfinite(self.mass) and self.mass >= 0.0) or J.shape != (3, 3) or not np.isfinite(J).all():
            raise BadInput(f"the body {self.name!r} has mass {self.mass:g} kg; mass and inertia must be finite and not negative")

    @property
    def inertia_matrix(self) -> Array:
        """The inertia as a matrix; one number stands for a sphere."""
        J = np.asarray(self.inertia, dtype=np.float64)
        return J * np.eye(3) if J.ndim == 0 else J


@dataclass(frozen=True)
class Freedom:
    """One way in which a link lets its child move: a turn about, or a slide along, ``direction`` (3,) in the link's frame.

    ``motor`` >= 0: not free but prescribed, ratio * value of that motor + offset. ``damping`` [N m s/rad] of a free turn.
    """

    kind: Literal["hinge", "slide"]
    direction: tuple[float, float, float]
    motor: int = -1
    ratio: float = 1.0
    offset: float = 0.0
    damping: float = 0.0


@dataclass(frozen=True, eq=False)
class Link:
    """A joint or motor: the frame F at ``pose`` in the parent and G at ``child_pose`` in the child, X_FG = slides, then turns.

    ``freedoms`` in order, slides first, parent side first. None: rigidly fixed. One hinge: a hinge (or a motor). Two: a universal
    joint. Three: a ball. ``closing``: it closes a loop, so rows of it that repeat others may be left out.
    """

    name: str
    parent: str
    child: str
    freedoms: tuple[Freedom, ...] = ()
    pose: Rigid = NO_MOVE
    child_pose: Rigid = NO_MOVE
    closing: bool = False

    def __post_init__(self) -> None:
        kinds = [freedom.kind for freedom in self.freedoms]
        if "slide" in kinds[kinds.count("slide") :]:
            raise BadInput(f"the link {self.name!r} turns before it slides; slides come first")
        if kinds.count("hinge") > 3 or kinds.count("slide") > 3:
            raise BadInput(f"the link {self.name!r} has {len(kinds)} freedoms; at most three turns and three slides")


@dataclass(frozen=True, eq=False)
class Held:
    """An interface of a piece and the body (or ground) it is fixed to; ``pose`` X_BP is the piece's frame in that body, unbent."""

    interface: Interface
    body: str
    pose: Rigid = NO_MOVE


@dataclass(frozen=True, eq=False)
class ElasticPiece:
    """An elastic solid with its interfaces; the first of them is its base, whose body carries the floating frame."""

    name: str
    solid: ElasticSolid
    held: tuple[Held, ...] = field(default=())

    def __post_init__(self) -> None:
        if not self.held:
            raise BadInput(f"the piece {self.name!r} has no interface; it would fall apart from the character")
