"""
14. A dance
===========

A marionette imitates three seconds of a dancing skeleton, at full speed. The classical way moves carriages and winches so that the
puppet would hang in each pose if it rested: slowly that works, in a dance the puppet swings. Optimal control over all six strings
plans with the swings instead. Notice what is asked besides: every string pulls at every step, carriages keep their speed,
acceleration and distance from each other. The iterations stop early here. On the way a motion may leave the limits again; then
the best of those within them is returned. Elbows and feet hang on no string, and go where they must.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.dynamics.points import Points
from bunraku.performers.marionette.baselines import baseline_of
from bunraku.performers.marionette.performer import MarionettePerformer
from bunraku.performers.marionette.problem import cut_wish, state_puppet_problem
from bunraku.retargeting.retarget import retarget

PUPPET, RATE, MARGIN = bunraku.load_character("marionette"), 100.0, 0.1  # Hz, N
WINDOW = {"start": 0.5, "duration": 3.0}  # s, of the dance
LIMBS = [("pelvis", "head"), ("l_shoulder", "r_shoulder"), ("l_hip", "r_hip")] + [
    tuple(f"{side}_{name}" for name in limb)
    for side in "lr"
    for limb in (("shoulder", "elbow", "wrist", "hand"), ("hip", "knee", "foot"))
]


def dance():
    """The captured dance on the puppet's joints, as large as the puppet."""
    return retarget(bunraku.load_clip("chicken-dance"), PUPPET, rate=RATE).clip


def lesson(iterations=45):
    """The problem, which knows the wish; the performance; and the best that going from rest to rest can do with the same wish."""
    clip = dance()
    problem = state_puppet_problem(PUPPET, cut_wish(clip.joints, rate=RATE, **WINDOW), rate=RATE, tension_margin=MARGIN)
    performer = MarionettePerformer(rate=RATE, tension_margin=MARGIN, max_iterations=iterations, **WINDOW)
    performance = performer.perform(PUPPET, clip)
    return problem, performance, baseline_of(performance)


def errors(problem, q):
    """Distance [m] of the tracked points from the wish, (N + 1, points)."""
    return np.linalg.norm(problem.points.positions(q) - problem.targets, axis=2)


def draw(axis, system, q, shift, color, *, strings=False, **style):
    """The puppet as lines, seen from the front and moved aside by ``shift``."""
    lines = [Points(system, limb).positions(q[None])[0] for limb in LIMBS]
    for line in lines:
        axis.plot(shift - line[:, 1], line[:, 2], color=color, solid_capstyle="round", **style)
    for string in PUPPET.strings if strings else ():
        ends = Points(system, (string.hook, string.carriage)).positions(q[None])[0]
        axis.plot(shift - ends[:, 1], ends[:, 2], color="#9aa0a8", linewidth=0.6)


if __name__ == "__main__":
    from matplotlib import pyplot

    problem, performance, slow = lesson()
    system, certificate = problem.system, performance.certificate
    q = performance.motion.values
    rms = np.sqrt((errors(problem, q) ** 2).mean())
    print(certificate.status.sentence)
    print(f"hands, knees and head are off by {100 * rms:.2f} cm RMS, {rms / slow.rms:.2f} times what going from rest to rest")
    print(f"leaves over ({100 * slow.rms:.2f} cm, its inputs smoothed to {slow.cutoff:g} Hz, the best of fifteen attempts)")
    for check in certificate.checks:
        if check.threshold is not None:
            sign = ">=" if check.at_least else "<="
            print(f"  {check.name}: {check.value:.3g} {check.unit} {sign} {check.threshold:g} {check.note}")
    figure, (stage, lower) = pyplot.subplots(2, 1, figsize=(10, 6.5), height_ratios=(2.6, 1), layout="constrained")
    for i, k in enumerate(range(0, len(q), 50)):
        draw(stage, system, problem.q[k], 0.6 * i, "#b9bec6", linewidth=5)
        draw(stage, system, q[k], 0.6 * i, "#c1272d", linewidth=1.8, strings=True)
        stage.text(0.6 * i, 0.06, f"{k / RATE:.1f} s", ha="center", fontsize=8)
    stage.set(aspect="equal", ylim=(0.05, 1.3), title="wish (grey) and performance")
    stage.axis("off")
    t = np.arange(len(q)) / RATE
    for name, motion, color in (("from rest to rest", slow.q, "#2f6f9f"), ("optimal control", q, "#c1272d")):
        lower.plot(t, 100 * np.sqrt((errors(problem, motion) ** 2).mean(axis=1)), color=color, label=name)
    lower.set(xlabel="time [s]", ylabel="off the wish [cm]", ylim=(0.0, None))
    lower.legend(frameon=False)
    pyplot.show()
