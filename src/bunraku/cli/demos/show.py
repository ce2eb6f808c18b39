"""The demo of a show: primitives pieced together with optimized timing, then performed over all strings."""

from __future__ import annotations

from functools import partial
from pathlib import Path

from bunraku.assets.examples import Demo
from bunraku.cli.demos.marionette import WARM
from bunraku.cli.demos.runner import Addition, DemoTake, Figures, Kind, picked
from bunraku.flow.ahead import compile_for
from bunraku.flow.perform import perform
from bunraku.formats.registry import read_character, read_clip, write_clip
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.choreography.choreographer import Choreographer, TimedShow
from bunraku.verification.promises import return_promises, show_promises
from bunraku.verification.stability import returns

DIRECTOR = Choreographer()


def choreographed(example: Demo, quick: bool, monitor: Monitor) -> tuple[Performance, TimedShow]:
    """The show with its optimized times, performed."""
    character = read_character(example.character)
    compile_for(example.performer, character, monitor)
    show = DIRECTOR.choreograph(character, read_clip(example.clip), monitor=monitor)
    act = partial(perform, character, show.clip, example.performer)
    act(options={**example.options, **WARM}, monitor=SILENT)
    return act(options=example.options, monitor=monitor).performance, show


def add(take: DemoTake) -> Addition:
    """What the times save, and disturbed starts."""
    result, seen, show = take.performance, take.verdict.figures, take.extra
    back, best, equal = returns(result, monitor=take.monitor), show.best, show.equal
    primitives = [mode.primitive for mode in show.clip.modes.modes]
    starts = dict(zip(primitives[1:], best.times, strict=True))
    figures = {
        "switching_status": show.status.value,
        "switching_iterations": len(show.solution.costs) - 1,
        **{f"{primitive.replace('-', '_')}_at_s": at for primitive, at in starts.items()},
        "cost_equal_spacing": equal.cost,
        "cost_optimized": best.cost,
        "saving": show.saving,
        "velocity_jump_m_s": best.velocity_jump,
        "transition_minimum_tension_n": min(best.least_tension, equal.least_tension),
        "iterations": int(result.certificate.figures["iterations"]),
        **picked(seen, "constraint_residual_m", "minimum_tension_n", "imitation_rms_m", "replay_rms_m", "open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    sentence = (
        f"{', '.join(f'{primitive} at {at:.2f} s' for primitive, at in starts.items())}: {100 * show.saving:.0f} % less than equal "
        f"spacing costs; {result.duration:.1f} s performed, least tension {seen['minimum_tension_n']:.2f} N, off by "
        f"{1e3 * seen['imitation_rms_m']:.1f} mm RMS"
    )
    tensions = (equal.least_tension, best.least_tension, seen["minimum_tension_n"])
    carriage, winch = (
        DIRECTOR.dt * max(getattr(equal, which), getattr(best, which)) for which in ("acceleration", "winch_acceleration")
    )
    promises = show_promises(result.character, show.saving, tensions, carriage, winch, DIRECTOR.dt)

    def files(folder: Path) -> tuple[Figures, tuple[()]]:
        write_clip(folder / f"{show.clip.name}.clip.yaml", show.clip)
        return {}, ()

    return Addition(figures, sentence, (*promises, *return_promises(back)), files, status=show.status)


KIND = Kind(add, choreographed)
