"""Gesture strokes and their words: when a gesture hits, and how late the performed one is."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.peaks import peaks
from bunraku.motion.curves import JointCurves
from bunraku.motion.sound import Mark
from bunraku.rhythm.lag import shift_between

_NEAR = 0.35  # [s] a movement that arrives farther from a word's beat does not belong to it
_REACH = 0.5  # [s] a stroke that comes later than this is another gesture's


@dataclass(frozen=True)
class Stroke:
    """The gesture of one word: when it hits in the wish and in the performance [s].

    ``lag`` is performed minus wished, positive when late; ``against_word`` the performed hit minus the word's beat (its stated
    stroke, else the middle of the word).
    """

    word: Mark
    wished: float
    performed: float

    @property
    def lag(self) -> float:
        """How late the performed stroke is against the wished one [s]."""
        return self.performed - self.wished

    @property
    def against_word(self) -> float:
        """How late the performed stroke is against the word's beat [s]."""
        return self.performed - _beat(self.word)


def strokes(curves: JointCurves, words: Sequence[Mark]) -> tuple[float | None, ...]:
    """When the gesture of each word hits [s]; None where no movement arrives within 0.35 s of the word's beat.

    The beat of a word is its stated stroke, else its middle. A stroke is a movement to a gesture's apex, and its time is the
    apex: of all movements of the body, the time of the one that arrives nearest to the beat. A movement is a peak of the body's
    speed that stands out by 5 % of the largest; it arrives (turns, stops) where its speed, falling from a half to a quarter of
    the peak, would reach zero along the same line, or at the lowest speed before the next movement if that comes first. The
    body's speed is the norm of the velocities of all joints, each over its largest velocity in the clip, so that large and
    small joints count alike.
    """
    times = _arrivals(_body_speed(curves)) / curves.rate
    hits: list[float | None] = []
    for word in words:
        away = np.abs(times - _beat(word))
        hits.append(float(times[np.argmin(away)]) if away.size and away.min() <= _NEAR else None)
    return tuple(hits)


def stroke_lags(wish: JointCurves, performed: JointCurves, words: Sequence[Mark]) -> tuple[Stroke, ...]:
    """The stroke of each word that has one, in the wish and in the performance.

    Words count when they state a stroke, or, when none does, when the body moves at them. The wished stroke is that of
    :func:`strokes`; the performed one is found by the shift, up to 0.5 s, that best lays the wished velocities from 0.5 s
    before to 0.5 s after it over the performed ones (normalised cross-correlation, as `rhythm.lag`): a movement keeps its
    shape better than its extremes keep their places when a motor saturates.

    Args:
        wish: the wished curves.
        performed: the performed curves, at the same rate, with the same joints (order may differ).
        words: the words of the clip.
    """
    if wish.rate != performed.rate:
        raise BadInput(f"wish at {wish.rate} Hz and performance at {performed.rate} Hz; resample one of them first")
    stated = [word for word in words if word.stroke is not None]
    chosen = stated or list(words)
    shared = [name for name in wish.names if name in performed.names]
    if not shared:
        raise BadInput("wish and performance share no joint; their strokes cannot be compared")
    w = np.diff(np.column_stack([wish.column(name) for name in shared]), axis=0)
    p = np.diff(np.column_stack([performed.column(name) for name in shared]), axis=0)
    result = []
    for word, time in zip(chosen, strokes(wish, chosen), strict=True):
        if time is None:
            continue
        first = max(0, int((time - _REACH) * wish.rate))
        last = min(len(w), len(p), int((time + _REACH) * wish.rate) + 1)
        shift = shift_between(w[first:last], p[first:last], int(_REACH * wish.rate)) if last - first > 3 else 0.0
        result.append(Stroke(word, time, time + shift / wish.rate))
    return tuple(result)


def gesture_peaks(curves: JointCurves, prominence: float = 0.1) -> dict[str, Array]:
    """Times [s] of the local extremes of each moving joint's curve, lows and highs alike, in order.

    Only extremes that stand out by ``prominence`` of the joint's whole travel count, and only joints that travel more than
    0.02 rad (or m).
    """
    result = {}
    for name, column in zip(curves.names, curves.values.T, strict=True):
        travel = float(np.ptp(column))
        if travel > 0.02:
            highs, _ = peaks(column, prominence=prominence * travel)
            lows, _ = peaks(-column, prominence=prominence * travel)
            result[name] = np.sort(np.concatenate([highs, lows])) / curves.rate
    return result


def _beat(word: Mark) -> float:
    return 0.5 * (word.start + word.end) if word.stroke is None else word.stroke


def _body_speed(curves: JointCurves) -> Array:
    """Body speed (n,) at the samples, by central differences; each joint over its largest velocity."""
    if len(curves.values) < 3:
        return np.zeros(len(curves.values))
    velocity = np.gradient(curves.values, 1.0 / curves.rate, axis=0)
    largest = np.abs(velocity).max(axis=0)
    moving = np.ptp(curves.values, axis=0) > 1e-3
    return np.asarray(np.sqrt(((velocity[:, moving] / largest[moving]) ** 2).sum(axis=1)))


def _arrivals(speed: Array) -> Array:
    """Samples, between samples, at which the movements arrive, in order; see :func:`strokes`."""
    if speed.max(initial=0.0) <= 0.0:
        return np.zeros(0)
    high, _ = peaks(np.concatenate([[0.0], speed, [0.0]]), prominence=0.05 * float(speed.max()))
    high = high - 1
    result = []
    for i, peak in enumerate(high):
        following = int(high[i + 1]) if i + 1 < len(high) else len(speed)
        valley = int(peak) + int(np.argmin(speed[peak:following]))
        low = np.flatnonzero(speed[peak : valley + 1] < 0.25 * speed[peak])
        if low.size == 0:
            result.append(float(valley))
            continue
        quarter = int(peak) + int(low[0])
        half = int(peak) + int(np.flatnonzero(speed[peak:quarter] >= 0.5 * speed[peak])[-1]) + 1
        at_half, at_quarter = _crossing(speed, half, 0.5 * speed[peak]), _crossing(speed, quarter, 0.25 * speed[peak])
        result.append(min(2.0 * at_quarter - at_half, float(valley)))
    return np.array(result)


def _crossing(speed: Array, after: int, level: float) -> float:
    """Where the speed falls through ``level`` between the samples ``after`` - 1 and ``after``."""
    return float(after - (level - speed[after]) / (speed[after - 1] - speed[after]))
