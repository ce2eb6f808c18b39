"""
21. Closed loop
===============

The best motion is made for one stiffness. If the rod vibrates a tenth slower than was thought, it comes too late for what the
motor does, and a good part of the swing is back. Feedback corrects what was not foreseen: a linear-quadratic regulator about the
motion, from the dynamics that planned it, tells the motor how to answer when the rod is not bent as planned. Notice how little the
motor moves to do so; what remains in the pause is the deeper sag of a softer rod, which no longer swings. The regulator sees the
whole state here; on a real rod strain gauges or cameras must tell it, without much delay. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.performers.vibration.problem import stiffened

SLOWER = 0.9  # the real frequency over the assumed one


def lesson(frequency=SLOWER):
    """Times [s]; tip errors [m] and motor angles [rad] of the rod as planned, of the real one open loop, and with feedback."""
    character, clip = bunraku.load_character("one-rod"), bunraku.load_clip("tick")
    performance = bunraku.perform(character, clip, feedback=True, step_ms=4.0, once=True)
    feedback, N = performance.feedback, performance.feedback.steps
    plan = flexible_system(character)
    real = stiffened(plan, frequency**2)
    rest = rest_motion(plan.system, np.ascontiguousarray(performance.wish.values), start=plan.home, stride=4)
    target = track(plan.system, ["tip"]).observe(rest.q).positions[:, 0]
    motions = {}
    for name, model, gains in (("as planned", plan, 0.0), ("open loop", real, 0.0), ("with feedback", real, 1.0)):
        integrator = VariationalIntegrator(model.system, 1.0 / feedback.rate)
        nq = model.system.nq
        q, p = feedback.states[0, :nq], feedback.states[0, nq:]
        path = integrator.rollout(q, p, np.zeros((N, 0)), feedback.commands, reference=feedback.states, gain=gains * feedback.gains)
        tip = track(model.system, ["tip"]).observe(np.ascontiguousarray(path.q)).positions[:, 0]
        motions[name] = np.linalg.norm(tip - target, axis=1), path.q[:, model.motors[0]]
    return np.arange(N + 1) / feedback.rate, motions


if __name__ == "__main__":
    from matplotlib import pyplot

    t, motions = lesson()
    figure, axes = pyplot.subplots(2, 1, figsize=(10, 6), sharex=True, layout="constrained")
    for (name, (off, motor)), color in zip(motions.items(), ("#9aa0a8", "#2f6f9f", "#c1272d"), strict=True):
        after = off[(t > 0.85) & (t < 2.15)]
        whole, pause = (1e3 * np.sqrt((part**2).mean()) for part in (off, after))
        print(f"{name}: the tip is off by {whole:.2f} mm RMS, {pause:.2f} mm in the pause")
        axes[0].plot(t, 1e3 * off, color=color, linewidth=1.2, label=name)
        axes[1].plot(t, np.degrees(motor - motions["as planned"][1]), color=color, linewidth=1.2)
    axes[0].set(ylabel="tip off [mm]", ylim=(0.0, None))
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].set(ylabel="motor, off the plan [deg]", xlabel="time [s]")
    pyplot.show()
