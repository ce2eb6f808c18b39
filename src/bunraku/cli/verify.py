"""``bunraku verify``: judge a performance from its file alone; exit 1 when a promise does not hold."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.console import emit_json, say, watching
from bunraku.cli.files import to_judge
from bunraku.errors import BadInput

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
    trials: Annotated[int, typer.Option(help="Also replay it in so many worlds drawn at random: gains, delays, pushes, ...")] = 0,
    seed: Annotated[int, typer.Option(help="What the trials are drawn with; the same seed draws the same worlds")] = 0,
    share: Annotated[float | None, typer.Option(help="The least share of the trials that must hold [no promise]")] = None,
    again: Annotated[bool, typer.Option("--again", help="Replay again, also where a verdict is kept in the file")] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also list the checks that are usually only counted")] = False,
    json: Annotated[bool, typer.Option("--json", help="The verdict as JSON on stdout")] = False,
) -> int:
    """Recompute every limit at the motor rate, and replay the motion in MuJoCo with the motors' delay and torque.

    A puppet's performance is replayed with MuJoCo's own tendons, open loop and with its feedback; that of a character with flexible
    parts with rods as chains of rigid links, and with --full-order in the full elastic model. A verdict that is kept in
    the file answers at once while nothing that it judged has changed.

    With --trials the verdict gives the share of drawn worlds in which everything holds, with its exact interval, the worst of
    them and which factor hurts most; `bunraku render --trials` films the worst.

    An exported file is read back: with --against its commands take the place of the performance's, with --character they are judged
    alone, and what needs the plan is not checked.
    """
    from bunraku.verification.kept import verdict_kept
    from bunraku.verification.wording import verdict_lines

    given, judge = to_judge(
        performance, character=character or None, overlay=overlay, against=against, servos=servos, patch=patch, rate=rate
    )
    if trials < 0 or (share is not None and not 0.0 < share <= 1.0):
        raise BadInput(f"{trials} trials and a share of {share} were asked for; give 1 trial or more, and a share up to 1")
    if share is not None and not trials:
        raise BadInput("a --share of the trials was asked for, and no --trials; give their number too, as in --trials 64")
    made: Verdict | None = None
    cancelled = False
    kept: KeptVerdict | Verdict | None = verdict_kept(given) if replay and not (again or full_order or trials) else None
    if kept is not None:
        say("the verdict that is kept with the performance, which has not changed since it was judged (--again replays it):")
    else:
        if given.verdict is not None and not again and not trials:
            say("the verdict in the file is not used: what it judged has changed, or who judges, or something else is asked")
        made, cancelled = _judged(given, judge, replay=replay, full_order=full_order, draws=(trials, seed, share))
        kept = made
    for line in verdict_lines(kept.checks, proven=kept.holds, everything=everything):
        say(line)
    if json:
        checks = [
            {"name": c.name, "value": c.value, "threshold": c.threshold, "unit": c.unit, "holds": c.holds, "state": c.state}
            | ({"missing": c.missing} if c.missing else {})
            for c in kept.checks
        ]
        facts = {"performance": str(performance)} | dict(kept.figures) | {"verified": kept.holds, "checks": checks}
        if made is not None and made.trials is not None:
            facts |= {"seed": seed, "hurts": made.trials.hurts, "draws": [trial.as_json for trial in made.trials.trials]}
        emit_json(facts)
    return 0 if kept.holds else 130 if cancelled else 1


def _judged(
    given: Performance, judge: Callable[..., Verdict], *, replay: bool, full_order: bool, draws: tuple[int, int, float | None]
) -> tuple[Verdict, bool]:
    """The verdict, made now, with its trials, and whether it was cancelled.

    ``draws``: how many trials, their seed, and the share that must hold.
    """
    from bunraku.flow.ahead import compile_for_verification

    with watching() as monitor:
        compile_for_verification(given, monitor)
        verdict = judge(replay=replay, full_order=full_order, monitor=monitor)
        if draws[0]:
            from bunraku.verification.trials.run import with_trials

            verdict = with_trials(verdict, draws[0], draws[1], least=draws[2], monitor=monitor)
        return verdict, monitor.cancelled
