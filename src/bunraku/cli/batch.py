"""``bunraku batch``: many runs by one plan, on the workers of this machine or of a Dask scheduler; one table at the end."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.console import emit_json, say, watching
from bunraku.cli.files import named
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_folder
from bunraku.formats.places import known_names
from bunraku.optimization.monitor import Event, Monitor

if TYPE_CHECKING:
    from bunraku.batch.batch import Batch
    from bunraku.batch.plan import BatchPlan


def batch(
    plan: Annotated[Path, typer.Argument(help="A .batch.yaml")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Folder of the results [NAME-batch]")] = None,
    workers: Annotated[int, typer.Option(min=1, max=256, help="Processes that work on this machine")] = 2,
    scheduler: Annotated[
        str, typer.Option(help="Address of a Dask scheduler that runs already, such as tcp://127.0.0.1:8786; trusted ones only")
    ] = "",
    plots: Annotated[bool, typer.Option(help="Each figure against each thing that varies, as PNG")] = True,
    listing: Annotated[bool, typer.Option("--list", help="List the runs and whether they are done, and stop")] = False,
    json: Annotated[bool, typer.Option("--json", help="The summary as JSON on stdout")] = False,
) -> int:
    """Perform characters x clips x options x dimensions as a plan says, and gather the figures in one table.

    A run that is done is never done again: after a kill or Ctrl-C, give the same command again. One failure never stops the others;
    failed runs are rows with a reason, and the exit code is 1.
    """
    if not plan.name.endswith((".yaml", ".yml")):
        raise BadInput("a plan is a .batch.yaml", file=str(plan))
    if output is not None and not listing:
        check_folder(output)
    from bunraku.batch.batch import run_batch
    from bunraku.batch.cluster import RemoteScheduler, checked_address, in_the_open, need_dask
    from bunraku.batch.plan import read_plan
    from bunraku.batch.processes import LocalWorkers

    at = RemoteScheduler(checked_address(scheduler)) if scheduler else None
    if at is not None:
        need_dask()
        if in_the_open(scheduler):
            say(
                f"{scheduler} is not encrypted: whoever reaches it, or the network between, can run programs there and here; use tls://"
            )
    work = read_plan(plan)
    folder = output or named(work.name, "-batch")
    if listing:
        return _list(work, folder)
    say(f"{work.name}: {len(work.runs)} runs" + (f", {work.repeated} more were the same" if work.repeated else ""))
    if at is None:
        _compile(work)
    with watching() as monitor:
        watcher = monitor if sys.stderr.isatty() else _Lines(monitor)
        result = run_batch(work, folder, at or LocalWorkers(workers), plots=plots, monitor=watcher, note=say)
    _tell(result, folder)
    if json:
        emit_json(result.summary)
    return result.exit_code


class _Lines(Monitor):
    """Progress as lines, one every few seconds and whenever the words change, for those who have no terminal."""

    def __init__(self, inner: Monitor, every: float = 3.0) -> None:
        self._inner, self._every = inner, every
        self._last, self._words = time.monotonic(), ""

    def report(self, event: Event) -> None:
        words = event.message.partition(";")[2]
        if time.monotonic() - self._last < self._every and words == self._words:
            return
        if words and words == self._words:
            return
        self._last, self._words = time.monotonic(), words
        say(f"{event.stage}: {event.message}")

    @property
    def cancelled(self) -> bool:
        return self._inner.cancelled


def _compile(plan: BatchPlan) -> None:
    """Compile ahead what the runs will need, once, rather than in every worker."""
    from bunraku.batch.working import foreseen
    from bunraku.flow.ahead import compile_for_runs

    runs = {(run.character.label, run.clip.label, run.performer): run for run in plan.runs}
    compile_for_runs((foreseen(plan.job(run)) for run in runs.values()), verify=plan.file.verify)


def _list(plan: BatchPlan, folder: Path) -> int:
    from bunraku.batch.store import Store

    store = Store(folder, reading=True)
    for run in plan.runs:
        state = "done" if store.done(run.key) else "to do"
        words = ", ".join(f"{name}={run.settings[name]}" for name in plan.columns if run.settings[name] != "")
        say(f"{run.key[:16]}  {state:6} {words}")
    return 0


def _tell(result: Batch, folder: Path) -> None:
    from bunraku.batch.table import NOT_RUN

    facts, table = result.summary, result.table
    states, reasons, keys = table.column("status"), table.column("reason"), table.column("run")
    bad = [k for k, state in enumerate(states) if state not in ("done", NOT_RUN)]
    for k in bad[:10]:
        say(f"  ! {keys[k]} {states[k]}: {reasons[k]}")
    if len(bad) > 10:
        say(f"  ! and {len(bad) - 10} more; see the table")
    if any(str(reasons[k]).startswith("unexpected ") for k in bad):
        say(f"  what is called unexpected is a fault of Bunraku: please send in its file in {folder / 'failed'}")
    for name in table.unknown:
        say(f"  no run has a figure {name!r}; {known_names(name, table.known, 60)}")
    before = f", {facts['done_before']} of them before" if facts["done_before"] else ""
    say(f"{facts['done']} of {facts['runs']} runs done{before}; {len(bad)} failed, {facts['not_run']} not run")
    if result.outcome.trouble:
        say(result.outcome.trouble)
    say(f"wrote {', '.join(str(path) for path in result.files[:2])}" + (" and pictures" if len(result.files) > 2 else ""))
