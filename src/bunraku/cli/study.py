"""``bunraku study``: a perceptual study as a kit, and its analysis."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from bunraku.cli.console import emit_json, exit_code, say, watching
from bunraku.errors import BadInput
from bunraku.formats.atomic import check_folder, write_atomically
from bunraku.formats.files import read_bytes
from bunraku.optimization.solution import Status

if TYPE_CHECKING:
    from bunraku.study.design import StudyDesign


def study(
    plan: Annotated[Path, typer.Argument(help="The plan, a .study.yaml")],
    answers: Annotated[
        list[Path] | None, typer.Argument(help="Tables that surveys wrote, or folders of them: analyse instead of making the kit")
    ] = None,
    output: Annotated[
        Path | None, typer.Option("-o", "--output", help="Folder to write into [NAME-study, of an analysis NAME-results]")
    ] = None,
    beside: Annotated[bool, typer.Option("--beside", help="The survey plays films beside it instead of holding them")] = False,
    rehearse: Annotated[
        bool, typer.Option("--rehearse", help="Only write made-up answers of everybody, to try the analysis")
    ] = False,
    without: Annotated[str, typer.Option(help="Analysis: numbers of participants to leave out, comma-separated")] = "",
    json: Annotated[bool, typer.Option("--json", help="As JSON on stdout")] = False,
) -> int:
    """Paired films, a survey and its analysis: which of two ways to perform do people find more natural?

    With a plan alone: performs every behaviour under both conditions, films them, and writes survey.html and assignments.csv. With
    answers: one-sample t tests, repeated-measures ANOVA, a picture and a report.
    """
    if output is not None:
        check_folder(output)
    from bunraku.formats.study_yaml import read_study_yaml
    from bunraku.study.design import study_design

    read = read_study_yaml(read_bytes(plan), file=str(plan))
    design = study_design(read)
    stem = plan.name.removesuffix(".yaml").removesuffix(".study")
    if answers:
        if beside or rehearse:
            raise BadInput("--beside and --rehearse have no place in an analysis; leave them out")
        return _analyse(design, answers, output or Path(f"{stem}-results"), without, json)
    if without:
        raise BadInput("--without leaves participants out of an analysis; give the tables of answers too")
    target = output or Path(f"{stem}-study")
    return _rehearse(design, target, json) if rehearse else _make(design, plan, target, beside, json)


def _make(design: StudyDesign, plan: Path, target: Path, beside: bool, json: bool) -> int:
    from dataclasses import asdict

    from bunraku.stage.film import need_ffmpeg
    from bunraku.study.kit import make_kit

    need_ffmpeg()
    with watching() as monitor:
        kit = make_kit(design.plan, plan.resolve().parent, target, beside=beside, monitor=monitor)
    for note in kit.films:
        lag = f", lag {1000.0 * note.checks['lag']:.0f} ms" if "lag" in note.checks else ""
        words = f"{note.code}: {note.behaviour}, {note.condition} ({note.performer}), {note.duration_s:.2f} s{lag}"
        broken = "" if note.holds else "; a promise does not hold" + (", as a control may" if note.condition == "control" else "")
        say(f"  {'+' if note.holds else '!'} {words}{broken}")
    given = "survey.html and films/" if beside else "survey.html"
    say(f"wrote {target}: give out {given} (survey.html#7 is for participant 7); assignments.csv says which film is which, keep it")
    if json:
        emit_json(
            {
                "study": design.key,
                "participants": design.plan.participants,
                "folder": str(target),
                "films": [asdict(one) for one in kit.films],
            }
        )
    # a control may break what it promises: to be late is why it is one
    return max(exit_code(Status(note.status), note.holds or note.condition == "control") for note in kit.films)


def _rehearse(design: StudyDesign, target: Path, json: bool) -> int:
    from bunraku.study.rehearsal import rehearse

    target.mkdir(parents=True, exist_ok=True)
    path = target / "rehearsal.csv"
    write_atomically(path, rehearse(design, seed=design.plan.seed))
    say(f"wrote {path}: answers that nobody gave, of {design.plan.participants} participants")
    if json:
        emit_json({"study": design.key, "participants": design.plan.participants, "answers": str(path)})
    return 0


def _analyse(design: StudyDesign, sources: list[Path], target: Path, without: str, json: bool) -> int:
    from bunraku.study.analysis import analyse
    from bunraku.study.answers import MAX_ANSWER_BYTES, read_answers
    from bunraku.study.report import study_report
    from bunraku.study.results import draw_results, result_lines, results_object
    from bunraku.verification.plots.figure import figure_bytes

    numbers = [part.strip() for part in without.split(",") if part.strip()]
    if not all(part.isascii() and part.isdigit() and len(part) < 9 for part in numbers):
        raise BadInput(f"--without takes numbers of participants, such as 3,17; {without[:60]!r} arrived")
    paths: list[Path] = []
    for source in sources:
        paths += sorted(source.glob("*.csv")) if source.is_dir() else [source]
    if not paths:
        raise BadInput("holds no .csv file; give the tables that surveys wrote, or the folder they are in", file=str(sources[0]))
    tables = ((str(path), read_bytes(path, limit=MAX_ANSWER_BYTES)) for path in paths)
    analysis = analyse(read_answers(tables, design), design, {int(part) for part in numbers})
    picture = figure_bytes(draw_results(analysis))
    report = study_report(analysis, picture)
    target.mkdir(parents=True, exist_ok=True)
    write_atomically(target / "results.png", picture)
    write_atomically(target / "report.html", report.encode())
    for line in result_lines(analysis):
        say(line)
    say(f"wrote {target / 'report.html'} and {target / 'results.png'}")
    if json:
        emit_json(results_object(analysis))
    return 0
