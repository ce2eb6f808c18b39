"""``bunraku report``: what was asked, what is promised, how it was verified, as a page (HTML) or to be printed and signed (PDF)."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.console import say, watching
from bunraku.cli.files import check_target, named_after
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically

if TYPE_CHECKING:
    from bunraku.motion import Performance
    from bunraku.optimization.monitor import Monitor


def report(
    performance: Annotated[Path, typer.Argument(help="A .performance.npz")],
    output: Annotated[Path | None, typer.Option("-o", "--output", help=".html or .pdf [PERFORMANCE.pdf]")] = None,
    replay: Annotated[bool, typer.Option(help="Replay in MuJoCo, a simulator whose physics is not ours")] = True,
    sheet: Annotated[bool, typer.Option(help="With a contact sheet")] = True,
) -> int:
    """Verify a performance and report on it, with pictures and lines to sign; exit 1 when a promise does not hold.

    The report names the SHA-256 of the performance's file, so that what is signed is that file and no other.
    """
    target = output or named_after(performance, ".pdf")
    check_target(target, ".html", ".pdf")
    import hashlib

    from bunraku.formats.registry import read_performance
    from bunraku.verification.report.html import make_report
    from bunraku.verification.report.pdf import make_pdf_report
    from bunraku.verification.verify import verify

    before = hashlib.sha256(performance.read_bytes()).hexdigest() if performance.is_file() else ""
    given = read_performance(performance)
    digest = hashlib.sha256(performance.read_bytes()).hexdigest()
    if digest != before:
        raise BadInput("the file changed while it was read; wait until it is written, then report on it", file=str(performance))
    with watching(keeps=False) as monitor:
        verdict = verify(given, replay=replay, monitor=monitor)
        if monitor.cancelled:
            raise KeyboardInterrupt
        pictures = (_sheet(given, monitor),) if sheet else ()
    if target.suffix.lower() == ".pdf":
        data = make_pdf_report(given, verdict, pictures=pictures, digest=digest)
    else:
        data = make_report(given, verdict, pictures=pictures, digest=digest).encode()
    write_atomically(target, data)
    good = verdict.holds and given.certificate.holds
    say(f"wrote {target}; {'every promise holds' if good else 'A PROMISE DOES NOT HOLD'}")
    return 0 if good else 1


def _sheet(performance: Performance, monitor: Monitor) -> tuple[bytes, str]:
    from bunraku.studio.rendering import Taste, rendered

    words = (
        "Moments of the performance; above in grey what the wish played as it is would do, in green what was wished, "
        "in red what goes beyond a limit"
    )
    return rendered(performance, ".png", Taste(height=420, before=True, poses=6), monitor), words
