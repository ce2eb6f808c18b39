"""Rest under gravity at given motor values, by continuation."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np

from bunraku.arrays import Array
from bunraku.geometry.rotations import conjugate, multiply_quaternions
from bunraku.mechanics.full_order.assembly import Assembly, Rates, TrialState
from bunraku.mechanics.full_order.newton import Factors, Solved, solve


def still(assembly: Assembly, shift: float = 0.0) -> Rates:
    """Nothing moves; ``shift`` [1/s^2] times the mass holds Newton's steps back."""
    zero = np.zeros((assembly.count, 3))
    turn = np.zeros((assembly.count, 3, 3))
    return Rates(zero, zero, zero, zero, turn, turn + shift * np.eye(3), None, None, 0.0, shift)


def settle(
    assembly: Assembly, start: TrialState, motors: tuple[Array, Array], loads: tuple[float, float], *, tolerance: float = 1e-12
) -> Solved:
    """The state of rest at motors[1] under the share loads[1] of gravity, from ``start``, at rest at motors[0] under loads[0].

    Full Newton steps; a stretch of the way that fails is halved, down to 1/128. Where that does not help (a mechanism that hangs
    loose), steps held back by a share of the mass go downhill first.
    """
    done, step, total, trial = 0.0, 1.0, 0, start
    solved = Solved(None, 0)
    while done < 1.0 - 1e-12:
        ahead = min(1.0, done + step)
        values, share = motors[0] + ahead * (motors[1] - motors[0]), loads[0] + ahead * (loads[1] - loads[0])
        solved = _at(assembly, trial, values, share, tolerance)
        total += solved.iterations
        if solved.trial is None:
            step *= 0.5
            if step < 1.0 / 128.0:
                solved = _downhill(assembly, trial, motors[1], loads[1], tolerance)
                return Solved(solved.trial, total + solved.iterations, solved.cause)
            continue
        trial, done = solved.trial, ahead
    return Solved(trial, total)


def settle_near(assembly: Assembly, guess: TrialState, motors: Array, *, tolerance: float = 1e-8) -> Solved:
    """The state of rest from a good guess; gives up early."""
    threshold, rates = tolerance * assembly.reach, _constant(still(assembly))
    return solve(assembly, guess, rates, assembly.rows(motors), Factors(), tolerance=threshold, lazy=False, limit=8)


def guessed(assembly: Assembly, before: TrialState, now: TrialState) -> TrialState:
    """What follows two states of rest: bodies go on by their last motion, pieces with their base, bending on linearly."""
    A = assembly
    turn = multiply_quaternions(now.q, conjugate(before.q)) if len(now.q) else now.q
    c, q = 2.0 * now.c - before.c, multiply_quaternions(turn, now.q) if len(now.q) else now.q
    (c0, R0), (c1, R1), (c2, R2) = A.placed(before.c, before.q), A.placed(now.c, now.q), A.placed(c, q)
    x = []
    for part, x0, x1 in zip(A.pieces, before.x, now.x, strict=True):
        b = int(part.bodies[0])
        local = 2.0 * (x1 - c1[b]) @ R1[b] - (x0 - c0[b]) @ R0[b]
        x.append(local @ R2[b].T + c2[b])
    return TrialState(c, q, tuple(x), 2.0 * now.lam - before.lam)


def _constant(rates: Rates) -> Callable[[TrialState], Rates]:
    return lambda trial: rates


def _at(assembly: Assembly, start: TrialState, motors: Array, share: float, tolerance: float) -> Solved:
    rates = still(assembly)
    threshold = tolerance * assembly.reach
    return solve(
        assembly, start, _constant(rates), assembly.rows(motors), Factors(), tolerance=threshold, share=share, lazy=False, limit=20
    )


def _downhill(assembly: Assembly, start: TrialState, motors: Array, share: float, tolerance: float) -> Solved:
    rows, trial, total = assembly.rows(motors), start, 0
    for shift in np.geomspace(1e5, 1e-1, 40):
        rates = still(assembly, float(shift))
        solved = solve(
            assembly, trial, _constant(rates), rows, Factors(), tolerance=0.3 * assembly.reach, share=share, lazy=False,
            limit=3,
        )  # fmt: skip
        total += solved.iterations
        trial = trial if solved.trial is None else solved.trial
    solved = _at(assembly, trial, motors, share, tolerance)
    return Solved(solved.trial, total + solved.iterations, solved.cause)
