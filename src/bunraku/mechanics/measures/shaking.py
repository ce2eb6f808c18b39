"""Shaking: what a curve does faster than a body moves on purpose, and how often it turns back.

A joint that trembles is followed by no motor and wears out every gear. Two numbers tell it from a gesture, both free of phase:

- the share of the energy of the velocity above ``FAST`` = 8 Hz. With c_k the cosine transform of the velocity v (mirrored at both
  ends, so that neither end counts as a jump) at the frequencies f_k: sum over f_k > 8 Hz of c_k^2, over the sum of all; and the
  RMS amplitude of that motion, sqrt(sum over f_k > 8 Hz of c_k^2 / (2 pi f_k)^2);
- reversals per second: how often the curve turns back by more than a servo resolves.

Of a place in space the energies of all three directions are added before they are divided: no axis is special. One axis alone says
little: a hand that swings on an arc goes to and fro twice as often along the radius as across it, where it hardly moves.

Voluntary movement of people lies below 8 Hz, physiological tremor at 8-12 Hz (Elble and Koller, Tremor, 1990).
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from bunraku.arrays import Array
from bunraku.motion import Check, JointCurves

FAST = 8.0
"""People move on purpose below this frequency [Hz]."""

RESOLUTION = 2e-3
"""What a servo of 12 bits resolves [rad] (0.088 degrees, rounded up); of slides and places a tenth [m]. Less is not counted."""

SHAKING_SHARE = 0.15
"""A channel or place shakes when more of its velocity's energy lies above `FAST`, and that motion is larger than `RESOLUTION`."""

SHORTEST = 0.25
"""What is shorter than this [s], two periods of 8 Hz, is not judged."""

MOST_REVERSALS = 10.0
"""A channel shakes when it turns back more often [1/s]: a motion to and fro at 5 Hz, faster than people tap, does so ten times."""


class Shaking(NamedTuple):
    """Of each channel (k,): ``share`` of the energy above 8 Hz, the RMS ``amplitude`` of that [rad or m], ``reversals`` [1/s]."""

    share: Array
    amplitude: Array
    reversals: Array


def shaking_of(values: Array, rate: float, resolution: Array) -> Shaking:
    """How much each column of ``values`` (n, k) at ``rate`` [Hz] shakes; ``resolution`` (k,): what counts as a reversal."""
    if len(values) < 3:
        return Shaking(*np.zeros((3, values.shape[1])))
    share, amplitude = _shares(*_energies(values, rate))
    back = np.array([reversals(column, width) for column, width in zip(values.T, resolution, strict=True)])
    return Shaking(share, amplitude, back * rate / (len(values) - 1))


def shaking_of_places(places: Array, rate: float) -> tuple[Array, Array]:
    """Of each place of ``places`` (n, m, 3) at ``rate`` [Hz]: the ``share`` (m,) above 8 Hz, the RMS ``amplitude`` (m,) [m]."""
    n, m = places.shape[:2]
    fast, total, squares = (sums.reshape(m, 3).sum(axis=1) for sums in _energies(places.reshape(n, -1), rate))
    return _shares(fast, total, squares)


def _energies(values: Array, rate: float) -> tuple[Array, Array, Array]:
    """Of each column (n, k), n of 3 or more: energy of its velocity above `FAST` and in all, mean square of the fast motion."""
    velocity = np.diff(values, axis=0) * rate
    n = len(velocity)
    energy = np.abs(np.fft.rfft(np.concatenate([velocity, velocity[::-1]]), axis=0)[1:n]) ** 2
    frequency = np.arange(1, n) * rate / (2.0 * n)
    still = (velocity.sum(axis=0) * 2.0) ** 2 / 2.0
    fast = frequency > FAST
    squares = (energy[fast] / (2.0 * np.pi * frequency[fast, None]) ** 2).sum(axis=0) * 2.0 / (2.0 * n) ** 2
    return energy[fast].sum(axis=0), energy.sum(axis=0) + still, squares


def _shares(fast: Array, total: Array, squares: Array) -> tuple[Array, Array]:
    return fast / np.where(total > 0.0, total, 1.0), np.sqrt(squares)


def reversals(curve: Array, width: float) -> int:
    """How often ``curve`` (n,) turns back by more than ``width``: one turn for each larger excursion, however it is sampled."""
    slope = np.sign(np.diff(curve))
    moving = np.flatnonzero(slope)
    turns = moving[1:][slope[moving[1:]] != slope[moving[:-1]]]
    extremes = curve[np.concatenate([[0], turns, [len(curve) - 1]])] if len(moving) else curve[:1]
    count, low, high, way = 0, float(extremes[0]), float(extremes[0]), 0
    for value in extremes[1:].tolist():
        low, high = min(low, value), max(high, value)
        if way >= 0 and value < high - width:
            count, way, low, high = count + (way > 0), -1, value, value
        elif way <= 0 and value > low + width:
            count, way, low, high = count + (way < 0), 1, value, value
    return count


def shaking_checks(curves: JointCurves, wished: Array | None, suffix: str = "", unit: str = "rad") -> tuple[Check, ...]:
    """How much ``curves`` shake, and how often they turn back; what the wish (n, k) does itself is said beside it.

    Without a wish it is information.
    """
    if (len(curves.values) - 1) / curves.rate < SHORTEST:
        return (Check.not_applicable(f"shaking above 8 Hz{suffix}", f"it is shorter than {SHORTEST:g} s"),)
    resolution = np.full(len(curves.names), RESOLUTION if unit == "rad" else 0.1 * RESOLUTION)
    seen = shaking_of(curves.values, curves.rate, resolution)
    own = None if wished is None else shaking_of(wished, curves.rate, resolution)
    felt = np.where(seen.amplitude > resolution, seen.share, 0.0)
    checks = []
    rows = (
        ("shaking above 8 Hz", felt, "of the motion's energy", SHAKING_SHARE),
        ("reversals", seen.reversals, "1/s", MOST_REVERSALS),
    )
    for name, values, of, most in rows:
        worst = int(np.argmax(values))
        note = curves.names[worst] if values[worst] > 0.0 else ""
        if note and own is not None:
            wished_too = f"{100.0 * own.share[worst]:.2g} %" if values is felt else f"{own.reversals[worst]:.2g}"
            note += f"; {wished_too} in the wish"
        checks.append(Check(f"{name}{suffix}", float(values[worst]), of, None if own is None else most, note=note))
    return tuple(checks)


def place_shaking_check(names: Sequence[str], places: Array, wished: Array, rate: float) -> Check:
    """How much ``places`` (n, m, 3) [m] shake; what the wished ones do themselves is said beside it."""
    name = "shaking above 8 Hz of places"
    if (len(places) - 1) / rate < SHORTEST:
        return Check.not_applicable(name, f"it is shorter than {SHORTEST:g} s")
    share, amplitude = shaking_of_places(places, rate)
    felt = np.where(amplitude > 0.1 * RESOLUTION, share, 0.0)
    worst = int(np.argmax(felt))
    note = f"{names[worst]}; {100.0 * shaking_of_places(wished, rate)[0][worst]:.2g} % in the wish" if felt[worst] > 0.0 else ""
    return Check(name, float(felt[worst]), "of the motion's energy", SHAKING_SHARE, note=note)
