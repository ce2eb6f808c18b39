"""The table of a batch: one row a run, in the plan's order. Times stand in a file of their own: the same plan, the same bytes."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from bunraku.batch.plan import BatchPlan
from bunraku.batch.store import Store
from bunraku.formats.atomic import write_atomically

NOT_RUN = "not run"


@dataclass(frozen=True)
class Table:
    """Columns by name and rows of values, None where there is none; ``measures`` are the columns of figures.

    ``known``: the figures that any run has; ``unknown``: those that were asked for and that none has.
    """

    columns: tuple[str, ...]
    rows: tuple[tuple[Any, ...], ...]
    measures: tuple[str, ...]
    known: tuple[str, ...] = ()
    unknown: tuple[str, ...] = ()

    def column(self, name: str) -> list[Any]:
        """The values of one column."""
        place = self.columns.index(name)
        return [row[place] for row in self.rows]


def make_table(plan: BatchPlan, store: Store) -> Table:
    """What is known by now."""
    results = [store.done(run.key) or store.failure(run.key) for run in plan.runs]
    known = {name for result in results if result is not None for name in result["figures"]}
    shown = tuple(name for name in plan.file.measure or sorted(known) if name not in plan.columns)
    rows = []
    for run, result in zip(plan.runs, results, strict=True):
        figures = {} if result is None else result["figures"]
        settings = run.settings
        if "performer" not in plan.varied and not settings["performer"]:
            settings = settings | {"performer": figures.get("performed_by", "")}  # the one that was chosen
        head = [run.key[:16], *(settings[name] for name in plan.columns)]
        state = [NOT_RUN, ""] if result is None else [result["status"], result["reason"]]
        rows.append((*head, *state, *(figures.get(name) for name in shown)))
    unknown = tuple(name for name in shown if known and name not in known)
    return Table(("run", *plan.columns, "status", "reason", *shown), tuple(rows), shown, tuple(sorted(known)), unknown)


def write_table(table: Table, folder: Path) -> list[Path]:
    """``results.csv``, and ``results.parquet`` where pyarrow is installed; each whole or not at all."""
    written = [folder / "results.csv"]
    write_atomically(written[0], _csv(table.columns, table.rows))
    parquet = _parquet(table)
    if parquet is not None:
        written.append(folder / "results.parquet")
        write_atomically(written[1], parquet)
    return written


def write_timings(plan: BatchPlan, store: Store, folder: Path) -> None:
    """``timings.csv``: how long each run that is done took, on which worker, at which attempt."""
    columns = ("seconds", "attempts", "worker")
    timings = [(run.key[:16], timing) for run in plan.runs if (timing := store.timing(run.key))]
    rows = [(key, *(timing.get(name) for name in columns)) for key, timing in timings]
    write_atomically(folder / "timings.csv", _csv(("run", *columns), rows))


def _csv(columns: Sequence[str], rows: Iterable[Sequence[Any]]) -> bytes:
    """Numbers so that they read back exactly; texts that a spreadsheet would take for a formula are quoted by an apostrophe."""
    stream = io.StringIO()
    writer = csv.writer(stream, lineterminator="\n")
    writer.writerows([_cell(value) for value in row] for row in (columns, *rows))
    return stream.getvalue().encode()


def _cell(value: Any) -> Any:
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, float):
        return repr(value)
    if isinstance(value, str) and value[:1] in ("=", "+", "-", "@", "\t") and not _is_number(value):
        return "'" + value
    return value


def _is_number(text: str) -> bool:
    try:
        float(text)
    except ValueError:
        return False
    return True


def _parquet(table: Table) -> bytes | None:
    try:
        import pyarrow
        from pyarrow import parquet
    except ImportError:
        return None
    columns = {name: _typed(table.column(name)) for name in table.columns}
    stream = io.BytesIO()
    parquet.write_table(pyarrow.table(columns), stream)
    return stream.getvalue()


def _typed(values: list[Any]) -> list[Any]:
    """A column of one type: truths, whole numbers, numbers (texts such as "nan" too), else texts."""
    given = [value for value in values if value is not None]
    if {type(value) for value in given} in (set(), {bool}, {int}):
        return values
    if all((isinstance(value, int | float) and not isinstance(value, bool)) or value in ("nan", "inf", "-inf") for value in given):
        return [None if value is None else float(value) for value in values]
    return [None if value is None else str(value) for value in values]
