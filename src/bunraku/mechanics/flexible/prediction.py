"""What a flexible character does under given motor curves, and what it should do: predicted and quasi-static frames.

Motor curves at the rate of the channels become node values at a finer step by the twice continuously differentiable cubic through
their samples. The target of a wish is where the frames are when the character follows it so slowly that nothing but gravity bends
it (the quasi-static solve of Sec. 6 of Hoshyari et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.deflection import deflection_ratio
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion, simulate
from bunraku.motion import JointCurves

FINE_STEP = 5e-4
"""The step [s] at which performances are judged."""


@dataclass(frozen=True, eq=False)
class FramePath:
    """Frames over time: ``times`` (n,) [s], ``names``, ``positions`` (n, m, 3) [m], ``rotations`` (n, m, 3, 3).

    ``q`` (n, nq) are the configurations; ``motion`` is the simulation, None for rest.
    """

    model: FlexibleCharacterSystem
    times: Array
    names: tuple[str, ...]
    positions: Array
    rotations: Array
    q: Array
    motion: DrivenMotion | None = None

    def distance(self, other: FramePath) -> Array:
        """Distance (n, m) [m] of each frame from the other's at the same times."""
        return np.asarray(np.linalg.norm(self.positions - other.positions, axis=2))

    @cached_property
    def deflection(self) -> dict[str, float]:
        """Largest deflection over length of every part."""
        return deflection_ratio(self.model, self.q if self.motion is None else self.motion.q)

    @cached_property
    def closure(self) -> float:
        """Largest residual of the constraints that close loops [m]; 0 without loops."""
        if not self.model.system.nc:
            return 0.0
        return max(float(np.abs(self.model.system.constraint_values(q)).max()) for q in self.q)


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


def predict_frames(
    model: FlexibleCharacterSystem, frames: Sequence[str], K: Array, dt: float, *, every: int = 1, start: Array | None = None
) -> FramePath:
    """Simulate along node values K (N + 1, nk) from rest and observe the frames at every ``every``-th node."""
    motion = simulate(model.system, K, dt, start=start)
    motion.require()
    return _observed(model, frames, motion.q[::every], dt * every, motion)


def rest_frames(
    model: FlexibleCharacterSystem, frames: Sequence[str], K: Array, dt: float, *, every: int = 1, stride: int = 4
) -> FramePath:
    """The frames at rest under gravity for every ``every``-th row of K; solved at each ``stride``-th of those, cubic between."""
    chosen = np.ascontiguousarray(K[::every])
    rest = rest_motion(model.system, chosen, start=model.home, stride=stride)
    if not rest.status.good:
        raise BadInput(f"the target cannot be computed: {rest.message}")
    return _observed(model, frames, rest.q, dt * every, None)


def _observed(model: FlexibleCharacterSystem, frames: Sequence[str], q: Array, dt: float, motion: DrivenMotion | None) -> FramePath:
    seen = track(model.system, positions=tuple(frames)).observe(np.ascontiguousarray(q))
    return FramePath(
        model, np.asarray(np.arange(len(q)) * dt, dtype=np.float64), tuple(frames), seen.positions, seen.rotations, q, motion
    )
