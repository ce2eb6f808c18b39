"""
3. Smaller rather than flatter
==============================

A wave that is much too fast. Following it as closely as possible (eq. 7 of the paper) runs the motor at its limit
nearly all the time: a sawtooth. Making the gesture smaller first (eq. 8-10, in their convex form) keeps its shape.
Notice that the time of every peak is the same.
"""

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.performers.performer import make_performer


def lesson(frequency: float = 2.6):
    """Wave with one arm, with and without compression; return both performances."""
    nao = read_character("nao")
    t = np.arange(0, 5.0, 0.01)
    swell = np.sin(np.pi * t / t[-1]) ** 2
    wave = JointCurves(
        ("LShoulderRoll", "LElbowRoll"),
        100.0,
        np.column_stack([0.9 + 0 * t, -0.8 - 0.7 * swell * np.sin(2 * np.pi * frequency * t)]),
    )
    clip = Clip("wave", joints=wave)
    return {way: make_performer("speech", {"compression": way}).perform(nao, clip) for way in ("never", "always")}


def roughness(performance, joint: str = "LElbowRoll"):
    """Share of the time at the velocity limit, and RMS jerk [rad/s^3]."""
    positions = performance.positions()
    limits = MotionLimits.of(performance.character).chosen((joint,))
    x = positions.column(joint)
    speed = np.abs(np.diff(x)) * positions.rate
    return float(np.mean(speed > 0.999 * limits.velocity[0])), float(np.sqrt(np.mean((np.diff(x, 3) * positions.rate**3) ** 2)))


if __name__ == "__main__":
    from matplotlib import pyplot

    from bunraku.verification.plots.joints import draw_joints

    for way, performance in lesson().items():
        share, jerk = roughness(performance)
        print(f"compression {way}: {100 * share:.0f} % of the time at the limit, RMS jerk {jerk:.0f} rad/s^3")
        draw_joints(performance, ("LElbowRoll",))
    pyplot.show()
