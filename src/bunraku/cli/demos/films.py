"""``bunraku render --demos``: a contact sheet and a film of every built-in example that yields a performance."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

from bunraku.assets.examples import DEMOS, Demo
from bunraku.cli.console import say, watching
from bunraku.cli.demos.runner import kind_of
from bunraku.errors import BadInput, BunrakuError, Cancelled
from bunraku.formats.atomic import check_folder, write_atomically
from bunraku.formats.registry import read_performance, write_performance
from bunraku.formats.unexpected import reported
from bunraku.motion import Performance
from bunraku.studio.rendering import Taste, rendered


def render_demos(names: Sequence[str], folder: Path, earlier: Path | None, full: bool, taste: Taste) -> int:
    """NAME.png and NAME.mp4 in a folder for each demo; the exit code is 1 if one of them could not be made.

    A performance in ``earlier`` (NAME/*.performance.npz, as ``bunraku demo NAME -o earlier/NAME`` leaves it) is used as it is;
    others are performed now, unproved, and kept in the folder; of skins the quick variants unless ``full``. One that fails does
    not stop the others.
    """
    stray = next((name for name in names if name not in DEMOS), None)
    if stray is not None:
        raise BadInput(f"there is no demo {stray[:60]!r}; there are {', '.join(DEMOS)}")
    check_folder(folder)
    folder.mkdir(parents=True, exist_ok=True)
    failed = []
    for name in names or DEMOS:
        try:
            performance = _performance(name, DEMOS[name], folder, earlier, full)
            for suffix in (".png", ".mp4"):
                with watching(keeps=False) as monitor:
                    data = rendered(performance, suffix, replace(taste, before=taste.before or suffix == ".png"), monitor)
                write_atomically(folder / f"{name}{suffix}", data)
            say(f"{name}: {folder / name}.png, {folder / name}.mp4")
        except Cancelled:
            raise
        except Exception as error:  # whatever it is, the others are made
            said = str(error) if isinstance(error, BunrakuError) else reported(error, f"the film of {name}")
            say(f"{name}: {said}")
            failed.append(name)
    if failed:
        say(f"not made: {', '.join(failed)}")
    return 1 if failed else 0


def _performance(name: str, example: Demo, folder: Path, earlier: Path | None, full: bool) -> Performance:
    """The performance of a demo: one that is there, or one that is made now and kept."""
    for place in (earlier, folder):
        for path in _kept(place, name, example):
            say(f"{name}: from {path}")
            return read_performance(path)
    say(f"{name}: {example.meaning}")
    with watching() as monitor:
        performance, _ = kind_of(example).perform(example, example.performer == "skin" and not full, monitor)
    (folder / name).mkdir(parents=True, exist_ok=True)
    path = folder / name / f"{performance.clip_name}.performance.npz"
    write_performance(path, performance)
    return read_performance(path)


def _kept(folder: Path | None, name: str, example: Demo) -> list[Path]:
    """Performances of a demo in a folder: its own folder there, then by the name of the demo or its clip."""
    if folder is None or not folder.is_dir():
        return []
    plain = [folder / f"{stem}.performance.npz" for stem in (name, example.clip) if stem]
    return [*sorted((folder / name).glob("*.performance.npz")), *(path for path in plain if path.is_file())]
