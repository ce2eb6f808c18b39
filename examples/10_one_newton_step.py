"""
10. One Newton step
===================

A double pendulum with a motor in the shoulder shall swing its upper link 60 degrees to either side. The first guess is to hang
still. Newton's method on trajectories solves a linear problem about that guess, and the projection operator turns the answer,
which obeys no law of mechanics, into a motion that does. Notice how far the first step gets, as in figure 3 of the paper: one step
almost solves the whole problem. Then see what the projection is worth: the same first answer performed without its feedback.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.optimization.control.lqr import linear_quadratic_step
from bunraku.optimization.control.trajectory import TrajectoryNewton
from bunraku.performers.marionette.actuated import state_problem


def lesson():
    """The motions "hanging", "first", "optimum" and "unprojected" as (x, u), their costs, and the solution behind the optimum."""
    problem = state_problem(bunraku.load_character("double-pendulum"), bunraku.load_clip("wide-swing").need_joints("this lesson"))
    dynamics, cost = VariationalDynamics(problem.integrator), problem.cost
    x, u = np.tile(problem.wish[0], (len(problem.wish), 1)), np.zeros((len(problem.wish) - 1, 1))
    one = TrajectoryNewton(max_iterations=1).solve(dynamics, cost, x, u)
    best = TrajectoryNewton(tolerance=1e-16).solve(dynamics, cost, x, u)
    (A, B), (w, end), (H, last) = dynamics.linearize(x, u), cost.gradient(x, u), cost.hessian(x, u, exact=False)
    step = linear_quadratic_step(A, B, H, w, last, end)  # the linear problem about hanging, and its inputs as they are
    bare = dynamics.simulate(x[0], u + step.v)
    motions = {"hanging": (x, u), "first": (one.x, one.u), "optimum": (best.x, best.u), "unprojected": (bare.x, bare.u)}
    return motions, {name: cost.value(*motion) for name, motion in motions.items()}, best


if __name__ == "__main__":
    from matplotlib import pyplot

    motions, costs, best = lesson()
    for name, value in costs.items():
        print(f"{name:>20}: cost {value:.5f}, {value / costs['optimum']:.4f} of the optimum")
    print(f"{best.iterations} steps to the optimum, order {best.exponent:.2f}")
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    styles = {"hanging": ":", "first": "--", "optimum": "-"}
    for column, joint in enumerate(("shoulder", "elbow")):
        for name, style in styles.items():
            axes[column].plot(
                np.arange(len(best.x)) / 100.0, np.degrees(motions[name][0][:, column]), style, color="black", label=name
            )
        axes[column].set(xlabel="time [s]", ylabel=f"{joint} [deg]")
    axes[0].legend()
    pyplot.show()
