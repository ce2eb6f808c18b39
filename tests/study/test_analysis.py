"""The paper's analysis through the whole design: a known effect goes in as answers and comes out as t, F and effect size."""

from __future__ import annotations

import dataclasses
import math

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy import stats

from bunraku.errors import BadInput
from bunraku.formats.study_yaml import StudyPlan
from bunraku.study.analysis import analyse
from bunraku.study.answers import MADE_UP, Answers, read_answers
from bunraku.study.design import StudyDesign, study_design
from bunraku.study.rehearsal import Audience, rehearse
from bunraku.study.report import study_report
from bunraku.study.results import draw_results, p_words, result_lines, results_object
from bunraku.verification.plots.figure import figure_bytes

Array = NDArray[np.float64]


@pytest.fixture(scope="module")
def paper() -> StudyDesign:
    """The paper's design: 38 participants, 6 behaviours, 2 conditions, 2 questions, 3 scales of 10 points."""
    return study_design(StudyPlan(title="t", clips=tuple(f"clip{k}" for k in range(6)), participants=38, seed=7))


def told(pairs: Array, ratings: Array, design: StudyDesign) -> bytes:
    """Tables of answers from what people think.

    Pairs (people, behaviours, questions), ratings (people, conditions, behaviours, scales). Written from the plan and
    what each participant was shown, as the survey would; not by the code that is tested.
    """
    lines = ["study,participant,part,place,first,second,question,answer,seconds"]
    for sitting in design.sittings:
        me = sitting.participant - 1
        for place, (left, right) in enumerate(sitting.pairs, start=1):
            better_right = design.films[right].condition == 1
            for q, question in enumerate(design.plan.pairs):
                liked = pairs[me, design.films[left].behaviour, q] * (1 if better_right else -1)
                word = ("left", "equal", "right")[int(liked) + 1]
                lines.append(f"{design.key},{me + 1},pair,{place},{left},{right},{question.name},{word},10")
        for place, film in enumerate(sitting.films, start=1):
            shown = design.films[film]
            for s, scale in enumerate(design.plan.ratings):
                value = int(ratings[me, shown.condition, shown.behaviour, s])
                lines.append(f"{design.key},{me + 1},rating,{place},{film},,{scale.name},{value},10")
    return "\n".join(lines).encode()


def projected(values: Array) -> tuple[float, float]:
    """F and partial eta squared of the condition by projections on spaces of dummy variables; values (people, 2, behaviours)."""
    n, a, b = values.shape
    subject, condition, _ = (axis.ravel() for axis in np.indices(values.shape))
    y = values.ravel()

    def project(*groups: NDArray[np.int64]) -> float:
        cells = np.unique(np.stack(groups), axis=1, return_inverse=True)[1].ravel()
        sums = np.bincount(cells, y)
        return float(np.sum(sums**2 / np.bincount(cells)))

    nothing = y.sum() ** 2 / len(y)
    effect = project(condition) - nothing
    error = project(subject, condition) - project(subject) - effect
    assert b * n * a == len(y)
    return effect / (error / (n - 1)), effect / (effect + error)


@pytest.mark.parametrize("seed", range(4))
def test_t_and_f_of_the_papers_design_are_recovered(paper: StudyDesign, seed: int) -> None:
    rng = np.random.default_rng(seed)
    pairs = rng.choice([-1, 0, 1], size=(38, 6, 2), p=[0.2, 0.2, 0.6]).astype(float)
    shift = np.array([[0.0, 1.0]]).T[None, :, :, None] * np.array([1.2, 1.5, 0.0])
    ratings = np.clip(np.round(5.0 + rng.normal(size=(38, 1, 1, 1)) + shift + 1.8 * rng.normal(size=(38, 2, 6, 3))), 1, 10)
    found = analyse(read_answers([("a.csv", told(pairs, ratings, paper))], paper), paper)
    assert len(found.answers.participants) == 38
    for q, pair in enumerate(found.pairs):
        scores = pairs[:, :, q].mean(axis=1)
        t = scores.mean() / (np.sqrt(((scores - scores.mean()) ** 2).sum() / 37) / math.sqrt(38))
        assert (pair.test.t, pair.test.df) == (pytest.approx(t), 37)
        assert pair.test.p == pytest.approx(stats.ttest_1samp(scores, 0.0).pvalue)
        assert pair.test.mean == pytest.approx(pairs[:, :, q].mean())
    for s, scale in enumerate(found.ratings):
        f, size = projected(ratings[..., s])
        assert scale.condition.f == pytest.approx(f)
        assert scale.condition.partial_eta_squared == pytest.approx(size)
        assert (scale.condition.df, scale.condition.df_error) == (1, 37)
        assert [(one.name, one.df, one.df_error) for one in scale.effects[1:]] == [
            ("behaviour", 5, 185),
            ("condition x behaviour", 5, 185),
        ]
        assert scale.means == pytest.approx(ratings[..., s].mean(axis=(0, 2)))
        own = ratings[..., s].mean(axis=2)
        assert scale.errors == pytest.approx(own.std(axis=0, ddof=1) / math.sqrt(38))


def test_the_papers_figures_come_back(paper: StudyDesign) -> None:
    """Ratings made to have the paper's F(1, 37) = 36.10 and 63.10 in the mean differences give its η² of .49 and .63."""
    rng = np.random.default_rng(0)
    answers = read_answers([("a.csv", rehearse(paper))], paper)
    ratings = np.array(answers.ratings)
    for s, f in enumerate((36.10, 63.10, 1.24)):
        gap = rng.normal(size=38)
        gap = (gap - gap.mean()) / gap.std(ddof=1) + math.sqrt(f / 38.0)
        ratings[:, 1, :, s] = ratings[:, 0, :, s] + gap[:, None]
    found = analyse(Answers(answers.participants, answers.pairs, answers.sides, ratings, answers.minutes, answers.about), paper)
    sizes = [(round(one.condition.f, 2), round(one.condition.partial_eta_squared, 2)) for one in found.ratings]
    assert sizes[:2] == [(36.10, 0.49), (63.10, 0.63)]
    assert found.ratings[2].condition.p == pytest.approx(0.27, abs=0.005)
    assert "F(1, 37) = 36.10, p < .0005, partial η² = .49" in "\n".join(result_lines(found))


def test_a_made_up_audience_has_the_effect_it_was_given(paper: StudyDesign) -> None:
    """Over many rehearsals the mean difference of ratings is the gain, on the last scale none; with no liking no preference."""
    gains, likings = [], []
    for seed in range(12):
        found = analyse(read_answers([("a.csv", rehearse(paper, Audience(liking=0.0, gain=1.0), seed=seed))], paper), paper)
        gains.append([one.means[1] - one.means[0] for one in found.ratings])
        likings.append([one.test.mean for one in found.pairs])
    mean, spread = np.mean(gains, axis=0), np.std(gains, axis=0) / math.sqrt(12)
    np.testing.assert_allclose(mean, [1.0, 1.0, 0.0], atol=float(4.0 * spread.max()) + 0.05)
    assert np.abs(np.mean(likings)) < 0.05


def test_nobody_is_found_to_prefer_what_nobody_prefers(paper: StudyDesign) -> None:
    """Without effect, 5 % of the tests over 25 studies find one, within four standard deviations."""
    audience = Audience(liking=0.0, gain=0.0)
    hits = [
        p < 0.05
        for seed in range(25)
        for found in [analyse(read_answers([("a.csv", rehearse(paper, audience, seed=seed))], paper), paper)]
        for p in (*(one.test.p for one in found.pairs), *(one.condition.p for one in found.ratings))
    ]
    assert abs(sum(hits) - 0.05 * len(hits)) < 4.0 * math.sqrt(len(hits) * 0.05 * 0.95)


def test_a_habit_of_sides_is_no_preference_but_is_told(paper: StudyDesign) -> None:
    """Somebody who always says right prefers nothing: sides are balanced for everybody."""
    table = rehearse(paper).replace(b",left,", b",right,").replace(b",equal,", b",right,")
    found = analyse(read_answers([("a.csv", table)], paper), paper)
    assert [one.test.mean for one in found.pairs] == [0.0, 0.0]
    assert [one.right.mean for one in found.pairs] == [1.0, 1.0]
    assert "the right film was favoured as such" in "\n".join(result_lines(found))


def test_the_picture_of_a_rehearsal_is_marked(paper: StudyDesign) -> None:
    found = analyse(read_answers([("a.csv", rehearse(paper))], paper), paper)
    real = dataclasses.replace(found, answers=dataclasses.replace(found.answers, made_up=False))
    figures = [draw_results(one) for one in (found, real)]
    assert [figure.get_suptitle() for figure in figures] == ["A rehearsal: nobody gave these answers", ""]
    for figure in figures:
        assert figure_bytes(figure).startswith(b"\x89PNG")


def test_who_is_left_out_and_why(paper: StudyDesign) -> None:
    lines = rehearse(paper).decode().splitlines()
    gone = next(k for k, line in enumerate(lines) if line.startswith(f"{paper.key}{MADE_UP},4,pair"))
    del lines[gone]
    hasty = [line.rsplit(",", 1)[0] + ",1" if line.split(",")[1] == "9" else line for line in lines]
    plan = paper.plan.model_copy(update={"minutes": 2.0})
    design = study_design(plan)
    found = analyse(read_answers([("a.csv", "\n".join(hasty).encode())], design), design, {20})
    assert [(one.participant, one.reason) for one in found.left_out] == [
        (4, "1 answer is missing"),
        (9, "took 0.3 minutes, the plan asks for 2"),
        (20, "as asked"),
    ]
    assert found.pairs[0].test.df == 34
    assert len(found.answers.participants) == 35
    with pytest.raises(BadInput, match="participant 39 is to be left out"):
        analyse(read_answers([("a.csv", rehearse(paper))], paper), paper, {39})


def test_too_few_remain(paper: StudyDesign) -> None:
    lines = [line for line in rehearse(paper).decode().splitlines() if line.split(",")[1] in ("participant", "1")]
    with pytest.raises(BadInput, match="at least two must remain"):
        analyse(read_answers([("a.csv", "\n".join(lines).encode())], paper), paper)


def test_only_pairs_only_ratings_one_clip() -> None:
    only = StudyPlan(title="t", clips=("a",), participants=6, ratings=())
    found = analyse(read_answers([("a", rehearse(study_design(only)))], study_design(only)), study_design(only))
    assert (len(found.pairs), len(found.ratings)) == (2, 0)
    other = StudyPlan(title="t", clips=("a",), participants=6, pairs=())
    found = analyse(read_answers([("a", rehearse(study_design(other)))], study_design(other)), study_design(other))
    assert [one.name for one in found.ratings[0].effects] == ["condition"]
    assert study_report(found, b"").count("<table>") == 2


@pytest.mark.parametrize(
    ("p", "words"), [(1e-9, "p < .0005"), (0.0005, "p = .001"), (0.044, "p = .044"), (0.27, "p = .27"), (1.0, "p = 1.00")]
)
def test_p_as_papers_write_it(p: float, words: str) -> None:
    assert p_words(p) == words


def test_object_and_report_agree(paper: StudyDesign) -> None:
    found = analyse(read_answers([("a.csv", rehearse(paper))], paper), paper)
    told_object, report = results_object(found), study_report(found, b"png")
    assert told_object["pairs"]["naturalness"]["t"] == found.pairs[0].test.t
    assert told_object["ratings"]["elegance"]["condition"]["f"] == found.ratings[0].condition.f
    assert f'<td class="n">{found.ratings[0].condition.f:.2f}</td>' in report
    assert "nobody gave these answers" in report
    assert "http" not in report
