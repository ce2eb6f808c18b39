"""Verifying: what ``bunraku verify`` does, and the replayed motion as curves to be shown beside the plan."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.optimization.monitor import Event, Monitor
from bunraku.studio.jobs.exchange import write_curves
from bunraku.studio.jobs.verbs.arguments import Arguments
from bunraku.studio.jobs.verbs.perform import check_facts

if TYPE_CHECKING:
    from bunraku.verification.verifier import Verdict


def verify(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """Judge a performance: {performance, replay, full_order} -> holds, sentence, checks, figures, replay curves or None."""
    from bunraku.formats.registry import read_performance
    from bunraku.verification.verify import verify as judge

    given = Arguments(arguments, "verify")
    performance = read_performance(given.text("performance"))
    replay, full_order = given.flag("replay", True), given.flag("full_order")
    given.finish()
    monitor.report(Event("verifying", None, performance.clip_name))
    verdict = judge(performance, replay=replay, full_order=full_order, monitor=monitor)
    facts = _facts(verdict)
    curves = verdict.replay.motion if verdict.replay is not None else None
    if curves is not None:
        path = folder / "replay.npz"
        write_curves(path, curves)
        facts["replay"] = str(path)
    return facts, monitor.cancelled


def _facts(verdict: Verdict) -> dict[str, Any]:
    return {
        "holds": verdict.holds,
        "sentence": verdict.sentence,
        "checks": [check_facts(check) for check in verdict.checks],
        "figures": verdict.figures,
        "replay": None,
    }
