"""``bunraku perform``: the main job. Loads, chooses a performer and says why, retargets if needed, performs, writes."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from bunraku.cli.options import OpenCommand

if TYPE_CHECKING:
    from bunraku.character import Character
    from bunraku.motion import Performance

__all__ = ["register"]


def register(app: typer.Typer) -> None:
    """Add the command."""
    app.command("perform", cls=OpenCommand, context_settings={"allow_extra_args": True})(perform)


def perform(
    context: typer.Context,
    character: Annotated[str, typer.Argument(help="Built-in name, .character.yaml, .urdf or MJCF .xml")],
    clip: Annotated[str, typer.Argument(help="Built-in name, .clip.yaml, .bvh, .csv, .glb, .wav or .performance.npz")] = "",
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Where the performance goes [CLIP-CHARACTER.performance.npz]")
    ] = None,
    performer: Annotated[str, typer.Option(help="Override the choice of performer")] = "",
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
    options: Annotated[bool, typer.Option("--options", help="List the performer's options and stop")] = False,
    json: Annotated[bool, typer.Option("--json", help="The certificate as JSON on stdout")] = False,
) -> int:
    """Turn a wish into motor curves that the character can perform, with a certificate.

    Options of the performer are given as flags too, for example --intensity 0.7 or --compression never; --options lists them.
    """
    from bunraku.cli.console import say
    from bunraku.cli.options import describe_options, parse_options
    from bunraku.errors import BadInput

    if options:
        for line in describe_options(performer or "speech"):
            say(line)
        return 0
    if stream:
        return _stream(character, overlay, parse_options_for_stream(context.args), port, token)
    if not clip:
        raise BadInput("a clip is missing; say what is to be performed: bunraku perform CHARACTER CLIP")

    from bunraku.cli.console import watching
    from bunraku.formats.registry import read_character, read_clip, write_performance
    from bunraku.performers.choose import choose_performer
    from bunraku.performers.performer import make_performer

    who, wish = read_character(character, overlay=overlay), read_clip(clip)
    target = output or Path(f"{wish.name}-{who.name}.performance.npz".replace(" ", "-").replace("/", "-"))
    if not target.name.endswith(".performance.npz"):
        raise BadInput(f"{target} should end in .performance.npz; use bunraku export for other formats", file=str(target))
    if not target.parent.is_dir():
        raise BadInput(f"the folder {target.parent} does not exist; make it first", file=str(target))
    with watching() as monitor:
        from bunraku.formats.checkpoint import Checkpoint
        from bunraku.formats.provenance import content_hash
        from bunraku.performers.prepare import prepare, read_rig

        words = list(context.args)
        mapped = read_rig(rig) if rig else None
        key = content_hash([who, wish, mapped, performer, words])
        trail = Checkpoint(target.with_name(target.name + ".checkpoint"), key)
        ready = Checkpoint(target.with_name(target.name + ".retargeted"), key)
        if not resume:
            trail.discard()
            ready.discard()
        wish, notes = prepare(who, wish, rig=mapped, checkpoint=ready, monitor=monitor)
        for note in notes:
            say(note)
        choice = choose_performer(who, wish, performer)
        say(f"performer: {choice.name} ({choice.reason})")
        artist = make_performer(choice.name, parse_options(choice.name, words))
        result = artist.perform(who, wish, monitor=monitor, checkpoint=trail)
    write_performance(target, result)
    trail.discard()
    ready.discard()
    return _tell(result, target, json)


def _tell(result: Performance, target: Path, json: bool) -> int:
    from bunraku.cli.console import emit_json, say, show_certificate
    from bunraku.optimization.solution import Status

    show_certificate(result.certificate)
    say(f"wrote {target}")
    if json:
        emit_json(summary(result) | {"output": str(target)})
    if result.certificate.status is Status.CANCELLED:
        return 130
    if not result.certificate.status.good:
        return 3
    return 0


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


def parse_options_for_stream(words: list[str]) -> dict[str, float]:
    """``--rate`` and ``--look-ahead`` of the streaming form."""
    from bunraku.errors import BadInput

    known = {"--rate": "rate", "--look-ahead": "look_ahead"}
    found: dict[str, float] = {}
    rest = list(words)
    while rest:
        name, _, value = rest.pop(0).partition("=")
        if name not in known:
            raise BadInput(f"{name!r} is no option of the streaming form; it has {', '.join(known)}")
        value = value or (rest.pop(0) if rest else "")
        try:
            found[known[name]] = float(value)
        except ValueError:
            raise BadInput(f"{name} takes a number; {value!r} arrived") from None
    return found


def _stream(character: str, overlay: Path | None, options: dict[str, float], port: int, token: str) -> int:
    import secrets
    import sys

    from bunraku.cli.console import say
    from bunraku.formats.registry import read_character
    from bunraku.motion import MotionLimits
    from bunraku.performers.speech.door import serve_lines, serve_websocket
    from bunraku.performers.speech.problem import home_in_range, motor_rate
    from bunraku.performers.speech.stream import SpeechStream

    who: Character = read_character(character, overlay=overlay)

    limits = MotionLimits.of(who)
    rest = home_in_range(who, limits)

    def make() -> SpeechStream:
        return SpeechStream(limits, start=rest, **({"rate": motor_rate(who)} | options))

    if port:
        token = token or secrets.token_urlsafe(16)
        say(f"listening on ws://127.0.0.1:{port}/?token={token}")
        serve_websocket(make, port=port, token=token)
        return 0
    serve_lines(make(), sys.stdin, sys.stdout)
    return 0
