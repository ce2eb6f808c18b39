"""What kernels of motions over the ground take, by name: model, kinematics, the ends of a motion, one sample's system."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.mechanics.tree.tree_kernels import TreeArrays

Indices = NDArray[np.int64]


class PointMasses(NamedTuple):
    """Masses as points, four for every rigid lump: ``node`` (p,), ``place`` (p, 3) in its frame [m], ``mass`` (p,) [kg]."""

    node: Indices
    place: Array
    mass: Array


class TipArrays(NamedTuple):
    """End effectors: ``node`` (n_e,), ``center``, ``axis``, ``across`` (n_e, 3) in its frame, ``radius`` [m], ``kind``.

    ``chain`` (n_e, k): the coordinates that move it, -1 after the last.
    """

    node: Indices
    center: Array
    axis: Array
    across: Array
    radius: Array
    kind: Indices
    chain: Indices


class CentroidalArrays(NamedTuple):
    """The model, its tree with what is frozen fixed.

    ``nodes`` (nq,) the node of each coordinate, ``moves`` (nq, nodes) whether a coordinate moves a node.
    """

    tree: TreeArrays
    nodes: Indices
    moves: Indices
    points: PointMasses
    tips: TipArrays


class GroundGrid(NamedTuple):
    """The ground: ``grid`` (3,) origin x, y and spacing [m], ``heights`` (a, b) [m], none where it is flat."""

    grid: Array
    heights: Array


class JointLimits(NamedTuple):
    """Of each coordinate (nq,): middle and half of the range, speed limit, stall torque and no-load speed of its motor."""

    middle: Array
    half: Array
    speed: Array
    stall: Array
    no_load: Array


class WheelLimits(NamedTuple):
    """Of each end effector (n_e,): speed limit, stall torque and no-load speed of the motor that turns it."""

    speed: Array
    stall: Array
    no_load: Array


class KinematicArrays(NamedTuple):
    """Kinematics of n samples, in the notation of `kinematics_kernels`; of a plan sample i has the index i + 1.

    Poses ``R`` (n, nodes, 3, 3), ``P`` and axes ``A`` (n, nodes, 3); centre of mass ``x`` (n, 3), its Jacobian ``Jx`` (n, 3, nq);
    points ``d`` (n, p, 3) from it. Of end effectors: contact ``e``, rolling direction ``t``, ``m``, ground normal ``n``, centre
    ``C`` (n, n_e, 3), spin ``sigma`` (n, n_e); ``Je``, ``Jt``, ``Jn`` (n, n_e, 3, chain), ``Js`` (n, n_e, chain).
    """

    R: Array
    P: Array
    A: Array
    x: Array
    Jx: Array
    d: Array
    e: Array
    t: Array
    m: Array
    n: Array
    sigma: Array
    C: Array
    Je: Array
    Jt: Array
    Js: Array
    Jn: Array


class Neighbours(NamedTuple):
    """The samples beyond the ends: of a cycle (``kind``) copies, mirrored by ``permutation`` and ``sign``, else data if any."""

    kind: int
    permutation: Indices
    sign: Array
    has_before: int
    before: Array
    has_after: int
    after: Array


class EndConstraints(NamedTuple):
    """Constraints at the ends, in this ``scale``: pinned first and last pose, gauge, the ``travel`` (x, y, yaw) where ``given``.

    ``mirrored``: whether the travel is that of two half cycles; ``origin``: where a motion that happens once begins.
    """

    scale: float
    pin_start: int
    start: Array
    pin_end: int
    end: Array
    gauge: int
    mirrored: int
    travel: Array
    given: Array
    origin: Array


class Regularizers(NamedTuple):
    """Weights of second differences of q (``smooth``), and of each unknown (nv,): ``size`` from ``rest``, ``rate`` of change."""

    smooth: float
    size: Array
    rate: Array
    rest: Array


class BlockArrays(NamedTuple):
    """Blocks as in `optimization.blocks`: H (T, 3, nv, nv), H[i, d] the block (i + d, i); B (T, 3, nv), C (3, 3) of D; g, gD."""

    H: Array
    B: Array
    C: Array
    g: Array
    gD: Array  # noqa: N815 (the letter of the formula)


class LocalSystem(NamedTuple):
    """The m constraints of one sample and the quadratic model around it, in its own unknowns and those of its two neighbours.

    ``jac``: whether derivatives are asked for; ``w``: weight of the constraints; ``scale``, ``s`` shifts, ``held`` and values ``r``
    (m,) out; ``L`` (3 nv, 3 nv) lower triangle and ``g`` (3 nv,) out; ``idx``, ``co``: room for the derivatives of one of them.
    """

    jac: bool
    w: float
    scale: Array
    s: Array
    held: Indices
    r: Array
    L: Array
    g: Array
    idx: Indices
    co: Array


class TorqueSums(NamedTuple):
    """Sums over what each node carries, see `torque_kernels.torque_sums`."""

    mass: Array
    first: Array
    cross_moment: Array
    F: Array
    Q: Array
    K: Array
