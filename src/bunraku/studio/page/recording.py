"""Recordings: the motion as one offline page, or as a film of what a browser sees, with the voice."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BadInput, Cancelled
from bunraku.motion import Audio
from bunraku.stage.film import Film, film_bytes
from bunraku.studio.page.scene import Scene
from bunraku.studio.page.ui import Ui
from bunraku.studio.page.view import FILM_FIELD, camera_for, film_camera
from bunraku.studio.voice import with_voice

if TYPE_CHECKING:
    import viser

RATE = 30.0
SIZES = {".mp4": (540, 960), ".gif": (270, 480)}
RATES = {".mp4": 30.0, ".gif": 15.0}
MOST = {".mp4": 60.0, ".gif": 20.0}
"""Longest films [s]."""
WINDOW, PLAY_HEIGHT = (1280.0, 720.0), 60.0
"""The view [px] that a page which plays the motion is framed for, and how much of it the play bar covers."""
PATIENCE = 20.0
"""How long a browser may take for a picture [s]."""


class Recorder:
    """Plays the motion once, from the start of the loop to its end, and keeps what was seen. One recording at a time.

    Acts and edits go on meanwhile. :meth:`stop` ends it with the next picture; nothing of it is kept then.
    """

    def __init__(self, ui: Ui, scene: Scene) -> None:
        self._ui, self._scene = ui, scene
        self._one = threading.Lock()
        self._stopped = threading.Event()
        self.fraction: float | None = None
        """How much is recorded, 0 to 1; None while nothing is."""

    def stop(self) -> None:
        """Record no further."""
        self._stopped.set()

    def page(self) -> bytes:
        """One HTML file with a play bar that needs nothing else, and with the voice if there is one."""
        start, end, audio = *self._range(60.0), self._audio()
        server = self._ui.server.viser
        camera = server.initial_camera
        before = (camera.position, camera.look_at)
        middle, away = camera_for(*self._scene.box, width=WINDOW[0], height=WINDOW[1], covered=PLAY_HEIGHT)
        with self._recording():
            with self._scene.still:  # an edit that comes meanwhile is no part of it
                try:
                    camera.position, camera.look_at = tuple(middle + away), tuple(middle)
                    serializer = server.get_scene_serializer()
                    count = round((end - start) * RATE) + 1
                    for k in range(count):
                        self._go_on(k, count)
                        self._scene.record(start + k / RATE)
                        serializer.insert_sleep(1.0 / RATE)
                finally:
                    camera.position, camera.look_at = before
            html: str = serializer.as_html(dark_mode=self._ui.dark)
        return (html if audio is None else with_voice(html, _from(audio, start))).encode()

    def film(self, suffix: str, client: viser.ClientHandle | None = None) -> bytes:
        """What a browser draws, as MP4 with the voice or as GIF; that of ``client``, or any."""
        client = client or next(iter(self._ui.server.viser.get_clients().values()), None)
        if client is None:
            raise BadInput("a film needs an open page to look at; open the studio in a browser")
        start, end = self._range(MOST[suffix])
        with self._recording():
            frames = self._frames(client, suffix, start, end)
            return film_bytes(Film(frames, RATES[suffix], self._audio(), start), suffix)

    def _audio(self) -> Audio | None:
        """The voice of what is shown."""
        heard = self._ui.session.performance or self._ui.session.document.clip
        return None if heard is None else heard.audio

    @contextmanager
    def _recording(self) -> Iterator[None]:
        """Nothing else moves the scene, and nobody else records, until this ends."""
        if not self._one.acquire(blocking=False):
            raise BadInput("a recording is being made; begin another when it is done")
        self._stopped.clear()
        try:
            self._ui.session.transport.pause()
            yield
        finally:
            self.fraction = None
            self._scene.record(None)
            self._one.release()
            self._ui.session.tell("job")

    def _go_on(self, k: int, count: int) -> None:
        """Before picture ``k`` of ``count``: tell how far it is, unless it is to stop."""
        if self._stopped.is_set():
            raise Cancelled(f"the recording was stopped at picture {k + 1} of {count}; nothing of it is kept")
        self.fraction = k / count
        if k % 15 == 0:
            self._ui.session.tell("job")

    def _frames(self, client: viser.ClientHandle, suffix: str, start: float, end: float) -> Iterator[NDArray[np.uint8]]:
        """One picture after the other, as the browser draws them."""
        position, wxyz = film_camera(*self._scene.box)
        count = round((end - start) * RATES[suffix]) + 1
        for k in range(count):
            self._go_on(k, count)
            self._scene.record(start + k / RATES[suffix])
            try:
                yield client.get_render(*SIZES[suffix], wxyz=wxyz, position=position, fov=FILM_FIELD, timeout=PATIENCE)
            except Exception as error:
                advice = f"the browser drew no picture within {PATIENCE:.0f} s; keep its page in view while filming"
                raise BadInput(advice) from error

    def _range(self, most: float) -> tuple[float, float]:
        moment = self._ui.session.transport.moment
        if moment.end <= moment.start:
            raise BadInput("nothing moves yet; run a performer or open a clip first")
        if moment.end - moment.start > most:
            raise BadInput(f"{moment.end - moment.start:.0f} s are too long to record; set the loop to at most {most:.0f} s")
        return moment.start, moment.end


def _from(audio: Audio, start: float) -> Audio:
    """The sound from a time [s] on: a page plays from 0."""
    return audio if not start else Audio(audio.samples[round(start * audio.rate) :], audio.rate, audio.file)
