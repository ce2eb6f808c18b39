"""``bunraku verify``: judge a performance from its file alone; exit 1 when a promise does not hold."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import emit_json, say, watching


def verify(
    performance: Annotated[Path, typer.Argument(help="A .performance.npz")],
    replay: Annotated[bool, typer.Option(help="Replay in MuJoCo, a simulator whose physics is not ours")] = True,
    full_order: Annotated[
        bool, typer.Option("--full-order", help="Also in the full elastic model: minutes to hours, then remembered")
    ] = False,
    everything: Annotated[bool, typer.Option("--all", help="Also list the checks that are usually only counted")] = False,
    json: Annotated[bool, typer.Option("--json", help="The verdict as JSON on stdout")] = False,
) -> int:
    """Recompute every limit at the motor rate, and replay the motion in MuJoCo with the motors' delay and torque.

    A puppet's performance is replayed with MuJoCo's own tendons, open loop and with its feedback; that of a character with flexible
    parts with rods as chains of rigid links, and with --full-order in the full elastic model.
    """
    from bunraku.flow.ahead import compile_for_verification
    from bunraku.formats.registry import read_performance
    from bunraku.verification.verify import verify as judge

    given = read_performance(performance)
    compile_for_verification(given)
    with watching() as monitor:
        verdict = judge(given, replay=replay, full_order=full_order, monitor=monitor)
    for line in verdict.lines(everything=everything):
        say(line)
    if json:
        checks = [
            {"name": c.name, "value": c.value, "threshold": c.threshold, "unit": c.unit, "holds": c.holds, "state": c.state}
            for c in verdict.checks
        ]
        facts = {"performance": str(performance)} | verdict.figures | {"verified": verdict.holds, "checks": checks}
        emit_json(facts)
    return 0 if verdict.holds else 1
