"""
20. How thick a rod
===================

A rod shall swing by 30 degrees in half a second and stop. How thick should it be? A thick one hardly bends, but is heavy, and the
motor gets hot: heat goes with the square of its torque. A thin one is light, but the motor cannot tame it: more of the vibration
remains. So the diameter is found together with the motion: for each diameter that a safeguarded search (Brent's) tries,
the part is meshed and reduced anew and the motion optimized for it; what is minimised is

    (error of the tip / 1 mm)^2 + (torque of the motor / what it may give for long)^2,    both RMS.

Notice how flat the bottom is on the thick side and how steep on the thin one. The rod that is found is then judged as any
other: at the fine step, and in MuJoCo. This lesson works below the public names.
"""

import numpy as np
from scipy.optimize import minimize_scalar

import bunraku
from bunraku.mechanics.flexible.deflection import deflection_ratio
from bunraku.mechanics.flexible.torque_lines import torques_of
from bunraku.motion import JointCurves
from bunraku.performers.vibration.evaluate import evaluate
from bunraku.performers.vibration.performer import VibrationPerformer
from bunraku.performers.vibration.solve import solve_gauss_newton

RANGE = (0.0032, 0.009)  # m, of the diameter
SHARP = 1e-3  # m, the error that counts as much as a motor at its continuous torque
CELL = 0.007  # m, of the meshes in the search
SECONDS = 1.8
PERFORMER = VibrationPerformer(step_ms=4.0, max_iterations=10, tolerance=1e-2)


def rod(diameter, cell=CELL):
    """The one-rod with another diameter [m], in two bending modes of each plane and what belongs to them."""
    character = bunraku.load_character("one-rod")
    part = character.flexibles[0]
    shape = part.shape.changed(diameter=float(diameter), cell=cell)
    return character.changed(flexibles=(part.changed(shape=shape, modes=2),))


def swing():
    """The first half of the clip: there and stop."""
    clip = bunraku.load_clip("tick")
    wish = clip.joints
    return clip.changed(joints=JointCurves(wish.names, wish.rate, wish.values[: round(SECONDS * wish.rate) + 1]), phrases=())


def design(diameter):
    """What a diameter [m] leads to: error [m] and torque [N·m] (RMS), peak torque, mass [kg], deflection; ``cost`` of it all."""
    character, clip = rod(diameter), swing()
    problem = PERFORMER.problem(character, clip, clip.joints)
    best = solve_gauss_newton(problem, max_iterations=PERFORMER.max_iterations, tolerance=PERFORMER.tolerance)
    evaluation = evaluate(problem, best.parameters)
    torque, heat = torques_of(evaluation.motions[0])[0], character.motors[0].continuous_torque
    flexible, rms = problem.nominal.flexible, float(np.sqrt((torque**2).mean()))
    return {
        "diameter": float(diameter),
        "cost": (evaluation.rms / SHARP) ** 2 + (rms / heat) ** 2,
        "error": evaluation.rms,
        "torque": rms,
        "peak": float(np.abs(torque).max()),
        "mass": flexible.parts["rod"].reduction.segment.mass,
        "deflection": deflection_ratio(flexible, evaluation.motions[0].q)["rod"],
    }


def lesson():
    """All designs that were tried, the thinnest and thickest first and the best last; the verdict on that one's performance."""
    tried = [design(diameter) for diameter in RANGE]

    def cost(logarithm):
        tried.append(design(np.exp(logarithm)))
        return tried[-1]["cost"]

    minimize_scalar(cost, bounds=np.log(RANGE), method="bounded", options={"xatol": 0.03})
    best = min(tried, key=lambda one: one["cost"])
    performance = PERFORMER.perform(rod(best["diameter"]), swing())
    return [*(one for one in tried if one is not best), best], bunraku.verify(performance)


if __name__ == "__main__":
    from matplotlib import pyplot

    tried, verdict = lesson()
    for one in tried:
        print("{:.2f} mm".format(1e3 * one["diameter"]), end=": ")
        print("tip off by {:.2f} mm, torque {:.2f} N·m RMS".format(1e3 * one["error"], one["torque"]), end=", ")
        print("{:.2f} peak, rod of {:.0f} g bends by {:.2f}".format(one["peak"], 1e3 * one["mass"], one["deflection"]))
    for check in verdict.checks:
        print(check.sentence)
    order = sorted(tried, key=lambda one: one["diameter"])
    figure, axes = pyplot.subplots(1, 3, figsize=(10, 3.6), layout="constrained")
    for axis, what, unit, scale in zip(axes, ("error", "torque", "cost"), ("mm", "N·m", "-"), (1e3, 1, 1), strict=True):
        axis.plot([1e3 * one["diameter"] for one in order], [scale * one[what] for one in order], "o-", color="#9aa0a8")
        axis.plot(1e3 * tried[-1]["diameter"], scale * tried[-1][what], "o", color="#c1272d")
        axis.set(xlabel="diameter [mm]", ylabel=f"{what} [{unit}]", ylim=(0.0, None))
    pyplot.show()
