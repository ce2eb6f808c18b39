"""The studio as a whole: a session on a project folder, served to browsers of this machine."""

from __future__ import annotations

from pathlib import Path

from bunraku.errors import BunrakuError, MissingExtra
from bunraku.formats.unexpected import reported
from bunraku.studio.session import Session


class Studio:
    """A running studio; ``url`` is what a browser opens. ``close`` ends it; edits that were not saved are in the journal."""

    def __init__(
        self,
        folder: Path,
        *,
        host: str = "127.0.0.1",
        port: int = 0,
        token: str | None = None,
        dark: bool = False,
        tour: bool | None = None,
    ) -> None:
        try:
            import viser  # noqa: F401
        except ImportError as error:
            raise MissingExtra("viser", "studio", "the studio") from error
        from bunraku.studio.page.page import Page
        from bunraku.studio.server.server import StudioServer

        self.server = StudioServer(host=host, port=port, token=token)  # first: a busy port leaves no folder behind
        try:
            self.session = Session(folder)
        except BaseException:
            self.server.stop()
            raise
        first = self.session.document.base is None
        try:
            self.page = Page(self.server, self.session, dark=dark, tour=first if tour is None else tour)
        except BaseException:
            self.session.close()
            self.server.stop()
            raise
        self.server.on_error(self._trouble)
        self.url = self.server.url

    def close(self) -> None:
        """End page, server and computations."""
        self.page.close()
        self.session.close()
        self.server.stop()

    def _trouble(self, name: str, error: Exception) -> None:
        why = str(error) if isinstance(error, BunrakuError) else reported(error, f"{name} in the studio")
        self.session.say("error", f"{name} did not work: {why}")
