"""
9. Up and down again
====================

A pendulum hangs from a cart. The wish turns it up, lets it stand and turns it down, the cart staying where it is: no force on a
cart does that. Notice that the description of the character and the wish are all there is to state: no swings are proposed.
From hanging no descent leads up, so at first a hand helps the pendulum; its help gets dearer until it is taken away.

Then the performance starts a little off, a hundred times, with the feedback that came with it and without.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.performers.marionette.actuated import ActuatedResult, solve_actuated

UP = np.pi


def standing(result: ActuatedResult, degrees: float = 3.0) -> float:
    """The longest time [s] that the pendulum stays within some degrees of standing."""
    off = np.abs(result.positions.column("theta") - UP) > np.radians(degrees)
    edges = np.flatnonzero(np.concatenate([[True], off, [True]]))
    return (np.diff(edges).max() - 2) * result.integrator.dt


def returned(result: ActuatedResult, *, feedback: bool, starts: int = 100, seed: int = 0) -> float:
    """The share of performances, off by about 0.1 rad and 0.2 rad/s at the start, that end within 3 degrees and 2 cm of it."""
    dynamics, system = VariationalDynamics(result.integrator), result.system
    mass = system.lagrangian_derivatives(system.home, np.zeros(system.nq)).vv
    rng, good = np.random.default_rng(seed), 0
    for _ in range(starts):
        off = np.concatenate([rng.normal(size=2) * [0.02, 0.1], mass @ (rng.normal(size=2) * [0.05, 0.2])])
        run = dynamics.rollout(result.x[0] + off, result.x, result.u, result.K if feedback else 0.0 * result.K)
        end = np.abs(run.x[-1, :2] - result.x[-1, :2])
        good += run.good and end[0] < 0.02 and end[1] < np.radians(3.0)
    return good / starts


def lesson():
    """The performance, how long it stands, and the share of disturbed performances that arrive, with feedback and without."""
    result = solve_actuated(bunraku.load_character("cart-pendulum"), bunraku.load_clip("stand-up").need_joints("this lesson"))
    return result, standing(result), returned(result, feedback=True), returned(result, feedback=False)


if __name__ == "__main__":
    from matplotlib import pyplot

    result, seconds, closed, opened = lesson()
    place, angle = result.positions.values.T
    print(
        f"{result.status.value} after {result.iterations} Newton steps: cost {result.cost_initial:.3g} -> {result.cost_final:.3g}"
    )
    print(f"within 3 degrees of standing for {seconds:.2f} s, {np.degrees(angle[-1]):.2f} degrees from hanging at the end")
    print(
        f"largest push {np.abs(result.u).max():.2f} N of {result.problem.limits[0]:g}, {np.abs(place).max():.2f} m along the rail"
    )
    print(f"disturbed performances that arrive: {closed:.0%} with feedback, {opened:.0%} without")
    figure, axes = pyplot.subplots(3, 1, figsize=(7, 6), sharex=True, layout="constrained")
    t = result.positions.times
    axes[0].plot(t, np.degrees(result.problem.wish[:, 1]), "--", color="#888888", label="wish")
    axes[0].plot(t, np.degrees(angle), color="#c1272d", label="performed")
    axes[0].set_ylabel("pendulum [deg]")
    axes[0].legend()
    axes[1].plot(t, place)
    axes[1].set_ylabel("cart [m]")
    axes[2].plot(t[:-1], result.u)
    axes[2].set(ylabel="push [N]", xlabel="time [s]")
    pyplot.show()
