"""The worst of many trials as a performance to be drawn: what the character did there, beside what it should have done."""

from __future__ import annotations

import numpy as np

from bunraku.errors import BadInput
from bunraku.motion import JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.trials.run import ONLY_RIGID, run_trials
from bunraku.verification.verify import judge_of


def worst_trial(performance: Performance, count: int, seed: int = 0, *, monitor: Monitor = SILENT) -> tuple[Performance, str]:
    """The performance with the motion of the worst of ``count`` trials in place of the plan, and that trial in words.

    Where it fell and the replay ended, it stays as it lay.
    """
    seen = run_trials(judge_of(performance), count, seed, monitor=monitor)
    motion = None if seen is None else seen.worst.motion
    if seen is None or motion is None:
        raise BadInput(f"no trial of {performance.clip_name!r} can be shown; {ONLY_RIGID}")
    worst, names, n = seen.worst, performance.motion.names, len(performance.motion.values)
    known = [name for name in names if name in motion.names]
    values = performance.motion.values.copy()
    shown = np.minimum(np.arange(n), len(motion.values) - 1)
    values[:, [names.index(name) for name in known]] = motion.chosen(known).values[shown]
    factors = ", ".join(f"{name} {size:.3g}" for name, size in worst.draw.factors.items())
    why = "it fell" if worst.fell else f"broken: {', '.join(worst.broken)}" if worst.broken else "everything holds there too"
    words = f"trial {worst.draw.number} of {len(seen.trials)}, the worst: {why}; {factors}"
    return performance.changed(motion=JointCurves(names, performance.motion.rate, values)), words
