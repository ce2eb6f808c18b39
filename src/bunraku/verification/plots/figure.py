"""The look of all pictures: one figure, its colours, and how it is written."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically

WISH, DONE, LIMIT, SOUND = "#8a8f98", "#c1272d", "#2b5c8a", "#d8c9a8"
KNOWN = {"reference": WISH, "stretch": LIMIT, "clamp": "#d99a2b", "speech": DONE}
OTHERS = ("#4a8f5a", "#7a4a8f", "#3a8f8f", "#8f5a3a")


def new_figure(rows: int, columns: int = 1, *, height: float = 1.9, width: float = 9.0, share: bool = True) -> tuple[Any, Any]:
    """A figure of ``rows`` by ``columns`` axes (an array) in the house's look; ``height`` [in] of a row, ``share`` time."""
    from matplotlib import pyplot

    figure, axes = pyplot.subplots(
        rows, columns, figsize=(width, height * rows), squeeze=False, layout="constrained", sharex="col" if share else "none"
    )
    for axis in axes.flat:
        axis.spines[["top", "right"]].set_visible(False)
        axis.tick_params(labelsize=8)
    return figure, axes


def draw_surface(
    axis: Any, triangles: NDArray[np.integer], x: Array, view: tuple[Array, Array], light: tuple[Array, float, float], color: Array
) -> None:
    """A surface of nodes ``x`` (n, 3) in light and shade: its far triangles first, those turned away left out.

    ``view``: the direction looked along and the one to the right; ``light``: whence it comes, what is bright without it, the least.
    """
    from matplotlib.collections import PolyCollection

    (forward, right), (source, ambient, least) = view, light
    corners = x[triangles]
    normal = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    normal /= np.linalg.norm(normal, axis=1)[:, None] + 1e-30
    order = np.argsort(-(corners.mean(axis=1) @ forward))
    order = order[(normal @ forward < 0.0)[order]]
    shade = np.clip(ambient + (1.0 - ambient) * (normal[order] @ source), least, 1.0)[:, None] * color
    flat = np.stack([corners[order] @ right, corners[order] @ np.cross(right, forward)], axis=2)
    axis.add_collection(PolyCollection(list(flat), facecolors=shade, edgecolors=shade, linewidths=0.2))
    axis.autoscale()


def figure_bytes(figure: Any, form: str = "png") -> bytes:
    """The figure as a file's content, without a date, so that the same input gives the same bytes."""
    from matplotlib import pyplot

    stream = BytesIO()
    figure.savefig(
        stream, format=form, dpi=130, metadata={"Software": None} if form == "png" else {"Date": None} if form == "svg" else None
    )
    pyplot.close(figure)
    return stream.getvalue()


def check_picture(path: Path) -> str:
    """The picture format that a path's suffix names, or an error that says which there are."""
    form = path.suffix.lstrip(".").lower()
    if form not in ("png", "svg", "pdf"):
        raise BadInput("the name should end in .png, .svg or .pdf", file=str(path))
    return form


def save_figure(figure: Any, path: Path) -> None:
    """Write a figure as .png, .svg or .pdf, whole or not at all."""
    write_atomically(path, figure_bytes(figure, check_picture(path)))
