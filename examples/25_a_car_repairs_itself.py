"""
25. A car repairs itself
========================

Somebody tilted the front axles of a small car by 45 degrees. A tilted wheel does not reach down as far as an upright one, so the
car pitches, its wheels toe in, and without slipping it cannot move. The derivative of the best motion by the dimensions
of the car tells which of them is to blame. Free to move both pairs of wheels up and down, it finds in two steps of Newton's method
what geometry says: the front pair must be lower by r (1 - cos 45°). Notice that before the repair no motion keeps all conditions;
what is made smaller is how far the best attempt is from keeping them. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.building.robot_design import built_in_design
from bunraku.building.robots.builtin import built_in_robot
from bunraku.design.automatic import Energy, improve
from bunraku.design.study import gait_study

FREE = ("F.tip z", "H.tip z")


def lesson():
    """The tilted car before and after, the steps between, and the answer of geometry [m]."""
    study = gait_study(built_in_design("tilted-car").only(*FREE), bunraku.load_clip("car-forward").gait)
    asked = study.solve(study.design.initial)
    soft = study.softened()
    before = soft.solve(study.design.initial)
    improved = improve(soft, Energy(), before, steps=6)
    after = study.solve(improved.variant.parameters, start=improved.variant.motion)
    radius = next(effector.radius for effector in study.design.character(study.design.initial).end_effectors)
    return asked, before, improved, after, radius * (1.0 - np.cos(np.pi / 4.0))


def lowering(parameters):
    """How much lower [m] the front pair is mounted than the hind pair."""
    return float(parameters[1] - parameters[0])


if __name__ == "__main__":
    from matplotlib import pyplot

    asked, before, improved, after, exact = lesson()
    name, amount = asked.worst
    print(f"{built_in_robot('tilted-car').name} as it is: {asked.solution.status.value}; {name} stays violated by {amount:.2g}")
    for k, step in enumerate(improved.steps):
        print(f"step {k}: energy {step.energy:.5f}, front pair lower by {1e3 * lowering(step.parameters):.4f} mm")
    print(f"geometry: {1e3 * exact:.4f} mm; then {after.solution.status.value}, residual {after.solution.residual:.1e}")
    figure, axis = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axis.semilogy([step.energy for step in improved.steps], "o-", color="#c1272d")
    axis.set(xlabel="design step", ylabel="energy of the motion")
    pyplot.show()
