"""The demo of the marionette: a captured dance over all strings, beside the quasi-static baseline, replayed and disturbed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import finish, leading, timed


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Retarget, perform, compare, verify, disturb."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.marionette.study import baseline_of
    from bunraku.performers.performer import make_performer
    from bunraku.performers.prepare import prepare
    from bunraku.verification.promises import imitation_promises, return_promises
    from bunraku.verification.stability import returns
    from bunraku.verification.verify import verify

    character = read_character(example.character)
    with watching() as monitor:
        prepared = prepare(character, read_clip(example.clip), monitor=monitor)
        performed, solve_s = timed(make_performer(example.performer, example.options), character, prepared.clip, monitor)
        result = prepared.marked(performed)
        baseline = baseline_of(result)
        verdict = verify(result, monitor=monitor)
        back = returns(result, monitor=monitor)
    certificate, seen = result.certificate, verdict.figures
    figures = leading(name, result, solve_s, verdict) | {
        "dynamic_coordinates": len(character.coordinates),
        "kinematic_coordinates": len(character.prescribed),
        "strings": len(character.strings),
        "iterations": int(certificate.figures["iterations"]),
        "cost_initial": certificate.figures["initial cost"],
        "cost_final": certificate.figures["final cost"],
        "constraint_residual_m": seen["constraint_residual_m"],
        "minimum_tension_n": seen["minimum_tension_n"],
        "imitation_rms_m": seen["imitation_rms_m"],
        "baseline_rms_m": baseline.rms,
        "replay_rms_m": seen.get("replay_rms_m"),
        "open_loop_replay_rms_m": seen.get("open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    say(
        f"{result.clip_name}: {result.duration:.1f} s over {len(character.strings)} strings in {solve_s:.1f} s and "
        f"{figures['iterations']} iterations; hands, knees and head off by {100 * seen['imitation_rms_m']:.1f} cm RMS, "
        f"by {100 * baseline.rms:.1f} cm when it goes from rest to rest; least tension {seen['minimum_tension_n']:.2f} N"
    )
    promises = (*imitation_promises(seen["imitation_rms_m"], baseline.rms, finished=baseline.finished), *return_promises(back))
    return figures, finish(result, verdict, promises, folder)
