"""The page: all panels over one session, told of every change, and the keys and commands of the palette."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from bunraku.errors import BunrakuError
from bunraku.formats.unexpected import reported
from bunraku.studio.page.check import CheckTab
from bunraku.studio.page.choreograph import ChoreographTab
from bunraku.studio.page.design import DesignTab
from bunraku.studio.page.gallery import add_tour
from bunraku.studio.page.handles import Handles
from bunraku.studio.page.optimize import OptimizeTab
from bunraku.studio.page.outline import LeftDock
from bunraku.studio.page.player import PlaybackTimer
from bunraku.studio.page.reach import Reach
from bunraku.studio.page.recording import Recorder
from bunraku.studio.page.scene import Scene
from bunraku.studio.page.skin import SkinPanel
from bunraku.studio.page.skin_scene import SkinScene
from bunraku.studio.page.targets import TargetGizmos
from bunraku.studio.page.timeline import Timeline
from bunraku.studio.page.top import Top, add_commands
from bunraku.studio.page.ui import Ui
from bunraku.studio.server.acts import ActQueue
from bunraku.studio.session import Session

if TYPE_CHECKING:
    from bunraku.studio.server.server import StudioServer

WIDTH = 396.0
BRAND = (190, 60, 40)
PATIENCE = 5.0
"""So long [s] the end of the page waits for what the user did last."""


class Page:
    """The studio in browsers: every one that is connected shows the same."""

    def __init__(self, server: StudioServer, session: Session, *, dark: bool = False, tour: bool = False) -> None:
        self.intents = ActQueue("studio intents", self._refused)
        self.ui = ui = Ui(server, session, self.intents, dark)
        self._news = ActQueue("studio page", self._unshown)
        self._waiting: set[str] = set()
        self._theme()
        server.viser.gui.main_panel.dock_right()
        server.viser.gui.main_panel.set_width(WIDTH)
        server.viser.gui.set_panel_label("Bunraku studio")
        self.scene = Scene(server.viser, session)
        self.scene.darken(dark)
        self._top = Top(ui)
        tabs = ui.gui.add_tab_group()
        parts = {name: tabs.add_tab(name) for name in ("Design", "Choreograph", "Optimize", "Check & export")}
        self._left = LeftDock(ui)
        show = self._guard
        self.player = PlaybackTimer(session.transport, lambda time: show(lambda: self.scene.move(time)), self._round)
        self.timeline = Timeline(ui, self.scene, self.player.wake)
        self.handles = Handles(ui, self.scene)
        self.reach = Reach(ui, parts["Choreograph"], self.player.wake)
        self.skin = SkinPanel(ui, parts["Design"], SkinScene(ui, self.scene))
        self.recorder = Recorder(ui, self.scene)
        self._panels: list[Any] = [
            self._top,
            DesignTab(ui, parts["Design"], self.handles),
            self.skin,
            ChoreographTab(ui, parts["Choreograph"]),
            OptimizeTab(ui, parts["Optimize"]),
            CheckTab(ui, parts["Check & export"], self.recorder),
            self.timeline,
            self._left,
            TargetGizmos(ui, self.scene),
            self.reach,
            self.handles,
        ]
        self._commands()
        session.listen(self._notice)
        server.on_event("slider.hold", lambda fields: ui.hand.take())
        server.on_event("slider.let", lambda fields: ui.hand.let())
        server.on_event("upload.refused", self._not_taken)
        server.viser.on_client_connect(self._connected)
        server.viser.on_client_disconnect(self._left_alone)
        if session.document.base is not None:
            self.intents.post(session.show)
        self._notice("document")
        self._notice("shown")
        if tour:
            add_tour(ui)

    def close(self) -> None:
        """End the page's threads; what was dragged a moment ago is an edit first."""
        self.ui.act(self.ui.hand.finish)
        self.intents.wait_idle(PATIENCE)
        self.player.close()
        self.intents.close()
        self._news.close()

    def settle(self, timeout: float = 20.0) -> bool:
        """Whether everything the user did was carried out and shown within ``timeout`` [s] (jobs go on)."""
        return self.intents.wait_idle(timeout) and self._news.wait_idle(timeout)

    # inside

    def _refused(self, error: Exception) -> None:
        strange = f"that did not work ({type(error).__name__}: {error}); the document is as it was"
        self.ui.session.say("error", str(error) if isinstance(error, BunrakuError) else strange)

    def _not_taken(self, fields: dict[str, str]) -> None:
        """A file was refused; one that is too large the browser itself has said."""
        if "why" in fields:
            self.ui.session.say("warning", f"the file {fields.get('name', '')[:80]!r} was not taken: {fields['why'][:200]}")

    def _notice(self, what: str) -> None:
        """Show a change when its turn comes, together with others that came while something was shown."""
        self._waiting.add(what)
        self._news.post(self._refresh, key="refresh")

    def _refresh(self) -> None:
        for what in ("document", "selection", "shown", "result", "skin", "job", "message", "saved"):
            if what in self._waiting:
                self._waiting.discard(what)
                self._show(what)

    def _show(self, what: str) -> None:
        if what in ("document", "shown"):
            self._guard(self.scene.refresh)
        for panel in self._panels:
            self._guard(lambda panel=panel: panel.refresh(what))

    def _guard(self, show: Any) -> None:
        """A panel that cannot show something must not take the others with it."""
        try:
            show()
        except Exception as error:
            self._unshown(error)

    def _unshown(self, error: Exception) -> None:
        why = reported(error, "a change in the studio")
        self.ui.session.messages.add("error", f"the page could not show the change: {why}")

    def _left_alone(self, client: Any) -> None:
        """When the last browser has gone, no hand is on anything any more; what it had let go is an edit."""
        if not self.ui.server.viser.get_clients():
            self.ui.act(self._let_go)

    def _let_go(self) -> None:
        if not self.ui.hand.holds:
            self.ui.hand.finish()
        for panel in self._panels:
            if hasattr(panel, "release"):
                panel.release()
        self.ui.hand.drop()
        self.ui.session.drop_preview()

    def _round(self) -> None:
        """After a change of the transport by hand, and with each round of the loop."""
        if hasattr(self, "timeline"):
            self._guard(lambda: self.timeline.refresh("time"))

    def _connected(self, client: Any) -> None:
        client.camera.on_update(lambda camera: self._place())
        self.scene.look(client)
        self._place()

    def _place(self) -> None:
        """The timeline belongs to the widest view; a phone, which has it in its sheet, moves nobody else's."""
        views = [one.camera for one in self.ui.server.viser.get_clients().values()]
        if views:
            self.timeline.place(*max((int(one.image_width or 0), int(one.image_height or 0)) for one in views))

    def _theme(self) -> None:
        self.ui.gui.configure_theme(dark_mode=self.ui.dark, show_logo=False, show_share_button=False, brand_color=BRAND)

    def _darken(self) -> None:
        self.ui.dark = not self.ui.dark
        self._theme()
        self.scene.darken(self.ui.dark)

    def _cancel(self) -> None:
        """Stop what is computed, and what is recorded."""
        self.recorder.stop()
        self.ui.session.cancel()

    def _commands(self) -> None:
        ui, session, transport = self.ui, self.ui.session, self.ui.session.transport

        def moved(act: Any) -> Any:
            def run() -> None:
                act()
                self.player.wake()

            return run

        add_commands(
            ui,
            {
                "Undo": (ui.settled(session.undo), "Z", "cmd/ctrl"),
                "Redo": (ui.settled(session.redo), "Z", "cmd/ctrl+shift"),
                "Save": (ui.settled(session.save), "S", "cmd/ctrl"),
                "Play or pause": (moved(transport.toggle), "space", None),
                "One frame forward": (moved(lambda: transport.step(1)), "arrowright", "shift"),
                "One frame back": (moved(lambda: transport.step(-1)), "arrowleft", "shift"),
                "To the start": (moved(lambda: transport.scrub(transport.moment.start)), "home", None),
                "Run the performer": (ui.settled(session.make.perform), "enter", "cmd/ctrl"),
                "Cancel": (self._cancel, "escape", None),
                "Verify in MuJoCo": (session.make.verify, None, None),
                "Look at the character": (self.scene.look, "F", None),
                "Dark or light": (self._darken, None, None),
                "Guided tour": (lambda: add_tour(ui), None, None),
            },
        )
