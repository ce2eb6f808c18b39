"""The session: document, selection, command stack, transport and jobs, without any user interface.

Everything the studio can do is a method here; the page only shows and calls. Listeners are told what changed by name: "document",
"job", "shown", "selection", "result", "message", "saved", "skin".
"""

from __future__ import annotations

import threading
from collections.abc import Callable
from contextlib import ExitStack
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.registry import read_performance
from bunraku.formats.unexpected import reported
from bunraku.motion import Performance
from bunraku.stage.figure.motion import drawn_pose
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import Edit, apply
from bunraku.studio.following import LiveFollowing, live_possible
from bunraku.studio.history import History
from bunraku.studio.jobs.state import JobState
from bunraku.studio.journal import Journal
from bunraku.studio.lock import ProjectLock
from bunraku.studio.making import Making
from bunraku.studio.messages import Messages
from bunraku.studio.project import Project, edit_for
from bunraku.studio.queue import JobQueue
from bunraku.studio.results import Recent, Result, ShownMotion
from bunraku.studio.skinning import Skinning, guessed_scale, recipe_trouble
from bunraku.studio.trail import Trail
from bunraku.studio.transport import Transport
from bunraku.verification.body_errors import BodyErrors

Listener = Callable[[str], None]


@dataclass(frozen=True)
class Selection:
    """What the user has picked, no part of the document: a body, a joint, a socket, a target, a mode; empty or None: none."""

    body: str = ""
    joint: str = ""
    socket: str = ""
    target: int | None = None
    mode: int | None = None

    def changed(self, **fields: str | int | None) -> Selection:
        """The same with something else picked."""
        return replace(self, **fields)  # type: ignore[arg-type]


class Session:
    """One project being worked on. Safe to call from several threads; jobs answer from threads of their own."""

    def __init__(self, folder: Path) -> None:
        self.project = Project(folder)
        self._held = ProjectLock(self.project.own / "lock")
        self.journal = Journal(self.project.own / "journal.jsonl")
        self.transport = Transport()
        self.messages = Messages()
        self.selection = Selection()
        self.results: Recent[Result] = Recent()
        self.errors: Recent[BodyErrors] = Recent()
        self.shown = ShownMotion()
        self.lock = threading.RLock()
        self._listeners: list[Listener] = []
        self._preview: Document | None = None
        self.following = LiveFollowing(self)
        with ExitStack() as failed:  # whatever goes wrong from here on, nothing is held and nothing runs
            failed.callback(self._held.release)
            self._history, self._saved = self._recovered()
            self._trail = Trail(self.journal, self._history)
            self.queue = JobQueue(
                self.project.place(".bunraku", "work"), say=self.say, tell=self.tell, on_live=self.following.answered
            )
            failed.callback(self.queue.close)
            self.make = Making(self)
            self.skinning = Skinning(self.project, self.queue.ask, self.do, self.tell)
            self.skinning.follow(self.document)
            failed.pop_all()

    # -- what is --

    @property
    def document(self) -> Document:
        """The document as it was edited last."""
        return self._history.document

    @property
    def previewed(self) -> Document:
        """The document as the hand that drags would have it; else the document."""
        return self._preview or self._history.document

    @property
    def dragging(self) -> bool:
        """Whether a hand drags."""
        return self._preview is not None

    @property
    def both(self) -> tuple[Document, Document]:
        """The document and what a hand would make of it, as they are at one moment."""
        with self.lock:
            return self.document, self.previewed

    @property
    def history(self) -> History:
        """The command stack."""
        return self._history

    @property
    def job(self) -> JobState | None:
        """The newest job."""
        return self.queue.job

    @property
    def run(self) -> JobState | None:
        """The newest job that the user asked for."""
        return self.queue.run

    @property
    def busy(self) -> bool:
        """Whether something is computed."""
        return self.queue.busy

    @property
    def result(self) -> Result | None:
        """The performance of the document as it is, if it was made."""
        return self.results.get(self.document.key)

    @property
    def latest(self) -> Result | None:
        """The performance that is shown, though the document may have changed since."""
        return self.results.get(self.shown.key)

    @property
    def timed(self) -> Result | None:
        """The performance whose time is the timeline's; None while an answer of the live solver is shown, which has its own."""
        return None if self.shown.live else self.result or self.latest

    @property
    def stale(self) -> bool:
        """Whether the motion shown belongs to a document that has changed since; what follows a hand that drags does not count."""
        following = self.shown.live and self.dragging
        return self.shown.motion is not None and self.shown.key != self.previewed.key and not following

    @property
    def dirty(self) -> bool:
        """Whether there are edits that were not saved."""
        return self.document is not self._saved

    # -- listening --

    def listen(self, listener: Listener) -> Callable[[], None]:
        """Be told of changes; returns what ends it."""
        self._listeners.append(listener)
        return lambda: self._listeners.remove(listener)

    def tell(self, what: str) -> None:
        """Tell all listeners; a fault of one is a message and no more."""
        for listener in tuple(self._listeners):
            try:
                listener(what)
            except Exception as error:
                why = reported(error, f"a change of {what} in the studio")
                self.messages.add("error", f"the page could not show the change: {why}")

    def say(self, kind: str, text: str) -> None:
        """Add a message for the user."""
        self.messages.add(kind, text)
        self.tell("message")

    # -- editing --

    def do(self, edit: str, /, **arguments: Any) -> Document:
        """Make an edit: one step of the history, one line of the journal."""
        with self.lock:
            document = self._do(Edit(edit, arguments))
        self._changed()
        self._let_follow(edit)
        return document

    def amend(self, edit: str, /, **arguments: Any) -> Document:
        """Make an edit in place of the newest step: late news of a drag that was taken for ended."""
        with self.lock:
            one = Edit(edit, arguments)
            back = self._history.undone()
            apply(back.document, one, folder=self.project.folder)  # what is refused leaves the step as it was
            self._history = back
            self._note(lambda: self._trail.stepped(back))
            document = self._do(one)
        self._changed()
        self._let_follow(edit)
        return document

    def _do(self, one: Edit) -> Document:
        document = apply(self.document, one, folder=self.project.folder)
        before, self._history = self._history, self._history.done(one, document)
        self._preview = None
        self._note(lambda: self._trail.did(one.text, before, self._history))
        return document

    def preview(self, edit: str, /, **arguments: Any) -> Document:
        """What an edit would make, while a hand drags: shown and solved live, but no step of the history until `do`."""
        with self.lock:
            self._preview = apply(self.document, Edit(edit, arguments), folder=self.project.folder)
        self.following.follow("drag")
        return self._preview

    def drop_preview(self) -> None:
        """Forget what a hand dragged without letting go."""
        with self.lock:
            if self._preview is None:
                return
            self._preview = None
        self._changed()

    def undo(self) -> None:
        """One step back."""
        self._step(lambda history: history.undone())

    def redo(self) -> None:
        """One step forward again."""
        self._step(lambda history: history.redone())

    def jump(self, at: int) -> None:
        """To any step of the history."""
        self._step(lambda history: history.jumped(at))

    def select(self, **fields: str | int | None) -> None:
        """Pick something."""
        self.selection = self.selection.changed(**fields)
        self.tell("selection")

    def save(self) -> None:
        """Write the project; the journal starts afresh. A disk that refuses leaves journal, document and the files as they were."""
        with self.lock:
            self._held.keep()
            saved = self.project.save(self.document)
            documents = tuple(saved if k == self._history.at else one for k, one in enumerate(self._history.documents))
            self._history = replace(self._history, documents=documents)
            self._saved = saved
            self.journal.base = saved.content
            self._trail.saved(self._history)
        self.say("note", f"saved in {self.project.folder}")
        self.tell("saved")

    def bring(self, name: str, data: bytes) -> str:
        """Open a file that a user brought: a character, a clip, a performance, or a ZIP with some; says what was opened.

        What is refused leaves no file behind; of a ZIP of which something was opened before, all stay.
        """
        opened: list[str] = []
        refusal: BunrakuError | None = None
        with self.project.brought(name, data) as names:
            try:
                self._open(name, names, opened)
            except BunrakuError as error:
                if not opened:
                    raise
                refusal = error
        if refusal is not None:
            raise refusal
        return ", ".join(opened)

    def _open(self, name: str, names: list[str], opened: list[str]) -> None:
        """Open what can be opened of the files of that name, and add it to ``opened``."""
        edits = {one: edit_for(self.project.path(one)) for one in names}
        written = any(one.lower().endswith((".yaml", ".yml")) and edit == "open.clip" for one, edit in edits.items())
        for one, edit in edits.items():
            if written and edit == "open.clip" and not one.lower().endswith((".yaml", ".yml")):
                continue  # a voice or curves that the clip itself names
            clip = self.document.clip
            voice = edit == "open.clip" and one.lower().endswith(".wav")
            if voice and clip is not None and clip.joints is not None:
                spoken = self.do("audio.set", source=one).need_clip()
                long = 0.0 if spoken.audio is None else spoken.audio.duration
                gone = clip.audio is not None and bool(clip.words or clip.phrases)
                self.say(
                    "note",
                    f"the sound of {long:.1f} s is now the voice of {clip.name!r}, which lasts {clip.duration:.1f} s"
                    + ("; words and phrases of the voice before are gone (undo brings them back)" if gone else ""),
                )
                opened.append(one)
            elif edit is not None:
                self.do(edit, source=one)
                opened.append(one)
                if voice:
                    self.say(
                        "note", "the sound is a clip of its own; opened while a clip with joint curves is, it becomes its voice"
                    )
            if edit == "open.performance":
                self._load(self.document.key, self.project.path(one))
                self._changed()
        if not opened:
            surfaces = [one for one in names if one.lower().endswith((".obj", ".stl", ".ply", ".glb", ".gltf"))]
            if not surfaces:
                raise BadInput(f"nothing in {name[:80]!r} can be opened; a character, a clip, a performance or a surface is needed")
            self.do("skin.begin", source=surfaces[0], scale=guessed_scale(self.project.path(surfaces[0])))
            opened.append(surfaces[0])

    # -- computing --

    def plan_skin(self) -> None:
        """Place a mechanism and folds in the surface of the recipe, to be seen before the skin is made."""
        self.skinning.plan(self.document)

    def make_skin(self) -> None:
        """Make the skinned creature of the recipe; it is opened when it is there."""
        self.skinning.make(self.document)

    def cancel(self) -> None:
        """Stop what is computed; its best so far is kept."""
        self.queue.cancel()

    def place_of(self, what: str, time: float) -> tuple[float, float, float]:
        """Where the centre of mass ("com"), the base or an end effector is at a time [s] of the motion shown, or at home."""
        motion = self.shown.motion or self.shown.wish or drawn_pose(self.previewed.need_character())
        k = motion.at(time)
        place = motion.frames[k, motion.names.index(what)] if what in motion.names else motion.com[k]
        return (float(place[0]), float(place[1]), float(place[2]))

    def show(self) -> None:
        """Show what is known of the document: its performance if it was made before, else its wish or its home."""
        self._changed()

    def close(self) -> None:
        """End all computation. Edits are in the journal."""
        self._listeners.clear()
        self.queue.close()
        self._held.release()

    # -- inside --

    def _recovered(self) -> tuple[History, Document]:
        saved = self.project.load()
        if trouble := recipe_trouble(self.project, saved):
            self.messages.add("warning", f"the skin that was begun cannot be gone on with and is left out: {trouble}")
            saved = saved.changed(recipe={})
        recovered = self.journal.replay(saved, self.project.folder)
        self.journal.base = saved.content
        if recovered.steps:
            many = f"{recovered.steps} steps that were not saved are" if recovered.steps > 1 else "one step that was not saved is"
            self.messages.add("note", f"{many} back")
        if recovered.trouble:
            self.messages.add("warning", f"the journal could not be followed to its end: {recovered.trouble}")
        return recovered.history, saved

    def _note(self, write: Callable[[], None]) -> None:
        try:
            self._held.keep()
            write()
        except BunrakuError as error:
            self.say("error", f"autosave does not work: {error}; your edits are here, but only until the studio ends")

    def _step(self, step: Callable[[History], History]) -> None:
        with self.lock:
            history = step(self._history)
            if history.at == self._history.at:
                return
            self._history = history
            self._preview = None
            self._note(lambda: self._trail.stepped(history))
        self._changed()

    def _changed(self) -> None:
        """After an edit: what is known of the new document is shown; else the old motion is out of date until it is solved."""
        self._history.slim()
        key = self.document.key
        with self.lock:
            if not self.shown.shows(self.document.character):
                self.shown = ShownMotion()
        if key not in self.results and (path := self.project.found_result(key)) is not None:
            self._load(key, path)
        known = self.results.get(key)
        self.skinning.follow(self.document)
        self.tell("document")
        if known is not None:
            self.make.draw(known)
        else:
            self.following.follow("release")

    def _load(self, key: str, path: Path) -> None:
        try:
            performance = read_performance(path)
        except BunrakuError as error:
            self.say("warning", f"a performance made before cannot be read: {error}")
            return
        self.results[key] = Result(key, path, performance, {"path": str(path)})

    def _let_follow(self, edit: str) -> None:
        """After a dimension was set by hand: of a semi-automatic design, the others follow by themselves."""
        if edit != "dimension.set" or self.document.mode != "semi-automatic" or not live_possible(self.document):
            return
        self.queue.stop("design")
        try:
            self.make.improve(alone=True)
        except BunrakuError as error:
            self.say("warning", str(error))

    @property
    def performance(self) -> Performance | None:
        """The performance that is shown or was made for the document."""
        result = self.result or self.latest
        return None if result is None else result.performance
