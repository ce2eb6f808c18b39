"""A report of a performance as pages of A4 that a show engineer can sign: asked, promised, verified, seen, signed."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.motion import Check, Performance
from bunraku.verification.report.html import asked, how
from bunraku.verification.report.pages import Pages, worded
from bunraku.verification.report.pictures import Picture, closing_pictures, opening_pictures
from bunraku.verification.verify import Verdict

GOOD, BAD = "#2e7d4f", "#c1272d"


def make_pdf_report(performance: Performance, verdict: Verdict, *, pictures: Sequence[Picture] = (), digest: str = "") -> bytes:
    """The report as PDF; ``pictures`` come first, ``digest`` is the SHA-256 of the performance's file, which is signed for."""
    certificate = performance.certificate
    good = verdict.holds and certificate.holds
    title = f"{performance.clip_name} performed by {performance.character.name}"
    pages = Pages(title)
    pages.title(title)
    pages.words("Every promise holds." if good else "A promise does not hold.", size=12.0, color=GOOD if good else BAD, bold=True)
    pages.facts(_facts(performance))
    pages.heading("What was asked")
    pages.words(asked(performance))
    for png, caption in pictures:
        pages.picture(png, caption)
    pages.heading("What is promised")
    pages.words(certificate.status.sentence)
    pages.table([_row(check) for check in certificate.checks])
    for note in certificate.notes:
        pages.words(note, size=7.5, color="#555555")
    pages.heading("How it was verified")
    pages.words(how(performance, verdict))
    pages.table([_row(check) for check in verdict.checks])
    seen = (*opening_pictures(performance, verdict), *closing_pictures(performance, verdict))
    if seen:
        pages.heading("What it looks like", room=pages.room_with(seen[0][0]))
    for png, caption in seen:
        pages.picture(png, caption)
    facts = performance.provenance
    pages.heading("Where it came from")
    pages.facts(
        [(f"hash of {key}", value) for key, value in facts.inputs.items()]
        + [(key.replace("_", " "), worded(value)) for key, value in facts.options.items()]
        + [(f"version of {key}", value) for key, value in facts.versions.items()]
        + [("seed", str(facts.seed))]
    )
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


def _row(check: Check) -> tuple[str, str, str, str, str]:
    """Verdict, name, value, bar and note of a check, in words."""
    bar = "" if check.bar is None else f"{'≥' if check.at_least else '≤'} {check.bar:.4g}"
    return check.state, check.name, f"{check.value:.4g} {check.unit}".strip(), bar, check.note


def _statement(good: bool, digest: str) -> str:
    what = (
        "Every promise above holds; where a number is the performer's own word, its line says so."
        if good
        else "A PROMISE ABOVE DOES NOT HOLD: do not play this unless you know why."
    )
    file = f" This is signed for the performance with SHA-256 {digest} and no other." if digest else ""
    return what + file
