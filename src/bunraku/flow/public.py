"""What `import bunraku` offers as functions: they take names of built-ins, paths or objects, and call the rooms below."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.flow import prove as flow
from bunraku.flow.exported import file_commands, is_exported
from bunraku.formats.atomic import check_output
from bunraku.formats.registry import read_character, read_clip, read_performance
from bunraku.motion import Clip, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.prepare import read_rig
from bunraku.retargeting.rig_map import RigMap
from bunraku.stage.registry import export as write
from bunraku.stage.registry import format_of
from bunraku.verification.kept import verdict_again
from bunraku.verification.verifier import Verdict
from bunraku.verification.verify import verify as judge


def load_character(source: str | Path | Character, *, overlay: str | Path | None = None) -> Character:
    """A character by the name of a built-in one, or from a .character.yaml, .urdf or MJCF .xml file; one that is loaded stays.

    ``overlay``: a YAML file with limits, feet and groups for a URDF or MJCF robot.
    """
    return source if isinstance(source, Character) else read_character(_name(source, "character"), overlay=overlay)


def load_clip(source: str | Path | Clip | Performance) -> Clip:
    """A clip by the name of a built-in one, or from a .clip.yaml, .bvh, .csv, .glb, .wav or .performance.npz file."""
    if isinstance(source, Performance):
        return source.as_clip()
    return source if isinstance(source, Clip) else read_clip(_name(source, "clip"))


def load_performance(source: str | Path | Performance) -> Performance:
    """A performance from a .performance.npz file."""
    return source if isinstance(source, Performance) else read_performance(_name(source, "performance"))


def _name(source: object, what: str) -> str | Path:
    """A name or path of ``what``, and nothing else."""
    if isinstance(source, (str, Path)):
        return source
    raise BadInput(f"a {what} is a name, a path or a {what.capitalize()}; a {type(source).__name__} arrived")


def perform(
    character: str | Path | Character,
    clip: str | Path | Clip | Performance,
    *,
    performer: str = "",
    overlay: str | Path | None = None,
    rig: str | Path | RigMap | None = None,
    once: bool = False,
    effort: str = "usual",
    monitor: Monitor = SILENT,
    **options: Any,
) -> Performance:
    """Turn a wish into motor curves that the character can perform, and prove it: its ``verdict`` says whether it is.

    Where verification finds a promise broken, the performer's remedies are tried; the certificate's first notes say what was
    changed and what that cost, or which lesser wish would hold. ``effort``: "verify" tries none, "high" more. ``once``: nothing
    is judged at all.

    ``performer``: its name, or several with "+" between them; the one that suits best if not given. ``rig``: the rig map of a
    captured skeleton; guessed from the names of its bones if not given. ``options``: those of the performer, as on the command line
    (``bunraku perform --options --performer NAME`` lists them).
    """
    mapped = rig if rig is None or isinstance(rig, RigMap) else read_rig(Path(rig))
    who, wish = load_character(character, overlay=overlay), load_clip(clip)
    spent = "once" if once else effort
    return flow.prove(who, wish, performer, options=options, rig=mapped, effort=spent, monitor=monitor).performance


def verify(
    performance: str | Path | Performance,
    *,
    replay: bool = True,
    full_order: bool = False,
    again: bool = False,
    monitor: Monitor = SILENT,
    **exported: Any,
) -> Verdict:
    """Judge a performance by itself and replay it in foreign physics; ``full_order``: also in the full elastic model.

    A verdict that is kept with the performance answers at once, without its replay, while nothing that it judged has changed;
    ``again``: replay it all the same.

    An exported file is read back and judged ``against`` the performance that was exported, or as commands of a ``character``; what
    else it may need (``overlay``, ``servos``, ``patch``, ``rate``) is that of `flow.exported.file_commands`.
    """
    options: dict[str, Any] = {"replay": replay, "full_order": full_order, "monitor": monitor}
    if not isinstance(performance, Performance) and is_exported(performance):
        return file_commands(performance, **exported).verify(**options)
    if exported:
        raise BadInput(f"a performance says everything itself; {next(iter(exported))} is for an exported file")
    given = load_performance(performance)
    kept = verdict_again(given) if replay and not (full_order or again) else None
    return kept or judge(given, **options)


def export(performance: str | Path | Performance, path: str | Path, *, form: str = "", **options: Any) -> Path:
    """Write a performance for a controller or another program, in the format ``form`` or else that of the suffix."""
    target = Path(path)
    form = form or format_of(target)
    check_output(target)
    write(load_performance(performance), form, target, **options)
    return target
