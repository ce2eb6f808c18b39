"""The demo of a show: primitives pieced together with optimized timing, then performed over all strings."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.assets.examples import Demo
from bunraku.cli.demo_tail import finish, leading, timed


def run(name: str, example: Demo, folder: Path | None) -> tuple[dict[str, Any], int]:
    """Choreograph, perform, verify, disturb."""
    from bunraku.cli.console import say, watching
    from bunraku.formats.registry import read_character, read_clip, write_clip
    from bunraku.performers.choreography.choreographer import Choreographer
    from bunraku.performers.performer import make_performer
    from bunraku.verification.promises import return_promises, show_promises
    from bunraku.verification.stability import returns
    from bunraku.verification.verify import verify

    character, clip = read_character(example.character), read_clip(example.clip)
    director = Choreographer()
    with watching() as monitor:
        show = director.choreograph(character, clip, monitor=monitor)
        result, solve_s = timed(make_performer(example.performer, example.options), character, show.clip, monitor)
        verdict = verify(result, monitor=monitor)
        back = returns(result, monitor=monitor)
    seen, best = verdict.figures, show.best
    primitives = [mode.primitive for mode in show.clip.modes.modes] if show.clip.modes is not None else []
    starts = dict(zip(primitives[1:], best.times, strict=True))
    figures = leading(name, result, solve_s, verdict) | {
        "switching_status": show.status.value,
        "switching_iterations": len(show.solution.costs) - 1,
        **{f"{primitive.replace('-', '_')}_at_s": at for primitive, at in starts.items()},
        "cost_equal_spacing": show.equal.cost,
        "cost_optimized": best.cost,
        "saving": show.saving,
        "velocity_jump_m_s": best.velocity_jump,
        "transition_minimum_tension_n": min(best.least_tension, show.equal.least_tension),
        "iterations": int(result.certificate.figures["iterations"]),
        "constraint_residual_m": seen["constraint_residual_m"],
        "minimum_tension_n": seen["minimum_tension_n"],
        "imitation_rms_m": seen["imitation_rms_m"],
        "replay_rms_m": seen.get("replay_rms_m"),
        "open_loop_replay_rms_m": seen.get("open_loop_replay_rms_m"),
        "returned_fraction": back.fraction,
    }
    say(
        f"{', '.join(f'{primitive} at {at:.2f} s' for primitive, at in starts.items())}: {100 * show.saving:.0f} % less than equal "
        f"spacing costs; {result.duration:.1f} s performed, least tension {seen['minimum_tension_n']:.2f} N, off by "
        f"{1e3 * seen['imitation_rms_m']:.1f} mm RMS"
    )
    tensions = (show.equal.least_tension, best.least_tension, seen["minimum_tension_n"])
    carriage = director.dt * max(show.equal.acceleration, best.acceleration)
    winch = director.dt * max(show.equal.winch_acceleration, best.winch_acceleration)
    promises = show_promises(character, show.saving, tensions, carriage, winch, director.dt)
    code = finish(result, verdict, (*promises, *return_promises(back)), folder)
    if folder is not None:
        write_clip(folder / f"{show.clip.name}.clip.yaml", show.clip)
    return figures, code if show.status.settled else max(code, 3)
