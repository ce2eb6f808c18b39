"""The voice in the Choreograph tab: sound, phrases and words beside the motion; phrases are added, renamed and removed here."""

from __future__ import annotations

from functools import partial
from typing import Any

from bunraku.errors import BadInput
from bunraku.motion import Clip, JointCurves, Mark
from bunraku.studio.document import Document
from bunraku.studio.page.typed import Typed
from bunraku.studio.page.ui import Html, RefreshedFolder, Ui
from bunraku.studio.results import Result
from bunraku.studio.widgets.curves import most_moving
from bunraku.studio.widgets.speech import speech

WIDTH = 360.0
LONG = 1.0
"""Of a phrase that is added [s], where there is room."""


class Voice:
    """The section of the voice, of a clip that has one or could have one: its joints move."""

    def __init__(self, ui: Ui, tab: Any) -> None:
        self._ui = ui
        self._section = RefreshedFolder(ui, tab, "Voice", order=6.0)
        self.picture: Html | None = None
        self._mark: tuple[str, int] | None = None
        self._text: Any = None
        self._seen = ""
        """The text of the chosen mark when the field was set last: what is being typed is not overwritten."""
        ui.on("phrase.select", lambda f: self._pick(f["track"], int(f["index"])))

    def show(self, kind: Any, document: Document) -> None:
        """Make the section for the clip of a document; ``kind``: what is open."""
        clip = document.clip
        voiced = clip is not None and bool(clip.joints is not None or clip.audio is not None or clip.words or clip.phrases)
        if clip is None or document.base is None or not voiced:
            self._section.show(None, lambda: None, visible=False)
            self.picture = self._text = None
            return
        if self._mark is not None and self._mark[1] >= len(_marks(clip, self._mark[0])):
            self._mark = None
        self._section.show((kind, clip.audio is not None, self._mark), lambda: self._fill(clip))
        if self._mark is not None and self._text is not None:
            text = _marks(clip, self._mark[0])[self._mark[1]].text
            if text not in (self._seen, str(self._text.value).strip()):
                self._text.value = text
            self._seen = text

    def draw(self, clip: Clip) -> None:
        """The picture of a clip's voice and motion, with what was performed of it."""
        if self.picture is None or not self._section.shown:
            return
        motion = performed = None
        if clip.joints is not None:
            name = most_moving(clip.joints, 1)[0]
            motion = (name, clip.joints.times, clip.joints.column(name))
            done = performed_curves(self._ui.session.result)
            if done is not None and name in done.names:
                performed = (f"{name}, performed", done.times, done.column(name))
        strokes = [mark.stroke for mark in (*clip.words, *clip.phrases) if mark.stroke is not None]
        curves: dict[str, Any] = {"strokes": strokes, "motion": motion, "performed": performed}
        marks = (clip.words, clip.phrases)
        self.picture.content = speech(clip.duration, clip.audio, *marks, **curves, selected=self._mark, time=0.0, width=WIDTH)

    # inside

    def _fill(self, clip: Clip) -> None:
        ui, session = self._ui, self._ui.session
        self.picture, self._text = ui.html(""), None
        if clip.audio is None:
            ui.words("A WAV file that you open joins this motion as its voice.")
        else:
            ui.button("Remove the sound", lambda: session.do("audio.set", source=""), color="gray")
        ui.button("Add a phrase at this time", self._add, hint="Then give it a text, and drag its borders")
        if self._mark is not None:
            track, index = self._mark
            self._seen = _marks(clip, track)[index].text
            self._text = ui.gui.add_text("Text", self._seen)
            rename = partial(session.do, "phrase.rename", index=index, track=track)  # of this mark, whichever is chosen later
            Typed(ui, self._text, "mark text", lambda text: rename(text=str(text)))
            ui.button(f"Remove this {track}", self._remove, color="red")

    def _pick(self, track: str, index: int) -> None:
        """A phrase or a word."""
        self._mark = (track, index)
        self._ui.session.select()

    def _add(self) -> None:
        session = self._ui.session
        clip = session.document.need_clip()
        start = min(session.transport.now, clip.duration)
        longer = session.do("phrase.add", text="phrase", start=start, end=min(start + LONG, clip.duration)).need_clip()
        self._pick("phrase", next(k for k, mark in enumerate(longer.phrases) if mark not in clip.phrases))

    def _remove(self) -> None:
        if self._mark is None:
            raise BadInput("no phrase is chosen; click one in the picture of the voice")
        (track, index), self._mark = self._mark, None
        self._ui.session.do("phrase.remove", index=index, track=track)


def performed_curves(result: Result | None) -> JointCurves | None:
    """The curves of a performance that are compared with the wish."""
    if result is None:
        return None
    return result.performance.motion if result.performance.dynamic else result.performance.positions()


def _marks(clip: Clip, track: str) -> tuple[Mark, ...]:
    return clip.phrases if track == "phrase" else clip.words
