"""Curves at another rate, and the paper's control: curves slowed locally until every motor can follow."""

from __future__ import annotations

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.splines import resample
from bunraku.motion.curves import JointCurves


def resampled(curves: JointCurves, rate: float) -> JointCurves:
    """The same curves at another rate [Hz], by the C2 cubic spline through the samples (not-a-knot ends).

    The new curves end at the last full new sample within the old duration. Equal rates return the curves unchanged. A
    spline may pass its samples by a little between them, so limits are to be checked on the result.
    """
    if not 0.0 < rate <= 100_000.0:
        raise BadInput(f"a sampling rate of {rate} Hz cannot be used; give one between 0 and 100000")
    if rate == curves.rate:
        return curves
    return JointCurves(curves.names, rate, resample(curves.values, curves.rate, rate))


def stretched(curves: JointCurves, times: Array) -> JointCurves:
    """The same poses at other times: sample k is reached at ``times[k]`` [s], straight lines in between.

    ``times`` (n,) starts at 0 and rises strictly. The result has the same rate; it ends with the last pose, held for the
    rest of a frame when the last time is no multiple of the frame time.
    """
    times = np.asarray(times, dtype=np.float64)
    if times.shape != (len(curves.values),) or times[0] != 0.0 or not (np.diff(times) > 0.0).all():
        raise BadInput(f"a time map of shape {times.shape} cannot be used; give {len(curves.values)} rising times that start at 0")
    count = int(np.ceil(times[-1] * curves.rate - 1e-9)) + 1
    new = np.arange(count) / curves.rate
    values = np.column_stack([np.interp(new, times, column) for column in curves.values.T])
    return JointCurves(curves.names, curves.rate, values.reshape(count, len(curves.names)))


def local_stretch(curves: JointCurves, velocity: Array) -> tuple[JointCurves, Array]:
    """The paper's control: wherever a joint is too fast, the whole body is slowed just enough, so that it comes late.

    With h the frame time, the step from sample k - 1 to k takes h max(1, max_j |x_kj - x_k-1,j| / (v_j h)) and the delays add up;
    in between the body moves on straight lines, so every velocity of the result is legal.

    Args:
        curves: the wish, at the rate the motors are driven.
        velocity: velocity limits v (k,) [rad/s or m/s], infinite where there is none.

    Returns:
        The slowed curves, as long as the wish or longer, and the time map (n,): when each sample of the wish is reached [s].
    """
    velocity = np.asarray(velocity, dtype=np.float64)
    if velocity.shape != (len(curves.names),) or not (velocity > 0.0).all():
        raise BadInput(f"velocity limits of shape {velocity.shape} cannot be used; give {len(curves.names)} numbers above 0")
    if len(curves.values) == 1:
        return curves, np.zeros(1)
    h = 1.0 / curves.rate
    ratio = (np.abs(np.diff(curves.values, axis=0)) / (velocity * h)).max(axis=1, initial=0.0)
    if not (ratio > 1.0).any():
        return curves, curves.times
    late = np.cumsum(h * np.maximum(ratio - 1.0, 0.0))
    times = curves.times + np.concatenate([[0.0], late])
    return stretched(curves, times), times
