"""``bunraku perform``: the main job. Loads, chooses a performer and says why, retargets if needed, performs, writes."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.options import OpenCommand

if TYPE_CHECKING:
    from bunraku.motion import Performance


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("perform", cls=OpenCommand, context_settings={"allow_extra_args": True})(perform)


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
    from bunraku.cli.console import say
    from bunraku.cli.options import describe_fields, describe_options
    from bunraku.errors import BadInput

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

    job = _Job(character, clip, output, performer, overlay, rig, resume, log, context.args)
    result, target = job.run()
    return _tell(result, target, json)


@dataclass(frozen=True)
class _Job:
    """One call of ``perform``: what was given on the command line."""

    character: str
    clip: str
    output: Path | None
    performer: str
    overlay: Path | None
    rig: Path | None
    resume: bool
    log: Path | None
    words: list[str]

    def run(self) -> tuple[Performance, Path]:
        """Load, retarget if needed, choose, perform, write; the performance and where it went."""
        from bunraku.cli.console import say, watching
        from bunraku.cli.options import parse_options
        from bunraku.flow.perform import Checkpoints
        from bunraku.flow.perform import perform as run
        from bunraku.formats.csv_curves import csv_notes
        from bunraku.formats.registry import read_character_with_notes, read_clip, write_performance
        from bunraku.optimization.solution import Status
        from bunraku.performers.prepare import read_rig

        (who, dropped), wish = read_character_with_notes(self.character, overlay=self.overlay), read_clip(self.clip)
        for note in dropped:
            say(f"{self.character}: {note}")
        for note in csv_notes(wish):
            say(f"{self.clip}: {note}")
        target = self.output or Path(f"{wish.name}-{who.name}.performance.npz".replace(" ", "-").replace("/", "-"))
        _check_target(target)
        rig = read_rig(self.rig) if self.rig else None
        checkpoints = Checkpoints.beside(target, who, wish, rig, self.performer, self.words)
        if not self.resume:
            checkpoints.discard()
        with watching(self.log) as monitor:
            result = run(
                who,
                wish,
                self.performer,
                options=lambda name: parse_options(name, self.words),
                rig=rig,
                checkpoints=checkpoints,
                monitor=monitor,
            ).performance
        cancelled = result.certificate.status is Status.CANCELLED
        target = _beside(target) if cancelled else target
        write_performance(target, result)
        if not cancelled:
            checkpoints.discard()
        return result, target


def _check_target(target: Path) -> None:
    """Refuse an output that cannot be written, before anything is computed."""
    from bunraku.errors import BadInput
    from bunraku.formats.atomic import check_output

    if not target.name.endswith(".performance.npz"):
        raise BadInput("the name should end in .performance.npz; use bunraku export for other formats", file=str(target))
    check_output(target)


def _beside(target: Path) -> Path:
    """Where a cancelled result goes: to ``target``, or to a name beside it when there is a file already, which stays as it is."""
    from bunraku.cli.console import say

    if not target.exists():
        return target
    other = target.with_name(target.name.removesuffix(".performance.npz") + ".cancelled.performance.npz")
    say(f"{target} was there before and stays as it is; the cancelled result goes to {other}")
    return other


def _tell(result: Performance, target: Path, json: bool) -> int:
    from bunraku.cli.console import emit_json, exit_code, say, show_certificate

    certificate = result.certificate
    show_certificate(certificate)
    say(f"wrote {target}")
    if json:
        emit_json(summary(result) | {"output": str(target)})
    return exit_code(certificate.status, certificate.holds)


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
