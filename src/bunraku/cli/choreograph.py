"""``bunraku choreograph``: the best switching times of a clip with modes, and the wish of the whole show."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.cli.files import cancelled_name, check_target, named
from bunraku.formats.atomic import check_output
from bunraku.optimization.solution import Status

if TYPE_CHECKING:
    from bunraku.performers.choreography.choreographer import TimedShow, Timing


def choreograph(
    clip: Annotated[
        str, typer.Argument(help="A clip with a modes track: .clip.yaml or a built-in name, for example marionette-show")
    ],
    character: Annotated[str, typer.Argument(help="A marionette: built-in name or .character.yaml")] = "marionette",
    output: Annotated[Path | None, typer.Option("-o", "--output", help="The optimized clip [CLIP-timed.clip.yaml]")] = None,
    fade: Annotated[float, typer.Option(help="How long one primitive takes to give way to the next [s]")] = 0.6,
    least: Annotated[float, typer.Option(help="How long each mode lasts at least [s]")] = 0.6,
    iterations: Annotated[int, typer.Option(help="Most Newton iterations on the switching times")] = 20,
    json: Annotated[bool, typer.Option("--json", help="The figures as JSON on stdout")] = False,
) -> int:
    """Find the switching times of a choreography that meet its score best, and write them with the joint curves of the show.

    Every primitive gets a feed-forward and stabilising gains of its own; the puppet is simulated in closed loop through the
    switches, and Newton's method with exact first and second derivatives moves them. Perform the result afterwards: bunraku
    perform marionette OUT.clip.yaml.
    """
    check_target(output, ".clip.yaml")
    from bunraku.flow.ahead import compile_for_choreography
    from bunraku.formats.registry import read_character, read_clip, write_clip
    from bunraku.performers.choreography.choreographer import Choreographer

    wish, who = read_clip(clip), read_character(character)
    target = output or named(wish.name, "-timed.clip.yaml")
    check_output(target)
    artist = Choreographer(fade=fade, least=least, max_iterations=iterations)
    if wish.modes is not None and who.strings:  # else it is refused, and nothing need be compiled for that
        compile_for_choreography()
    with watching() as monitor:
        show = artist.choreograph(who, wish, monitor=monitor)
    target = cancelled_name(target) if show.status is Status.CANCELLED else target
    write_clip(target, show.clip)
    for line in _lines(show):
        say(line)
    say(f"wrote {target}; perform it: bunraku perform {character} {target}")
    if json:
        emit_json(_facts(show) | {"output": str(target)})
    return exit_code(show.status)


def _lines(show: TimedShow) -> list[str]:
    names = [mode.primitive for mode in show.clip.modes.modes] if show.clip.modes is not None else []
    lines = [show.status.sentence]
    for what, timing in (("equal spacing", show.equal), ("optimized", show.best)):
        starts = ", ".join(f"{name} at {time:.3f} s" for name, time in zip(names, (0.0, *timing.times), strict=True))
        lines.append(f"{what}: {starts}")
        lines.append(f"  cost {timing.cost:.4g} (score {timing.score:.4g}, effort {timing.effort:.3g}, slack {timing.slack:.3g})")
        lines.append(f"  {_limits(timing)}")
    lines.append(f"the optimized times cost {100 * show.saving:.1f} % less than equal spacing")
    return lines


def _limits(timing: Timing) -> str:
    kept = "all carriage limits kept" if timing.excess.kept else f"beyond a limit: {timing.excess.worst}"
    return (
        f"least tension {timing.least_tension:.3f} N, carriages up to {timing.acceleration:.2f} m/s2, winches up to "
        f"{timing.winch_acceleration:.2f} m/s2, largest velocity jump {timing.velocity_jump:.3f} m/s, {kept}"
    )


def _facts(show: TimedShow) -> dict[str, Any]:
    facts: dict[str, Any] = {"status": show.status.value, "saving": show.saving, "duration_s": show.clip.duration}
    facts["iterations"] = len(show.solution.costs) - 1
    for what, timing in (("equal", show.equal), ("optimized", show.best)):
        facts |= {
            f"{what}_times_s": list(timing.times),
            f"{what}_cost": timing.cost,
            f"{what}_minimum_tension_n": timing.least_tension,
            f"{what}_acceleration_m_s2": timing.acceleration,
            f"{what}_winch_acceleration_m_s2": timing.winch_acceleration,
            f"{what}_velocity_jump_m_s": timing.velocity_jump,
            f"{what}_limits_kept": timing.excess.kept,
        }
    return facts
