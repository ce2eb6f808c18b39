"""A batch from its plan's file to its table and pictures."""

from __future__ import annotations

import time
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.batch.conducting import Outcome, Workers, carry_out_plan
from bunraku.batch.plan import BatchPlan
from bunraku.batch.store import Store
from bunraku.batch.table import NOT_RUN, Table, make_table, write_table, write_timings
from bunraku.optimization.monitor import SILENT, Monitor


@dataclass(frozen=True)
class Batch:
    """A plan carried out: its table, the files written, and how it went."""

    plan: BatchPlan
    table: Table
    outcome: Outcome
    files: tuple[Path, ...]
    seconds: float

    @property
    def summary(self) -> dict[str, Any]:
        """One flat object of counts and names."""
        states = self.table.column("status")
        counts = {name.replace(" ", "_"): states.count(name) for name in ("done", "refused", "failed", "timeout", NOT_RUN)}
        return {
            "plan": self.plan.name,
            "runs": len(self.plan.runs),
            **counts,
            "done_before": self.outcome.before,
            "seconds": self.seconds,
            "files": [str(path) for path in self.files],
            "unknown_figures": list(self.table.unknown),
        }

    @property
    def exit_code(self) -> int:
        """0 when every run is done and has what is measured, 130 cancelled, else 1."""
        if self.outcome.cancelled:
            return 130
        return 0 if set(self.table.column("status")) <= {"done"} and not self.table.unknown else 1


def run_batch(
    plan: BatchPlan, folder: Path, workers: Workers, *, plots: bool = True, monitor: Monitor = SILENT,
    note: Callable[[str], None] = lambda words: None,
) -> Batch:  # fmt: skip
    """Carry a plan out with ``workers``, results in ``folder``; what is there already is not done again.

    ``note`` is told in words what should be known before the end.
    """
    began = time.perf_counter()
    store = Store(folder)
    store.sweep()
    try:
        outcome = carry_out_plan(
            plan, store, workers, monitor=monitor, now_and_then=lambda: write_table(make_table(plan, store), folder), note=note
        )
    finally:
        table = make_table(plan, store)
        files = write_table(table, folder)
        write_timings(plan, store, folder)
    if plots and not outcome.cancelled:
        from bunraku.batch.pictures import draw_batch

        files += draw_batch(plan, table, folder)
    return Batch(plan, table, outcome, tuple(files), time.perf_counter() - began)
