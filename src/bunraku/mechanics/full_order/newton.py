"""Newton's method on one step or one state of rest, with factors that are kept while they serve."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

import numpy as np

from bunraku.mechanics.elastic.solid import Collapsed
from bunraku.mechanics.full_order.assembly import Assembly, Change, Rates, TrialState
from bunraku.mechanics.full_order.links import LinkRows
from bunraku.mechanics.full_order.pieces import Eliminated
from bunraku.optimization.linear import NotFactorizable

CONTRACTION = 0.35
"""Newton steps that do not shrink to this share with kept factors ask for new ones."""

GRACE = 1e-4
"""A second step smaller than this share of the largest piece need not shrink yet: the first one has only found the multipliers."""


@dataclass(frozen=True)
class Solved:
    """The end of a Newton iteration: the trial (None when it failed), iterations, the cause of a failure in words."""

    trial: TrialState | None
    iterations: int
    cause: str = ""


@dataclass
class Factors:
    """The factors in use, for all pieces at once; ``renewed`` counts the factorizations of the whole set."""

    pieces: list[Eliminated] = field(default_factory=list)
    key: tuple[float, float] = (-1.0, -1.0)
    renewed: int = 0
    iterations: int = 0

    def renew(self, assembly: Assembly, trial: TrialState, rates: Rates, *, definite: bool, exact: bool = False) -> None:
        """Factorize all pieces at ``trial``, ``exact``: with the whole derivative of damping. Raises Collapsed, NotFactorizable."""
        pieces = []
        for p, part in enumerate(assembly.pieces):
            try:
                v = rates.xv[p] if exact and rates.xv is not None else None
                pieces.append(part.eliminate(trial.x[p], rates.inertia, rates.speed, velocity=v, definite=definite))
            except (Collapsed, NotFactorizable) as error:
                error.args = (f"piece {part.name!r}: {error}",)
                raise
        self.pieces, self.key = pieces, (rates.inertia, rates.speed)
        self.renewed += 1


def solve(
    assembly: Assembly,
    start: TrialState,
    rates: Callable[[TrialState], Rates],
    rows: LinkRows,
    factors: Factors,
    *,
    tolerance: float,
    limit: int = 25,
    safe: TrialState | None = None,
    share: float = 1.0,
    lazy: bool = True,
    hasty: bool = False,
) -> Solved:
    """Newton from ``start`` until nothing moves by more than ``tolerance`` [m].

    ``lazy``: keep the factors while steps contract; otherwise factorize at every iterate. ``safe`` is where to factorize when the
    iterate is no good for it. ``hasty``: give up at once where the second step is larger than the first (the start was no good).
    """
    trial, last, renewals = start, np.inf, 0
    for iteration in range(limit):
        at = rates(trial)
        renewed = False
        try:
            if not lazy or factors.key != (at.inertia, at.speed) or len(factors.pieces) != len(assembly.pieces):
                near = safe is None or last < 1e-2 * assembly.reach
                _renew(assembly, factors, trial if near else safe, trial, at, renewals if near else 0)
                renewed, renewals = True, renewals + 1
            if renewed or iteration == 0:
                turns = [part.turns(one, x) for part, one, x in zip(assembly.pieces, factors.pieces, trial.x, strict=True)]
            change = assembly.newton(trial, at, rows, factors.pieces, turns, share)
        except Collapsed as error:
            return Solved(None, iteration + 1, _named(assembly, trial, error))
        except NotFactorizable as error:
            return Solved(None, iteration + 1, f"{error}; the stiffness is lost")
        except np.linalg.LinAlgError:
            return Solved(
                None, iteration + 1, "bodies and constraints leave something undetermined (a mechanism, or a loop twice held)"
            )
        if not change.size < 1e3 * assembly.reach:
            return Solved(None, iteration + 1, _worst(assembly, change, "ran away"))
        trial, size = change.trial, change.size
        factors.iterations += 1
        ratio = size / last if np.isfinite(last) else 0.0
        if size <= tolerance or (size <= 30.0 * tolerance and ratio < 0.03):
            return Solved(assembly.with_normal(trial), iteration + 1)
        if hasty and iteration == 1 and ratio > 1.0 and size > GRACE * assembly.reach:
            return Solved(None, iteration + 1, _worst(assembly, change, "does not settle"))
        if lazy and ratio > CONTRACTION and (iteration > 1 or size > GRACE * assembly.reach):
            factors.key = (-1.0, -1.0)
        last = size
    return Solved(None, limit, _worst(assembly, change, "does not settle"))


def _renew(assembly: Assembly, factors: Factors, first: TrialState | None, then: TrialState, rates: Rates, earlier: int) -> None:
    """New factors at ``first``: definite and cheap at first, exact when a step asks ``earlier`` times already; else at ``then``."""
    for at, exact in ((first, earlier > 1), (then, True)):
        if at is None:
            continue
        try:
            factors.renew(assembly, at, rates, definite=not exact, exact=exact)
            return
        except (Collapsed, NotFactorizable):
            if at is then and exact:
                raise


def _named(assembly: Assembly, trial: TrialState, error: Collapsed) -> str:
    """Which piece collapsed: the first that refuses its forces."""
    for part, x in zip(assembly.pieces, trial.x, strict=True):
        try:
            part.forces(x, None)
        except Collapsed as own:
            return f"cell {own.cell} of {part.name!r} collapsed"
    return f"{error}"


def _worst(assembly: Assembly, change: Change, what: str) -> str:
    if len(change.nodes) and change.nodes.max() >= 0.1 * change.bodies:
        return f"{assembly.pieces[int(np.argmax(change.nodes))].name!r} {what}"
    return f"the rigid bodies: motion {what}"
