"""How string puppets are driven without optimal control: from one pose at rest to the next.

The quasi-static baseline. For every frame of the wish, carriages and strings that hold the puppet at rest as close to it as can be;
their motion low-passed without delay, because at full bandwidth the rigid strings of the model are jerked until a step fails; then
played open loop to the puppet, which swings as it must. Tension and the carriages' limits are not looked after.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.measures.driven_motion import tracked_frames
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import tensions
from bunraku.motion import Performance
from bunraku.performers.marionette.static_poses import StaticPoses, StaticWeights, follow_statically

CUTOFFS = (0.25, 0.35, 0.5, 1.0, 2.0)
"""Cut-offs [Hz] of the low-pass that are tried."""

STATICS = tuple(StaticWeights(vertical=vertical) for vertical in (0.1, 0.3, 1.0))
"""Weights of vertical strings that are tried."""

STATIC_RATE = 25.0
"""Poses at rest are solved for at about this many frames a second [Hz] and interpolated: far above every cut-off of use."""


@dataclass(frozen=True)
class QuasiStatic:
    """The quasi-static imitation of a wish over N steps.

    ``k`` (N + 1, nk): carriages and string lengths [m] as played; ``q`` (N + 1, nq): what the puppet does. ``static_q``
    (N + 1, nq): the poses at rest that k was made from, interpolated; ``residual`` [N, N·m]: the largest force left over in those
    solved for; ``unstable``: the share of them that are unstable rest. ``finished``: whether all steps could be simulated; if not,
    ``steps`` could, and q is held from there. ``tensions`` (N, strings) [N], NaN beyond ``steps``, and ``least_tension`` of them.
    ``rms`` [m]: sqrt(sum w |p - p*|² / sum w) over frames and points. ``cutoff`` [Hz] of the low-pass.
    """

    k: Array
    q: Array
    static_q: Array
    residual: float
    unstable: float
    finished: bool
    steps: int
    tensions: Array
    least_tension: float
    rms: float
    cutoff: float


def baseline_of(performance: Performance) -> QuasiStatic:
    """The best quasi-static imitation of the wish of a performance, from the pose that it starts in.

    The wish is the same, fade from hanging included, and so are the points it is judged by (`tracked_frames`).
    Of fifteen attempts, ``CUTOFFS`` by ``STATICS``, the one whose points come nearest; nobody looks after tension and limits.
    """
    character, wish, motion = performance.character, performance.wish_or_plan(), performance.motion
    if not character.strings:
        raise BadInput(f"{character.name!r} hangs on no strings; poses at rest on strings are what this compares with")
    system = character_system(character, torques=True)
    start = np.array([motion.column(name)[0] for name in system.names])
    q = np.tile(start, (len(wish.values), 1))
    q[:, [system.index(name) for name in wish.names]] = wish.values
    points = Points(system, tracked_frames(character))
    weights = np.full(len(points.names), 100.0)
    return best_quasi_static(character, system, q, points, weights, rate=wish.rate, cutoffs=CUTOFFS, q_start=start, statics=STATICS)


def best_quasi_static(
    character: Character,
    system: System,
    wish: ArrayLike,
    points: Points,
    weights: ArrayLike,
    *,
    rate: float,
    cutoffs: Sequence[float] = (0.5, 1.0, 2.0),
    q_start: ArrayLike,
    statics: Sequence[StaticWeights] = (StaticWeights(),),
) -> QuasiStatic:
    """Imitate the wish (N + 1, nq; kinematic columns are ignored) at ``rate`` [Hz] from rest at ``q_start`` (nq,).

    ``points`` are to follow those of the wish, by ``weights`` (points,) [1/m²]: 100 is usual. Taken are those of the ``cutoffs``
    [Hz] of the low-pass (infinite for none) and ``statics`` whose simulation finishes with the least RMS; when none finishes, the
    one that came farthest. The poses are solved for once for each of the statics.
    """
    target, weight, start = _checked(system, wish, points, weights, rate, cutoffs, q_start)
    tried = []
    for static in statics:
        poses, static_q = _static_motion(character, system, target, points, weight, start, rate, static)
        tried += [_play(system, poses, static_q, target, points, weight, start, rate, cutoff) for cutoff in cutoffs]
    return min(tried, key=lambda one: (-one.steps, one.rms))


def low_passed(k: Array, rate: float, cutoff: float, start: Array) -> Array:
    """The motion k (N + 1, nk) at ``rate`` [Hz], low-passed without delay, beginning at rest at ``start`` (nk,).

    A Butterworth filter of second order runs forward and backward, so that a wave of ``cutoff`` [Hz] keeps half its amplitude;
    before and after, k is held. What the filter lets begin early is faded out: over half a period of the cut-off the cubic is added
    that takes away the first value's distance from ``start`` and the velocity there, so that the first step is of second order in
    its length.
    """
    if np.isfinite(cutoff):
        from scipy.signal import butter, sosfiltfilt  # half a second to import

        hold = int(np.ceil(3.0 * rate / cutoff))
        filtered = sosfiltfilt(
            butter(2, cutoff, fs=rate, output="sos"), np.pad(k, ((hold, hold), (0, 0)), mode="edge"), axis=0, padlen=0
        )
        smooth = np.asarray(filtered, dtype=np.float64)[hold : hold + len(k)]
    else:
        smooth = k.copy()
    steps = min(len(k) - 1, max(2, round(0.5 * rate / cutoff)) if np.isfinite(cutoff) else 2)
    s = np.arange(steps + 1)[:, None] / steps
    velocity = (smooth[1] - smooth[0]) * steps
    smooth[: steps + 1] += (start - smooth[0]) * (1.0 - s) ** 2 * (1.0 + 2.0 * s) - velocity * s * (1.0 - s) ** 2
    return smooth


def _static_motion(
    character: Character,
    system: System,
    wish: Array,
    points: Points,
    weights: Array,
    start: Array,
    rate: float,
    static: StaticWeights,
) -> tuple[StaticPoses, Array]:
    """Poses at rest at about STATIC_RATE, and their motion (N + 1, nq) at ``rate`` through a cubic spline."""
    frames = max(2, int(np.ceil((len(wish) - 1) * min(1.0, STATIC_RATE / rate))) + 1)
    chosen = np.unique(np.linspace(0, len(wish) - 1, frames).round().astype(np.int64))
    poses = follow_statically(character, system, wish[chosen], points, weights, start, static=static)
    return poses, np.asarray(CubicSpline(chosen, poses.q)(np.arange(len(wish))), dtype=np.float64)


def _play(
    system: System,
    poses: StaticPoses,
    static_q: Array,
    wish: Array,
    points: Points,
    weights: Array,
    start: Array,
    rate: float,
    cutoff: float,
) -> QuasiStatic:
    """Low-pass the inputs, simulate, measure."""
    k = low_passed(static_q[:, system.kinematic], rate, cutoff, start[system.kinematic])
    integrator = VariationalIntegrator(system, 1.0 / rate)
    run = integrator.rollout(start, integrator.initial(start, start).p, np.zeros((len(k) - 1, system.nu)), k[1:])
    q = run.q.copy()
    q[run.steps + 1 :] = q[run.steps]
    pull = tensions(system, run)
    off = np.sum((points.positions(q) - points.positions(wish)) ** 2, axis=2) @ weights
    return QuasiStatic(
        k,
        q,
        static_q,
        float(poses.residual.max()),
        float(np.mean(poses.stiffness <= 0.0)),
        run.steps == len(k) - 1,
        run.steps,
        pull,
        float(np.min(pull[: run.steps], initial=np.inf)),
        float(np.sqrt(off.mean() / weights.sum())),
        cutoff,
    )


def _checked(
    system: System, wish: ArrayLike, points: Points, weights: ArrayLike, rate: float, cutoffs: Sequence[float], q_start: ArrayLike
) -> tuple[Array, Array, Array]:
    """Wish, weights and start as arrays of the right shape."""
    target = np.array(wish, dtype=np.float64)
    if target.ndim != 2 or target.shape[1] != system.nq or len(target) < 3:
        raise BadInput(f"the wish has shape {target.shape}; it must be (frames, {system.nq}) with at least 3 frames")
    start = system.vector("q_start", q_start, system.nq)
    target[:, system.kinematic] = start[system.kinematic]
    if not np.isfinite(target).all():
        raise BadInput("the wish holds numbers that are not finite; fill its gaps first")
    weight = system.vector("weights", weights, len(points.names))
    if weight.min(initial=0.0) < 0.0 or not weight.sum() > 0.0:
        raise BadInput("the points' weights must not be negative, and one at least positive")
    if not (np.isfinite(rate) and rate > 0.0):
        raise BadInput(f"the rate is {rate}; it must be a positive number of frames a second")
    if not cutoffs or not all(0.0 < cutoff < 0.5 * rate or cutoff == np.inf for cutoff in cutoffs):
        raise BadInput(f"the cut-offs are {tuple(cutoffs)} Hz; each must be positive and below half the rate {rate:g}, or infinite")
    return target, weight, start
