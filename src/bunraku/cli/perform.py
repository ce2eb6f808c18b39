"""``bunraku perform``: the main job. Loads, chooses a performer and says why, retargets if needed, performs, proves, writes."""

from __future__ import annotations

from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.console import emit_json, exit_code, say, show_certificate, watching
from bunraku.cli.files import ONLY, PERFORMANCE, asked_of, cancelled_name, character_from, check_target, named
from bunraku.cli.options import describe_fields, describe_options, parse_options
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_output
from bunraku.optimization.solution import Status

if TYPE_CHECKING:
    from bunraku.flow.prove import Proved

SAID = ("changed to prove it", "the nearest wish")
"""Notes that stand elsewhere in what is said."""


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
    only: Annotated[str, typer.Option(help=ONLY)] = "",
    resume: Annotated[bool, typer.Option(help="Go on from the checkpoint of an interrupted run")] = False,
    stream: Annotated[bool, typer.Option(help="Live: newline-delimited JSON frames on stdin, legal frames on stdout")] = False,
    port: Annotated[int, typer.Option(help="With --stream: serve a websocket on this loopback port instead of stdin")] = 0,
    token: Annotated[
        str, typer.Option(envvar="BUNRAKU_TOKEN", help="With --port: the token a client must present; made if not given")
    ] = "",
    once: Annotated[bool, typer.Option("--once", help="Perform once and prove nothing; bunraku verify does that later")] = False,
    effort: Annotated[
        str, typer.Option(help="once; verify: judge, change nothing; usual: try remedies; high: try more of them, for longer")
    ] = "usual",
    keep: Annotated[bool, typer.Option(help="Keep every attempt in a folder beside the output, where it took several")] = True,
    options: Annotated[bool, typer.Option("--options", help="List the options of --performer or --stream and stop")] = False,
    log: Annotated[Path | None, typer.Option(help="Also write the progress to this file, with times")] = None,
    json: Annotated[bool, typer.Option("--json", help="The result as JSON on stdout")] = False,
) -> int:
    """Turn a wish into motor curves that the character can perform, and prove it in foreign physics.

    Where a promise is broken, the performer's remedies are tried; what was changed and what it cost is said. Exit 0: proven (with
    --once: performed); 1: not proven, the best result is written, and the nearest wish that holds is named where one was found.

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
    check_target(output, PERFORMANCE, advice="; use bunraku export for other formats")
    check_target(log)
    from bunraku.flow.perform import Checkpoints
    from bunraku.flow.prove import effort_of, prove
    from bunraku.formats.csv_curves import csv_notes
    from bunraku.formats.registry import read_clip, write_performance
    from bunraku.performers.prepare import read_rig

    spent = effort_of("once" if once else effort)
    wish, who = asked_of(read_clip(clip), only), character_from(character, overlay)
    for note in csv_notes(wish):
        say(f"{clip}: {note}")
    target = output or named(f"{wish.name}-{who.name}", PERFORMANCE)
    check_output(target)
    bones, words = read_rig(rig) if rig else None, context.args
    checkpoints = Checkpoints.beside(target, who, wish, bones, performer, words)
    if not resume:
        checkpoints.discard()
    options_of = partial(parse_options, words=words)
    with watching(log) as monitor:
        proved = prove(who, wish, performer, options=options_of, rig=bones, effort=spent, checkpoints=checkpoints, monitor=monitor)
        cancelled = monitor.cancelled and not proved.best.proven
    cancelled = cancelled or proved.performance.certificate.status is Status.CANCELLED
    target = cancelled_name(target) if cancelled else target
    write_performance(target, proved.performance)
    if not cancelled:
        checkpoints.discard()
    _show(proved)
    if keep and len(proved.takes) > 1:
        say(f"all {len(proved.takes)} attempts are in {_keep_attempts(target, proved)}/")
    say(f"wrote {target}")
    if json:
        emit_json(summary(proved) | {"output": str(target)})
    return 130 if cancelled else exit_code(proved.performance.certificate.status, proved.holds)


def _show(proved: Proved) -> None:
    """The verdict in words, or the certificate where nobody judged; what was changed and what would hold; notes last."""
    result, kept = proved.performance, proved.best.verdict
    if kept is None:
        show_certificate(result.certificate)
        return
    from bunraku.verification.wording import verdict_lines

    for line in verdict_lines(kept.checks, proven=proved.best.proven):
        say(line)
    if proved.changed:
        say(f"changed: {proved.changed}")
    if not proved.best.proven:
        tried = len(proved.takes) - 1
        again = f" after {tried} further attempt{'s' if tried > 1 else ''}" if tried else ""
        say(f"in the way{again}: {proved.best.why}")
    if proved.nearest:
        say(f"the nearest wish that was proven: {proved.nearest}")
    for note in dict.fromkeys(result.certificate.notes):
        if not note.startswith(SAID):
            say(f"    note: {note}")


def _keep_attempts(target: Path, proved: Proved) -> Path:
    """Every attempt in a folder beside ``target``, numbered; what an earlier run left there is replaced."""
    from bunraku.formats.registry import write_performance

    folder = target.with_name(target.name.removesuffix(PERFORMANCE) + ".attempts")
    folder.mkdir(exist_ok=True)
    for old in folder.glob(f"attempt-[0-9]*{PERFORMANCE}"):
        old.unlink()
    for number, take in enumerate(proved.takes, 1):
        write_performance(folder / f"attempt-{number}{PERFORMANCE}", take.performance)
    return folder


def summary(proved: Proved) -> dict[str, Any]:
    """The certificate as one flat object; with a verdict also whether it is proven, in a sentence, and what was changed."""
    result = proved.performance
    certificate, verdict = result.certificate, proved.best.verdict
    judged: dict[str, Any] = {}
    if verdict is not None:
        judged = {"proven": proved.best.proven, "verdict": verdict.sentence, "changed": proved.changed, "nearest": proved.nearest}
        judged |= {"attempts": len(proved.takes)}
    return {
        "character": result.character.name,
        "clip": result.clip_name,
        "performer": result.provenance.performer,
        "status": certificate.status.value,
        "duration_s": result.duration,
        "rate_hz": result.rate,
        "holds": certificate.holds,
        **judged,
        **{check.name.replace(" ", "_"): check.value for check in certificate.checks},
        "notes": list(certificate.notes),
    }
