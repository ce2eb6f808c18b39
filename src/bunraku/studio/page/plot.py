"""A plot in a panel: series of a `PlotData`, drawn by uPlot, made anew only when its lines are others."""

from __future__ import annotations

from collections.abc import Hashable
from typing import Any

import numpy as np

from bunraku.studio.page.ui import Ui
from bunraku.studio.widgets.plots import PlotData

ALLOWED = "rgba(64, 160, 90, 0.10)"
"""The band between limits."""

FIGURES = ("#4c6ef5", "#e8590c", "#2b8a3e", "#9c36b5", "#868e96")
"""Colours of the figures of a run, or of several bodies, one after the other."""
STROKES = {"before": "#868e96", "after": "#e8590c", "lower": "#c92a2a", "upper": "#c92a2a", "cost": "#4c6ef5"}


class Plot:
    """Where it is made it stays: in the container that is open at that moment."""

    def __init__(self, ui: Ui, *, height: int = 190, order: float | None = None, title: str = "") -> None:
        self._ui, self._height, self._title = ui, height, title
        self._holder = ui.gui.add_folder(title or "Nothing to plot yet", expand_by_default=True, order=order)
        self._handle: Any = None
        self._key: Hashable = None
        self._labels: tuple[str, ...] = ()

    def show(self, data: PlotData | None, *, key: Hashable = None) -> None:
        """Draw it; None or no series: nothing."""
        self._holder.visible = not self._title or (data is not None and bool(data.series))  # a title needs no empty frame
        if data is None or not data.series:
            self._remove()
            self._holder.label = self._title or "Nothing to plot yet" if data is None else data.note or "Nothing to plot"
            return
        if key is not None and key == self._key and self._handle is not None:
            return
        self._key = key
        arrays = tuple(np.ascontiguousarray(one, dtype=np.float64) for one in data.arrays)
        if data.series[0].role == "cost":  # powers of ten: the numbers of a logarithmic axis are all 0 below a thousandth
            arrays = (arrays[0], *(np.log10(np.maximum(np.abs(one), 1e-12)) for one in arrays[1:]))
        labels = tuple(one.label for one in data.series)
        self._holder.label = self._title or (data.note or ", ".join(dict.fromkeys(one.belongs for one in data.series)))[:60] + (
            f" [{data.unit}]" if data.unit else ""
        )
        if labels == self._labels and self._handle is not None:
            self._handle.data = arrays
            return
        self._remove()
        self._labels, self._key = labels, key
        over_time = data.series[0].role != "cost"
        series: list[dict[str, Any]] = [{"label": "t [s]" if over_time else "report"}]
        owners = list(dict.fromkeys(one.belongs for one in data.series))
        compared = any(one.role == "before" for one in data.series)
        bands = []
        for k, one in enumerate(data.series, 1):
            several = one.role == "cost" or (one.role == "after" and len(owners) > 1 and not compared)
            stroke = FIGURES[owners.index(one.belongs) % len(FIGURES)] if several else STROKES[one.role]
            line: dict[str, Any] = {"label": one.label, "stroke": stroke, "width": 1.5, "points": {"show": False}}
            if one.role in ("lower", "upper"):
                line |= {"dash": [4, 4], "width": 1}
            series.append(line)
            if one.role == "upper" and k > 1 and data.series[k - 2].role == "lower":
                bands.append({"series": (k, k - 1), "fill": ALLOWED})
        with self._holder:
            self._handle = self._ui.gui.add_uplot(
                arrays,
                tuple(series),  # type: ignore[arg-type]
                bands=tuple(bands) or None,  # type: ignore[arg-type]
                scales={"x": {"time": False}},
                cursor={"drag": {"x": False, "y": False}} if over_time else None,
                height=self._height,
                padding=(10.0, None, None, None),  # the uppermost number stays whole
            )

    def _remove(self) -> None:
        if self._handle is not None:
            self._handle.remove()
        self._handle, self._labels, self._key = None, (), None
