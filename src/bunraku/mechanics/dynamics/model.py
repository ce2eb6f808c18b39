"""The model as data: the flat arrays that every dynamics kernel takes. Built by `system.py`; nothing is compiled per model."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Indices = NDArray[np.int64]


class Model(NamedTuple):
    """Arrays of one system; columns of the node arrays are named in `lagrangian/layout.py`.

    Slots come parents first and those that carry mass before those that do not. ``feature_i`` (m, 2): slot (-1 the world), 1
    point or 0 direction; ``feature_f`` (m, 12): local value and local rotation. ``constraint_i`` (nc, 5): kind, features a, b, z,
    length coordinate (-1 none); ``constraint_f`` (nc, 4): constant, direction. ``pair_i`` (ns, 2), ``pair_f`` (ns, 3): stiffness,
    rest length, damping. ``wrench_i`` (nw, 8): kind, feature, six inputs (-1 none); ``wrench_f`` (nw, 6). ``actuator_i`` (na, 2):
    coordinate, input. ``sizes``: slots with mass, inputs, 1 if a force is curved in (q, v, u), longest list of slots an element
    needs, rows of the work array, 1 if a force besides the damping of segments is curved.
    """

    node_i: Indices
    node_f: Floats
    coordinate_f: Floats
    feature_i: Indices
    feature_f: Floats
    constraint_i: Indices
    constraint_f: Floats
    pair_i: Indices
    pair_f: Floats
    wrench_i: Indices
    wrench_f: Floats
    actuator_i: Indices
    actuator_f: Floats
    dynamic: Indices
    kinematic: Indices
    gravity: Floats
    sizes: Indices


class FlexibleModel(NamedTuple):
    """A model with flexible segments: the arrays of :class:`Model` and four more.

    The columns of ``segment_i``, ``interface_i`` and the parts of ``flexible_f`` are named in `flexible/layout.py`; ``elastic_i``
    (pairs, 3): modes a, b, strain rows. A type of its own, so that the kernels of rigid trees carry nothing of it.
    """

    node_i: Indices
    node_f: Floats
    coordinate_f: Floats
    feature_i: Indices
    feature_f: Floats
    constraint_i: Indices
    constraint_f: Floats
    pair_i: Indices
    pair_f: Floats
    wrench_i: Indices
    wrench_f: Floats
    actuator_i: Indices
    actuator_f: Floats
    dynamic: Indices
    kinematic: Indices
    gravity: Floats
    sizes: Indices
    segment_i: Indices
    interface_i: Indices
    elastic_i: Indices
    flexible_f: Floats
