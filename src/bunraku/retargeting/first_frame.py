"""The artificial first frame: many files start with a T-pose that nobody performed, one huge fake velocity."""

from __future__ import annotations

import numpy as np

from bunraku.geometry.rotations import angle_between
from bunraku.motion import SkeletonMotion

OUTLIER_FACTOR = 5.0
NEIGHBOUR_FACTOR = 10.0
LEAST_TURN = 0.05


def first_frame_is_artificial(skeleton: SkeletonMotion) -> bool:
    """Whether the step from frame 0 to 1 is no motion.

    With s_k the root mean square over the bones of the angle [rad] each turns, in its parent, from frame k to k + 1: true when
    s_0 is above 0.05 rad, above 10 times s_1 (a person who starts fast goes on fast), and above 5 times the 99th percentile of all
    the others (in five CMU files it is 9 to 23 times). At least 4 frames are needed to tell.
    """
    if len(skeleton.rotations) < 4:
        return False
    s = np.sqrt(np.mean(angle_between(skeleton.rotations[:-1], skeleton.rotations[1:]) ** 2, axis=1))
    bars = (LEAST_TURN, NEIGHBOUR_FACTOR * s[1], OUTLIER_FACTOR * np.percentile(s[1:], 99.0))
    return bool(s[0] > max(bars))
