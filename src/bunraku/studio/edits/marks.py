"""Words, phrases and emphasis: what is said when, and which bodies matter when."""

from __future__ import annotations

from bunraku.errors import BadInput
from bunraku.motion import Emphasis, emphasis_edit, marks_edit
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import with_clip
from bunraku.studio.edits.registry import edit

__all__ = ["add_emphasis", "move_emphasis", "move_phrase", "remove_emphasis", "weigh_emphasis"]


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
    return with_clip(document, clip.changed(emphasis=(*clip.emphasis, new)))


@edit("emphasis.border", "Moved the {end} of an emphasis")
def move_emphasis(document: Document, index: int, end: str, time: float) -> Document:
    """Another start or end [s] of an emphasis; it stays inside the clip."""
    clip = document.need_clip()
    return with_clip(document, clip.changed(emphasis=emphasis_edit.moved_border(clip.emphasis, index, end, time, clip.duration)))


@edit("emphasis.weight", "Weighed an emphasis {weight}")
def weigh_emphasis(document: Document, index: int, weight: float) -> Document:
    """Another weight of an emphasis."""
    clip = document.need_clip()
    return with_clip(document, clip.changed(emphasis=emphasis_edit.weighed(clip.emphasis, index, float(weight))))


@edit("emphasis.remove", "Removed an emphasis")
def remove_emphasis(document: Document, index: int) -> Document:
    """Take an emphasis away."""
    clip = document.need_clip()
    return with_clip(document, clip.changed(emphasis=emphasis_edit.removed(clip.emphasis, index)))


@edit("phrase.border", "Moved the {end} of a {track}")
def move_phrase(document: Document, index: int, end: str, time: float, track: str = "phrase") -> Document:
    """Move the start or end of a phrase or word [s]; it stays between its neighbours and inside the clip."""
    clip = document.need_clip()
    if track not in ("phrase", "word") or end not in ("start", "end"):
        raise BadInput(f"the {end} of a {track} cannot be moved; start or end of a phrase or word can")
    marks = clip.phrases if track == "phrase" else clip.words
    changed = marks_edit.moved_border(marks, index, end, float(time), max(clip.duration, marks[-1].end if marks else 0.0))
    return with_clip(document, clip.changed(phrases=changed) if track == "phrase" else clip.changed(words=changed))
