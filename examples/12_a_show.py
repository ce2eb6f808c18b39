"""
12. A show
==========

A marionette walks, waves and bows. The score says when each pose is due: steps on a beat of 0.7 s, the waving hand outermost at
4.6 s, the bow deepest at 7.9 s. What is left to choose are the two times at which one motion gives way to the next. The puppet
swings, so the best times are not found with a ruler: they minimise the cost of the simulated closed loop, by Newton's method with
exact first and second derivatives. Notice that a switch never jerks: laws that choose accelerations are mixed, so the velocities of
carriages and winches are continuous and the strings stay taut, whatever the times. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.marionette import hang, tensions
from bunraku.performers.choreography.choreographer import Choreographer

PUPPET, CLIP, DT = bunraku.load_character("marionette"), bunraku.load_clip("marionette-show"), 0.01


def strings(timing):
    """Tension [N] of the strings (N, 6): the puppet simulated anew, its carriages and winches moving as they did in the show."""
    rest = hang(PUPPET).require()
    integrator = VariationalIntegrator(rest.system, DT)
    start, steps = integrator.initial(rest.q, rest.q), len(timing.q) - 1
    return tensions(rest.system, integrator.rollout(start.q, start.p, np.zeros((steps, 0)), timing.carriages[1:]))


def jumps(timing):
    """By how much the velocity [m/s] of a carriage or winch changes from one step to the next, at worst (N,); it starts at rest."""
    velocity = np.vstack([np.zeros(timing.carriages.shape[1]), np.diff(timing.carriages, axis=0) / DT])
    return np.abs(np.diff(velocity, axis=0)).max(axis=1)


def misses(show, timing):
    """For every accent of the score: its time [s], its primitive, and the distance [rad] or [m] of the farthest coordinate."""
    distances, names = [], show.clip.joints.names
    for accent in CLIP.modes.accents:
        curves, moment = CLIP.modes.primitive(accent.primitive).curves, CLIP.modes.moment(accent)
        pose = [np.interp(moment, curves.times, curves.column(name)) for name in accent.coordinates]
        at = timing.q[round(accent.time / DT), [names.index(name) for name in accent.coordinates]]
        distances.append((accent.time, accent.primitive, float(np.abs(at - pose).max())))
    return distances


def lesson():
    """The show; for equal spacing and for the best times, the tensions [N] and the jumps of velocity [m/s] over time."""
    show = Choreographer(dt=DT).choreograph(PUPPET, CLIP)
    return show, {name: (strings(at), jumps(at)) for name, at in (("equal", show.equal), ("best", show.best))}


if __name__ == "__main__":
    from matplotlib import pyplot

    show, seen = lesson()
    for name, timing in (("equal", show.equal), ("best", show.best)):
        pull, jump = seen[name]
        switched = ", ".join(f"{time:.3f} s" for time in timing.times)
        print(f"{name:>5} times, switched at {switched}: cost {timing.cost:.4f}; farthest from each accent:")
        print("      " + ", ".join(f"{what[7:]} {off:.2f}" for _, what, off in misses(show, timing)))
        print(f"      least tension {pull.min():.3f} N; velocities jump by at most {jump.max():.4f} m/s from step to step")
        for time in timing.times:
            fade = slice(round(time / DT), round((time + Choreographer().fade) / DT))
            print(f"      while fading from {time:.2f} s on: {pull[fade].min():.3f} N, {jump[fade].max():.4f} m/s")
    print(f"{len(show.solution.costs) - 1} Newton steps save {100 * show.saving:.1f} % of the cost")
    watched = (("l_hip.y", "left hip [rad]"), ("r_shoulder.z", "right arm, turned [rad]"), ("base.tz", "height [m]"))
    figure, axes = pyplot.subplots(4, 1, figsize=(9, 7), sharex=True, layout="constrained")
    for name, timing, color in (("equal", show.equal, "#8a8f98"), ("best", show.best, "#c1272d")):
        t = DT * np.arange(len(timing.q))
        for axis, (joint, _) in zip(axes, watched, strict=False):
            axis.plot(t, timing.q[:, show.clip.joints.names.index(joint)], color=color, label=f"{name} times")
            for time in timing.times:
                axis.axvline(time, color=color, linewidth=0.8, linestyle=":")
        axes[3].plot(t[1:], seen[name][0].min(axis=1), color=color)
    for axis, (joint, text) in zip(axes, watched, strict=False):
        for accent in CLIP.modes.accents:
            if joint in accent.coordinates:
                curves = CLIP.modes.primitive(accent.primitive).curves
                due = np.interp(CLIP.modes.moment(accent), curves.times, curves.column(joint))
                axis.plot(accent.time, due, "o", color="#222222")
        axis.set(ylabel=text)
    axes[0].legend(frameon=False)
    axes[3].set(xlabel="time [s]; dots: the score, dotted: the switches", ylabel="least tension [N]", ylim=(0.0, None))
    pyplot.show()
