"""The voice, words, phrases and emphasis: what is said when, and which bodies matter when."""

from __future__ import annotations

from pathlib import Path

from bunraku.editing import emphasis as emphasis_edit
from bunraku.editing import marks as marks_edit
from bunraku.errors import BadInput
from bunraku.motion import Emphasis, Mark
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import clip_changed
from bunraku.studio.edits.registry import edit
from bunraku.studio.project import Project

TRACKS = {"phrase": "phrases", "word": "words"}
"""Fields of a clip by what a mark in them is called."""


@edit("emphasis.add", "Emphasised {frame}")
def add_emphasis(
    document: Document, frame: str, weight: float, start: float = 0.0, end: float | None = None, kind: str = "position"
) -> Document:
    """A body or frame that matters more from a time on."""
    who, clip = document.need_character(), document.need_clip()
    known = [body.name for body in who.bodies] + [one.name for one in who.frames]
    if frame not in known:
        raise BadInput(f"{frame!r} is no body or frame of {who.name!r}; it has {', '.join(known[:12])}")
    new = Emphasis(
        frame, float(weight), float(start), None if end is None else float(end), "position" if kind == "position" else "orientation"
    )
    return clip_changed(document, emphasis=(*clip.emphasis, new))


@edit("emphasis.border", "Moved the {end} of an emphasis")
def move_emphasis(document: Document, index: int, end: str, time: float) -> Document:
    """Another start or end [s] of an emphasis; it stays inside the clip."""
    clip = document.need_clip()
    return clip_changed(document, emphasis=emphasis_edit.moved_border(clip.emphasis, index, end, time, clip.duration))


@edit("emphasis.weight", "Weighed an emphasis {weight}")
def weigh_emphasis(document: Document, index: int, weight: float) -> Document:
    """Another weight of an emphasis."""
    return clip_changed(document, emphasis=emphasis_edit.weighed(document.need_clip().emphasis, index, float(weight)))


@edit("emphasis.remove", "Removed an emphasis")
def remove_emphasis(document: Document, index: int) -> Document:
    """Take an emphasis away."""
    return clip_changed(document, emphasis=emphasis_edit.removed(document.need_clip().emphasis, index))


@edit("phrase.border", "Moved the {end} of a {track}")
def move_phrase(document: Document, index: int, end: str, time: float, track: str = "phrase") -> Document:
    """Move the start or end of a phrase or word [s]; it stays between its neighbours and inside the clip."""
    marks = _marks(document, track)
    last = max(document.need_clip().duration, marks[-1].end if marks else 0.0)
    return _with(document, track, marks_edit.moved_border(marks, index, end, float(time), last))


@edit("audio.set", "The voice is now {source}")
def set_audio(document: Document, source: str, folder: Path | None = None) -> Document:
    """The sound of a file of the project as the voice of the clip; words and phrases of the old voice go with it. "": no sound."""
    clip = document.need_clip()
    audio = Project(folder if folder is not None else Path()).read_clip(source).audio if source else None
    if source and audio is None:
        raise BadInput(f"{source[:80]!r} holds no sound; give a WAV file")
    spoken = {} if audio is None or clip.audio is None else {"words": (), "phrases": ()}
    return clip_changed(document, audio=audio, **spoken)


@edit("phrase.add", "Added the {track} {text}")
def add_phrase(document: Document, text: str, start: float, end: float, track: str = "phrase") -> Document:
    """A phrase or word more [s]; it ends where the next begins."""
    marks = _marks(document, track)
    return _with(document, track, marks_edit.added(marks, text, float(start), float(end), document.need_clip().duration))


@edit("phrase.rename", "The {track} says {text}")
def rename_phrase(document: Document, index: int, text: str, track: str = "phrase") -> Document:
    """Another text of a phrase or word."""
    return _with(document, track, marks_edit.renamed(_marks(document, track), int(index), text))


@edit("phrase.remove", "Removed a {track}")
def remove_phrase(document: Document, index: int, track: str = "phrase") -> Document:
    """A phrase or word less."""
    return _with(document, track, marks_edit.removed(_marks(document, track), int(index)))


def _marks(document: Document, track: str) -> tuple[Mark, ...]:
    if track not in TRACKS:
        raise BadInput(f"a {track[:60]!r} cannot be edited; a phrase or a word can")
    marks: tuple[Mark, ...] = getattr(document.need_clip(), TRACKS[track])
    return marks


def _with(document: Document, track: str, marks: tuple[Mark, ...]) -> Document:
    return clip_changed(document, **{TRACKS[track]: marks})
