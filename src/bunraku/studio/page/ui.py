"""What the panels share: the server, the session, the queue of what the user does, sections that are made anew at need."""

from __future__ import annotations

import threading
import time
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from functools import partial, wraps
from html import escape
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

from bunraku.studio.server.acts import ActQueue
from bunraku.studio.session import Session

if TYPE_CHECKING:
    import viser

    from bunraku.studio.server.server import StudioServer

Refresh = TypeVar("Refresh", bound=Callable[..., None])


HELD = 30.0
"""A hand that has not let go for so long [s] is thought to be gone: its browser may be."""


class Dragged(Protocol):
    """A drag that is no edit yet."""

    def finish(self) -> None:
        """Make the edit, if the drag only waits to be sure that it was let go."""

    def drop(self) -> None:
        """Forget it."""


class Hand:
    """Whether some browser holds a slider, and what is dragged."""

    def __init__(self) -> None:
        self._since: float | None = None
        self.grip = 0
        """How often one was taken."""
        self.drags: dict[Dragged, None] = {}
        """The drags that are no edits yet, in their order."""

    @property
    def holds(self) -> bool:
        """Whether a slider is held."""
        return self._since is not None and time.monotonic() - self._since < HELD

    def take(self) -> None:
        """A slider was taken."""
        self.grip += 1
        self._since = time.monotonic()

    def let(self) -> None:
        """It was let go."""
        self._since = None

    def finish(self) -> None:
        """What only waits to be sure that it was let go is an edit now."""
        for drag in tuple(self.drags):
            drag.finish()

    def drop(self) -> None:
        """Nothing is held any more, and nothing comes of what was dragged."""
        self.let()
        for drag in tuple(self.drags):
            drag.drop()


@dataclass
class Ui:
    """What every panel is given."""

    server: StudioServer
    session: Session
    intents: ActQueue
    dark: bool = False
    drawing: threading.RLock = field(default_factory=threading.RLock)  # type: ignore[valid-type]
    """Held while a panel is shown anew: the page's thread and the one of the user's acts both do so."""
    hand: Hand = field(default_factory=Hand)
    client: viser.ClientHandle | None = None
    """The browser whose button is being carried out: files go to it alone."""

    @property
    def gui(self) -> viser.GuiApi:
        """The widgets."""
        return self.server.viser.gui

    def act(self, function: Callable[[], object], *, key: str = "") -> None:
        """Carry out what the user did."""
        self.intents.post(function, key=key)

    def on(self, event: str, function: Callable[[dict[str, str]], object], *, key: str = "") -> None:
        """Carry out ``function`` of the fields of every event of this name from the page's pictures."""
        self.server.on_event(event, lambda fields: self.act(lambda: function(fields), key=key))

    def settled(self, function: Callable[[], object]) -> Callable[[], None]:
        """Do something with the document as the user sees it: what was dragged a moment ago is an edit first."""

        def run() -> None:
            self.hand.finish()
            function()

        return run

    def button(self, label: str, function: Callable[[], object], **options: Any) -> viser.GuiButtonHandle:
        """A button that does something."""
        handle = self.gui.add_button(label, **options)

        def carry_out(client: Any) -> None:
            self.client = client
            try:
                function()
            finally:
                self.client = None

        async def pressed(event: Any) -> None:
            self.act(self.settled(lambda: carry_out(event.client)))

        handle.on_click(pressed)
        return handle

    def button_group(self, acts: dict[str, Callable[[], object]]) -> viser.GuiButtonGroupHandle[Any]:
        """Buttons in a row by their labels."""
        handle = self.gui.add_button_group("", tuple(acts))

        async def pressed(event: Any) -> None:
            self.act(acts[event.target.value])

        handle.on_click(pressed)
        return handle

    def dropdown(self, label: str, names: Iterable[str], function: Callable[[str], object], **options: Any) -> Any:
        """A choice of one of several names that does something."""
        return self.changed(self.gui.add_dropdown(label, tuple(names), **options), function)

    def checkbox(self, label: str, on: bool, function: Callable[[bool], object], **options: Any) -> Any:
        """A box that does something when it is checked or not."""
        return self.changed(self.gui.add_checkbox(label, on, **options), function)

    def html(self, content: str = "", *, order: float | None = None) -> Html:
        """A piece of HTML."""
        return Html(self.gui.add_html(str(content), order=order))

    def words(self, text: str) -> Html:
        """A line of text, in which nothing is markup: names may come from a stranger's file."""
        return self.html(words_of(text))

    def changed(self, handle: Any, function: Callable[[Any], object], *, key: str = "", drags: bool = False) -> Any:
        """Do something with the new value when the user changes a widget; not when the studio itself does.

        ``drags``: the values are those of a drag, or of keys that are typed; else what came of them a moment ago is an edit first.
        """

        async def updated(event: Any) -> None:
            if event.client is not None:
                act = partial(function, event.target.value)
                self.act(act if drags else self.settled(act), key=key)

        handle.on_update(updated)
        return handle


def put(handle: Any, value: Any, within: float = 0.0) -> None:
    """Give a widget another value; not when it has it already (``within`` so much): browsers would be told all the same."""
    if abs(handle.value - value) > within if within else handle.value != value:
        handle.value = value


def words_of(text: str) -> str:
    """A line of text as HTML, in which nothing is markup."""
    return f'<div style="font-size:13px;padding:.1em .6em;overflow-wrap:anywhere">{escape(text)}</div>'


def alone(refresh: Refresh) -> Refresh:
    """For the method of a panel (with its `Ui` as ``_ui``) that shows it anew: one thread at a time, one panel at a time."""

    @wraps(refresh)
    def shown(self: Any, *args: Any, **options: Any) -> None:
        with self._ui.drawing:
            refresh(self, *args, **options)

    return shown  # type: ignore[return-value]


class Html:
    """A piece of HTML in a panel; sent only when it has changed."""

    def __init__(self, handle: Any) -> None:
        self._handle = handle

    @property
    def content(self) -> str:
        """What is shown."""
        return str(self._handle.content)

    @content.setter
    def content(self, text: str) -> None:
        if text != self._handle.content:
            self._handle.content = str(text)


class Same:
    """Equal only to one of the very same thing, which it keeps: the number of a thing that is gone may be another's soon."""

    def __init__(self, thing: object) -> None:
        self._thing = thing

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Same) and other._thing is self._thing

    def __hash__(self) -> int:
        return id(self._thing)


class RefreshedFolder:
    """A folder whose contents are made anew when what they depend on has changed, and left alone when not."""

    def __init__(self, ui: Ui, parent: Any, label: str, *, order: float, open: bool = True) -> None:
        self._ui, self._parent, self._label, self._order, self._open = ui, parent, label, order, open
        self._key: Hashable = object()
        self._folder: Any = None

    @property
    def shown(self) -> bool:
        """Whether it is there."""
        return self._folder is not None

    def show(self, key: Hashable, fill: Callable[[], object], *, visible: bool = True) -> None:
        """Fill the folder by ``fill`` unless it was filled for the same ``key``; not ``visible``: take it away."""
        if visible and self._folder is not None and key == self._key:
            return
        if self._folder is not None:
            self._folder.remove()
            self._folder = None
        if not visible:
            return
        self._key = key
        with self._parent:
            self._folder = self._ui.gui.add_folder(self._label, order=self._order, expand_by_default=self._open)
            with self._folder:
                fill()
