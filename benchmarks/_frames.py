"""What a flexible character does under given motor curves, and what it should do: predicted and quasi-static frames.

The target of a wish is where the frames are when the character follows it so slowly that nothing but gravity bends it (the
quasi-static solve of Sec. 6 of Hoshyari et al. 2019).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.deflection import deflection_ratio
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion, simulate


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
