"""The picture of a material fit: the recorded marker over the model's, and what is left (the paper's Fig. 5)."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.mechanics.identification.fit import MaterialFit
from bunraku.mechanics.identification.record import MarkerRecord
from bunraku.verification.plots.figure import DONE, WISH, new_figure


def draw_fit(record: MarkerRecord, fit: MaterialFit) -> Any:
    """Each coordinate of the record (dots) and of the model (line), in mm about the first sample; below, record minus model."""
    d = record.dimensions
    figure, axes = new_figure(d + 1)
    unit = 1e3 / fit.alignment.scale
    first = record.points[0]
    for i in range(d):
        axis = axes[i, 0]
        axis.plot(record.times, unit * (record.points[:, i] - first[i]), ".", color=WISH, ms=4, label="record")
        axis.plot(record.times, unit * (fit.predicted[:, i] - first[i]), color=DONE, lw=1.1, label="model")
        axis.set_ylabel(f"{'xyz'[i]} of record\n[mm]", fontsize=8)
    axes[0, 0].legend(loc="upper right", ncols=2, fontsize=8, frameon=False, bbox_to_anchor=(1.0, 1.25))
    left = unit * (record.points - fit.predicted)
    bottom = axes[d, 0]
    for i in range(d):
        bottom.plot(record.times, left[:, i], lw=0.8, label="xyz"[i])
    for sign in (-2.0, 2.0):
        bottom.axhline(sign * 1e3 * fit.noise, ls="--", lw=0.8, color="0.5")
    bottom.set_ylim(*(np.array([-1.0, 1.0]) * max(4e3 * fit.noise, 1.1 * float(np.abs(left).max()))))
    bottom.set_ylabel("record - model\n[mm]", fontsize=8)
    bottom.legend(loc="upper right", ncols=3, fontsize=7, frameon=False)
    bottom.set_xlabel("time [s]", fontsize=8)
    return figure
