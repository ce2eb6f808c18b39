"""``bunraku perform``: the main job. Loads, chooses a performer and says why, retargets if needed, performs, writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, show_certificate, watching
from bunraku.cli.files import PERFORMANCE, character_from, check_ending, named
from bunraku.cli.options import describe_fields, describe_options, parse_options
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_output
from bunraku.optimization.solution import Status

if TYPE_CHECKING:
    from bunraku.motion import Performance


def perform(
    context: typer.Context,
    character: Annotated[str, typer.Argument(help="Built-in name, .character.yaml, .urdf or MJCF .xml")] = "",
    clip: Annotated[str, typer.Argument(help="Built-in name, .clip.yaml, .bvh, .csv, .glb, .wav or .performance.npz")] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where the performance goes [CLIP-CHARACTER.performance.npz]")
    ] = None,
    performer: Annotated[str, typer.Option(help="Override the choice of performer; a chain is speech+vibration")] = "",
    overlay: Annotated[Path | None, typer.Option(help="YAML with limits, feet and groups for a URDF or MJCF character")] = None,
    rig: Annotated[
        Path | None, typer.Option(help="Rig map YAML for a captured skeleton; guessed from bone names if not given")
    ] = None,
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoint of an interrupted run")] = False,
    stream: Annotated[bool, typer.Option(help="Live: newline-delimited JSON frames on stdin, legal frames on stdout")] = False,
    port: Annotated[int, typer.Option(help="With --stream: serve a websocket on this loopback port instead of stdin")] = 0,
    token: Annotated[
        str, typer.Option(envvar="BUNRAKU_TOKEN", help="With --port: the token a client must present; made if not given")
    ] = "",
    options: Annotated[bool, typer.Option("--options", help="List the options of --performer or --stream and stop")] = False,
    log: Annotated[Path | None, typer.Option(help="Also write the progress to this file, with times")] = None,
    json: Annotated[bool, typer.Option("--json", help="The certificate as JSON on stdout")] = False,
) -> int:
    """Turn a wish into motor curves that the character can perform, with a certificate.

    Options of the performer are given as flags too, for example --intensity 0.7 or --compression never; --options lists them.
    So are those of the streaming form, for example --stream --rate 50 --held legs.
    """
    if options:
        if stream:
            from bunraku.live.options import StreamOptions
        for line in describe_fields(StreamOptions) if stream else describe_options(performer or "speech"):
            say(line)
        return 0
    if not character:
        raise BadInput("a character is missing; say who is to perform: bunraku perform CHARACTER CLIP")
    if stream:
        from bunraku.cli.live import stream as serve

        if clip or output is not None:
            what = f"the clip {clip!r}" if clip else f"the output {output}"
            raise BadInput(f"{what} has no place with --stream: frames come from stdin or --port and go back there; leave it out")
        return serve(character, overlay, context.args, port, token)
    if not clip:
        raise BadInput("a clip is missing; say what is to be performed: bunraku perform CHARACTER CLIP")
    from bunraku.flow.perform import Checkpoints
    from bunraku.flow.perform import perform as run
    from bunraku.formats.csv_curves import csv_notes
    from bunraku.formats.registry import read_clip, write_performance
    from bunraku.performers.prepare import read_rig

    wish, who = read_clip(clip), character_from(character, overlay)
    for note in csv_notes(wish):
        say(f"{clip}: {note}")
    target = output or named(f"{wish.name}-{who.name}", PERFORMANCE)
    check_ending(target, PERFORMANCE, advice="; use bunraku export for other formats")
    check_output(target)
    bones, words = read_rig(rig) if rig else None, context.args
    checkpoints = Checkpoints.beside(target, who, wish, bones, performer, words)
    if not resume:
        checkpoints.discard()
    with watching(log) as monitor:
        options_of = partial(parse_options, words=words)
        result = run(who, wish, performer, options=options_of, rig=bones, checkpoints=checkpoints, monitor=monitor).performance
    certificate = result.certificate
    cancelled = certificate.status is Status.CANCELLED
    target = _beside(target) if cancelled else target
    write_performance(target, result)
    if not cancelled:
        checkpoints.discard()
    show_certificate(certificate)
    say(f"wrote {target}")
    if json:
        emit_json(summary(result) | {"output": str(target)})
    return exit_code(certificate.status, certificate.holds)


def _beside(target: Path) -> Path:
    """Where a cancelled result goes: to ``target``, or to a name beside it when there is a file already, which stays as it is."""
    if not target.exists():
        return target
    other = target.with_name(target.name.removesuffix(PERFORMANCE) + f".cancelled{PERFORMANCE}")
    say(f"{target} was there before and stays as it is; the cancelled result goes to {other}")
    return other


def summary(result: Performance) -> dict[str, Any]:
    """The certificate as one flat object."""
    certificate = result.certificate
    return {
        "character": result.character.name,
        "clip": result.clip_name,
        "performer": result.provenance.performer,
        "status": certificate.status.value,
        "duration_s": result.duration,
        "rate_hz": result.rate,
        "holds": certificate.holds,
        **{check.name.replace(" ", "_"): check.value for check in certificate.checks},
        "notes": list(certificate.notes),
    }
