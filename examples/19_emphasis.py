"""
19. Emphasis
============

Two rods in a row and one motor between them: with one motor two places cannot both be where they should be. Left to itself the
performer shares the error out. The artist says what matters, and when: emphasis is a track of the clip ::

    emphasis:
    - {frame: motor, weight: 100, end_s: 0.9}
    - {frame: tip, weight: 100, start_s: 0.9}

It counts the squared error of a frame so many times. Notice what it costs: where the motor is still, the tip is not.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.motion import Emphasis, JointCurves
from bunraku.performers.vibration.evaluate import evaluate
from bunraku.performers.vibration.performer import VibrationPerformer
from bunraku.performers.vibration.solve import solve_gauss_newton

TURN, SECONDS = 0.9, 2.5  # s: when the emphasis changes; how much of the clip
DIRECTIONS = {
    "no emphasis": (),
    "the motor": (Emphasis("motor", 100.0),),
    "the tip": (Emphasis("tip", 100.0),),
    "the motor, then the tip": (Emphasis("motor", 100.0, end=TURN), Emphasis("tip", 100.0, start=TURN)),
}


def lesson(step_ms=4.0):
    """Times [s], and for each direction the distances [m] of motor and tip from where they should be, (n, 2)."""
    character, clip = bunraku.load_character("two-rods"), bunraku.load_clip("tilt")
    joints = clip.joints
    wish = JointCurves(joints.names, joints.rate, joints.values[: round(SECONDS * joints.rate) + 1])
    distances = {}
    for name, emphasis in DIRECTIONS.items():
        problem = VibrationPerformer(step_ms=step_ms).problem(character, clip.changed(emphasis=emphasis), wish)
        best = solve_gauss_newton(problem, max_iterations=12, tolerance=1e-2)
        motion = evaluate(problem, best.parameters).motions[0]
        seen = problem.nominal.outputs.observe(np.ascontiguousarray(motion.q[:: problem.stride]))
        distances[name] = np.linalg.norm(seen.positions - problem.nominal.targets.positions, axis=2)
    return np.arange(len(seen.positions)) * problem.stride * problem.profile.dt, distances


def rms(distance):
    """RMS over time, in metres."""
    return np.sqrt((distance**2).mean(axis=0))


if __name__ == "__main__":
    from matplotlib import pyplot

    t, distances = lesson()
    figure, axes = pyplot.subplots(2, 1, figsize=(10, 6), sharex=True, layout="constrained")
    for (name, distance), color in zip(distances.items(), ("#9aa0a8", "#2f6f9f", "#6a9a3a", "#c1272d"), strict=True):
        first, then = 1e3 * rms(distance[t < TURN]), 1e3 * rms(distance[t >= TURN])
        print(f"{name}: motor {first[0]:.2f} mm, then {then[0]:.2f}; tip {first[1]:.2f} mm, then {then[1]:.2f} (RMS)")
        for k, axis in enumerate(axes):
            axis.plot(t, 1e3 * distance[:, k], color=color, linewidth=1.2, label=name)
    for axis, place in zip(axes, ("motor", "tip"), strict=True):
        axis.axvline(TURN, color="black", linewidth=0.6, linestyle=":")
        axis.set(ylabel=f"{place} off [mm]", ylim=(0.0, None))
    axes[0].legend(frameon=False, fontsize=8)
    axes[1].set(xlabel="time [s]")
    pyplot.show()
