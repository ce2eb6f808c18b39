"""``bunraku plot``: angle and velocity over time, wish against performance, limits drawn (the paper's Fig. 2 and 3)."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import say
from bunraku.cli.files import PICTURES, check_target, named_after
from bunraku.errors import BadInput
from bunraku.formats.places import known_names


def plot(
    performance: Annotated[Path, typer.Argument(help="A .performance.npz")],
    joint: Annotated[list[str] | None, typer.Option(help="Joints to draw; the most affected ones if not given")] = None,
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Picture: .png, .svg or .pdf [PERFORMANCE.png]")] = None,
    start: Annotated[float, typer.Option(help="From this time [s]")] = 0.0,
    end: Annotated[float | None, typer.Option(help="To this time [s]")] = None,
) -> int:
    """Draw angle and velocity of some joints, wish and performance, with the limits.

    A puppet's performance without --joint: tensions, carriages and winches with their limits, points off the wish.
    """
    check_target(output, *PICTURES)
    from bunraku.formats.registry import read_performance
    from bunraku.verification.plots.figure import save_figure
    from bunraku.verification.plots.joints import draw_joints
    from bunraku.verification.plots.strings import draw_dynamic

    given = read_performance(performance)
    target = output or named_after(performance, ".png")
    check_target(target)
    for name in joint or ():
        if name not in (curves := given.followed().names):
            raise BadInput(f"there is no curve for {name!r}; {known_names(name, curves)}", file=str(performance))
    whole = given.dynamic and not joint and start == 0.0 and end is None
    save_figure(draw_dynamic(given) if whole else draw_joints(given, tuple(joint or ()), start=start, end=end), target)
    say(f"wrote {target}")
    return 0
