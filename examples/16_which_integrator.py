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
from scipy.sparse.linalg import LinearOperator, eigsh

import bunraku
from bunraku.mechanics.full_order.from_character import full_model
from bunraku.optimization.linear import analyse

STEP = 5e-4  # s
METHODS = ("bdf2", "generalized-alpha", "newmark")


def stable_steps(solid, factor):
    """The largest stable steps [s] of Runge-Kutta: 2.83 / w without damping, 2.785 / (beta w^2) with it, w the fastest motion."""
    K = solid.stiffness()
    inverse = LinearOperator(K.shape, matvec=factor.solve, dtype=float)
    first = np.random.default_rng(0).normal(size=solid.size)
    square = eigsh(K, 1, M=solid.mass, Minv=inverse, which="LM", v0=first, tol=1e-4, return_eigenvectors=False)[0]
    return 2.83 / np.sqrt(square), 2.785 / (solid.material.strain_damping * square)


def growth(solid, factor, h, steps=10):
    """How much a free solid at rest, its nodes shaken by 1 nm, grows in some steps of Runge-Kutta; infinite: it collapsed."""
    u, v = 1e-9 * np.random.default_rng(0).uniform(-1.0, 1.0, solid.size), np.zeros(solid.size)

    def slope(u, v):
        return v, factor.solve(-solid.force(u) - solid.damping_force(u, v))

    for _ in range(steps):
        try:
            k1 = slope(u, v)
            k2 = slope(u + 0.5 * h * k1[0], v + 0.5 * h * k1[1])
            k3 = slope(u + 0.5 * h * k2[0], v + 0.5 * h * k2[1])
            k4 = slope(u + h * k3[0], v + h * k3[1])
        except bunraku.BunrakuError:  # turned inside out, or no numbers any more
            return np.inf
        u = u + h / 6.0 * (k1[0] + 2.0 * k2[0] + 2.0 * k3[0] + k4[0])
        v = v + h / 6.0 * (k1[1] + 2.0 * k2[1] + 2.0 * k3[1] + k4[1])
    return float(np.abs(u).max() / 1e-9)


def roughness(motion):
    """The largest second difference of the motor's torque [N m]."""
    return float(np.abs(np.diff(motion.torques[:, 0], n=2)).max())


def lesson():
    """Stable steps of Runge-Kutta (undamped, damped), its growth at 0.5 ms, a 10,000th, below the limit; the implicit runs."""
    model = full_model(bunraku.load_character("one-rod"), coarser=5.0)
    solid = model.assembly.pieces[0].solid
    factor = analyse(solid.mass).factorize(solid.mass, definite=True)
    limits = stable_steps(solid, factor)
    grown = [growth(solid, factor, h) for h in (STEP, STEP / 10_000.0, 0.9 * limits[1])]
    t = np.arange(81) * STEP
    s = np.clip(t / 0.04, 0.0, 1.0)
    angle = (0.05 * (10.0 * s**3 - 15.0 * s**4 + 6.0 * s**5))[:, None]
    start = model.rest(angle[0]).state
    return limits, grown, {name: model.simulate(angle, STEP, start=start, method=name) for name in METHODS}


if __name__ == "__main__":
    from matplotlib import pyplot

    (undamped, damped), grown, motions = lesson()
    print(f"Runge-Kutta is stable up to {undamped:.1e} s without damping, {damped:.1e} s with it")
    for h, times in zip((STEP, STEP / 10_000.0, 0.9 * damped), grown, strict=True):
        print(f"    steps of {h:.1e} s: ten of them change a shake {times:.3g}-fold")
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    for name, motion in motions.items():
        print(
            f"{name:>20}: reached {motion.times[-1]:.3f} s, largest jump in the torque's slope {1e3 * roughness(motion):.2f} mN m"
        )
        axes[0].plot(motion.times, 1e3 * motion.tracked(["tip"])[:, 0, 0], label=name)
        axes[1].plot(motion.times[2:], 1e3 * np.diff(motion.torques[:, 0], n=2), label=name)
    axes[0].set(xlabel="time [s]", ylabel="tip [mm]")
    axes[1].set(xlabel="time [s]", ylabel="torque, second\ndifference [mN m]")
    axes[0].legend()
    pyplot.show()
