"""The demo of the marionette: a captured dance over all strings, beside the quasi-static baseline, replayed and disturbed."""

from __future__ import annotations

from bunraku.cli.demos.runner import Addition, DemoTake, Kind, picked
from bunraku.performers.marionette.baselines import baseline_of
from bunraku.verification.promises import imitation_promises, return_promises
from bunraku.verification.stability import returns

WARM = {"duration": 0.2, "max_iterations": 2}
"""A fifth of a second compiles, or loads, what a performance of a puppet needs."""


def add(take: DemoTake) -> Addition:
    """The baseline that goes from rest to rest, and disturbed starts."""
    result, seen, certified = take.performance, take.verdict.figures, take.performance.certificate.figures
    character, baseline, back = result.character, baseline_of(result), returns(result, monitor=take.monitor)
    figures = {
        "dynamic_coordinates": len(character.coordinates),
        "kinematic_coordinates": len(character.prescribed),
        "strings": len(character.strings),
        "iterations": int(certified["iterations"]),
        "cost_initial": certified["initial cost"],
        "cost_final": certified["final cost"],
        **picked(seen, "constraint_residual_m", "minimum_tension_n", "imitation_rms_m"),
        "baseline_rms_m": baseline.rms,
        **picked(seen, "replay_rms_m", "open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    sentence = (
        f"{result.clip_name}: {result.duration:.1f} s over {len(character.strings)} strings in {take.solve_s:.1f} s and "
        f"{figures['iterations']} iterations; hands, knees and head off by {100 * seen['imitation_rms_m']:.1f} cm RMS, "
        f"by {100 * baseline.rms:.1f} cm when it goes from rest to rest; least tension {seen['minimum_tension_n']:.2f} N"
    )
    imitated = imitation_promises(seen["imitation_rms_m"], baseline.rms, finished=baseline.finished)
    return Addition(figures, sentence, (*imitated, *return_promises(back)))


KIND = Kind(add, warm=WARM)
