"""The timeline: play, pause, step, loop, speed and scrub; the motors' curves; the errors of tracked bodies; the voice."""

from __future__ import annotations

from functools import partial
from html import escape
from typing import Any

from bunraku.formats.wav import wav_bytes
from bunraku.motion import Audio
from bunraku.studio.page.plot import Plot
from bunraku.studio.page.scene import LAYERS, Scene
from bunraku.studio.page.ui import Same, Ui, alone
from bunraku.studio.transport import SPEEDS
from bunraku.studio.widgets.plots import errors, motor_names, motors
from bunraku.studio.widgets.scale import time_scale
from bunraku.studio.widgets.timeline import timeline
from bunraku.verification.moments import violated_times

HEIGHT = 264.0


class Timeline:
    """The panel below the scene: three tabs."""

    def __init__(self, ui: Ui, scene: Scene, wake: Any) -> None:
        self._ui, self._scene, self._wake = ui, scene, wake
        gui, transport = ui.gui, ui.session.transport
        self.panel = gui.add_panel()
        with self.panel.add_tab("Timeline"):
            self._bar = ui.html("")
            self._voice = ui.html("")
            acts: dict[str, Any] = {
                "Start": lambda: transport.scrub(transport.moment.start),
                "Back": lambda: transport.step(-1),
                "Play": transport.toggle,
                "Next": lambda: transport.step(1),
                "Loop": lambda: transport.set_loop(not transport.moment.looped),
            }
            ui.button_group({label: partial(self._moved, act) for label, act in acts.items()})
            speeds = {f"{one:g}x": partial(transport.set_speed, float(one)) for one in SPEEDS}
            ui.dropdown("Speed", speeds, lambda name: self._moved(speeds[name]), initial_value="1x")
        with self.panel.add_tab("Motors"):
            self._names = ui.dropdown("Motor", ("-",), self._draw_motors)
            self._motors = Plot(ui, height=120)
        with self.panel.add_tab("Errors"):
            self._errors = Plot(ui, height=132)
        with self.panel.add_tab("View"):
            for name, label in LAYERS.items():
                ui.checkbox(label, scene.asked[name], partial(scene.want, name))
            ui.checkbox("Replay beside the plan", scene.beside, scene.put_beside, hint="Else it is drawn over it")
            ui.checkbox("Go along with the character", scene.follow, self._follow)
            ui.button("Look at the character", scene.look)
        self._audio: tuple[Audio | None, str] = (None, "")
        self._violated: Any = None
        self._place = (0, 0)
        self._width = 900.0
        self._listen()
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show where playing stands, marks and plots."""
        session, transport = self._ui.session, self._ui.session.transport
        moment = transport.moment
        timed = session.timed
        audio = self._sound()
        drawing = timeline(
            transport.duration,
            time=transport.now,
            loop=(moment.start, moment.end) if transport.duration else None,
            marks=self._marks(timed),
            audio=audio,
            out_of_date=session.stale,
            state=self._state(),
            width=self._width,
        )
        self._bar.content = drawing + self._clock()
        self._voice.content = self._sounding(audio)
        if what in ("result", "shown", "document"):
            self._plot(timed)

    def place(self, width: int, height: int) -> None:
        """Put the panel at the bottom of the view, which is ``width`` x ``height`` [px] between the docks."""
        if (width, height) == self._place or width < 200 or height < 300:
            return
        self._place = (width, height)
        self._width = max(340.0, width - 24.0)
        x, y = max(4.0, 0.5 * (width - self._width)), max(8.0, height - HEIGHT - 12.0)
        self.panel.float(x=x, y=y, width=self._width, height=HEIGHT)
        self.refresh("time")

    # inside

    def _moved(self, act: Any) -> None:
        act()
        self._wake()

    def _follow(self, on: bool) -> None:
        self._scene.followed = bool(on)
        self._scene.refresh()

    def _listen(self) -> None:
        ui, transport = self._ui, self._ui.session.transport

        def at(fields: dict[str, str]) -> float:
            return time_scale(self._width, transport.duration).time(float(fields["x"]))

        ui.on("time.scrub", lambda f: self._moved(lambda: transport.scrub(at(f))), key="scrub")
        ui.on("loop.start", lambda f: self._moved(lambda: transport.set_range(start=at(f))), key="loop")
        ui.on("loop.end", lambda f: self._moved(lambda: transport.set_range(end=at(f))), key="loop")
        ui.on("time.jump", lambda f: self._moved(lambda: self._jump(float(f["t"]))))

    def _jump(self, time: float) -> None:
        self._ui.session.transport.pause()
        self._ui.session.transport.scrub(time)

    def _sound(self) -> Audio | None:
        """That of the performance of what is open; as long as there is none, that of the clip."""
        session = self._ui.session
        result, clip = session.result, session.document.clip
        if result is not None and result.performance.audio is not None:
            return result.performance.audio
        if clip is not None:
            return clip.audio
        return None if session.performance is None else session.performance.audio

    def _sounding(self, audio: Audio | None) -> str:
        """The element by which the page's script keeps the voice in step; it shows nothing."""
        if audio is None:
            if self._audio[0] is not None:
                self._ui.server.withdraw("voice.wav")
                self._audio = (None, "")
            return ""
        if self._audio[0] is not audio:
            self._audio = (audio, self._ui.server.publish("voice.wav", wav_bytes(audio), "audio/wav"))
        stamp, playing = self._playing()
        return f'<div data-audio="{escape(self._audio[1])}" {playing} data-stamp="{stamp}"></div>'

    def _playing(self) -> tuple[str, str]:
        """The round that is played, and where it stands, as attributes."""
        transport = self._ui.session.transport
        stamp = "-".join(str(part) for part in transport.round)
        speed = f'data-speed="{transport.moment.speed:g}"'
        return stamp, f'data-playing="{int(transport.playing)}" data-time="{transport.now:.4f}" {speed}'

    def _state(self) -> str:
        """How it plays, in words: the buttons do not show it."""
        transport = self._ui.session.transport
        if not transport.duration:
            return ""
        moment = transport.moment
        speed = "" if moment.speed == 1.0 else f" {moment.speed:g}x"
        return f"{'playing' if transport.playing else 'paused'}{speed}, {'looped' if moment.looped else 'once'}"

    def _clock(self) -> str:
        """What the page's script moves the playhead by."""
        transport = self._ui.session.transport
        moment, (stamp, playing) = transport.moment, self._playing()
        return (
            f'<div data-clock="{stamp}" {playing} data-start="{moment.start:.4f}" data-end="{moment.end:.4f}" '
            f'data-looped="{int(moment.looped)}" data-duration="{transport.duration:.4f}"></div>'
        )

    def _marks(self, timed: Any) -> list[tuple[float, str]]:
        if timed is None:
            return []
        key = Same(timed.performance)
        if self._violated is None or self._violated[0] != key:
            self._violated = (key, violated_times(timed.performance))
        return list(self._violated[1])

    def _plot(self, timed: Any) -> None:
        if timed is None:
            self._motors.show(None)
            self._errors.show(None)
            return
        names = motor_names(timed.performance, 60)
        if tuple(self._names.options) != names and names:
            self._names.options = names
        self._draw_motors(self._names.value)
        known = self._ui.session.errors.get(timed.key)
        self._errors.show(None if known is None else errors(known), key=Same(known))

    @alone
    def _draw_motors(self, name: str) -> None:
        timed = self._ui.session.timed
        if timed is not None:
            self._motors.show(motors(timed.performance, (name,)), key=(Same(timed.performance), name))
