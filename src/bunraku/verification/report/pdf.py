"""A report of a performance as pages of A4 that a show engineer can sign: asked, promised, verified, seen, signed."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.motion import Performance
from bunraku.verification.report.html import Shown, asked, origin, shown
from bunraku.verification.report.pages import BAD, GOOD, Pages
from bunraku.verification.verifier import Verdict


def make_pdf_report(performance: Performance, verdict: Verdict, *, pictures: Sequence[Shown] = (), digest: str = "") -> bytes:
    """The report as PDF; ``pictures`` come first, ``digest`` is the SHA-256 of the performance's file, which is signed for."""
    certificate = performance.certificate
    good = verdict.holds and certificate.holds
    title = f"{performance.clip_name} performed by {performance.character.name}"
    pages = Pages(title)
    pages.title(title)
    pages.words(verdict.sentence, size=12.0, color=GOOD if good else BAD, bold=True)
    pages.facts(_facts(performance))
    pages.heading("What was asked")
    pages.words(asked(performance))
    for png, caption in pictures:
        pages.picture(png, caption)
    pages.heading("What is promised")
    pages.words(certificate.status.sentence)
    pages.table([check.cells for check in certificate.checks])
    for note in certificate.notes:
        pages.words(note, size=7.5, color="#555555")
    pages.heading("How it was verified")
    pages.words(verdict.judge.how(verdict.replay))
    pages.table([check.cells for check in verdict.checks])
    first, last = shown(verdict)
    seen = [*first, *last]
    if seen:
        pages.heading("What it looks like", room=pages.room_with(seen[0][0]))
    for png, caption in seen:
        pages.picture(png, caption)
    pages.heading("Where it came from")
    pages.facts(origin(performance))
    pages.signatures(_statement(good, digest), ("Show engineer", "Second reader"))
    return pages.finished()


def _facts(performance: Performance) -> list[tuple[str, str]]:
    kinds = [channel.kind for channel in performance.channels]
    channels = ", ".join(f"{kinds.count(kind)} of {kind}" for kind in dict.fromkeys(kinds))
    return [
        ("Character", performance.character.name),
        ("Clip", performance.clip_name),
        ("Performer", performance.provenance.performer),
        ("Length", f"{performance.duration:.3f} s at {performance.rate:g} Hz"),
        ("Channels", channels or "none"),
        ("Sound", "none" if performance.audio is None else f"{performance.audio.duration:.2f} s"),
    ]


def _statement(good: bool, digest: str) -> str:
    what = (
        "Every promise above that was checked holds; what was not checked, its line says."
        if good
        else "A PROMISE ABOVE DOES NOT HOLD: do not play this unless you know why."
    )
    file = f" This is signed for the performance with SHA-256 {digest} and no other." if digest else ""
    return what + file
