"""Keys: a few places by which a joint curve is edited, the fine detail of the curve moving along with them.

A key stands at a sample of the curve. Keys are only handles: while none moves, the curve stays as it is. A key that moves from
(t0, y0) to (t1, y1) changes the curve between its neighbouring keys a < b only:

    new(t) = old(w(t)) + (y1 - y0) s(t)

with s the quintic step u^3 (10 - 15 u + 6 u^2) rising from a to t1 and falling from t1 to b (C2, flat at all three), and w a
monotone change of time with w(a) = a, w(t1) = t0, w(b) = b and w' = 1 at a and b: rational quadratic pieces (Gregory and Delbourgo
1982), C1 and rising for every t1 between a and b. So the new curve passes exactly through the key, joins the old one with equal
value and slope, and an extreme stays an extreme.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from itertools import pairwise

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.peaks import peaks
from bunraku.motion.curves import JointCurves

MOST_KEYS = 32
MARGIN = 4
"""Samples beyond the neighbouring keys that the curve between them is interpolated with."""


@dataclass(frozen=True)
class Keys:
    """The ``samples`` of a curve (rising indices, ends included) at which keys stand; its ``rate`` [Hz]."""

    samples: tuple[int, ...]
    rate: float

    def __post_init__(self) -> None:
        object.__setattr__(self, "samples", tuple(int(k) for k in self.samples))
        if len(self.samples) < 2 or any(b <= a for a, b in pairwise(self.samples)):
            raise BadInput(f"keys at the samples {self.samples[:12]} arrived; give at least two, rising")

    @property
    def times(self) -> Array:
        """When the keys are [s]."""
        return np.array(self.samples) / self.rate

    def values(self, curve: Array) -> Array:
        """The values that a curve (n,) has at the keys."""
        return np.asarray(curve[list(self.samples)])


def keys_of(curves: JointCurves, name: str, tolerance: float | None = None, most: int = MOST_KEYS) -> Keys:
    """A few keys: the ends, the extremes that stand out by ``tolerance``, and where the spline through them is farthest off.

    Keys are added where the C2 spline through those so far deviates most (between two keys, by half the most or more), until it
    deviates by no more than ``tolerance`` [rad or m] (None: 5 % of the curve's travel) or there are ``most``.
    """
    curve = curves.column(name)
    n = len(curve)
    if n < 2:
        raise BadInput(f"the curve of {name!r} has {n} sample; keys need at least two")
    most = max(2, most)
    travel = float(np.ptp(curve))
    threshold = 0.05 * travel if tolerance is None else tolerance
    if not threshold >= 0.0:
        raise BadInput(f"a tolerance of {tolerance} arrived; give a positive one in rad or m")
    threshold = max(threshold, 1e-9 * max(1.0, float(np.abs(curve).max())))
    picked = {0, n - 1}
    if travel > 0.0:
        extremes = [peaks(side, prominence=threshold) for side in (curve, -curve)]
        ranked = sorted((-float(p), int(k)) for at, out in extremes for k, p in zip(at, out, strict=True))
        picked |= {k for _, k in ranked[: most - 2]}
    while len(picked) < min(most, n):
        at = sorted(picked)
        off = np.abs(through(curves, name, Keys(tuple(at), curves.rate)) - curve)
        off[at] = 0.0
        if off.max() <= threshold:
            break
        worst = [a + int(off[a:b].argmax()) for a, b in pairwise(at)]
        far = [k for k in worst if off[k] > max(threshold, 0.5 * off.max())]
        picked |= set(sorted(far, key=lambda k: -off[k])[: most - len(picked)])
    return Keys(tuple(sorted(picked)), curves.rate)


def through(curves: JointCurves, name: str, keys: Keys) -> Array:
    """The C2 spline (n,) through the keys alone: the curve without its detail."""
    curve = _checked(curves, name, keys)
    times = np.array(keys.samples, dtype=np.float64)
    return np.asarray(CubicSpline(times, keys.values(curve))(np.arange(len(curve))))


def moved(curves: JointCurves, name: str, keys: Keys, index: int, time: float, value: float) -> JointCurves:
    """The curves with one key moved to the sample nearest to ``time`` [s] and to ``value`` [rad or m]; see the module.

    A key stays between its neighbours, and the first and the last at their times. All other samples stay bit for bit.
    """
    curve = _checked(curves, name, keys)
    if not (np.isfinite(time) and np.isfinite(value)):
        raise BadInput(f"key {index} of {name!r} goes to ({time} s, {value}); give finite numbers")
    here = keys.samples[_index(keys, index)]
    there = moved_keys(keys, index, time).samples[index]
    return _set(curves, name, _shifted(curve, *_neighbours(keys, index), here, there, value))


def moved_keys(keys: Keys, index: int, time: float) -> Keys:
    """The keys with one at the sample nearest to ``time`` [s], between its neighbours; the first and the last stay."""
    place = _index(keys, index)
    if place in (0, len(keys.samples) - 1):
        return keys
    low, high = keys.samples[place - 1] + 1, keys.samples[place + 1] - 1
    sample = int(min(max(round(time * keys.rate), low), high))
    return replace(keys, samples=(*keys.samples[:place], sample, *keys.samples[place + 1 :]))


def added(curves: JointCurves, name: str, keys: Keys, time: float, value: float) -> JointCurves:
    """The curves led through a new key at the sample nearest to ``time`` [s], changed only up to the keys on both sides of it."""
    _checked(curves, name, keys)
    more = added_key(keys, time)
    sample = _sample(keys, time)
    return moved(curves, name, more, more.samples.index(sample), sample / keys.rate, value)


def added_key(keys: Keys, time: float) -> Keys:
    """The keys with one more on the curve at the sample nearest to ``time`` [s]; the same if there is one already."""
    return replace(keys, samples=tuple(sorted({*keys.samples, _sample(keys, time)})))


def removed(curves: JointCurves, name: str, keys: Keys, index: int) -> JointCurves:
    """The curves without one key: near it they go where the spline through the other keys passes, their detail kept."""
    curve = _checked(curves, name, keys)
    rest = removed_key(keys, index)
    here = keys.samples[index]
    value = float(through(curves, name, rest)[here])
    return _set(curves, name, _shifted(curve, *_neighbours(keys, index), here, here, value))


def removed_key(keys: Keys, index: int) -> Keys:
    """The keys without one; the first and the last stay."""
    place = _index(keys, index)
    if place in (0, len(keys.samples) - 1):
        raise BadInput("the first and the last key of a curve stay; remove one between them")
    return replace(keys, samples=(*keys.samples[:place], *keys.samples[place + 1 :]))


def _sample(keys: Keys, time: float) -> int:
    if not np.isfinite(time):
        raise BadInput(f"a key at {time} s arrived; give a finite time")
    return int(min(max(round(time * keys.rate), keys.samples[0]), keys.samples[-1]))


def _shifted(curve: Array, a: int, b: int, here: int, there: int, value: float) -> Array:
    """The curve with its sample ``here`` brought to ``there`` and ``value``, changed strictly between a and b."""
    first, last = (a if a == here else a + 1), (b if b == here else b - 1)
    at = np.arange(first, last + 1, dtype=np.float64)
    step = np.ones(len(at))
    rising, falling = at < there, at > there
    step[rising] = _quintic((at[rising] - a) / max(there - a, 1))
    step[falling] = _quintic((b - at[falling]) / max(b - there, 1))
    old = curve[first : last + 1]
    if here != there:
        low, high = max(0, a - MARGIN), min(len(curve), b + MARGIN + 1)
        spline = CubicSpline(np.arange(low, high), curve[low:high])
        middle = np.sqrt((here - a) / (there - a) * (b - here) / (b - there))
        warped = np.where(at <= there, _rational(at, a, there, a, here, 1.0, middle), _rational(at, there, b, here, b, middle, 1.0))
        old = np.asarray(spline(np.clip(warped, low, high - 1)))
    new = curve.copy()
    new[first : last + 1] = old + (value - curve[here]) * step
    new[there] = value
    return new


def _quintic(u: Array) -> Array:
    return np.asarray(u**3 * (10.0 - 15.0 * u + 6.0 * u**2))


def _rational(t: Array, t0: float, t1: float, y0: float, y1: float, d0: float, d1: float) -> Array:
    """The rising rational quadratic from (t0, y0) with slope d0 to (t1, y1) with slope d1."""
    u = np.clip((t - t0) / (t1 - t0), 0.0, 1.0)
    s, v = (y1 - y0) / (t1 - t0), u * (1.0 - u)
    return np.asarray(y0 + (y1 - y0) * (s * u**2 + d0 * v) / (s + (d0 + d1 - 2.0 * s) * v))


def _neighbours(keys: Keys, index: int) -> tuple[int, int]:
    return keys.samples[max(0, index - 1)], keys.samples[min(len(keys.samples) - 1, index + 1)]


def _index(keys: Keys, index: int) -> int:
    if not 0 <= index < len(keys.samples):
        raise BadInput(f"there is no key {index}; there are {len(keys.samples)}, from 0 on")
    return index


def _checked(curves: JointCurves, name: str, keys: Keys) -> Array:
    curve = curves.column(name)
    if keys.rate != curves.rate or keys.samples[0] != 0 or keys.samples[-1] != len(curve) - 1:
        raise BadInput(f"these keys do not belong to the curve of {name!r}, of {len(curve)} samples at {curves.rate:g} Hz")
    return curve


def _set(curves: JointCurves, name: str, curve: Array) -> JointCurves:
    values = curves.values.copy()
    values[:, curves.names.index(name)] = curve
    return replace(curves, values=values)
