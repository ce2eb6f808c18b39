"""
27. Infeasible says why
=======================

A metre in 0.8 seconds, from rest to rest, on rubber (friction 1). A tall robot can brake that hard only because it throws its
legs forward and sits down behind its wheels. Lock the legs, and it must tip over: with the centre of mass c above the ground and the
outer wheels l away, it cannot decelerate more than g l / c, and a metre in T seconds asks for at least 4 m / T². No search finds what does not exist, but
it can say what stands in the way. Notice that the performance is still there, with status and certificate; it is for the reader
to decide, and `bunraku verify` ends with exit code 1.
"""

import numpy as np

from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points
from bunraku.mechanics.centroidal.model import GRAVITY, centroidal_model
from bunraku.performers.locomotion.performer import LocomotionPerformer

ROBOT = "agilebot-tall"


def lesson():
    """Performances with free and locked legs; the deceleration that tips the robot with locked legs, and what is asked at least."""
    character = read_character(ROBOT)
    locked = read_clip("start-stop-locked")
    free = locked.changed(gait=locked.gait.changed(locked=()))
    artist = LocomotionPerformer(max_iterations=200)
    found = {"legs free": artist.perform(character, free), "legs locked": artist.perform(character, locked)}
    model = centroidal_model(character)
    com, feet = center_of_mass(model, model.home), contact_points(model, model.home)
    tips = GRAVITY * float((feet[:, 0] - com[0]).max()) / float(com[2])
    return found, tips, 4.0 * locked.gait.distance[0] / locked.gait.duration**2


if __name__ == "__main__":
    from matplotlib import pyplot

    found, tips, asked = lesson()
    print(f"{asked:.2f} m/s² are asked for at least; with locked legs it tips at {tips:.2f} m/s²")
    figure, axis = pyplot.subplots(figsize=(10, 3.2), layout="constrained")
    for name, performance in found.items():
        certificate = performance.certificate
        print(f"{name}: {certificate.status.value}")
        print("   ", certificate.check("largest residual").sentence)
        for note in certificate.notes:
            print("   ", note)
        t = np.arange(len(performance.motion.values)) / performance.rate
        axis.plot(t, np.degrees(performance.motion.column("base.ry")), label=name)
    axis.set(xlabel="time [s]", ylabel="pitch of the body [deg]")
    axis.legend()
    pyplot.show()
