"""Replay of a flexible character's performance in the full elastic model, which shares no equation of motion with the reduced one.

The motors follow the channels exactly; frames are recorded every 4 ms, so that little of a peak is missed between. The error is
measured against poses at rest of the same full model under the wished motor values, solved for every 20 ms and carried on between
(`targets.between`). It takes minutes to hours; results are kept by what they were computed from, and found
again.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.provenance import content_hash
from bunraku.geometry.poses import NO_MOVE, Rigid, compose
from bunraku.mechanics.cache import content_key, load_result, save_result
from bunraku.mechanics.full_order.from_character import full_model
from bunraku.mechanics.full_order.model import FullOrderModel
from bunraku.mechanics.full_order.motion import FullState
from bunraku.motion import JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.flexible.targets import Guide, between

FULL_STEP, METHOD = 2e-3, "generalized-alpha"
"""Step [s] and scheme (docs, theory of the full-order model)."""

COARSER = 6.0
"""Cells of rods and tubes are this many times longer than usual, and numbers set so that they bend, twist and weigh the same."""

TOLERANCE = 1e-8
"""Of Newton's steps, relative to the largest part."""

SAMPLE = 0.02
"""Poses at rest are solved for at this spacing [s]."""

RECORD = 4e-3
"""Frames are recorded at this spacing [s]."""

VERSION = 3
"""Raised when the model changes so that kept results no longer hold."""


@dataclass(frozen=True)
class FullOrderReplay:
    """Frames in the full model: ``times`` (n,) [s], ``positions`` and ``targets`` (n, frames, 3) [m], constraint ``drift``.

    ``unknowns``: of all parts; ``steps_per_s``: of the simulation, thread CPU; ``lost``: why it ended early, empty if it did not.
    """

    frames: tuple[str, ...]
    times: Array = field(repr=False)
    positions: Array = field(repr=False)
    targets: Array = field(repr=False)
    drift: float
    unknowns: int
    steps_per_s: float
    lost: str = ""

    @property
    def error(self) -> Array:
        """Distance (n, frames) [m] from the targets."""
        return np.asarray(np.linalg.norm(self.positions - self.targets, axis=2))

    @property
    def peak(self) -> float:
        """The largest error [m]; infinite when the simulation ended early."""
        return float(self.error.max()) if not self.lost else np.inf

    @property
    def rms(self) -> float:
        """Root of the mean square error [m] over times and frames; infinite when the simulation ended early."""
        return float(np.sqrt((self.error**2).mean())) if not self.lost else np.inf


def found_full_order(performance: Performance, frames: Sequence[str]) -> FullOrderReplay | None:
    """The replay of this performance if it was made before."""
    kept = load_result("full-order", _key(performance, frames))
    if kept is None or not {"times", "positions", "targets", "numbers"} <= set(kept):
        return None
    drift, unknowns, speed = (float(x) for x in kept["numbers"])
    times, positions, targets = (np.asarray(kept[name], dtype=np.float64) for name in ("times", "positions", "targets"))
    return FullOrderReplay(tuple(frames), times, positions, targets, drift, int(unknowns), speed)


def replay_full_order(
    performance: Performance, frames: Sequence[str], *, guide: Guide | None = None, monitor: Monitor = SILENT
) -> FullOrderReplay:
    """The replay, found again or computed; kept when it is whole. ``guide``: how targets go on between the samples."""
    kept = found_full_order(performance, frames)
    if kept is not None:
        return kept
    character = performance.character
    model = full_model(character, coarser=COARSER)
    played = _nodes(character, performance.sent(), FULL_STEP, late=True)
    wished = _nodes(character, performance.wish_or_plan(), FULL_STEP)
    every = round(RECORD / FULL_STEP)
    motion = model.simulate(played, FULL_STEP, method=METHOD, every=every, monitor=monitor, tolerance=TOLERANCE)
    count = len(motion.times) if motion.status.good else max(1, len(motion.times) - 1)
    nodes = np.rint(motion.times[:count] / FULL_STEP).astype(np.int64)
    nodes = nodes[nodes < len(wished)]
    chosen = np.unique(np.append(np.arange(0, nodes[-1], round(SAMPLE / FULL_STEP)), nodes[-1])) if len(nodes) else nodes
    at: Array = np.asarray(chosen * FULL_STEP, dtype=np.float64)
    samples, lost = np.zeros((0, len(frames), 3)), ""
    if len(nodes):
        samples, lost = _targets(model, character, wished[chosen], at, frames, monitor)
    lost = motion.note if not motion.status.good else lost
    known = at[: len(samples)]
    n = int((nodes * FULL_STEP <= known[-1] + 1e-9).sum()) if len(known) else 0
    times = motion.times[:n]
    targets = between(times, known, samples, guide)
    places = np.stack([_placed(character, name, motion.pose(name)) for name in frames], axis=1)
    drift, speed = float(motion.drift.max(initial=0.0)), motion.effort.steps_per_second
    replay = FullOrderReplay(tuple(frames), times, places[:n], targets, drift, model.size, speed, lost)
    if not lost:
        arrays = {"times": replay.times, "positions": replay.positions, "targets": replay.targets}
        save_result("full-order", _key(performance, frames), arrays | {"numbers": np.array([drift, float(model.size), speed])})
    return replay


def _key(performance: Performance, frames: Sequence[str]) -> str:
    curves = (performance.sent(), performance.wish_or_plan())
    motors = [(curve.names, curve.rate, np.asarray(curve.values)) for curve in curves]
    return content_key(
        VERSION, METHOD, FULL_STEP, COARSER, TOLERANCE, SAMPLE, RECORD, content_hash(performance.character), list(frames), motors
    )


def _nodes(character: Character, curves: JointCurves, dt: float, *, late: bool = False) -> Array:
    """Motor values (N + 1, motors) at steps of dt, from the cubic through the samples; ``late`` by the motors' delays."""
    values = np.column_stack([curves.column(name) for name in character.driven])
    if len(values) < 4:
        raise BadInput(f"the performance has {len(values)} samples; the full-order model needs at least 4")
    at = np.arange(len(values)) / curves.rate
    times, spline = np.arange(int(at[-1] / dt + 1e-6) + 1) * dt, CubicSpline(at, values)
    delays = [motor.delay if late else 0.0 for motor in character.motors]
    return np.column_stack([spline(np.clip(times - d, 0.0, at[-1]))[:, k] for k, d in enumerate(delays)])


def _targets(
    model: FullOrderModel, character: Character, wished: Array, times: Array, frames: Sequence[str], monitor: Monitor
) -> tuple[Array, str]:
    """Frames (n, frames, 3) at rest at each row of motor values, warm started; and why it ended early, if it did."""
    places: list[list[Array]] = []
    for k, rested in enumerate(model.rests(wished)):
        if not rested.status.good:
            return np.array(places).reshape(-1, len(frames), 3), f"no rest at {times[k]:.2f} s: {rested.note}"
        state = rested.state
        places.append([_placed(character, name, _pose(model, state, name)) for name in frames])
        if k % 10 == 0:
            monitor.report(Event("full-order targets", k / len(wished), f"{times[k]:.2f} s"))
        if monitor.cancelled:
            return np.array(places), "cancelled"
    return np.array(places), ""


def _pose(model: FullOrderModel, state: FullState, name: str) -> Rigid:
    """Rotation and position of a body or frame in a state."""
    body, X = model.frames.get(name, (name, NO_MOVE))
    if body not in model.body_names:
        return X
    k = model.body_names.index(body)
    R = state.rotations[k]
    return compose((R, state.c[k] - R @ model.assembly.centers[k]), X)


def _placed(character: Character, name: str, pose: Rigid) -> Array:
    """The tracked point: the origin of a frame, or the centre of mass of a body."""
    center = next((body.center_of_mass for body in character.bodies if body.name == name), None)
    if center is None or any(frame.name == name for frame in character.frames):
        return pose[1]
    return np.asarray(pose[1] + pose[0] @ np.array(center))
