"""Plans of many runs, ``bunraku: batch/1``: who performs what with which options and dimensions, and what is measured."""

from __future__ import annotations

import math
from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from bunraku.character.description import Description, quantity
from bunraku.formats.units import build
from bunraku.formats.yaml_file import YamlFile, read_yaml

Text = Annotated[str, Field(min_length=1, max_length=500)]
Value = bool | int | float | Annotated[str, Field(max_length=500)]
Plain = Value | None | list[Any] | dict[str, Any]


class VaryEntry(Description):
    """Something that differs from run to run: one of ``option``, ``clip`` and ``design``, with ``values`` or ``low`` and ``high``.

    ``design``: the dimensions [m] that change together, each with its length at ``low`` and at ``high``; in between it is linear.
    These ends are then only what the column of the table says; left out, they are the lengths of the first dimension. ``count``:
    how many values a grid takes from low to high, both included, evenly spaced or by equal factors (``spacing``).
    """

    name: Text | None = None
    option: Text | None = None
    clip: Literal["start_s", "duration_s", "tempo", "distance_m", "speed_m_s", "cycle_s"] | None = None
    design: dict[Text, tuple[float, float]] | None = quantity("length", None, min_length=1, max_length=1000)
    values: tuple[Value, ...] | None = Field(None, min_length=1, max_length=100_000)
    low: float | None = None
    high: float | None = None
    count: int | None = Field(None, ge=2, le=100_000)
    spacing: Literal["linear", "log"] = "linear"

    @model_validator(mode="after")
    def _consistent(self) -> VaryEntry:
        given = [name for name in ("option", "clip", "design") if getattr(self, name) is not None]
        if len(given) != 1:
            arrived = " and ".join(given) or "none"
            raise ValueError(f"takes one of option, clip or design (with its unit: design_m, design_mm); {arrived} arrived")
        if (self.low is None) != (self.high is None):
            raise ValueError("takes low and high together")
        ranged = self.low is not None or self.design is not None
        if self.values is None and not ranged:
            raise ValueError("takes values, or low and high")
        if self.values is not None and (self.count is not None or (self.low is not None and self.design is None)):
            raise ValueError("takes values, or low and high with a count; not both")
        if self.design is not None and self.values is not None and not all(_number(value) for value in self.values):
            raise ValueError("the values of a design are numbers")
        low, high = self.ends if ranged else (0.0, 1.0)
        if low == high:
            raise ValueError(f"goes from {low:g} to {high:g}; a range needs two different ends")
        if self.spacing == "log" and not (low > 0.0 and high > 0.0):
            raise ValueError(f"cannot be spaced by equal factors from {low:g} to {high:g}; both must be above 0")
        return self

    @property
    def ends(self) -> tuple[float, float]:
        """The ends of its range, as the table's column says them."""
        if self.low is not None and self.high is not None:
            return self.low, self.high
        return next(iter((self.design or {}).values()))

    @property
    def column(self) -> str:
        """The name of its column."""
        return self.name or self.option or self.clip or next(iter(self.design or ("",)))


class SamplingFile(Description):
    """Which of all combinations are run: every one (``grid``), or ``runs`` of them, seeded."""

    kind: Literal["grid", "random", "latin-hypercube"] = "grid"
    runs: int | None = Field(None, ge=1, le=100_000)
    seed: int = Field(0, ge=0, le=2**32 - 1)

    @model_validator(mode="after")
    def _consistent(self) -> SamplingFile:
        if (self.kind == "grid") != (self.runs is None):
            what = "takes no runs: it has as many as there are combinations" if self.kind == "grid" else "takes runs: how many"
            raise ValueError(f"sampling of kind {self.kind} {what}")
        return self


class BatchFile(Description):
    """A plan of many runs. Characters and clips: built-in names, files beside the plan, or patterns such as ``takes/*.bvh``.

    ``performers``: their names, "" lets each run choose. ``options``: the same in every run. ``measure``: the figures that the
    table shows, all if none are named. A run that ends by an accident is tried ``retries`` times more; one is given up after
    ``timeout`` [s], 0: never. ``effort``: as of ``bunraku perform``; if none is given, every run is performed as it is written, and
    verified where ``verify`` says so, so that a table compares what was asked for and not what remedies made of it.
    """

    name: Text | None = None
    characters: tuple[Text, ...] = Field(min_length=1, max_length=10_000)
    clips: tuple[Text, ...] = Field(min_length=1, max_length=10_000)
    performers: tuple[Annotated[str, Field(max_length=100)], ...] = Field(("",), min_length=1, max_length=100)
    overlay: Text | None = None
    rig: Text | None = None
    options: dict[Text, Plain] = Field(default_factory=dict, max_length=1000)
    vary: tuple[VaryEntry, ...] = Field((), max_length=100)
    sampling: SamplingFile = SamplingFile()
    measure: tuple[Text, ...] = Field((), max_length=1000)
    verify: bool = False
    effort: Literal["once", "verify", "usual", "high"] | None = None
    keep_performances: bool = False
    retries: int = Field(2, ge=0, le=20)
    timeout: float = quantity("time", 600.0, ge=0.0, le=1e6)

    @property
    def spent(self) -> str:
        """The effort for every run."""
        return self.effort or ("verify" if self.verify else "once")

    @model_validator(mode="after")
    def _consistent(self) -> BatchFile:
        columns = ["run", "character", "clip", "performer", "status", "reason", *(entry.column for entry in self.vary)]
        twice = next((name for name in columns if columns.count(name) > 1), None)
        if twice is not None:
            raise ValueError(f"two columns of the table would be called {twice!r}; give one of them a name of its own")
        set_twice = [entry.option for entry in self.vary if entry.option in self.options]
        if set_twice:
            raise ValueError(f"the option {set_twice[0]!r} stands under options and under vary; keep one")
        return self


def read_batch_yaml(data: bytes, *, file: str) -> tuple[BatchFile, YamlFile]:
    """The plan in the bytes of a file, and the file, for errors that name its lines."""
    content = read_yaml(data, file=file, kind="batch")
    return build(BatchFile, content.data, file=file, lines=content.lines), content


def _number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and math.isfinite(value)
