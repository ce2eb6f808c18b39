"""The report of a study: design, who counts, results in sentences and tables, the picture; one HTML file without links."""

from __future__ import annotations

import base64
from collections import Counter
from collections.abc import Sequence
from html import escape

from bunraku.study.analysis import Analysis
from bunraku.study.design import CONDITIONS
from bunraku.study.results import p_words, t_words

STYLE = """
:root { color-scheme: light dark; }
body { font: 15px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 2rem auto; padding: 0 1rem; color: #222; }
h1 { font-size: 1.6rem; margin-bottom: .2rem; } h2 { font-size: 1.15rem; margin-top: 2rem; border-bottom: 1px solid #ddd; }
.wide { overflow-x: auto; margin: .8rem 0 1.4rem; } table { border-collapse: collapse; width: 100%; font-size: .9rem; }
td, th { padding: .3rem .6rem; text-align: left; border-bottom: 1px solid #e4e4e4; }
td.n, th.n { text-align: right; white-space: nowrap; font-variant-numeric: tabular-nums; }
img { width: 100%; height: auto; } .small { color: #666; font-size: .88rem; } .bad { color: #b3261e; font-weight: 600; }
@media (prefers-color-scheme: dark) {
  body { background: #17181a; color: #ddd; } img { background: #fff; border-radius: 8px; } td, th, h2 { border-color: #3a3a3a; }
  .small { color: #aaa; } .bad { color: #ff9a8f; }
}
"""


def study_report(analysis: Analysis, picture: bytes) -> str:
    """The report; ``picture`` is the PNG of the results."""
    plan, answers = analysis.design.plan, analysis.answers
    parts = [f"<h1>{escape(plan.title)}</h1>"]
    if answers.made_up:
        parts.append('<p class="bad">A rehearsal: nobody gave these answers.</p>')
    parts += [
        f'<p class="small">Study {analysis.design.key}; {len(answers.participants)} participants count; '
        f"{len(plan.behaviours)} behaviours under {len(CONDITIONS)} conditions.</p>",
        f'<img alt="Preferences and ratings" src="data:image/png;base64,{base64.b64encode(picture).decode()}">',
    ]
    if analysis.pairs:
        parts += [
            "<h2>Pairs</h2>",
            "<p>Which of two films side by side, coded 1 for the optimized, -1 for the control, 0 for neither; averaged over "
            "behaviours for each participant, and tested against 0.</p>",
            _table(
                ["question", "M", "SD", "t", "df", "p", "Cohen's d", "95 % interval"],
                [
                    [
                        one.name,
                        f"{t.mean:.3f}",
                        f"{t.sd:.3f}",
                        f"{t.t:.2f}",
                        str(t.df),
                        _p(t.p),
                        f"{t.effect:.2f}",
                        f"{t.low:.2f} to {t.high:.2f}",
                    ]
                    for one in analysis.pairs
                    for t in [one.test]
                ],
            ),
            '<p class="small">A habit of choosing the right film: '
            + "; ".join(f"{escape(one.name)} M = {one.right.mean:.2f}, {t_words(one.right)}" for one in analysis.pairs)
            + ".</p>",
        ]
    if analysis.ratings:
        parts += [
            "<h2>Scales</h2>",
            f"<p>Each film alone, from 1 to {plan.points}; repeated-measures ANOVA within subjects, p corrected after Greenhouse "
            "and Geisser.</p>",
            _table(
                ["scale", *(f"{name} M (SE)" for name in CONDITIONS)],
                [
                    [f"{one.low} - {one.high}", *(f"{m:.2f} ({e:.2f})" for m, e in zip(one.means, one.errors, strict=True))]
                    for one in analysis.ratings
                ],
            ),
            _table(
                ["scale", "effect", "F", "df", "p", "ε", "corrected p", "partial η²", "generalized η²"],
                [
                    [one.name, effect.name, f"{effect.f:.2f}", f"{effect.df}, {effect.df_error}", _p(effect.p),
                     f"{effect.epsilon:.2f}", _p(effect.corrected_p), f"{effect.partial_eta_squared:.3f}",
                     f"{effect.generalized_eta_squared:.3f}"]
                    for one in analysis.ratings
                    for effect in one.effects
                ],
                words=2,
            ),
        ]  # fmt: skip
    parts += ["<h2>Participants</h2>", *_people(analysis), "<h2>What was shown and asked</h2>", *_design(analysis)]
    head = (
        '<!doctype html><html lang="en"><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">'
    )
    return f"{head}<title>{escape(plan.title)}</title><style>{STYLE}</style>" + "\n".join(parts) + "</html>\n"


def _people(analysis: Analysis) -> list[str]:
    answers = analysis.answers
    out = "; ".join(f"participant {one.participant}: {one.reason}" for one in analysis.left_out) or "nobody"
    minutes = answers.minutes
    paragraphs = [
        f"<p>Left out: {escape(out)}.</p>",
        f"<p>Minutes spent on the films: {minutes.mean():.1f} on average, from {minutes.min():.1f} to {minutes.max():.1f}.</p>",
    ]
    for question in analysis.design.plan.about:
        counts = Counter(one.get(question.name) or "not said" for one in answers.about)
        words = ", ".join(f"{escape(value)} {count}" for value, count in counts.most_common(20))
        paragraphs.append(f'<p class="small">{escape(question.text)}: {words}.</p>')
    return paragraphs


def _design(analysis: Analysis) -> list[str]:
    plan = analysis.design.plan
    words = []
    for name in CONDITIONS:
        way = getattr(plan.conditions, name)
        options = "".join(f", {key} {value}" for key, value in way.options.items())
        words.append(f"{name}: {way.performer}{options}")
    sentences = [f"Behaviours: {', '.join(plan.behaviours)}."]
    sentences += [f"Conditions of clips: {'; '.join(words)}."] if plan.clips else []
    sentences += [f"{one.name}: {one.text}" for one in plan.pairs]
    sentences += [f"{one.name}: from {one.low} (1) to {one.high} ({plan.points})." for one in plan.ratings]
    sentences.append(f"Balanced orders and sides, worked out for {plan.participants} participants, seed {plan.seed}.")
    return [f'<p class="small">{escape(one)}</p>' for one in sentences]


def _p(p: float) -> str:
    return p_words(p).removeprefix("p ").removeprefix("= ")


def _table(head: Sequence[str], rows: Sequence[Sequence[str]], words: int = 1) -> str:
    """A table whose first ``words`` columns are text and the others numbers."""
    kind = ["" if i < words else ' class="n"' for i in range(len(head))]
    top = "".join(f"<th{kind[i]}>{escape(cell)}</th>" for i, cell in enumerate(head))
    body = "".join("<tr>" + "".join(f"<td{kind[i]}>{escape(cell)}</td>" for i, cell in enumerate(row)) + "</tr>" for row in rows)
    return f'<div class="wide"><table><tr>{top}</tr>{body}</table></div>'
