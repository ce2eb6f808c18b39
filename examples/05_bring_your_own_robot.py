"""
5. Bring your own robot
=======================

A URDF says how a robot is built; it often says little about what its motors can do. An *overlay* adds that: velocity
and acceleration, which joints form a group, where the hands are. Ten minutes from your URDF to a first verified
performance.
"""

from pathlib import Path

import numpy as np

import bunraku
from bunraku.motion import JointCurves

try:
    HERE = Path(__file__).parent / "robots"
except NameError:  # the documentation runs lessons without a file
    HERE = Path("robots")


def lesson():
    """Load URDF and overlay, perform a greeting, verify it in MuJoCo; return the performance and the verdict."""
    robot = bunraku.load_character(HERE / "greeter.urdf", overlay=HERE / "greeter.overlay.yaml")
    t = np.arange(0.0, 4.0, 0.02)
    lift = np.clip(t / 0.5, 0.0, 1.0) * np.clip((4.0 - t) / 0.7, 0.0, 1.0)
    wave = lift * np.sin(2 * np.pi * 2.0 * t)
    curves = np.column_stack([-1.9 * lift, 0.5 * wave, 0.3 * wave])
    greeting = bunraku.Clip("greeting", joints=JointCurves(("shoulder", "elbow", "head"), 50.0, curves))
    performance = bunraku.perform(robot, greeting)
    return performance, bunraku.verify(performance)


if __name__ == "__main__":
    from matplotlib import pyplot

    performance, verdict = lesson()
    print(performance.certificate.status.sentence)
    for check in verdict.checks:
        print(check.sentence)
    positions = performance.positions()
    figure, axes = pyplot.subplots(len(positions.names), 1, figsize=(9, 6), sharex=True, layout="constrained")
    for axis, name in zip(axes, positions.names, strict=True):
        axis.plot(performance.wish.times, performance.wish.column(name), color="#8a8f98", label="wish")
        axis.plot(positions.times, positions.column(name), color="#c1272d", label="performance")
        axis.set(ylabel=f"{name} [rad]")
    axes[0].legend(frameon=False)
    axes[-1].set(xlabel="time [s]")
    pyplot.show()
