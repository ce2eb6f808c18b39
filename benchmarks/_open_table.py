"""Rates of the open world, a row a kind, with exact intervals. No question of its own."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from statistics import median
from typing import Any

from _open_run import OUTCOMES
from bunraku.statistics.proportions import clopper_pearson


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
        low, high = clopper_pearson(counts["proven"], len(some))
        share = f"{100 * counts['proven'] / len(some):.0f} [{100 * low:.0f}, {100 * high:.0f}]"
        seconds = [row["cpu"] for row in some]
        numbers = "".join(f"{counts[outcome]:16d}" for outcome in OUTCOMES)
        lines.append(f"{kind:10}{len(some):6d}{numbers}{share:>18}{median(seconds):14.1f}{max(seconds):8.1f}")
    return lines
