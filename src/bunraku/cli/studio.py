"""``bunraku studio``: design, choreograph, optimize and watch in a browser."""

from __future__ import annotations

from contextlib import ExitStack
from pathlib import Path
from typing import Annotated

import typer

from bunraku.cli.console import say
from bunraku.formats.files import read_bytes


def studio(
    project: Annotated[Path, typer.Argument(help="The project's folder; it is made if it does not exist")] = Path("untitled"),
    example: Annotated[str, typer.Option(help="Open a built-in example first; bunraku demo --list names them")] = "",
    opened: Annotated[
        list[Path] | None, typer.Option("--open", help="Open a character, clip or performance; repeat for more")
    ] = None,
    port: Annotated[int, typer.Option(help="Port to listen on; 0: a free one")] = 0,
    host: Annotated[str, typer.Option(help="Address to listen on; anything but this machine's own is your risk")] = "127.0.0.1",
    dark: Annotated[bool, typer.Option(help="Dark mode")] = False,
    browser: Annotated[bool, typer.Option(help="Open the browser")] = True,
) -> int:
    """Open the studio in the browser: design, choreograph, optimize, check and export. Ctrl-C ends it; nothing is lost."""
    import threading
    import webbrowser

    from bunraku.studio.document import EMPTY
    from bunraku.studio.edits.opening import open_example
    from bunraku.studio.studio import Studio
    from bunraku.system.signals import on_end, wait_for

    brought = [(path.name, read_bytes(path)) for path in opened or []]
    if example:
        open_example(EMPTY, example)  # refused before anything starts, if it is none
    running = Studio(project, host=host, port=port, dark=dark)
    done = threading.Event()
    ends = ExitStack()
    ends.enter_context(on_end(lambda _: done.set()))
    try:
        if running.server.warning:
            say(running.server.warning)
        if example:
            running.session.do("open.example", name=example)
        for name, data in brought:
            running.session.bring(name, data)
        for message in running.session.messages.all:
            say(message.text)
        say(f"the studio is at {running.url}")
        say("keep this address to yourself; Ctrl-C ends the studio")
        if browser:
            webbrowser.open(running.url)
        wait_for(done)
    finally:
        running.close()
        ends.close()
    say(f"the project is in {project}")
    return 0
