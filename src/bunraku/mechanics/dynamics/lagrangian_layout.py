"""Where things stand in the rows of the model arrays and of the work array: the one place where these numbers are written.

A row of ``node_i`` / ``node_f`` describes one slot: a coordinate of a segment, with its parent slot, the constant pose before it,
and the mass fixed to the frame after it. A row of the work array ``W`` holds what is known of that slot at one configuration.
"""

from __future__ import annotations

HINGE, SLIDE = 1, 2

# node_i
PARENT, KIND, COORDINATE, AXIS, PLAIN, HAS_MASS = 0, 1, 2, 3, 4, 5
NODE_INTS = 6

# node_f
RATIO, OFFSET = 0, 1
FIXED_ROTATION = 2
FIXED_POSITION = 11
LOCAL_MASS = 14
LOCAL_MOMENT = 15
LOCAL_INERTIA = 18
NODE_FLOATS = 24

# W: pose, screw (angular; linear), twist, rate of the screw, composite inertia, momentum, derivative of the first moment
ROTATION = 0
POSITION = 9
ANGULAR = 12
LINEAR = 15
TWIST = 18
RATE = 24
MASS = 30
FIRST_MOMENT = 31
INERTIA = 34
MOMENTUM = 40
GRAVITY_ARM = 46
WORK = 49

# coordinate_f
DAMPING, ARMATURE, STIFFNESS, REST = 0, 1, 2, 3
