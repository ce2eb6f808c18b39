"""``bunraku retarget``: a captured skeleton onto a character, as joint curves in a file."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.cli.files import ONLY, asked_of, cancelled_name, character_from, check_target, named
from bunraku.formats.atomic import write_atomically
from bunraku.optimization.solution import Status


def retarget(
    clip: Annotated[str, typer.Argument(help="A clip with a skeleton: .bvh, .gltf, .glb or .clip.yaml")],
    character: Annotated[str, typer.Argument(help="Built-in name, .character.yaml, .urdf or MJCF .xml")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help="Joint curves: .csv or .clip.yaml")] = None,
    rig: Annotated[Path | None, typer.Option(help="Rig map YAML; guessed from bone names if not given")] = None,
    write_rig: Annotated[
        Path | None, typer.Option(help="Write the rig map that was used, to edit and give back with --rig")
    ] = None,
    only: Annotated[str, typer.Option(help=ONLY)] = "",
    rate: Annotated[float, typer.Option(help="Sampling rate of the result [Hz]; 0 takes the default")] = 0.0,
    speed_factor: Annotated[
        float, typer.Option(help="Bound on joint speed, in motor speeds: 3 keeps the person's, 1 the motors', inf has no bound")
    ] = 3.0,
    held: Annotated[
        str | None, typer.Option(help='Coordinates or groups kept at home, comma-separated, "" for none [the clip\'s, and legs]')
    ] = None,
    root_motion: Annotated[float, typer.Option(help="Multiplies the path of a root that moves, such as a puppet's trunk")] = 1.0,
    low_pass: Annotated[
        float, typer.Option(help="Take out faster motion [Hz], without delay; 0: 6 Hz for a puppet, none otherwise; inf: none")
    ] = 0.0,
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    json: Annotated[bool, typer.Option("--json", help="The report as JSON on stdout")] = False,
) -> int:
    """Put a captured motion onto a character by weighted inverse kinematics within its joint ranges."""
    check_target(output, ".csv", ".clip.yaml")
    check_target(write_rig, ".yaml", ".yml")
    from bunraku.formats.registry import read_clip, write_clip
    from bunraku.performers.prepare import read_rig
    from bunraku.retargeting.retarget import retarget as solve
    from bunraku.retargeting.rig_map import write_rig_map

    wish, who = asked_of(read_clip(clip), only), character_from(character, overlay)
    target = output or named(f"{wish.name}-{who.name}", ".csv")
    check_target(target)
    with watching() as monitor:
        mapped = read_rig(rig) if rig else None
        still = None if held is None else tuple(name.strip() for name in held.split(",") if name.strip())
        result = solve(
            wish,
            who,
            rig=mapped,
            rate=rate or None,
            speed_factor=speed_factor,
            held=still,
            root_motion=root_motion,
            low_pass=low_pass or None,
            monitor=monitor,
        )
    for sentence in result.report.sentences:
        say(sentence)
    target = cancelled_name(target) if result.report.status is Status.CANCELLED else target
    write_clip(target, result.clip)
    if write_rig is not None:
        write_atomically(write_rig, write_rig_map(result.rig))
        say(f"wrote {write_rig}")
    say(f"wrote {target}")
    if json:
        report = result.report
        errors = {f"{e.name}_rms_m": e.rms for e in report.targets}
        errors |= {f"{e.name}_rms_reachable_m": e.rms_reachable for e in report.targets}
        facts = {"output": str(target), "status": report.status.value, "dropped_first_frame": report.dropped_first_frame}
        emit_json(facts | {"speed_ratio": report.speed_ratio, "too_fast": report.too_fast, "held": list(report.held), **errors})
    return exit_code(result.report.status)
