"""One attempt at a wish, how far from proven it is, and what a remedy changed of the first one, measured and in words."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.character import Character
from bunraku.flow.perform import Performed
from bunraku.mechanics.measures.followed import share_followed
from bunraku.motion import Check, JointCurves, KeptVerdict, Performance
from bunraku.performers.remedy import Remedy
from bunraku.verification.wording import listed

CAPPED = 10.0
"""A promise that is broken by more than this many times its threshold counts as broken by so many."""

KEPT = 0.5
"""A remedy leaves at least this share of what was wished first; what follows less of it is another wish."""

SEEN = 0.005
"""Changes of less than this share are not worth a word."""


@dataclass(frozen=True)
class Attempt:
    """One attempt: the ``remedies`` that are in it, and in ``seconds`` how long performing and judging took [s of CPU].

    ``verdict`` is None where nobody judged; ``kept`` is the share of the first attempt's wish that it follows.
    """

    remedies: tuple[Remedy, ...]
    character: Character
    options: Mapping[str, Any]
    performed: Performed
    verdict: KeptVerdict | None
    seconds: float
    kept: float = 1.0

    @property
    def words(self) -> str:
        """What was changed for it."""
        return "; ".join(remedy.words for remedy in self.remedies)

    def with_remedy(self, remedy: Remedy) -> tuple[Remedy, ...]:
        """Its remedies with one more, in place of one that was about the same."""
        return (*(one for one in self.remedies if one.of != remedy.of), remedy)

    @property
    def performance(self) -> Performance:
        """What was performed, with its verdict."""
        return self.performed.performance

    @property
    def proven(self) -> bool:
        """Whether verdict and certificate hold."""
        return self.verdict is not None and self.verdict.holds and self.performance.certificate.holds

    @property
    def another(self) -> bool:
        """Whether so little of the first wish is left that this is another one."""
        return self.kept < KEPT and bool(self.remedies)

    @property
    def checks(self) -> tuple[Check, ...]:
        """All checks, once each: those of the verdict count where both have one of a name."""
        found = self.verdict.checks if self.verdict is not None else ()
        return tuple({check.name: check for check in (*self.performance.certificate.checks, *found)}.values())

    @property
    def against(self) -> tuple[Check, ...]:
        """The checks that stand against it."""
        return tuple(check for check in self.checks if check.stands_against)

    @property
    def rank(self) -> tuple[bool, int, float]:
        """How far from proven, the least best: the number of checks against it, then how far beyond their thresholds they are."""
        return not self.proven, len(self.against), sum(_excess(check) for check in self.against)

    @property
    def why(self) -> str:
        """What stands in the way, in a few words."""
        return ", ".join(check.name for check in self.against[:3]) or self.performance.certificate.status.sentence


def cost(first: Performance, last: Performance) -> str:
    """What a remedy cost, measured: how long, how large and how far off the last performance is beside the first; in words."""
    parts = []
    longer = last.duration / first.duration - 1.0 if first.duration else 0.0
    paces = [_pace(one) for one in (first, last)]
    if min(paces) > 0.0:  # a gait is compared by its speed; cycles are as many as it takes
        parts += [_by(paces[1] / paces[0] - 1.0, "faster", "slower")] if abs(paces[1] / paces[0] - 1.0) > SEEN else []
    else:
        parts += [_by(longer, "longer", "shorter")] if abs(longer) > SEEN else []
        before, after = _beside(first, first), _beside(first, last)
        if before is not None and after is not None:
            if after.size < (1.0 - SEEN) * before.size:
                parts.append(f"gestures {100.0 * (1.0 - after.size / before.size):.0f} % smaller")
            if abs(after.followed - before.followed) > SEEN:
                shares = f"{100.0 * after.followed:.0f} % of the wish followed as it was given"
                parts.append(f"{shares} ({100.0 * before.followed:.0f} % before)")
            if after.rms > max(SEEN, 1.05 * before.rms):
                parts.append(f"{after.rms:.2g} rad RMS from it ({before.rms:.2g} before)")
    return listed(parts) if parts else "nothing of the wish that can be measured"


def share_kept(first: Performance, last: Performance) -> float:
    """How much of the wish of the ``first`` performance the ``last`` one follows, which may play it slower.

    1 where no curves were wished, and where physics moves what was wished: that is judged by its points.
    """
    found = None if last.dynamic else _beside(first, last)
    return 1.0 if found is None else found.followed


def _excess(check: Check) -> float:
    threshold = check.threshold or 0.0
    excess = abs(check.value - threshold) / max(abs(threshold), 1e-3)
    return min(excess, CAPPED) if excess == excess else CAPPED


def _by(change: float, more: str, less: str) -> str:
    return f"{100.0 * abs(change):.0f} % {more if change > 0 else less}"


def _pace(performance: Performance) -> float:
    """The mean speed [m/s or rad/s] of a gait, by its certificate; 0 where none is told."""
    figures = performance.certificate.figures
    time = figures.get("period_s", 0.0)
    way = figures.get("distance_m", 0.0) or abs(np.deg2rad(figures.get("turn_deg", 0.0)))
    return float(way / time) if time > 0.0 else 0.0


@dataclass(frozen=True)
class _Beside:
    """A performance beside a wish: the share ``followed``, ``rms`` distance [rad or m], and the ``size`` of its gestures."""

    followed: float
    rms: float
    size: float


def _beside(first: Performance, last: Performance) -> _Beside | None:
    """The ``last`` performance beside the wish of the ``first``: at the same times, or as much slower as it was wished itself.

    ``size`` is how far the coordinates move about their mean, root mean square over time, summed.
    """
    done, wish, own = _answers(last), first.wish, last.wish
    if done is None or wish is None or own is None:
        return None
    names = tuple(name for name in wish.names if name in done.names)
    if not names:
        return None
    wished, found = wish.chosen(names).values, []
    kinds = [[j for j, name in enumerate(names) if first.unit_of(name) == unit] for unit in ("rad", "m")]
    for slower in dict.fromkeys((1.0, own.duration / wish.duration if wish.duration else 1.0)):
        values = np.column_stack([np.interp(wish.times * slower, done.times, done.column(name)) for name in names])
        shares = [share_followed(values[:, kind], wished[:, kind]) for kind in kinds if kind]
        rms = float(np.sqrt(((values - wished) ** 2).mean()))
        found.append(_Beside(min(shares), rms, float(done.chosen(names).values.std(axis=0).sum())))
    return max(found, key=lambda one: one.followed)


def _answers(performance: Performance) -> JointCurves | None:
    """What answers the wish, where there is a wish and something does."""
    sent = performance.dynamic or any(channel.kind == "position" for channel in performance.channels)
    return performance.followed() if sent and performance.wish is not None else None
