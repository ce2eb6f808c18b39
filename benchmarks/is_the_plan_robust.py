"""Is the plan robust? The one-rod when its frequency is 10 % off; and what the plan is worth beside shapers and the paper's method.

The rod is retargeted as it is stated and judged at 0.5 ms with its stiffness x0.81, x1 and x1.21: RMS distance of the tip from its
target in the pause and over the whole motion. Beside each other: the wish as it is, Gauss-Newton for the rod as stated, input
shapers acting ahead of time (ZV, ZVD), and Gauss-Newton over all three stiffnesses. Bars: the last stays within 4 mm RMS in the
pause for all three; and is better than the first plan at its worst. (A shaper's own tail, half its length, lies in the pause and
counts.) Then Gauss-Newton against L-BFGS on adjoint gradients (the paper's method, without limits of the motors): iterations,
thread CPU time, cost reached; and its RMS against that of advanced ZV, at least 3 times better.

Run: python benchmarks/is_the_plan_robust.py
"""

from __future__ import annotations

import sys
from typing import Any

from _flexible import case, judged, warm_up
from bunraku.mechanics.flexible.judge import Judged
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Performance
from bunraku.performers.vibration.problem import stiffened
from bunraku.verification.flexible.promises import phrase_rms

FACTORS = (0.81, 1.0, 1.21)
PAUSE_THRESHOLD, SHAPER_THRESHOLD = 4e-3, 3.0
PLANS: dict[str, dict[str, Any]] = {
    "the wish as it is": {"method": "none"},
    "Gauss-Newton, as stated": {},
    "ZV, advanced": {"method": "zv-advanced"},
    "ZVD, advanced": {"method": "zvd-advanced"},
    "Gauss-Newton, scenarios": {"scenarios": ",".join(f"{factor:g}" for factor in FACTORS)},
}


def main() -> int:
    """Print the tables; 1 when a bar is missed."""
    rod = case("one-rod")
    warm_up()
    stated = flexible_system(rod.character)
    models = [stated if factor == 1.0 else stiffened(stated, factor) for factor in FACTORS]
    title = "".join(f"{f'x{factor:g}':>9}" for factor in FACTORS)
    print(f"{'tip off, RMS mm':26}  pause{title}   whole{title}{'iterations':>12}{'CPU s':>8}")
    pauses: dict[str, list[float]] = {}
    wholes: dict[str, list[float]] = {}
    spent: dict[str, tuple[Performance, float]] = {}
    for name, options in PLANS.items():
        performance, seconds = rod.perform(**options)
        spent[name] = performance, seconds
        found: list[Judged] = [judged(performance, model) for model in models]
        pauses[name] = [phrase_rms(one.after, performance, "pause") for one in found]
        wholes[name] = [one.after.rms for one in found]
        row = [f"{'':7}" + "".join(f"{1e3 * x:9.3f}" for x in values) for values in (pauses[name], wholes[name])]
        print(f"{name:26}{row[0]} {row[1]}{performance.certificate.figures['iterations']:12.0f}{seconds:8.2f}", flush=True)
    theirs, seconds = rod.perform(method="lbfgs")
    ours, ours_seconds = spent["Gauss-Newton, as stated"]
    for name, performance, time in (("Gauss-Newton", ours, ours_seconds), ("L-BFGS, the paper's", theirs, seconds)):
        figures = performance.certificate.figures
        print(
            f"{name:22}{figures['iterations']:5.0f} iterations{time:8.2f} s CPU   cost {figures['final cost']:.4e}"
            f"   RMS {1e3 * figures['rms_error_after_m']:.3f} mm   {performance.certificate.status.value}"
        )
    worst = {name: max(values) for name, values in pauses.items()}
    gain = wholes["ZV, advanced"][1] / wholes["Gauss-Newton, as stated"][1]
    bars = (
        ("scenarios: pause at its worst [mm]", 1e3 * worst["Gauss-Newton, scenarios"], 1e3 * PAUSE_THRESHOLD, True),
        (
            "  against the plan as stated at its worst [mm]",
            1e3 * worst["Gauss-Newton, scenarios"],
            1e3 * worst["Gauss-Newton, as stated"],
            True,
        ),
        ("Gauss-Newton against advanced ZV, whole: times better", gain, SHAPER_THRESHOLD, False),
    )
    met = True
    for what, value, bar, at_most in bars:
        good = value <= bar if at_most else value >= bar
        met = met and good
        print(f"{what} {value:.2f} ({'at most' if at_most else 'at least'} {bar:.2f}){'' if good else '  NOT MET'}")
    return 0 if met else 1


if __name__ == "__main__":
    sys.exit(main())
