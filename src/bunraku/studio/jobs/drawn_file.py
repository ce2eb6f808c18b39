"""What is drawn of a motion, in a file: plain arrays, names as text in bytes. Nothing is computed on reading but the figure."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from bunraku.errors import BadInput
from bunraku.studio.jobs.exchange import bytes_of, read_arrays, texts_of, write_arrays

if TYPE_CHECKING:
    from bunraku.stage.figure.figure import Figure
    from bunraku.stage.figure.motion import DrawnMotion
    from bunraku.stage.figure.parts import Deforming

_PLAIN = ("times", "strings", "com", "frames", "lower", "upper")


def write_drawn(path: Path, drawn: DrawnMotion) -> None:
    """Write what is drawn: placed solids by kind, strings, rods, skin, points, box; not compressed."""
    arrays: dict[str, Any] = {name: getattr(drawn, name) for name in _PLAIN}
    arrays |= {"names": bytes_of(drawn.names), "notes": bytes_of(drawn.notes), "kinds": bytes_of(drawn.placed)}
    for k, placed in enumerate(drawn.placed.values()):
        arrays |= {f"placed{k}.positions": placed.positions, f"placed{k}.wxyz": placed.wxyz}
    arrays |= {"surfaces": bytes_of(one.name for one in drawn.surfaces), "skinned": np.array(int(drawn.skin is not None))}
    for k, one in enumerate(drawn.surfaces):
        arrays |= {f"surface{k}.points": one.points, f"surface{k}.faces": one.faces, f"surface{k}.color": np.array(one.color)}
    write_arrays(path, arrays, lasting=False, compressed=False)


def read_drawn(path: Path, figure: Figure) -> DrawnMotion:
    """What was written, for the figure of its character."""
    from bunraku.stage.figure.figure import Placed
    from bunraku.stage.figure.motion import DrawnMotion

    arrays: dict[str, Any] = dict(read_arrays(path))
    try:
        kinds, names = texts_of(arrays["kinds"]), texts_of(arrays["names"])
        placed = {kind: Placed(arrays[f"placed{k}.positions"], arrays[f"placed{k}.wxyz"]) for k, kind in enumerate(kinds)}
        surfaces = [_surface(arrays, k, name) for k, name in enumerate(texts_of(arrays["surfaces"]))]
        skin = surfaces.pop() if int(arrays["skinned"]) else None
        plain = {name: arrays[name] for name in _PLAIN}
        return DrawnMotion(
            figure=figure, placed=placed, rods=tuple(surfaces), skin=skin, names=names, notes=texts_of(arrays["notes"]), **plain
        )
    except (KeyError, IndexError) as error:
        raise BadInput(f"holds no drawn motion: {error} is missing", file=str(path)) from error


def _surface(arrays: dict[str, Any], k: int, name: str) -> Deforming:
    from bunraku.stage.figure.parts import Deforming

    r, g, b, a = (float(part) for part in arrays[f"surface{k}.color"])
    return Deforming(name, arrays[f"surface{k}.points"], arrays[f"surface{k}.faces"], (r, g, b, a))
