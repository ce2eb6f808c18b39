"""A report of a performance as one HTML file: what was asked, what is promised, how it was verified, with plots inside."""

from __future__ import annotations

import base64
from collections.abc import Sequence
from html import escape

from bunraku.motion import Check, Performance
from bunraku.verification.comparison import comparison_row
from bunraku.verification.plots.figure import figure_bytes
from bunraku.verification.plots.joints import draw_comparison
from bunraku.verification.report.pages import worded
from bunraku.verification.verifier import Verdict
from bunraku.verification.wording import broken_lines

Shown = tuple[bytes, str]
"""A PNG and what it shows."""

STYLE = """
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ddd; }
table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { padding: .25rem .6rem; text-align: left; border-bottom: 1px solid #eee; }
td:nth-child(3) { white-space: nowrap; } td.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
img { width: 100%; } .sign td { width: 33%; border: 0; color: #666; }
.sign tr:first-child td { height: 3.5rem; border-bottom: 1px solid; }
.good { color: #2e7d4f; font-weight: 600; } .bad { color: #c1272d; font-weight: 600; }
.unknown { color: #8a6d00; font-weight: 600; }
.small { color: #666; font-size: .85rem; }
@media (prefers-color-scheme: dark) {
  body { background: #17181a; color: #ddd; } img { background: #fff; } td, th { border-color: #333; }
}
"""


def make_report(
    performance: Performance,
    verdict: Verdict,
    others: Sequence[Performance] = (),
    *,
    pictures: Sequence[Shown] = (),
    digest: str = "",
) -> str:
    """The report; ``others`` are the same wish by other performers, to compare with.

    ``pictures`` come first, such as a contact sheet; ``digest`` is the SHA-256 of the performance's file, which is signed for.
    """
    certificate, (first, last) = performance.certificate, shown(verdict)
    good = verdict.holds and certificate.holds
    title = f"{performance.clip_name} performed by {performance.character.name}"
    parts = [
        f"<h1>{escape(title)}</h1>",
        f'<p class="{"good" if good else "bad"}">{escape(verdict.sentence)}</p>',
        *(f"<p>{escape(line)}</p>" for line in broken_lines(verdict.checks)),
        f"<p>{escape(certificate.status.sentence)} {performance.duration:.2f} s at {performance.rate:g} Hz, "
        f"{_count(performance)}, "
        f"performer <i>{escape(performance.provenance.performer)}</i>.</p>",
        "<h2>What was asked</h2>",
        f"<p>{escape(asked(performance))}</p>",
        *(_picture(*one) for one in (*pictures, *first)),
        "<h2>What is promised</h2>",
        _checks(certificate.checks),
        *(f'<p class="small">{escape(note)}</p>' for note in certificate.notes),
        "<h2>How it was verified</h2>",
        f"<p>{verdict.judge.how(verdict.replay)}</p>",
        _checks(verdict.checks),
    ]
    if verdict.replay is not None and verdict.replay.rows:
        parts += ["<h2>Every replay</h2>", _table(verdict.replay.rows, "replay")]
    parts += ["<h2>Angle and velocity</h2>"] * bool(last) + [_picture(*one) for one in last]
    if others:
        rows = [(other.provenance.performer, comparison_row(other)) for other in (*others, performance)]
        parts += [
            "<h2>Compared</h2>",
            _table(rows, "performer"),
            _picture(figure_bytes(draw_comparison([*others, performance])), ""),
        ]
    parts += ["<h2>Provenance</h2>", _provenance(performance), "<h2>Signed</h2>", _signed(digest)]
    return _closed(title, parts)


def shown(verdict: Verdict) -> tuple[list[Shown], list[Shown]]:
    """The pictures that come first, and those that come last."""
    drawn = [(figure_bytes(picture.figure), picture.caption, picture.last) for picture in verdict.pictures()]
    first, last = ([(png, words) for png, words, late in drawn if late is end] for end in (False, True))
    return first, last


def asked(performance: Performance) -> str:
    """What was asked, in words."""
    names = 0 if performance.wish is None else len(performance.wish.names)
    words = f"{performance.character.name} is to perform {performance.clip_name}: {performance.duration:.2f} s"
    words += f", {names} coordinate{'' if names == 1 else 's'} wished" if names else ""
    words += f", {len(performance.phrases)} phrases" if performance.phrases else ""
    words += f", to {performance.audio.duration:.2f} s of sound" if performance.audio is not None else ""
    options = ", ".join(
        f"{key.replace('_', ' ')} {value}" for key, value in performance.provenance.options.items() if _short(value)
    )
    return f"{words}." + (f" Options: {options}." if options else "")


def _short(value: object) -> bool:
    return isinstance(value, (bool, int, float, str)) and len(str(value)) <= 24


def _signed(digest: str) -> str:
    """Lines to sign, and the file that is signed."""
    file = f'<p class="small">for the performance with SHA-256 {escape(digest)}</p>' if digest else ""
    lines = "".join(f"<td>{word}</td>" for word in ("Name", "Date", "Signature"))
    return f'{file}<table class="sign"><tr>{"<td></td>" * 3}</tr><tr>{lines}</tr></table>'


def _closed(title: str, parts: Sequence[str]) -> str:
    head = f'<!doctype html><html lang="en"><meta charset="utf-8"><title>{escape(title)}</title><style>{STYLE}</style>'
    return head + "\n".join(parts) + "</html>\n"


def _count(performance: Performance) -> str:
    count = sum(performance.dynamic or channel.kind != "torque" for channel in performance.channels)
    return f"{count} {'channel' if performance.dynamic else 'motor'}{'' if count == 1 else 's'}"


def _picture(png: bytes, caption: str) -> str:
    note = f'<figcaption class="small">{escape(caption)}</figcaption>' if caption else ""
    return f'<figure><img alt="{escape(caption)}" src="data:image/png;base64,{base64.b64encode(png).decode()}">{note}</figure>'


def _checks(checks: Sequence[Check]) -> str:
    rows = []
    for check in checks:
        state, name, value, threshold, note = map(escape, check.cells)
        colour = {"holds": "good", "broken": "bad", "not checked": "unknown"}.get(state, "")
        verdict = f'<span class="{colour}">{state}</span>' if state else ""
        rows.append(f'<tr><td>{name}</td><td class="n">{value}</td><td>{threshold}</td><td>{verdict}</td><td>{note}</td></tr>')
    return f"<table>{''.join(rows)}</table>"


def _table(rows: Sequence[tuple[str, dict[str, float]]], what: str) -> str:
    head = "".join(f"<th>{escape(key.replace('_', ' '))}</th>" for key in rows[0][1])
    body = "".join(
        f"<tr><td>{escape(name)}</td>{''.join(f'<td class=n>{value:.4g}</td>' for value in row.values())}</tr>"
        for name, row in rows
    )
    return f"<table><tr><th>{what}</th>{head}</tr>{body}</table>"


def origin(performance: Performance) -> list[tuple[str, str]]:
    """Where a performance came from: hashes, options, versions, seed."""
    facts = performance.provenance
    return [
        *((f"hash of {key}", value) for key, value in facts.inputs.items()),
        *((key.replace("_", " "), worded(value)) for key, value in facts.options.items()),
        *((f"version of {key}", value) for key, value in facts.versions.items()),
        ("seed", str(facts.seed)),
    ]


def _provenance(performance: Performance) -> str:
    cells = (f"<tr><td>{escape(name)}</td><td>{escape(value)}</td></tr>" for name, value in origin(performance))
    return "<table>" + "".join(cells) + "</table>"
