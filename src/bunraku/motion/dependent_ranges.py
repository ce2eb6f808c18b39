"""Ranges that depend on another coordinate, told in terms of the coordinates that motors drive.

A coordinate is a x + b: of a driven coordinate x (a = 1, b = 0 when it is that one; ratio and offset of the coupling when it
follows it), or a constant (a = 0) when nothing drives it: it stays at home. Put into "lower(on) <= coordinate <= upper(on)", that
is again a dependent range, or a fixed one, or a condition that always holds; anything else is refused, never dropped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, DependentRange
from bunraku.errors import BadInput


def settled_dependents(character: Character, lower: Array, upper: Array) -> tuple[tuple[int, int, Array], ...]:
    """The dependent ranges of a character as (index, index it depends on, knots (m, 3)) of its driven coordinates.

    Those that come out fixed narrow ``lower`` and ``upper`` (k,), the ranges of the driven coordinates so far, in place.
    """
    dependents = []
    for dependent in character.dependent_ranges:
        index, scale, shift = _in_driven(character, dependent.coordinate)
        on, gain, offset = _in_driven(character, dependent.on)
        knots = np.array(dependent.knots, dtype=np.float64)
        if on >= 0:
            knots[:, 0] = (knots[:, 0] - offset) / gain
            knots = knots[np.argsort(knots[:, 0])]
        if index < 0:
            reach = (offset, offset) if on < 0 else (float(lower[on]), float(upper[on]))
            _check_still(dependent, knots, shift, reach)
            continue
        knots[:, 1:] = np.sort((knots[:, 1:] - shift) / scale, axis=1)
        if on >= 0 and on != index:
            dependents.append((index, on, knots))
            continue
        if on < 0:
            low, high = (float(np.interp(offset, knots[:, 0], knots[:, side])) for side in (1, 2))
        else:
            low, high = _of_itself(dependent, knots)
        lower[index], upper[index] = max(lower[index], low), min(upper[index], high)
    return tuple(dependents)


def _in_driven(character: Character, name: str) -> tuple[int, float, float]:
    """(index, a, b): the coordinate is a x + b of the driven coordinate x = ``character.driven[index]``; index -1: it is b."""
    driven = character.driven
    if name in driven:
        return driven.index(name), 1.0, 0.0
    floating = [joint for joint in character.joints if joint.kind == "free" and joint.parent == WORLD]
    if any(axis.name == name for joint in floating for axis in joint.axes):
        raise BadInput(f"a dependent range names {name!r} of the floating base, which no motor drives; leave that range out")
    coupling = next((coupling for coupling in character.couplings if coupling.follower == name), None)
    if coupling is None:
        return -1, 0.0, character.home.get(name, 0.0)
    if coupling.driver in driven:
        return driven.index(coupling.driver), coupling.ratio, coupling.offset
    return -1, 0.0, coupling.ratio * character.home.get(coupling.driver, 0.0) + coupling.offset


def _check_still(dependent: DependentRange, knots: Array, value: float, reach: tuple[float, float]) -> None:
    """Refuse a range that the coordinate, still at ``value``, leaves while what it depends on moves within ``reach``."""
    inner = knots[(knots[:, 0] > reach[0]) & (knots[:, 0] < reach[1]), 0]
    places = np.concatenate([inner, np.clip(reach, knots[0, 0], knots[-1, 0])])
    low, high = (np.interp(places, knots[:, 0], knots[:, side]) for side in (1, 2))
    if (low > value + 1e-12).any() or (high < value - 1e-12).any():
        raise BadInput(
            f"no motor drives {dependent.coordinate!r}, which stays at {value:g}, outside its range for some {dependent.on!r}; "
            "give it a motor, or widen the range"
        )


def _of_itself(dependent: DependentRange, knots: Array) -> tuple[float, float]:
    """The interval of x with lower(x) <= x <= upper(x): coordinate and ``on`` hang on the same motor.

    Both gaps, x - lower(x) and upper(x) - x, are piecewise linear, so the set ends at their zeros; it must be in one piece.
    """
    x = knots[:, 0]
    places = [*x.tolist(), *knots[[0, -1], 1:].ravel().tolist()]
    for side in (1, 2):
        gap = x - knots[:, side]
        for k in np.flatnonzero(gap[:-1] * gap[1:] < 0.0):
            places.append(float(x[k] - gap[k] * (x[k + 1] - x[k]) / (gap[k + 1] - gap[k])))
    ends = np.unique(places)

    def within(values: Array) -> NDArray[np.bool_]:
        low, high = (np.interp(values, x, knots[:, side]) for side in (1, 2))
        return np.asarray((low <= values + 1e-12) & (values <= high + 1e-12))

    good, between = within(ends), within(0.5 * (ends[:-1] + ends[1:]))
    inside = np.flatnonzero(good)
    if not inside.size or not between[inside[0] : inside[-1]].all():
        how = "in pieces" if inside.size else "empty"
        raise BadInput(
            f"{dependent.coordinate!r} and {dependent.on!r} hang on the same motor, and the dependent range leaves it a range "
            f"that is {how}; change the range or the coupling"
        )
    return float(ends[inside[0]]), float(ends[inside[-1]])
