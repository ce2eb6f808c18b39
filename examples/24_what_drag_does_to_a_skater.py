"""
24. What drag does to a skater
==============================

Skatebot has two wheels in line under each foot, and none of them is driven. Its feet take turns: two stand and push, two swing. On
wheels that roll easily it keeps its feet almost along the way and leans on them a little; the more the wheels drag, the further
it turns a foot out before it pushes off, for a wheel that stands across the way is one to push against. All this is found from
one wish, 0.3 m in 1.2 s. Notice that the mean drag grows almost as the resistance does, since the distance stays, and that so much
depends on it: measure it, by letting a wheel coast to a stop, before you believe a plan. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.building.tips import with_rolling_resistance
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.motion import Gait
from bunraku.performers.locomotion.solve import plan_motion

DRAGS = (0.25, 1.0, 2.0)  # N s/m of each wheel
GAIT = Gait(1.2, "trot", distance=(0.3, 0.0), turn=0.0, friction=0.6, symmetric=True, samples=24)


def lesson(drags=DRAGS):
    """For each drag whether the plan holds, the largest angle [rad] of a standing foot against the way, and how far it rolls [m].

    The second half of a cycle mirrors the first: left and right take turns.
    """
    cycles = {}
    for drag in drags:
        plan = plan_motion(with_rolling_resistance(bunraku.load_character("skatebot"), drag), GAIT).plan
        v, model = plan.samples(0, plan.cycle), plan.problem.model
        seen = kinematics(model, v[:, : model.nq])
        stands = np.array([plan.touching(k) for k in range(plan.cycle + 1)], dtype=bool)
        angle = np.abs(np.arctan2(seen.rolling[..., 1], seen.rolling[..., 0]))
        both = stands[1:] & stands[:-1]
        rolled = np.linalg.norm(np.diff(seen.contact, axis=0), axis=2) * both
        force = np.abs(np.einsum("nja,nja->nj", v[:, model.nq :].reshape(len(v), -1, 3), seen.rolling)) * stands
        cycles[drag] = {
            "residual": plan.solution.residual,
            "distance": plan.displacement[0],
            "angle": float(angle[stands].max()),
            "rolled": float(rolled.sum(axis=0).mean()),
            "drag": float(force.sum(axis=1).mean()),
        }
    return cycles


if __name__ == "__main__":
    from matplotlib import pyplot

    cycles = lesson()
    for drag, one in cycles.items():
        print(f"{drag:g} N s/m: push-off at up to {np.degrees(one['angle']):.0f} deg, rolls {1e3 * one['rolled']:.0f} mm", end=" ")
        print(f"of {1e3 * one['distance']:.0f} mm a cycle, against {one['drag']:.2f} N")
    figure, axis = pyplot.subplots(figsize=(6, 3.2), layout="constrained")
    axis.plot(list(cycles), [np.degrees(one["angle"]) for one in cycles.values()], "o-", color="#c1272d")
    axis.set(xlabel="rolling resistance of a wheel [N s/m]", ylabel="push-off angle [deg]", ylim=(0.0, 95.0))
    pyplot.show()
