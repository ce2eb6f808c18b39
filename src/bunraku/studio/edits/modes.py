"""A choreography: primitives in their order, when each begins."""

from __future__ import annotations

from pathlib import Path

from bunraku.editing.choreography import added_mode, moved_accent, moved_border, removed_mode, replaced_mode
from bunraku.errors import BadInput
from bunraku.motion import Choreography
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import clip_changed
from bunraku.studio.edits.registry import edit
from bunraku.studio.project import Project


@edit("mode.border", "Moved the start of mode {mode}")
def move_border(document: Document, mode: int, time: float) -> Document:
    """Another start [s] of a mode; borders stay in their order."""
    return _with(document, moved_border(_modes(document), int(mode), float(time)))


@edit("mode.add", "Added {primitive}")
def add_mode(document: Document, primitive: str, at: int | None = None) -> Document:
    """A primitive more, at a place in the order; None: at the end."""
    show = _modes(document)
    return _with(document, added_mode(show, primitive, len(show.modes) if at is None else int(at)))


@edit("mode.remove", "Removed mode {mode}")
def remove_mode(document: Document, mode: int) -> Document:
    """A mode less; the one before it goes on."""
    return _with(document, removed_mode(_modes(document), int(mode)))


@edit("mode.replace", "Mode {mode} is now {primitive}")
def replace_mode(document: Document, mode: int, primitive: str) -> Document:
    """Another primitive in the place of one."""
    return _with(document, replaced_mode(_modes(document), int(mode), primitive))


@edit("accent.move", "Moved an accent to {time} s")
def move_accent(document: Document, index: int, time: float) -> Document:
    """Another time [s] of an accent of the score."""
    return _with(document, moved_accent(_modes(document), int(index), float(time)))


@edit("mode.times", "Took the optimized timing over")
def set_times(document: Document, times: list[float], source: str = "", folder: Path | None = None) -> Document:
    """All switching times [s] at once: what the optimization of the timing found.

    ``source``: a clip file of the project with the joint curves of the whole show in this timing, which a performer needs.
    """
    timed = _with(document, _modes(document).switched_at(tuple(float(time) for time in times)))
    if not source or folder is None:
        return timed
    return clip_changed(timed, joints=Project(folder).read_clip(source).joints)


def _modes(document: Document) -> Choreography:
    modes = document.need_clip().modes
    if modes is None:
        raise BadInput(f"the clip {document.need_clip().name!r} has no choreography; open one with modes, as marionette-show")
    return modes


def _with(document: Document, modes: Choreography) -> Document:
    return clip_changed(document, modes=modes, joints=None)
