"""``bunraku verify``: judge a performance from its file alone; exit 1 when a promise does not hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.console import emit_json, say, watching
from bunraku.cli.files import to_judge

if TYPE_CHECKING:
    from bunraku.motion import KeptVerdict, Performance
    from bunraku.verification.verifier import Verdict


def verify(
    performance: Annotated[Path, typer.Argument(help="A .performance.npz, or an exported file (.csv, .mcap, .ino, ...)")],
    character: Annotated[str, typer.Option(help="Of an exported file: whose commands they are, a built-in name or a file")] = "",
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    against: Annotated[Path | None, typer.Option(help="The .performance.npz that was exported: then everything is checked")] = None,
    servos: Annotated[Path | None, typer.Option(help="YAML with the calibrations it was exported with")] = None,
    patch: Annotated[Path | None, typer.Option(help="YAML with the DMX patch it was exported with")] = None,
    rate: Annotated[float | None, typer.Option(help="Samples a second of a file that does not say it")] = None,
    replay: Annotated[bool, typer.Option(help="Replay in MuJoCo, a simulator whose physics is not ours")] = True,
    full_order: Annotated[
        bool, typer.Option("--full-order", help="Also in the full elastic model: minutes to hours, then remembered")
    ] = False,
    again: Annotated[bool, typer.Option("--again", help="Replay again, also where a verdict is kept in the file")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also list the checks that are usually only counted")] = False,
    json: Annotated[bool, typer.Option("--json", help="The verdict as JSON on stdout")] = False,
) -> int:
    """Recompute every limit at the motor rate, and replay the motion in MuJoCo with the motors' delay and torque.

    A puppet's performance is replayed with MuJoCo's own tendons, open loop and with its feedback; that of a character with flexible
    parts with rods as chains of rigid links, and with --full-order in the full elastic model. A verdict that is kept in
    the file answers at once while nothing that it judged has changed.

    An exported file is read back: with --against its commands take the place of the performance's, with --character they are judged
    alone, and what needs the plan is not checked.
    """
    from bunraku.verification.kept import verdict_kept
    from bunraku.verification.wording import verdict_lines

    given, judge = to_judge(
        performance, character=character or None, overlay=overlay, against=against, servos=servos, patch=patch, rate=rate
    )
    kept: KeptVerdict | Verdict | None = verdict_kept(given) if replay and not (again or full_order) else None
    if kept is not None:
        say("the verdict that is kept with the performance, which has not changed since it was judged (--again replays it):")
    else:
        if given.verdict is not None and not again:
            say("the verdict in the file is not used: what it judged has changed, or who judges, or something else is asked")
        kept = _judged(given, judge, replay=replay, full_order=full_order)
    for line in verdict_lines(kept.checks, proven=kept.holds, everything=everything):
        say(line)
    if json:
        checks = [
            {"name": c.name, "value": c.value, "threshold": c.threshold, "unit": c.unit, "holds": c.holds, "state": c.state}
            for c in kept.checks
        ]
        facts = {"performance": str(performance)} | dict(kept.figures) | {"verified": kept.holds, "checks": checks}
        emit_json(facts)
    return 0 if kept.holds else 1


def _judged(given: Performance, judge: Callable[..., Verdict], *, replay: bool, full_order: bool) -> Verdict:
    """The verdict, made now."""
    from bunraku.flow.ahead import compile_for_verification

    compile_for_verification(given)
    with watching() as monitor:
        return judge(replay=replay, full_order=full_order, monitor=monitor)
