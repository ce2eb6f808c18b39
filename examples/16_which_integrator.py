"""
16. Which integrator
====================

A steel rod with a weight at its tip is turned by a motor, as a full elastic model: thousands of nodes, most of whose motions are
faster than anyone can see. Explicit Runge-Kutta must follow them all: 0.5 ms is hopeless, and so is a step ten thousand times
smaller, because the material's damping makes the fastest motions die faster still. Implicit schemes step over them. The paper
reports that Newmark's scheme blows up; here it does not, in this time, but notice the torque of the motor: Newmark has no damping
at all, and the forces of the constraints ripple more and more, while BDF2 and generalized alpha stay smooth.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.full_order.from_character import full_model
from bunraku.mechanics.full_order.integrator_study import explicit_limits, implicit_study, runge_kutta_growth

STEP = 5e-4  # s


def lesson():
    """Stable steps of Runge-Kutta (undamped, damped), its growth at 0.5 ms, a 10,000th, below the limit; the implicit runs."""
    model = full_model(bunraku.load_character("one-rod"), coarser=5.0)
    solid = model.assembly.pieces[0].solid
    limits = explicit_limits(solid)
    growth = [runge_kutta_growth(solid, h, 10) for h in (STEP, STEP / 10_000.0, 0.9 * limits[1])]
    t = np.arange(81) * STEP
    s = np.clip(t / 0.04, 0.0, 1.0)
    angle = 0.05 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5)
    return limits, growth, implicit_study(model, angle[:, None], STEP)


if __name__ == "__main__":
    from matplotlib import pyplot

    (undamped, damped), growth, rows = lesson()
    print(f"Runge-Kutta is stable up to {undamped:.1e} s without damping, {damped:.1e} s with it")
    for h, grown in zip((STEP, STEP / 10_000.0, 0.9 * damped), growth, strict=True):
        print(f"    steps of {h:.1e} s: ten of them change a shake {grown:.3g}-fold")
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    for row in rows:
        print(f"{row.method:>20}: reached {row.reached:.3f} s, largest jump in the torque's slope {1e3 * row.roughness:.2f} mN m")
        axes[0].plot(row.motion.times, 1e3 * row.motion.tracked(["tip"])[:, 0, 0], label=row.method)
        axes[1].plot(row.motion.times[2:], 1e3 * np.diff(row.motion.torques[:, 0], n=2), label=row.method)
    axes[0].set(xlabel="time [s]", ylabel="tip [mm]")
    axes[1].set(xlabel="time [s]", ylabel="torque, second\ndifference [mN m]")
    axes[0].legend()
    pyplot.show()
