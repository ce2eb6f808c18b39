"""
22. Nobody told it how
======================

Swizzlebot stands on four wheels that no motor turns, never lifts one, and shall be half a metre further in 1.2 seconds, again and
again. Nothing else is said: the search begins with the robot standing still at home. A wheel can be pushed sideways but not
forwards, so it goes by toeing out while the legs spread and in while they close, which skaters call a swizzle; left and
right do the same, and one pair pushes while the other turns round. Notice that it is drag that makes it work: on wheels that
roll without any, the best motion of a cycle that has to be repeated is to do nothing at all, at speed.
This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.building.tips import with_rolling_resistance
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.performers.locomotion.solve import plan_motion

SAMPLES = 24
DRAGS = (0.0, 0.5)  # N s/m of each wheel


def lesson(drags=DRAGS):
    """For each drag the plan, whether it converged, and what its wheels do over one cycle.

    ``toe`` [rad] (T, 4) of the wheels against the heading of the body, ``aside`` [m] (T, 4) distance from its middle, ``slip``
    [m] of each interval across the wheel, ``along`` and ``across`` [N] (T, 4) what the ground does to it in those directions.
    """
    character, gait = bunraku.load_character("swizzlebot"), bunraku.load_clip("swizzle").gait.changed(samples=SAMPLES)
    cycles = {}
    for drag in drags:
        plan = plan_motion(with_rolling_resistance(character, drag), gait).plan
        v, model = plan.samples(0, plan.cycle), plan.problem.model
        seen = kinematics(model, v[:, : model.nq])
        t, e = seen.rolling, seen.contact
        side = np.cross([0.0, 0.0, 1.0], t)
        forces = v[:, model.nq :].reshape(len(v), -1, 3)
        middle = t[1:] + t[:-1]
        middle /= np.linalg.norm(middle, axis=2, keepdims=True)
        across = np.cross([0.0, 0.0, 1.0], middle)
        cycles[drag] = {
            "plan": plan,
            "names": model.tip_names,
            "toe": np.arctan2(t[..., 1], t[..., 0]) - v[:, 3:4],
            "aside": np.abs(e[..., 1] - v[:, 1:2]),
            "slip": np.einsum("nja,nja->nj", np.diff(e, axis=0), across),
            "along": np.einsum("nja,nja->nj", forces, t),
            "across": np.einsum("nja,nja->nj", forces, side),
            "speed": np.diff(seen.com[:, 0]) / plan.problem.step,
        }
    return cycles


if __name__ == "__main__":
    from matplotlib import pyplot

    cycles = lesson()
    for drag, one in cycles.items():
        x, y, turn = one["plan"].displacement
        print(f"drag {drag:g} N s/m a wheel: {one['plan'].solution.iterations} steps, {x:.4f} m a cycle", end="; ")
        print(f"toe up to {np.degrees(np.abs(one['toe']).max()):.1f} deg", end=", ")
        print(f"stroke {1e3 * np.ptp(one['aside'], axis=0).max():.1f} mm, slip at most {np.abs(one['slip']).max():.1e} m")
    one = cycles[DRAGS[-1]]
    share = np.linspace(0.0, 1.0, len(one["toe"]))
    figure, axes = pyplot.subplots(1, 2, figsize=(10, 3.2), layout="constrained")
    for j, name in enumerate(one["names"]):
        axes[0].plot(share, np.degrees(one["toe"][:, j]), label=name)
        axes[1].plot(share, 1e3 * one["aside"][:, j])
    axes[0].set(xlabel="share of the cycle", ylabel="toe [deg]")
    axes[1].set(xlabel="share of the cycle", ylabel="from the middle [mm]")
    axes[0].legend()
    pyplot.show()
