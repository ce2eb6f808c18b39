"""What touches the ground where MuJoCo has no sensors of contacts (before 3.3.5): looked up at each step, written where they would.

Numbers are those of the sensors; stepped in Python, a replay takes a few times as long as a rollout.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array


def contact_sensors() -> bool:
    """Whether MuJoCo has them."""
    import mujoco

    return hasattr(mujoco.mjtSensor, "mjSENS_CONTACT")


def step_and_look(
    model: Any, data: Any, state: Array, control: Array, *, tips: NDArray[np.int64], sensors: dict[str, slice]
) -> tuple[Array, Array]:
    """States (m, n) after steps of the controls (m, nu) from ``state`` on, and sensors (m, s) before each, as a rollout gives them.

    ``tips`` (e,), ``sensors``: as of `ground.model.GroundModel`.
    """
    import mujoco

    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    ground, beneath = model.geom("ground").id, model.geom("ground of others").id
    place, local = {int(tip): e for e, tip in enumerate(tips)}, np.empty(6)
    mujoco.mj_setState(model, data, state, full)
    states, sensed = np.empty((len(control), len(state))), np.empty((len(control), model.nsensordata))
    for sent, after, seen in zip(control, states, sensed, strict=True):
        data.ctrl[:] = sent
        mujoco.mj_step(model, data)
        mujoco.mj_getState(model, data, after, full)
        seen[:] = data.sensordata
        seen[sensors["others"]], force = 0.0, np.zeros((len(tips), 4))
        for i, (first, second) in enumerate(data.contact.geom.tolist()):  # a plane or a height field comes first
            if first == beneath:
                seen[sensors["others"]] += 1.0
            elif first == ground:
                mujoco.mj_contactForce(model, data, i, local)
                force[place[second]] += [1.0, *(data.contact.frame[i].reshape(3, 3).T @ local[:3])]
        seen[sensors["force"]] = force.ravel()
    return states, sensed
