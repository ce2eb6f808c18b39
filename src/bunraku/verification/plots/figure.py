"""The look of all pictures: one figure, its colours, and how it is written."""

from __future__ import annotations

from io import BytesIO
from pathlib import Path
from typing import Any

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
