"""The demo of speech: a robot that speaks and gestures in time, beside what clamping nothing and stretching time would do."""

from __future__ import annotations

from dataclasses import replace

from bunraku.cli.demos.runner import Addition, DemoTake, Kind, perform_example
from bunraku.verification.comparison import comparison_row


def add(take: DemoTake) -> Addition:
    """The same wish played as it is, and stretched in time."""
    result, seen = take.performance, take.verdict.figures
    others = [
        perform_example(replace(take.example, performer=name, options={}), take.quick, take.monitor)[0]
        for name in ("reference", "stretch")
    ]
    before, slowed, after = map(comparison_row, (*others, result))
    figures = {
        "velocity_violations_before": int(before["velocity_violations"]),
        "velocity_violations_after": int(after["velocity_violations"]),
        "range_violations_after": int(after["range_violations"]),
        "rms_deviation_rad": after["rms_deviation"],
        "max_deviation_rad": after["max_deviation"],
        "lag_ms": after["lag_ms"],
        "control_lag_ms": slowed["lag_ms"],
        "balance_margin_m": result.certificate.check("balance margin").value,
        "fell": bool(seen["fell"]) if "fell" in seen else None,
    }
    sentence = (
        f"{result.clip_name}: {figures['velocity_violations_before']} samples were too fast, "
        f"{figures['velocity_violations_after']} are now; "
        f"lag {figures['lag_ms']:.1f} ms (stretched control: {figures['control_lag_ms']:.0f} ms); "
        f"solved {result.duration:.1f} s of motion in {1e3 * take.solve_s:.1f} ms"
    )
    return Addition(figures, sentence, others=others)


KIND = Kind(add, warm={})
