"""The live form of ``bunraku perform``: frames in, legal frames out, over standard input or a loopback websocket."""

from __future__ import annotations

import sys
from pathlib import Path


def stream(character: str, overlay: Path | None, words: list[str], port: int, token: str) -> int:
    """Serve until the input ends or the person interrupts; ``words`` are the flags of the streaming form."""
    from bunraku.cli.console import say
    from bunraku.cli.options import parse_fields
    from bunraku.formats.registry import read_character_with_notes
    from bunraku.live.lines import serve_lines
    from bunraku.live.options import StreamOptions
    from bunraku.live.websocket import serve_websocket
    from bunraku.stage.gate import new_token

    options = StreamOptions(**parse_fields(StreamOptions, words, "the streaming form"))
    who, notes = read_character_with_notes(character, overlay=overlay)
    for note in notes:
        say(note)
    if port:
        token = token or new_token()
        serve_websocket(
            lambda: options.open(who),
            port=port,
            token=token,
            on_ready=lambda port: say(f"listening on ws://127.0.0.1:{port}/?token={token}"),
        )
        return 0
    frames = getattr(sys.stdin, "buffer", sys.stdin)  # JSON is UTF-8, whatever the encoding of the console
    serve_lines(options.open(who), frames, sys.stdout)
    return 0
