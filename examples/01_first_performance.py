"""
1. A first performance
======================

A head that can nod, a wish that is too fast for its motor, and the motion it can perform instead. The robot is the file
``robots/nodder.character.yaml``. Notice three things: the performance starts to move *before* the wish does, runs at exactly the
motor's velocity limit while it must, and is in time again at the other end.
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
    """Perform a jump of one radian; return the performance."""
    wish = np.zeros((126, 1))
    wish[62:] = 1.0
    clip = bunraku.Clip("jump", joints=JointCurves(("nod",), 25.0, wish))
    return bunraku.perform(HERE / "nodder.character.yaml", clip, compression="never")


if __name__ == "__main__":
    from matplotlib import pyplot

    performance = lesson()
    positions = performance.positions()
    print(f"samples around the jump: {positions.column('nod')[59:65].round(3)}")
    for check in performance.certificate.checks:
        print(check.sentence)
    figure, axis = pyplot.subplots(figsize=(9, 3), layout="constrained")
    axis.plot(performance.wish.times, performance.wish.column("nod"), ".-", color="#8a8f98", label="wish")
    axis.plot(positions.times, positions.column("nod"), ".-", color="#c1272d", label="performance")
    axis.set(xlabel="time [s]", ylabel="nod [rad]", xlim=(1.5, 3.5))
    axis.legend(frameon=False)
    pyplot.show()
