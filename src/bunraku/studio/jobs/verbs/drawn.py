"""Drawing: everything of a motion that is shown, computed once, as arrays that the page only indexes."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip, read_performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.stage.figure.figure import Figure
from bunraku.stage.figure.motion import drawn as draw
from bunraku.stage.figure.motion import drawn_curves, drawn_pose
from bunraku.studio.jobs.drawn_file import write_drawn
from bunraku.studio.jobs.exchange import read_curves, read_who
from bunraku.studio.jobs.verbs.arguments import Arguments


def drawn(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{performance, which} or {character, clip | curves} -> the arrays' file (`drawn_file`), notes.

    ``which``: motion, wish, commanded or before, as in `stage.figure.motion.drawn`; a list of them draws each.
    """
    given = Arguments(arguments, "drawn")
    files: dict[str, str] = {}
    if given.has("performance"):
        performance = read_performance(given.text("performance"))
        several = isinstance(arguments.get("which"), list)
        names = [str(one) for one in given.sequence("which")] if several else [given.text("which", "motion")]
        given.finish()
        figure = Figure(performance.character)
        for k, which in enumerate(names):
            if which not in ("motion", "wish", "commanded", "before"):
                raise BadInput(f"{which!r} cannot be drawn; motion, wish, commanded and before can")
            monitor.report(Event("drawing", k / len(names), which))
            motion = draw(performance, which=which, figure=figure)  # type: ignore[arg-type]
            files[which] = str(folder / f"{which}.drawn.npz")
            write_drawn(Path(files[which]), motion)
        return {"paths": files, "path": files[names[0]], "notes": list(motion.notes)}, False
    who = read_who(given.text("character"), folder)
    path = folder / "curves.drawn.npz"
    curves = read_curves(Path(given.text("curves"))) if given.has("curves") else None
    if curves is None and given.has("clip"):
        curves = read_clip(given.text("clip")).joints
    given.finish()
    motion = drawn_pose(who) if curves is None else drawn_curves(who, curves)
    write_drawn(path, motion)
    return {"paths": {"curves": str(path)}, "path": str(path), "notes": list(motion.notes)}, False
