"""What a flexible character does under motor curves, against where it should be: computed anew at the fine step.

The curves are those of the channels, simulated with the reduced model at 0.5 ms; the targets are the poses at rest for the wished
curves. Whoever promises and whoever verifies compute the same.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.flexible.places import place_of
from bunraku.mechanics.flexible.prediction import FINE_STEP, motor_nodes
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.mechanics.integrators.driven.outputs import OutputTargets, track
from bunraku.mechanics.integrators.driven.rest import rest_motion
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion, simulate
from bunraku.motion import JointCurves, Mark

EVERY = 4
"""Frames are compared at every so many fine steps."""

HIT_WINDOW = 0.15
"""Seconds before and after a stroke in which its time is looked for."""


@dataclass(frozen=True, eq=False)
class TrackedError:
    """Distances (n, m) [m] of the places from their targets at ``times`` (n,) [s], and what of the motion is needed elsewhere."""

    times: Array
    names: tuple[str, ...]
    distance: Array
    tilt: Array
    seen: OutputTargets
    motion: DrivenMotion

    @property
    def peak(self) -> float:
        """The largest distance [m]."""
        return float(self.distance.max(initial=0.0))

    @property
    def rms(self) -> float:
        """Root of the mean square distance [m] over times and places."""
        return float(np.sqrt((self.distance**2).mean())) if self.distance.size else 0.0

    def of(self, name: str, start: float = 0.0, end: float = np.inf) -> Array:
        """The distances of one place from ``start`` to ``end`` [s]."""
        return self.distance[(self.times >= start) & (self.times <= end), self.names.index(name)]


@dataclass(frozen=True, eq=False)
class Judged:
    """The targets, and the errors before (playing the wish; None if it cannot be simulated) and after."""

    targets: OutputTargets
    before: TrackedError | None
    after: TrackedError
    note: str = ""


def judge(flexible: FlexibleCharacterSystem, wish: JointCurves, played: JointCurves, names: Sequence[str]) -> Judged:
    """Simulate the wish and what is played instead (commands of the motors) at the fine step; BadInput if the latter fails.

    Motors follow commands after the delay they state; the targets are those of the wish without any.
    """
    dt = FINE_STEP
    asked, before, done = (
        motor_nodes(flexible, wish, dt),
        *(motor_nodes(flexible, curves, dt, late=True) for curves in (wish, played)),
    )
    rest = rest_motion(flexible.system, np.ascontiguousarray(asked[::EVERY]), start=flexible.home, stride=4)
    if not rest.status.good:
        raise BadInput(f"the poses of the wish cannot be held at rest: {rest.message}")
    places = [place_of(flexible.character, name) for name in names]
    outputs = track(flexible.system, places)
    targets = outputs.observe(np.ascontiguousarray(rest.q))
    errors: list[TrackedError | None] = []
    note = ""
    for nodes in (before, done):
        motion = simulate(flexible.system, nodes, dt, start=rest.q[0])
        if not motion.status.good:
            if nodes is done:
                raise BadInput(f"the motion cannot be simulated: {motion.message}")
            errors.append(None)
            note = f"the wish as it is cannot be simulated: {motion.message}"
            continue
        seen = outputs.observe(np.ascontiguousarray(motion.q[::EVERY]))
        away = np.linalg.norm(seen.positions - targets.positions, axis=2)
        times: Array = np.arange(len(away), dtype=np.float64) * (dt * EVERY)
        errors.append(TrackedError(times, tuple(names), away, tilts(seen, targets), seen, motion))
    after = errors[1]
    if after is None:
        raise BadInput("the motion cannot be simulated")
    return Judged(targets, errors[0], after, note)


def tilts(seen: OutputTargets, targets: OutputTargets) -> Array:
    """Angle [rad] between the z axes of places and of their targets, (n, m)."""
    z, z_target = seen.rotations[..., 2], targets.rotations[..., 2]
    across = np.linalg.norm(np.cross(z, z_target), axis=-1)
    return np.arctan2(across, (z * z_target).sum(axis=-1))


def hit_lags(judged: Judged, marks: Sequence[Mark]) -> dict[str, float]:
    """By how much [s] each stroke of the marks is late (or early, negative): where the velocities of all places fit best.

    Within HIT_WINDOW of each stroke the velocities of the places are shifted by up to 60 ms against those of the targets until the
    squared differences are least. Strokes nearer than 0.21 s to an end of the motion are left out.
    """
    after = judged.after
    if len(after.times) < 3:
        return {}
    step = float(after.times[1])
    velocity, target_velocity = (
        np.gradient(x.positions, step, axis=0).reshape(len(after.times), -1) for x in (after.seen, judged.targets)
    )
    half, most = round(HIT_WINDOW / step), round(0.06 / step)
    lags = {}
    for mark in marks:
        if mark.stroke is None:
            continue
        k = round(mark.stroke / step)
        if k - half - most < 0 or k + half + most >= len(velocity):
            continue
        window = target_velocity[k - half : k + half]
        shifts = np.arange(-most, most + 1)
        fit = np.array([-((velocity[k - half + s : k + half + s] - window) ** 2).sum() for s in shifts])
        lags[f"{mark.text} at {mark.stroke:g} s"] = float(shifts[int(np.argmax(fit))] * step)
    return lags
