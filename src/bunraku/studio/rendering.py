"""A performance as a film with its voice, a page or a contact sheet."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.errors import BadInput
from bunraku.formats.atomic import check_output, write_atomically
from bunraku.formats.registry import read_performance
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

SUFFIXES = (".mp4", ".gif", ".html", ".png")


@dataclass(frozen=True)
class Taste:
    """How a performance is to be seen, as the options say."""

    width: int = 640
    height: int = 360
    fps: float | None = None
    view: str = "three-quarter"
    wish: bool = True
    before: bool = False
    start: float | None = None
    end: float | None = None
    follow: bool | None = None
    dark: bool = False
    poses: int = 8


def render(performance: str | Path | Performance, path: str | Path, *, monitor: Monitor = SILENT, **taste: Any) -> Path:
    """Draw a performance into a film with its voice (.mp4), a .gif, a page that needs nothing else (.html), or a sheet (.png).

    ``taste``: the fields of `Taste`, for example ``width=1280, height=720, view="front"``.
    """
    target = Path(path)
    check_path(target)
    given = performance if isinstance(performance, Performance) else read_performance(performance)
    write_atomically(target, rendered(given, target.suffix.lower(), Taste(**taste), monitor))
    return target


def check_path(path: Path) -> None:
    """Refuse a file that cannot be drawn into, before anything is drawn."""
    if path.suffix.lower() not in SUFFIXES:
        raise BadInput(f"nothing is written as {path.suffix!r}; these are: {', '.join(SUFFIXES)}", file=str(path))
    check_output(path)


def rendered(performance: Performance, suffix: str, taste: Taste, monitor: Monitor) -> bytes:
    """The bytes of a film, page or sheet; stops with KeyboardInterrupt when the monitor says so.

    A page heeds ``wish`` and ``dark`` alone.
    """

    def step(fraction: float) -> None:
        monitor.report(Event("drawing", fraction))
        if monitor.cancelled:
            raise KeyboardInterrupt

    if suffix == ".html":
        from bunraku.studio.notebook import page_of

        return page_of(performance, wish=taste.wish, dark=taste.dark, sound=True).encode()
    step(0.0)
    common: dict[str, Any] = {name: getattr(taste, name) for name in ("wish", "start", "end", "view", "follow", "dark")}
    if not taste.before or suffix == ".png":
        common["marked"] = beyond_limits(performance)
    if suffix == ".png":
        from bunraku.stage.picture.sheet import sheet

        return _png(sheet(performance, count=taste.poses, cell=taste.height, before=taste.before, step=step, **common))
    from bunraku.stage.film import film_bytes
    from bunraku.stage.picture.shot import movie

    common |= {"motion": "wish" if taste.before else "performed", "width": taste.width, "height": taste.height}
    rate = taste.fps if taste.fps is not None else (15.0 if suffix == ".gif" else 30.0)
    film = movie(performance, fps=rate, **common)

    def pictures() -> Iterator[NDArray[np.uint8]]:
        for k, picture in enumerate(film.frames):
            yield picture
            step((k + 1) / len(film.frames))  # type: ignore[arg-type]

    return film_bytes(replace(film, frames=pictures()), suffix)


def beyond_limits(performance: Performance) -> frozenset[str]:
    """The bodies whose joint goes beyond a limit."""
    from bunraku.verification.moments import worst_moments

    names = {one.what for one in worst_moments(performance) if one.threshold is not None and not one.holds}
    joints = performance.character.joints
    return frozenset(one.child for one in joints if names & {one.name, *(axis.name for axis in one.axes)})


def _png(picture: NDArray[np.uint8]) -> bytes:
    from io import BytesIO

    from PIL import Image

    stream = BytesIO()
    Image.fromarray(picture).save(stream, format="PNG", optimize=True)
    return stream.getvalue()
