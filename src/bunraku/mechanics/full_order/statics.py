"""Rest under gravity at given motor values, by continuation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from bunraku.mechanics.full_order.assembly import Assembly, Rates, Trial
from bunraku.mechanics.full_order.newton import Factors, Found, solve

__all__ = ["settle", "still"]

Array = NDArray[np.float64]


def still(assembly: Assembly, shift: float = 0.0) -> Rates:
    """Nothing moves; ``shift`` [1/s^2] times the mass holds Newton's steps back."""
    zero = np.zeros((assembly.count, 3))
    turn = np.zeros((assembly.count, 3, 3))
    return Rates(zero, zero, zero, zero, turn, turn + shift * np.eye(3), None, None, 0.0, shift)


def settle(
    assembly: Assembly, start: Trial, motors: tuple[Array, Array], loads: tuple[float, float], *, tolerance: float = 1e-12
) -> Found:
    """The state of rest at motors[1] under the share loads[1] of gravity, from ``start``, at rest at motors[0] under loads[0].

    Full Newton steps; a stretch of the way that fails is halved, down to 1/128. Where that does not help (a mechanism that hangs
    loose), steps held back by a share of the mass go downhill first.
    """
    done, step, total, trial = 0.0, 1.0, 0, start
    found = Found(None, 0)
    while done < 1.0 - 1e-12:
        aim = min(1.0, done + step)
        values, share = motors[0] + aim * (motors[1] - motors[0]), loads[0] + aim * (loads[1] - loads[0])
        found = _at(assembly, trial, values, share, tolerance)
        total += found.iterations
        if found.trial is None:
            step *= 0.5
            if step < 1.0 / 128.0:
                found = _downhill(assembly, trial, motors[1], loads[1], tolerance)
                return Found(found.trial, total + found.iterations, found.cause)
            continue
        trial, done = found.trial, aim
    return Found(trial, total)


def _constant(rates: Rates) -> Callable[[Trial], Rates]:
    return lambda trial: rates


def _at(assembly: Assembly, start: Trial, motors: Array, share: float, tolerance: float) -> Found:
    rates = still(assembly)
    bar = tolerance * assembly.reach
    return solve(
        assembly, start, _constant(rates), assembly.rows(motors), Factors(), tolerance=bar, share=share, lazy=False, limit=20
    )


def _downhill(assembly: Assembly, start: Trial, motors: Array, share: float, tolerance: float) -> Found:
    rows, trial, total = assembly.rows(motors), start, 0
    for shift in np.geomspace(1e5, 1e-1, 40):
        rates = still(assembly, float(shift))
        found = solve(
            assembly, trial, _constant(rates), rows, Factors(), tolerance=0.3 * assembly.reach, share=share, lazy=False,
            limit=3,
        )  # fmt: skip
        total += found.iterations
        trial = trial if found.trial is None else found.trial
    found = _at(assembly, trial, motors, share, tolerance)
    return Found(found.trial, total + found.iterations, found.cause)
