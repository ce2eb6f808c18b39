"""
28. A foot in a skin
====================

A beetle of four legs wears a skin of rubber. It is asked for very little: lift the left front foot and put it down again. The plan
of the skeleton is made over all time at once, with the skin as mass and springs; then every frame is computed with the whole skin,
its soles on the ground patch by patch, and torques within what the motors can give. Notice three things. The two feet beside the
one that rises take almost all the weight, the one across from it almost nothing: the body is balanced on a diagonal, and the
pressure stays between the three soles. The foot's patches leave the ground one after the other, not at once: the sole is soft. And
the torques never pass 1.96 N·m, which is all that a MG995R has. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.character import PATCHES
from bunraku.performers.skin.performer import SkinPerformer


def lesson(frame=0.01):
    """The passes of plan and frames of the coarse beetle that lifts a foot."""
    artist = SkinPerformer(frame=frame, passes=1, crouch=0.015, collisions=False)
    return artist.solved(bunraku.load_character("beetle-quick"), bunraku.load_clip("beetle-lift-quick"))[1]


def measures(alternation):
    """What the frames show: which force each foot bears, how many of its patches touch, the largest torque."""
    tracked = alternation.passes[-1].tracked
    force = tracked.forces[:, :, 2].reshape(len(tracked.records), -1, PATCHES)
    return force.sum(axis=2), (force > 1e-6).sum(axis=2), np.abs(tracked.torques).max()


if __name__ == "__main__":
    from matplotlib import pyplot

    alternation = lesson()
    force, touching, torque = measures(alternation)
    names = [tip.name for tip in alternation.puppet.model.character.end_effectors]
    times = alternation.puppet.h * np.arange(1, len(force) + 1)
    print(f"{len(alternation.puppet.model.mesh.nodes)} nodes of skin, torques up to {torque:.2f} N·m")
    for k in range(0, len(times), 20):
        print(f"{times[k]:.2f} s  " + "  ".join(f"{n} {f:5.1f} N" for n, f in zip(names, force[k], strict=True)))
    figure, (above, below) = pyplot.subplots(2, sharex=True)
    above.plot(times, force, label=names)
    above.set_ylabel("force of the ground [N]")
    above.legend()
    below.plot(times, touching[:, 0])
    below.set_ylabel("patches of LF that touch")
    below.set_xlabel("time [s]")
    pyplot.show()
