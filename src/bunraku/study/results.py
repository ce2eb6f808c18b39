"""Results of a study: sentences as papers print them, one flat object, and a picture like the paper's Fig. 4."""

from __future__ import annotations

from typing import Any

import numpy as np

from bunraku.statistics.repeated_measures import Effect
from bunraku.statistics.t_test import TTest
from bunraku.study.analysis import Analysis, PairResult, RatingResult
from bunraku.study.design import CONDITIONS
from bunraku.verification.plots.figure import new_figure

COLORS = ("#2b5c8a", "#c1272d")
"""Of control and optimized, as everywhere in the house."""


def p_words(p: float) -> str:
    """A probability as papers write it: ``p = .27``, ``p < .0005``."""
    if p < 0.0005:
        return "p < .0005"
    return "p = " + f"{p:.2f}" if p >= 0.995 else f"p = {p:.{3 if p < 0.1 else 2}f}".replace("0.", ".", 1)


def t_words(test: TTest) -> str:
    """``t(37) = 8.38, p < .0005``."""
    return f"t({test.df}) = {test.t:.2f}, {p_words(test.p)}"


def effect_words(effect: Effect) -> str:
    """``F(1, 37) = 36.10, p < .0005, partial η² = .49``; where sphericity counts, with epsilon and the corrected p."""
    eta = f"partial η² = {effect.partial_eta_squared:.2f}".replace("0.", ".", 1)
    words = f"F({effect.df}, {effect.df_error}) = {effect.f:.2f}, {p_words(effect.p)}, {eta}"
    return words if effect.df == 1 else f"{words}, ε = {effect.epsilon:.2f}, corrected {p_words(effect.corrected_p)}"


def result_lines(analysis: Analysis) -> list[str]:
    """All results, a line each."""
    counted = len(analysis.answers.participants)
    lines = [f"{counted} participants count, {len(analysis.left_out)} left out"]
    lines += [f"  participant {one.participant} left out: {one.reason}" for one in analysis.left_out]
    if analysis.answers.made_up:
        lines.append("  a rehearsal: nobody gave these answers")
    if analysis.pairs:
        lines.append("pairs, from -1 (control) to 1 (optimized), against 0:")
    for pair in analysis.pairs:
        test = pair.test
        lines.append(
            f"  {pair.name}: M = {test.mean:.2f}, SD = {test.sd:.2f}, {t_words(test)}, d = {test.effect:.2f}, "
            f"{100 * test.level:.0f} % interval {test.low:.2f} to {test.high:.2f}"
        )
        if pair.right.p < 0.05:
            lines.append(
                f"    note: the {'right' if pair.right.t > 0 else 'left'} film was favoured as such, {t_words(pair.right)}"
            )
    if analysis.ratings:
        lines.append(f"scales, from 1 to {analysis.design.plan.points}:")
    for scale in analysis.ratings:
        means = ", ".join(
            f"{name} M = {mean:.2f} (SE = {error:.2f})"
            for name, mean, error in zip(CONDITIONS, scale.means, scale.errors, strict=True)
        )
        lines.append(f"  {scale.low}-{scale.high}: {means}")
        lines += [f"    {effect.name}: {effect_words(effect)}" for effect in scale.effects]
    return lines


def results_object(analysis: Analysis) -> dict[str, Any]:
    """All results as one object for JSON."""
    return {
        "study": analysis.design.key,
        "title": analysis.design.plan.title,
        "rehearsal": analysis.answers.made_up,
        "participants": len(analysis.answers.participants),
        "left_out": [{"participant": one.participant, "reason": one.reason} for one in analysis.left_out],
        "pairs": {one.name: _test(one.test) | {"right_side": _test(one.right)} for one in analysis.pairs},
        "ratings": {one.name: _rating(one) for one in analysis.ratings},
    }


def _test(test: TTest) -> dict[str, float]:
    return {
        "mean": test.mean, "sd": test.sd, "t": test.t, "df": test.df, "p": test.p, "cohens_d": test.effect,
        "low": test.low, "high": test.high,
    }  # fmt: skip


def _rating(scale: RatingResult) -> dict[str, Any]:
    means = {
        name: {"mean": mean, "standard_error": error}
        for name, mean, error in zip(CONDITIONS, scale.means, scale.errors, strict=True)
    }
    return means | {
        effect.name: {
            "f": effect.f, "df": effect.df, "df_error": effect.df_error, "p": effect.p, "epsilon": effect.epsilon,
            "corrected_p": effect.corrected_p, "partial_eta_squared": effect.partial_eta_squared,
            "generalized_eta_squared": effect.generalized_eta_squared,
        }
        for effect in scale.effects
    }  # fmt: skip


def draw_results(analysis: Analysis) -> Any:
    """Preferences of everybody with mean and interval; mean ratings under both conditions with standard errors."""
    both = bool(analysis.pairs) + bool(analysis.ratings)
    figure, axes = new_figure(1, both, height=3.6, width=4.8 * both, share=False)
    if analysis.pairs:
        _draw_pairs(axes[0, 0], analysis.pairs)
    if analysis.ratings:
        _draw_ratings(axes[0, -1], analysis.ratings, analysis.design.plan.points)
    if analysis.answers.made_up:
        figure.suptitle("A rehearsal: nobody gave these answers", color=COLORS[1], weight="bold", fontsize=11)
    return figure


def _draw_pairs(axis: Any, pairs: tuple[PairResult, ...]) -> None:
    axis.axvline(0.0, color="#8a8f98", lw=0.8, ls="--")
    for i, pair in enumerate(reversed(pairs)):
        values, counts = np.unique(np.round(pair.scores, 6), return_counts=True)
        step = min(0.045, 0.6 / int(counts.max()))
        for value, count in zip(values, counts, strict=True):
            heights = i + 0.14 + step * np.arange(int(count))
            axis.plot(np.full(len(heights), value), heights, "o", ms=3.2, color="#8a8f98", alpha=0.8, mew=0)
        test = pair.test
        color = COLORS[int(test.mean > 0.0)]
        axis.errorbar(test.mean, i, xerr=[[test.mean - test.low], [test.high - test.mean]], fmt="D", color=color, capsize=3, ms=6)
        axis.annotate(t_words(test), (test.mean, i), (0, -9), textcoords="offset points", ha="center", va="top", fontsize=8)
    axis.set_xlim(-1.08, 1.08)
    axis.set_ylim(-0.5, len(pairs) - 0.1)
    axis.set_yticks(range(len(pairs)), [pair.name for pair in reversed(pairs)], fontsize=9)
    axis.set_xticks([-1, 0, 1], [f"-1\n{CONDITIONS[0]}", "0\nequal", f"1\n{CONDITIONS[1]}"])
    axis.set_title(f"Preference, mean and {100 * pairs[0].test.level:.0f} % interval", fontsize=10, loc="left")


def _draw_ratings(axis: Any, ratings: tuple[RatingResult, ...], points: int) -> None:
    for i, scale in enumerate(ratings):
        for c, color in enumerate(COLORS):
            x = i + (c - 0.5) * 0.36
            axis.fill_between(
                (x - 0.17, x + 0.17), 1.0, scale.means[c], color=color, lw=0.0, label=CONDITIONS[c] if i == 0 else None
            )
            axis.errorbar(x, scale.means[c], yerr=scale.errors[c], color="#222", capsize=3, lw=1.0)
        top = max(mean + error for mean, error in zip(scale.means, scale.errors, strict=True))
        star = " *" if scale.condition.p < 0.0005 else ""
        axis.annotate(p_words(scale.condition.p) + star, (i, top), (0, 5), textcoords="offset points", ha="center", fontsize=8)
    axis.set_ylim(1.0, points + 0.1 * points)
    axis.set_xticks(range(len(ratings)), [f"{scale.low} -\n{scale.high}" for scale in ratings], fontsize=9)
    axis.set_yticks(range(1, points + 1))
    axis.legend(frameon=False, fontsize=8, loc="upper right", ncols=2)
    axis.set_title("Ratings, mean and standard error", fontsize=10, loc="left")
