"""The demo of speech: a robot that speaks and gestures in time, beside what clamping nothing and stretching time would do."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import Stopwatch, leading, leave


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Perform, compare, verify."""
    from bunraku.cli.console import exit_code, say, show_checks, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.performer import make_performer
    from bunraku.verification.comparison import comparison_row
    from bunraku.verification.rigid.replay import ReplayResult
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    with watching() as monitor:
        artist = make_performer(example.performer, example.options)
        artist.perform(character, clip, monitor=monitor)
        timing = Stopwatch(monitor)
        result = artist.perform(character, clip, monitor=timing)
        reference = make_performer("reference").perform(character, clip, monitor=monitor)
        control = make_performer("stretch").perform(character, clip, monitor=monitor)
        verdict = verify(result, monitor=monitor)
    before, after, slowed = comparison_row(reference), comparison_row(result), comparison_row(control)
    figures = leading(name, result, timing.seconds, verdict) | {
        "velocity_violations_before": int(before["velocity_violations"]),
        "velocity_violations_after": int(after["velocity_violations"]),
        "range_violations_after": int(after["range_violations"]),
        "rms_deviation_rad": after["rms_deviation"],
        "max_deviation_rad": after["max_deviation"],
        "lag_ms": after["lag_ms"],
        "control_lag_ms": slowed["lag_ms"],
        "balance_margin_m": result.certificate.check("balance margin").value,
        "fell": bool(verdict.replay.fell) if isinstance(verdict.replay, ReplayResult) else None,
    }
    say(
        f"{clip.name}: {figures['velocity_violations_before']} samples were too fast, "
        f"{figures['velocity_violations_after']} are now; "
        f"lag {figures['lag_ms']:.1f} ms (stretched control: {figures['control_lag_ms']:.0f} ms); "
        f"solved {figures['duration_s']:.1f} s of motion in {1e3 * timing.seconds:.1f} ms"
    )
    show_checks(verdict.checks)
    if folder is not None:
        leave(folder, result, verdict, (reference, control))
    say("proved: every promise holds" if verdict.holds else "NOT PROVED: a promise does not hold")
    return figures, exit_code(result.certificate.status, verdict.holds)
