"""Motor curves of a flexible character at the fine step at which performances are judged.

Curves at the rate of the channels become node values at a finer step by the twice continuously differentiable cubic through their
samples.
"""

from __future__ import annotations

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.motion import JointCurves

FINE_STEP = 5e-4
"""The step [s] at which performances are judged."""


def motor_nodes(model: FlexibleCharacterSystem, curves: JointCurves, dt: float, *, late: bool = False) -> Array:
    """Node values (N + 1, nk) at steps of ``dt`` [s] of the motors' curves, in the order of the system's kinematic coordinates.

    ``late``: the curves are commands, which each motor follows after the delay it states.
    """
    names = [model.system.names[i] for i in model.system.kinematic]
    missing = next((name for name in names if name not in curves.names), None)
    if missing is not None:
        raise BadInput(f"there is no curve for the motor coordinate {missing!r}; curves are {', '.join(curves.names[:12])}")
    values = np.column_stack([curves.column(name) for name in names])
    if len(values) < 4:
        raise BadInput(f"the motor curves have {len(values)} samples; at least 4 are needed")
    at = np.arange(len(values)) / curves.rate
    count = round(float(at[-1]) / dt)
    times, spline = np.arange(count + 1) * dt, CubicSpline(at, values)
    delay = {motor.coordinate: motor.delay if late else 0.0 for motor in model.character.motors}
    columns = [spline(np.clip(times - delay[name], 0.0, at[-1]))[:, k] for k, name in enumerate(names)]
    return np.ascontiguousarray(np.column_stack(columns))
