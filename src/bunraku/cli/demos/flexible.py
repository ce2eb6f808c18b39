"""The demos of flexible characters: retargeted, judged by three models, beside the motion as it was wished."""

from __future__ import annotations

import math
import time
from typing import Any

from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind, picked
from bunraku.mechanics.integrators.driven.simulate import simulate
from bunraku.verification.flexible.judge import FlexibleJudge
from bunraku.verification.flexible.promises import promises_of

ERRORS = ("peak_error_before_m", "peak_error_after_m", "rms_error_before_m", "rms_error_after_m")


def add(take: DemoTake) -> Addition:
    """What was before and after, and how fast the reduced model is."""
    result, seen, certified = take.performance, take.verdict.figures, take.performance.certificate.figures
    judged = take.verdict.judge.judged if isinstance(take.verdict.judge, FlexibleJudge) else None
    figures: Figures = {
        **picked(seen, *ERRORS),
        "iterations": int(certified["iterations"]),
        "simulate_steps_per_s": None if judged is None else _speed(judged.after.motion),
        "retarget_s": take.solve_s,
        "modes": int(certified["modes"]),
        "motors": int(certified["motors"]),
        "parameters": int(certified["parameters"]),
        **picked(seen, "full_order_peak_error_m", "motor_deviation_rms_deg"),
    }
    sentence = (
        f"{result.clip_name}: {result.duration:.1f} s, {figures['motors']} motors, {figures['parameters']} parameters, in "
        f"{take.solve_s:.1f} s and {figures['iterations']} iterations; {_errors(figures)}"
    )
    if judged is None:
        return Addition(figures, sentence)
    promised = promises_of(take.name, result, judged)
    figures |= {key: value if math.isfinite(value) else None for key, value in promised.figures.items()}
    return Addition(figures, sentence, promised.checks)


def _errors(figures: Figures) -> str:
    """How far places are off now, and as wished where that can be simulated, in words."""
    peak, rms = f"{100 * figures['peak_error_after_m']:.2f} cm", f"{1e3 * figures['rms_error_after_m']:.2f} mm"
    if figures["peak_error_before_m"] is None or figures["rms_error_before_m"] is None:
        return f"worst place off by {peak}; RMS {rms}; the motion as wished cannot be simulated"
    before, mean = f"{100 * figures['peak_error_before_m']:.1f} cm", f"{1e3 * figures['rms_error_before_m']:.1f}"
    return f"worst place off by {before} as wished, {peak} now; RMS {mean} and {rms}"


def _speed(motion: Any) -> float:
    """Steps a second of the reduced model at 0.5 ms, of thread CPU, compiled."""
    best = float("inf")
    for _ in range(2):
        clock = time.thread_time()
        simulate(motion.system, motion.motors, motion.dt, start=motion.q[0])
        best = min(best, time.thread_time() - clock)
    return (len(motion.q) - 1) / best


KIND = Kind(add)
