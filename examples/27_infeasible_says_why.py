"""
27. Infeasible says why
=======================

A metre in 0.8 seconds, from rest to rest, on rubber (friction 1). With its centre of mass c above the ground and its outer wheels l
away from below it, a rigid robot tips over when it brakes harder than g l / c, and d metres in T seconds ask for at least
4 d / T². The tall Agilebot does it nevertheless: its front wheels run ahead and its hind wheels stay behind, the body sinks between
them, and before it stands it draws them in again. With locked legs it cannot. No search finds what does not exist, but it can say
what stands in the way. Notice that there is a performance in any case, the least wrong one, with its status and the reasons in the
certificate; `bunraku verify` rejects it with exit code 1. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import centroidal_model
from bunraku.mechanics.measures.statics import GRAVITY

ROBOT = "agilebot-tall"


def lesson():
    """Performances with free and locked legs; the deceleration [m/s²] that tips the robot at home, and what is asked at least."""
    character = bunraku.load_character(ROBOT)
    locked = bunraku.load_clip("start-stop-locked")
    free = locked.changed(gait=locked.gait.changed(locked=()))
    clips = {"legs free": free, "legs locked": locked}
    performances = {name: bunraku.perform(character, clip, max_iterations=200, once=True) for name, clip in clips.items()}
    return performances, tipping(performances["legs free"])[0], 4.0 * locked.gait.distance[0] / locked.gait.duration**2


def tipping(performance):
    """g l / c [m/s²] along a motion: l the distance of the foremost wheel ahead of the centre of mass, c the height of that."""
    model = centroidal_model(performance.character)
    seen = kinematics(model, np.column_stack([performance.motion.column(name) for name in model.names]))
    return GRAVITY * (seen.contact[:, :, 0].max(axis=1) - seen.com[:, 0]) / seen.com[:, 2]


if __name__ == "__main__":
    from matplotlib import pyplot

    performances, tips, asked = lesson()
    print(f"{asked:.2f} m/s² are asked for at least; standing at home it tips at {tips:.2f} m/s²")
    figure, axis = pyplot.subplots(figsize=(10, 3.2), layout="constrained")
    for name, performance in performances.items():
        certificate = performance.certificate
        print(f"{name}: {certificate.status.value}")
        print("   ", certificate.check("largest residual").sentence)
        for note in certificate.notes:
            print("   ", note)
        t = np.arange(len(performance.motion.values)) / performance.rate
        axis.plot(t, tipping(performance), label=name)
    axis.axhline(asked, color="#33373d", linewidth=0.8, linestyle=":")
    axis.set(xlabel="time [s]", ylabel="deceleration that tips it [m/s²]")
    axis.legend()
    pyplot.show()
