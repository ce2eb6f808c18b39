"""What many trials say: the share that holds and how sure that is, the worst, and the factor that hurts most."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np

from bunraku.motion import Check, JointCurves
from bunraku.statistics.proportions import clopper_pearson
from bunraku.verification.trials.spread import FACTORS, DrawnWorld

LEVEL = 0.95
"""Confidence of the interval of the share."""

UP = ("stiffness", "friction")
"""Factors that may hurt by being small: said with the way in which they do."""


@dataclass(frozen=True)
class Trial:
    """One world and what came of it: ``broken`` promises, whether it ``fell``, and how near it was to breaking one.

    ``strain``: the largest of all promised values over their thresholds; infinite when it fell.
    """

    draw: DrawnWorld
    broken: tuple[str, ...]
    fell: bool
    strain: float
    figures: dict[str, float] = field(repr=False)
    motion: JointCurves | None = field(repr=False)

    @property
    def holds(self) -> bool:
        """Whether every promise held."""
        return not self.broken

    @property
    def as_json(self) -> dict[str, Any]:
        """The draw and the outcome as plain values."""
        strain = self.strain if np.isfinite(self.strain) else None
        return {"trial": self.draw.number, **self.draw.factors, "holds": self.holds, "fell": self.fell, "broken": list(self.broken),
                "strain": strain}  # fmt: skip


def trial_of(draw: DrawnWorld, checks: list[Check], figures: dict[str, float], motion: JointCurves | None) -> Trial:
    """A trial from the checks of its replay."""
    fell = figures.get("fell", 0.0) > 0.0
    promised = [c for c in checks if c.threshold is not None and c.state in ("holds", "broken")]
    strain = [c.value / c.threshold for c in promised if c.threshold and not c.at_least]
    broken = tuple(check.name for check in checks if check.stands_against)
    return Trial(draw, broken, fell, float("inf") if fell else max(strain, default=0.0), figures, motion)


@dataclass(frozen=True)
class Trials:
    """All trials of one seed."""

    seed: int
    trials: tuple[Trial, ...]

    @property
    def held(self) -> int:
        """How many held."""
        return sum(trial.holds for trial in self.trials)

    @property
    def share(self) -> float:
        """The share that held."""
        return self.held / len(self.trials)

    @property
    def interval(self) -> tuple[float, float]:
        """The exact interval of that share (`statistics.proportions`)."""
        return clopper_pearson(self.held, len(self.trials), level=LEVEL)

    @property
    def worst(self) -> Trial:
        """The trial that was farthest from holding; the first of those that fell, where some did."""
        return max(self.trials, key=lambda trial: (bool(trial.broken), trial.strain, -trial.draw.number))

    @cached_property
    def hurts(self) -> dict[str, float]:
        """Spearman's rank correlation of each factor with the strain, those that matter most first; 0 for what did not vary."""
        strain = _ranks(np.array([trial.strain for trial in self.trials]))
        found = {}
        for name in FACTORS:
            size = _ranks(np.array([trial.draw.factors[name] for trial in self.trials]))
            varied = size.std() > 0.0 and strain.std() > 0.0
            found[name] = float(np.corrcoef(size, strain)[0, 1]) if varied else 0.0
        return dict(sorted(found.items(), key=lambda item: -abs(item[1])))

    @property
    def hurts_most(self) -> str:
        """The factor that hurts most, in words; none does where all trials end alike, or chance gives as much in one of twenty."""
        n = len(self.trials)
        if self.held in (0, n):
            return "no trial failed" if self.held else "every trial failed"
        name, rho = next(iter(self.hurts.items()))
        if n < 8 or abs(rho) < 2.77 / np.sqrt(n - 1):  # two-sided 5 % over nine factors
            return "no factor stands out"
        way = ("less is worse" if rho < 0.0 else "more is worse") if name in UP or rho < 0.0 else ""
        return f"{name} hurts most{f', {way}' if way else ''} (rank correlation {rho:+.2f})"

    def checks(self, least: float | None = None) -> list[Check]:
        """The share that holds, a promise where ``least`` is asked for, and the share that stays on its feet."""
        low, high = self.interval
        n, worst = len(self.trials), self.worst
        sure = f"{self.held} of {n} hold, 95 % interval {100.0 * low:.0f} to {100.0 * high:.0f} %"
        why = "fell" if worst.fell else ", ".join(worst.broken)
        last = f"worst: trial {worst.draw.number} ({why})" if why else f"nearest to failing: trial {worst.draw.number}"
        note = f"{sure}; {self.hurts_most}; {last}"
        fell = sum(trial.fell for trial in self.trials) / n
        return [
            Check("trials that hold", self.share, f"of the {n} trials", least, at_least=True, note=note),
            Check("trials that fell", fell, f"of the {n} trials"),
        ]

    @property
    def figures(self) -> dict[str, float]:
        """Flat figures."""
        low, high = self.interval
        return {
            "trials": float(len(self.trials)),
            "trials_share": self.share,
            "trials_share_low": low,
            "trials_share_high": high,
            "trials_fell": float(sum(trial.fell for trial in self.trials)),
            "worst_trial": float(self.worst.draw.number),
        }


def _ranks(values: np.ndarray[Any, Any]) -> np.ndarray[Any, Any]:
    """Ranks (n,), of equal values their mean."""
    _, place, count = np.unique(values, return_inverse=True, return_counts=True)
    return np.asarray((np.cumsum(count) - 0.5 * (count - 1) - 1.0)[place])
