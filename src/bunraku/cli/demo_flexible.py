"""The demos of flexible characters: retargeted, judged by three models, beside the motion as it was wished."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING, Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import Stopwatch, finish, leading

if TYPE_CHECKING:
    from bunraku.motion import Check, Performance
    from bunraku.verification.flexible.judge import FlexibleVerdict


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Perform, verify, and say what was before and after."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip
    from bunraku.performers.performer import make_performer
    from bunraku.verification.flexible.judge import FlexibleVerdict
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    with watching() as monitor:
        watch = Stopwatch(monitor)
        result = make_performer(example.performer, example.options).perform(character, clip, monitor=watch)
        verdict = verify(result, monitor=monitor)
    found, certified = verdict.figures, result.certificate.figures
    figures = leading(name, result, watch.seconds, verdict)
    for key in ("peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m"):
        figures[key] = found.get(key)
    figures |= {
        "iterations": int(certified["iterations"]),
        "simulate_steps_per_s": _speed(verdict.replay),
        "retarget_s": watch.seconds,
        "modes": int(certified["modes"]),
        "motors": int(certified["motors"]),
        "parameters": int(certified["parameters"]),
        "full_order_peak_error_m": found.get("full_order_peak_error_m"),
        "motor_deviation_rms_deg": found.get("motor_deviation_rms_deg"),
    }
    promises: tuple[Check, ...] = ()
    if isinstance(verdict.replay, FlexibleVerdict):
        promises = _promises(name, result, verdict.replay, figures)
    say(
        f"{result.clip_name}: {result.duration:.1f} s, {figures['motors']} motors, {figures['parameters']} parameters, in "
        f"{figures['retarget_s']:.1f} s and {figures['iterations']} iterations; {_errors(figures)}"
    )
    return figures, finish(result, verdict, promises, folder)


def _errors(figures: dict[str, Any]) -> str:
    """How far places are off now, and as wished where that can be simulated, in words."""
    peak, rms = f"{100 * figures['peak_error_after_m']:.2f} cm", f"{1e3 * figures['rms_error_after_m']:.2f} mm"
    if figures["peak_error_before_m"] is None or figures["rms_error_before_m"] is None:
        return f"worst place off by {peak}; RMS {rms}; the motion as wished cannot be simulated"
    before, mean = f"{100 * figures['peak_error_before_m']:.1f} cm", f"{1e3 * figures['rms_error_before_m']:.1f}"
    return f"worst place off by {before} as wished, {peak} now; RMS {mean} and {rms}"


def _speed(replay: Any) -> float | None:
    """Steps a second of the reduced model at 0.5 ms, of thread CPU, compiled."""
    import time

    from bunraku.mechanics.integrators.driven.simulate import simulate
    from bunraku.verification.flexible.judge import FlexibleVerdict

    if not isinstance(replay, FlexibleVerdict):
        return None
    motion = replay.judged.after.motion
    best = float("inf")
    for _ in range(2):
        clock = time.thread_time()
        simulate(motion.system, motion.motors, motion.dt, start=motion.q[0])
        best = min(best, time.thread_time() - clock)
    return (len(motion.q) - 1) / best


def _promises(name: str, result: Performance, replay: FlexibleVerdict, figures: dict[str, Any]) -> tuple[Check, ...]:
    from bunraku.verification.flexible.promises import promises_of

    made = promises_of(name, result, replay)
    figures |= {key: value if math.isfinite(value) else None for key, value in made.figures.items()}
    return made.checks
