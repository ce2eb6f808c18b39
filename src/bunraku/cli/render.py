"""``bunraku render``: a performance as a film with its voice, a page, or a contact sheet; no browser and no screen needed."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import say, watching
from bunraku.cli.files import named_after
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_folder, write_atomically

NOT_OF_A_PAGE = ("size", "fps", "view", "before", "start", "end", "follow", "poses")
"""Options that a page does not heed."""


def render(
    context: typer.Context,
    sources: Annotated[list[str] | None, typer.Argument(help="A .performance.npz; with --demos names of demos")] = None,
    output: Annotated[
        Path | None,
        typer.Option("-o", "--output", help=".mp4, .gif, .html or .png (contact sheet) [NAME.mp4]; of --demos a folder"),
    ] = None,
    size: Annotated[str, typer.Option(help="Width x height of the film, or height of a picture of a sheet [px]")] = "640x360",
    fps: Annotated[float | None, typer.Option(help="Pictures a second [30, of a GIF 15]")] = None,
    view: Annotated[str, typer.Option(help="three-quarter, front, side, back or top")] = "three-quarter",
    target: Annotated[bool, typer.Option(help="Show what was wished too, green and see-through")] = True,
    before: Annotated[
        bool, typer.Option("--before", help="The wish played as it is, grey: instead in a film, in a row of its own on a sheet")
    ] = False,
    start: Annotated[float | None, typer.Option(help="From this time [s]")] = None,
    end: Annotated[float | None, typer.Option(help="To this time [s]")] = None,
    follow: Annotated[
        bool | None, typer.Option("--follow/--no-follow", help="Go along with the character [if it goes away]")
    ] = None,
    trials: Annotated[int, typer.Option(help="Film the worst of so many replays in worlds drawn at random")] = 0,
    seed: Annotated[int, typer.Option(help="What they are drawn with, as of bunraku verify --trials")] = 0,
    dark: Annotated[bool, typer.Option("--dark/--light", help="A dark stage")] = False,
    poses: Annotated[int, typer.Option(help="Moments on a contact sheet")] = 8,
    demos: Annotated[bool, typer.Option("--demos", help="Contact sheet and film of every demo, or of those named")] = False,
    earlier: Annotated[Path | None, typer.Option("--from", help="With --demos: folder with performances made before")] = None,
    full: Annotated[bool, typer.Option("--full", help="With --demos: skins as they are, not their quick variants")] = False,
) -> int:
    """Draw a performance: a film with its voice (MP4), a GIF, a page that needs nothing else (HTML), or a contact sheet (PNG).

    Parts whose joint goes beyond a limit are red.
    """
    from bunraku.formats.registry import read_performance
    from bunraku.studio.rendering import Taste, check_path, rendered

    width, height = _size(size)
    taste = Taste(width, height, fps, view, target, before, start, end, follow, dark, poses)
    if demos:
        folder = output or Path("films")
        check_folder(folder)
        from bunraku.cli.demos.films import render_demos

        return render_demos(tuple(sources or ()), folder, earlier, full, taste)
    if not sources or len(sources) > 1:
        raise BadInput(f"{len(sources or ())} performances arrived; give one .performance.npz, or --demos")
    if earlier is not None or full:
        raise BadInput("--from and --full are for --demos; give that too, or leave them away")
    path = output or named_after(sources[0], ".mp4")
    check_path(path)
    if path.suffix.lower() == ".html":
        _refuse(context, path)
    given = read_performance(sources[0])
    with watching(keeps=False) as monitor:
        if trials:
            from bunraku.verification.trials.film import worst_trial

            given, words = worst_trial(given, trials, seed, monitor=monitor)
            say(words)
        data = rendered(given, path.suffix.lower(), taste, monitor)
    write_atomically(path, data)
    say(f"wrote {path}")
    return 0


def _refuse(context: typer.Context, target: Path) -> None:
    """BadInput when an option is given that a page cannot heed."""
    sources = {name: context.get_parameter_source(name) for name in NOT_OF_A_PAGE}
    given = [name for name, source in sources.items() if source is not None and source.name == "COMMANDLINE"]
    if given:
        names = ", ".join(f"--{name}" for name in given)
        raise BadInput(
            f"a page shows all of it, from wherever one looks, and takes no {names}; leave that away, or write .mp4, .gif or .png",
            file=str(target),
        )


def _size(words: str) -> tuple[int, int]:
    """Width and height from "640x360"; a height alone is one of 16:9."""
    parts = words.lower().split("x")
    if not all(part.isdigit() and len(part) <= 5 for part in parts) or len(parts) > 2:
        raise BadInput(f"the size {words!r} was asked for; give width and height in pixels, as 640x360, or the height alone")
    if len(parts) == 1:
        return 2 * round(int(parts[0]) * 8 / 9), int(parts[0])
    return int(parts[0]), int(parts[1])
