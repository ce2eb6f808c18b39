"""The kit of a study: every behaviour performed under both conditions, filmed with its voice, and the survey that shows the films.

Into the folder go ``performances/`` (with certificates), ``films/`` by code, ``survey.html`` for participants, ``assignments.csv``
and ``kit.json`` for whoever runs the study. Films are kept as they are made: a run that was interrupted goes on after the last one.
"""

from __future__ import annotations

import hashlib
import json
import math
from collections.abc import Iterable, Iterator
from dataclasses import asdict, dataclass, replace
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, Cancelled
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes
from bunraku.formats.registry import write_performance
from bunraku.formats.study_yaml import StudyPlan
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.stage.film import film_bytes, need_ffmpeg
from bunraku.stage.picture.shot import movie
from bunraku.study.acts import Act, acts_of
from bunraku.study.design import CONDITIONS, FilmSubject, StudyDesign, assignments_csv, study_design
from bunraku.study.survey import survey_page

MAX_FILM_BYTES = 512 * 1024 * 1024
STOPPED = "stopped; the same command goes on after the films that are made"


@dataclass(frozen=True)
class FilmNote:
    """What is known of a film: what it shows, how it was performed, what its certificate says, and the hash of its file."""

    code: str
    behaviour: str
    condition: str
    performer: str
    status: str
    holds: bool
    duration_s: float
    checks: dict[str, float]
    made_of: str
    sha256: str


@dataclass(frozen=True, eq=False)
class Kit:
    """A kit that was made."""

    design: StudyDesign
    folder: Path
    films: tuple[FilmNote, ...]


def make_kit(plan: StudyPlan, base: Path, folder: Path, *, beside: bool = False, monitor: Monitor = SILENT) -> Kit:
    """Make the kit of a plan in ``folder``; files that the plan names are looked for in ``base`` and nowhere else.

    ``beside``: the survey plays the films from the folder instead of holding them.
    """
    need_ffmpeg()
    design, acts = study_design(plan), acts_of(plan, base)
    if folder.exists() and not folder.is_dir():
        raise BadInput("this is a file; give a folder for the kit", file=str(folder))
    for part in (folder, folder / "films", folder / "performances"):
        part.mkdir(parents=True, exist_ok=True)
    known = _known(folder)
    notes: dict[str, FilmNote] = {}
    for b, act in enumerate(acts):
        codes = [design.codes[FilmSubject(b, c)] for c in range(len(CONDITIONS))]
        filmed = {code: known[code] for c, code in enumerate(codes) if code in known and _stands(known[code], act, c, folder)}
        if len(filmed) < len(codes):
            monitor.report(Event("films", b / len(acts), act.behaviour))
            performances = _performed(act, folder, monitor)
            for c, code in enumerate(codes):
                if code not in filmed:
                    at = (b + c / len(codes)) / len(acts)
                    filmed[code] = _filmed(
                        act, c, code, performances, plan, folder, _Share(monitor, at, 1.0 / (len(codes) * len(acts)))
                    )
                    _write_notes(folder, design, known | notes | filmed)
        notes |= {code: filmed[code] for code in codes}
    _write_notes(folder, design, notes)
    held = None if beside else {code: read_bytes(_film(folder, code), limit=MAX_FILM_BYTES) for code in notes}
    write_atomically(folder / "assignments.csv", assignments_csv(design))
    write_atomically(folder / "survey.html", survey_page(design, held))
    monitor.report(Event("films", 1.0))
    return Kit(design, folder, tuple(notes.values()))


@dataclass(frozen=True, eq=False)
class _Share:
    """A part of all the work, from ``start`` (of 1) on and ``size`` large, for a monitor."""

    monitor: Monitor
    start: float
    size: float

    def pictures(self, frames: Iterable[NDArray[np.uint8]], count: int, words: str) -> Iterator[NDArray[np.uint8]]:
        """The pictures, reported as they are drawn; none after a request to stop."""
        for k, frame in enumerate(frames):
            if self.monitor.cancelled:
                raise Cancelled(STOPPED)
            if k % 10 == 0:
                self.monitor.report(Event("films", self.start + self.size * min(1.0, k / count), words))
            yield frame


def _performed(act: Act, folder: Path, monitor: Monitor) -> list[Performance]:
    """The performances of a behaviour under both conditions, written to the folder."""
    performances = []
    for perform, condition in zip(act.perform, CONDITIONS, strict=True):
        performance = perform(monitor)
        if monitor.cancelled or performance.certificate.status is Status.CANCELLED:
            raise Cancelled(STOPPED)
        write_performance(folder / "performances" / f"{act.behaviour}-{condition}.performance.npz", performance)
        performances.append(performance)
    return performances


def _filmed(
    act: Act, condition: int, code: str, performances: list[Performance], plan: StudyPlan, folder: Path, share: _Share
) -> FilmNote:
    """Film one of the two performances of a behaviour."""
    performance, words = performances[condition], f"{act.behaviour}, {CONDITIONS[condition]}"
    form = plan.film
    film = movie(performance, beside=performances[1 - condition], width=form.width, height=form.height, fps=form.fps)
    frames = share.pictures(film.frames, max(1, round(performance.duration * plan.film.fps)), words)
    data = film_bytes(replace(film, frames=frames), ".mp4")
    write_atomically(_film(folder, code), data)
    certificate = performance.certificate
    checks = {check.name: float(check.value) for check in certificate.checks if math.isfinite(check.value)}
    return FilmNote(
        code, act.behaviour, CONDITIONS[condition], performance.provenance.performer, certificate.status.value, certificate.holds,
        performance.duration, checks, act.made_of, hashlib.sha256(data).hexdigest(),
    )  # fmt: skip


def _film(folder: Path, code: str) -> Path:
    return folder / "films" / f"{code}.mp4"


def _stands(note: FilmNote, act: Act, condition: int, folder: Path) -> bool:
    """Whether the film of a note is still there as it was made, and made of and shows what is wanted now."""
    path = _film(folder, note.code)
    same = (note.behaviour, note.condition, note.made_of) == (act.behaviour, CONDITIONS[condition], act.made_of)
    return same and path.is_file() and hashlib.sha256(read_bytes(path, limit=MAX_FILM_BYTES)).hexdigest() == note.sha256


def _known(folder: Path) -> dict[str, FilmNote]:
    """The notes of an earlier run in this folder; none where they cannot be understood."""
    try:
        data = json.loads(read_bytes(folder / "kit.json", limit=16 * 1024 * 1024))
        return {one["code"]: FilmNote(**one) for one in data["films"]}
    except (BadInput, ValueError, TypeError, KeyError):
        return {}


def _write_notes(folder: Path, design: StudyDesign, notes: dict[str, FilmNote]) -> None:
    content = {"study": design.key, "title": design.plan.title, "films": [asdict(note) for note in notes.values()]}
    write_atomically(folder / "kit.json", (json.dumps(content, indent=1) + "\n").encode())
