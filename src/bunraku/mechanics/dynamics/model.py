"""The model as data: the flat arrays that every dynamics kernel takes. Built by `system.py`; nothing is compiled per model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array

Indices = NDArray[np.int64]


class Sizes(NamedTuple):
    """``heavy`` slots with mass, ``longest`` list of slots an element needs, ``rows`` of the work array.

    ``curved``: whether a force is curved in (q, v, u); ``curved_alone``: one besides the damping of flexible segments.
    """

    heavy: int
    longest: int
    rows: int
    curved: bool
    curved_alone: bool


class Segments(NamedTuple):
    """Flexible segments; columns and the parts of ``numbers`` are named in `flexible/layout.py`.

    ``segment_i`` and ``interface_i`` one row each, ``elastic_i`` (pairs, 3): modes a, b, strain rows.
    """

    segment_i: Indices
    interface_i: Indices
    elastic_i: Indices
    flexible_f: Array


class Model(NamedTuple):
    """Arrays of one system; columns of the node arrays are named in `lagrangian_layout.py`.

    Slots come parents first and those that carry mass before those that do not. ``feature_i`` (m, 2): slot (-1 the world), 1
    point or 0 direction; ``feature_f`` (m, 12): local value and local rotation. ``constraint_i`` (nc, 5): kind, features a, b, z,
    length coordinate (-1 none); ``constraint_f`` (nc, 4): constant, direction. ``pair_i`` (ns, 2), ``pair_f`` (ns, 3): stiffness,
    rest length, damping. ``wrench_i`` (nw, 8): kind, feature, six inputs (-1 none); ``wrench_f`` (nw, 6). ``actuator_i`` (na, 2):
    coordinate, input. ``segments``: () where nothing bends, and then a type of its own: the kernels of rigid trees carry nothing
    of flexible ones.
    """

    node_i: Indices
    node_f: Array
    coordinate_f: Array
    feature_i: Indices
    feature_f: Array
    constraint_i: Indices
    constraint_f: Array
    pair_i: Indices
    pair_f: Array
    wrench_i: Indices
    wrench_f: Array
    actuator_i: Indices
    actuator_f: Array
    dynamic: Indices
    kinematic: Indices
    gravity: Array
    sizes: Sizes
    segments: Segments | tuple[()] = ()


class Room(NamedTuple):
    """Where kernels work: ``W`` (rows, WORK) see `lagrangian_layout.py`, listed slots (longest, 6) and their coordinates."""

    W: Array
    slots: Array
    where: Indices
