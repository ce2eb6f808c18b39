"""``bunraku render --demos``: a contact sheet and a film of every built-in example that yields a performance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from bunraku.assets.examples import DEMOS, Demo

if TYPE_CHECKING:
    from bunraku.motion import Performance
    from bunraku.studio.rendering import Taste

PERFORMED = ("demo_speech", "demo_marionette", "demo_flexible", "demo_ground", "demo_skin")
"""The doors of demos that a performer makes from character and clip alone; the others piece together more."""


def render_demos(names: Sequence[str], folder: Path, found: Path | None, full: bool, taste: Taste) -> int:
    """NAME.png and NAME.mp4 in a folder for each demo; the exit code is 1 if one of them could not be made.

    A performance in ``found`` (NAME/*.performance.npz, as ``bunraku demo NAME -o found/NAME`` leaves it) is used as it is; others
    are performed now and kept in the folder. One that fails does not stop the others.
    """
    from bunraku.cli.console import say, watching
    from bunraku.errors import BadInput, BunrakuError, Cancelled
    from bunraku.formats.atomic import check_folder, write_atomically
    from bunraku.studio.rendering import rendered

    stray = next((name for name in names if name not in DEMOS), None)
    if stray is not None:
        raise BadInput(f"there is no demo {stray[:60]!r}; there are {', '.join(DEMOS)}")
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or DEMOS:
        try:
            performance = _performance(name, DEMOS[name], folder, found, full)
            if performance is None:
                say(f"{name}: it leaves no performance, so there is nothing to film")
                continue
            for suffix in (".png", ".mp4"):
                with watching(keeps=False) as monitor:
                    data = rendered(performance, suffix, replace(taste, before=taste.before or suffix == ".png"), monitor)
                write_atomically(folder / f"{name}{suffix}", data)
            say(f"{name}: {folder / name}.png, {folder / name}.mp4")
        except Cancelled:
            raise
        except Exception as error:  # whatever it is, the others are made
            kind = "" if isinstance(error, BunrakuError) else f"unexpected {type(error).__name__}: "
            say(" ".join(f"{name}: {kind}{error}".split()))
            failed.append(name)
    if failed:
        say(f"not made: {', '.join(failed)}")
    return 1 if failed else 0


def _performance(name: str, example: Demo, folder: Path, found: Path | None, full: bool) -> Performance | None:
    """The performance of a demo: one that is there, or one that is made now and kept."""
    from bunraku.cli.console import say
    from bunraku.formats.registry import read_performance

    for place in (found, folder):
        for path in _kept(place, name, example):
            say(f"{name}: from {path}")
            return read_performance(path)
    _perform(name, example, folder / name, full)
    return next((read_performance(path) for path in _kept(folder, name, example)), None)


def _kept(folder: Path | None, name: str, example: Demo) -> list[Path]:
    """Performances of a demo in a folder: its own folder there, then by the name of the demo or its clip."""
    if folder is None or not folder.is_dir():
        return []
    plain = [folder / f"{stem}.performance.npz" for stem in (name, example.clip) if stem]
    return [*sorted((folder / name).glob("*.performance.npz")), *(path for path in plain if path.is_file())]


def _perform(name: str, example: Demo, folder: Path, full: bool) -> None:
    """Leave the performance of a demo in the folder: by its performer alone, unproved, where the demo adds no more than proof.

    Of skins by default the quick variant.
    """
    from importlib import import_module

    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip, write_performance
    from bunraku.performers.performer import make_performer
    from bunraku.performers.prepare import prepare

    say(f"{name}: {example.meaning}")
    door = import_module(f"bunraku.cli.{example.module}")
    if example.module not in PERFORMED:
        door.run(name, example, folder)
        return
    quick = example.performer == "skin" and not full
    variant = "-quick" if quick else ""
    artist = make_performer(example.performer, example.options | (door.QUICK if quick else {}))
    character, clip = read_character(f"{example.character}{variant}"), read_clip(f"{example.clip}{variant}")
    with watching() as monitor:
        prepared = prepare(character, clip, monitor=monitor)
        result = prepared.marked(artist.perform(character, prepared.clip, monitor=monitor))
    folder.mkdir(parents=True, exist_ok=True)
    write_performance(folder / f"{result.clip_name}.performance.npz", result)
