"""
1. A first performance
======================

A head that can nod, a wish that is too fast for its motor, and the motion it can perform instead. Notice three things:
the performance starts to move *before* the wish does, runs at exactly the motor's velocity limit while it must, and is
in time again at the other end.
"""

import numpy as np

from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.motion import Clip, JointCurves, MotionLimits
from bunraku.performers.performer import make_performer


def nodder() -> Character:
    """A base with one hinge: range 60 degrees each way, 2 rad/s at the most, commands 25 times a second."""
    return Character(
        name="nodder",
        bodies=(Body(name="base", mass=1.0), Body(name="head", mass=0.3, center_of_mass=(0.0, 0.0, 0.05))),
        joints=(
            Joint(name="stand", kind="fixed", parent="world", child="base"),
            Joint(
                name="nod",
                kind="hinge",
                parent="base",
                child="head",
                pose=Pose(position=(0, 0, 0.3)),
                axis=(0, 1, 0),
                range=(-1.05, 1.05),
            ),
        ),
        motors=(Motor(name="nod", coordinate="nod", velocity=2.0, rate=25.0),),
    )


def lesson():
    """Perform a jump of one radian; return the performance."""
    wish = np.zeros((126, 1))
    wish[62:] = 1.0
    clip = Clip("jump", joints=JointCurves(("nod",), 25.0, wish))
    return make_performer("speech", {"compression": "never"}).perform(nodder(), clip)


if __name__ == "__main__":
    from matplotlib import pyplot

    from bunraku.verification.plots.joints import draw_joints

    performance = lesson()
    excess = MotionLimits.of(performance.character).excess(performance.positions().values, performance.rate)
    print(f"velocity above the limit by {excess.velocity.max():.1e} rad/s; samples around the jump:")
    print(performance.positions().column("nod")[59:65].round(3))
    for check in performance.certificate.checks:
        print(check.sentence)
    draw_joints(performance, start=1.5, end=3.5)
    pyplot.show()
