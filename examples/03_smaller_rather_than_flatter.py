"""
3. Smaller rather than flatter
==============================

A wave that is much too fast. Following it as closely as possible (eq. 7 of the paper) runs the motor at its limit
nearly all the time: a sawtooth. Making the gesture smaller first (eq. 8-10, in their convex form) keeps its shape.
Notice that the time of every peak is the same.
"""

import numpy as np

import bunraku
from bunraku.motion import JointCurves


def lesson(frequency: float = 2.6):
    """Wave with one arm, with and without compression; return both performances."""
    nao = bunraku.load_character("nao")
    t = np.arange(0, 5.0, 0.01)
    swell = np.sin(np.pi * t / t[-1]) ** 2
    wave = JointCurves(
        ("LShoulderRoll", "LElbowRoll"),
        100.0,
        np.column_stack([0.9 + 0 * t, -0.8 - 0.7 * swell * np.sin(2 * np.pi * frequency * t)]),
    )
    clip = bunraku.Clip("wave", joints=wave)
    return {when: bunraku.perform(nao, clip, compression=when, once=True) for when in ("never", "always")}


def roughness(performance, joint: str = "LElbowRoll"):
    """Share of the time at the velocity limit, and RMS jerk [rad/s^3]."""
    positions = performance.positions()
    limit = next(motor.velocity for motor in performance.character.motors if motor.coordinate == joint)
    x = positions.column(joint)
    speed = np.abs(np.diff(x)) * positions.rate
    return float(np.mean(speed > 0.999 * limit)), float(np.sqrt(np.mean((np.diff(x, 3) * positions.rate**3) ** 2)))


if __name__ == "__main__":
    from matplotlib import pyplot

    figure, axis = pyplot.subplots(figsize=(9, 3), layout="constrained")
    for when, performance in lesson().items():
        positions, (share, jerk) = performance.positions(), roughness(performance)
        print(f"compression {when}: {100 * share:.0f} % of the time at the limit, RMS jerk {jerk:.0f} rad/s^3")
        axis.plot(positions.times, positions.column("LElbowRoll"), label=f"compression {when}")
    axis.set(xlabel="time [s]", ylabel="LElbowRoll [rad]")
    axis.legend(frameon=False, ncols=2)
    pyplot.show()
