"""Rates of the open world, a row a kind, with exact intervals. No question of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from scipy.stats import beta

from _open_run import OUTCOMES

CONFIDENCE = 0.95


def interval(count: int, of: int) -> tuple[float, float]:
    """The exact (Clopper-Pearson) interval of a rate of ``count`` in ``of``, by quantiles of the beta distribution."""
    out = 0.5 * (1.0 - CONFIDENCE)
    low = float(beta.ppf(out, count, of - count + 1)) if count else 0.0
    high = float(beta.ppf(1.0 - out, count + 1, of - count)) if count < of else 1.0
    return low, high


def table(rows: Iterable[dict[str, Any]]) -> list[str]:
    """The rates of each kind and of all: cases, how many had each outcome, the share proven with its interval, CPU time."""
    kinds: dict[str, list[dict[str, Any]]] = {}
    for row in rows:
        kinds.setdefault(row["kind"], []).append(row)
    if len(kinds) > 1:
        kinds["all"] = [row for some in kinds.values() for row in some]
    head = "".join(f"{outcome:>16}" for outcome in OUTCOMES)
    lines = [f"{'kind':10}{'cases':>6}{head}{'proven %':>18}{'CPU s median':>14}{'worst':>8}"]
    for kind, some in kinds.items():
        counts = Counter(row["outcome"] for row in some)
        low, high = interval(counts["proven"], len(some))
        share = f"{100 * counts['proven'] / len(some):.0f} [{100 * low:.0f}, {100 * high:.0f}]"
        seconds = [row["cpu"] for row in some]
        numbers = "".join(f"{counts[outcome]:16d}" for outcome in OUTCOMES)
        lines.append(f"{kind:10}{len(some):6d}{numbers}{share:>18}{median(seconds):14.1f}{max(seconds):8.1f}")
    return lines
