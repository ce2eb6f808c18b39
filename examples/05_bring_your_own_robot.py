"""
5. Bring your own robot
=======================

A URDF says how a robot is built; it often says little about what its motors can do. An *overlay* adds that: velocity
and acceleration, which joints form a group, where the hands are. Ten minutes from your URDF to a first verified
performance.
"""

from pathlib import Path

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.performers.performer import make_performer
from bunraku.verification.verify import verify

try:
    HERE = Path(__file__).parent / "robots"
except NameError:  # the documentation runs lessons without a file
    HERE = Path("robots")


def lesson():
    """Load URDF and overlay, perform a greeting, verify it in MuJoCo; return the performance and the verdict."""
    robot = read_character(HERE / "greeter.urdf", overlay=HERE / "greeter.overlay.yaml")
    t = np.arange(0.0, 4.0, 0.02)
    lift = np.clip(t / 0.5, 0.0, 1.0) * np.clip((4.0 - t) / 0.7, 0.0, 1.0)
    wave = lift * np.sin(2 * np.pi * 2.0 * t)
    curves = np.column_stack([-1.9 * lift, 0.5 * wave, 0.3 * wave])
    greeting = Clip("greeting", joints=JointCurves(("shoulder", "elbow", "head"), 50.0, curves))
    performance = make_performer("speech").perform(robot, greeting)
    return performance, verify(performance)


if __name__ == "__main__":
    from matplotlib import pyplot

    from bunraku.verification.plots.joints import draw_joints

    performance, verdict = lesson()
    print(performance.certificate.status.sentence)
    for check in verdict.checks:
        print(check.sentence)
    excess = MotionLimits.of(performance.character).excess(performance.wish.values, performance.rate)
    print(f"the wish broke {excess.count('velocity')} velocity and {excess.count('acceleration')} acceleration limits")
    draw_joints(performance)
    pyplot.show()
