"""Check & export: certificate and worst moments, the replay in foreign physics, exporters, parts, recordings and films."""

from __future__ import annotations

import dataclasses
import io
import threading
import zipfile
from collections.abc import Callable
from functools import partial
from html import escape
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput, BunrakuError, Cancelled
from bunraku.formats.atomic import write_atomically
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.motion import Check
from bunraku.stage.registry import exporters
from bunraku.studio.page.recording import Recorder
from bunraku.studio.page.typed import Typed
from bunraku.studio.page.ui import RefreshedFolder, Same, Ui, alone
from bunraku.studio.project import plain
from bunraku.studio.widgets.checks import checks_table, moments_table
from bunraku.studio.widgets.notice import notice
from bunraku.verification.moments import worst_moments


class CheckTab:
    """What is promised, whether it is kept, and how it leaves the studio."""

    def __init__(self, ui: Ui, tab: Any, recorder: Recorder) -> None:
        self._ui, self._recorder = ui, recorder
        session = ui.session
        with tab:
            self._state = ui.html("", order=1.0)
            hint = "A replay in physics that is not ours"
            self._verify = ui.button("Verify in MuJoCo", session.make.verify, order=2.0, color="green", hint=hint)
            hint, full = "Every part that bends as a mesh, nothing reduced: minutes to hours", "Verify in the full model too"
            verify_full = partial(session.make.verify, full_order=True)
            self._full = ui.button(full, verify_full, order=2.1, visible=False, hint=hint)
            self._progress = ui.html("", order=2.2)
            self._cancel = ui.button("Stop verifying", session.cancel, order=2.3, visible=False)
            self._verdict = ui.html("", order=3.0)
            self._certificate = ui.html("", order=4.0)
            self._moments = ui.html("", order=5.0)
        self._export = RefreshedFolder(ui, tab, "Export", order=6.0)
        self._record = RefreshedFolder(ui, tab, "Record", order=7.0)
        with tab:
            self._filmed = ui.html("", order=7.1)
            self._stop = ui.button("Stop recording", recorder.stop, order=7.2, visible=False)
        self._parts = RefreshedFolder(ui, tab, "Make it", order=8.0, open=False)
        self._key: Any = None
        self.refresh("document")

    @alone
    def refresh(self, what: str) -> None:
        """Show promises and what can leave."""
        session = self._ui.session
        result, old = session.result, session.latest
        self._verify.disabled = self._full.disabled = result is None or session.busy
        self._full.visible = result is not None and bool(result.performance.character.flexibles)
        self._show_progress()
        if result is None and old is not None:
            self._state.content = notice("The performance is out of date: run it again.", "out-of-date")
        elif result is None:
            self._state.content = notice("Run a performer first; then its promises are here.", "info")
        else:
            certificate = result.performance.certificate
            words = "The certificate holds." if certificate.holds else "The certificate does not hold; see below."
            self._state.content = notice(f"{words} {certificate.status.sentence}", "good" if certificate.holds else "bad")
        shown = result or old
        key = None if shown is None else (Same(shown.performance), Same(shown.verdict))
        if key != self._key:
            self._key = key
            self._fill(shown)
        moves = session.shown.motion is not None
        self._export.show(True, self._fill_export, visible=result is not None)
        self._record.show(moves, self._fill_record, visible=moves or session.shown.wish is not None)
        self._parts.show(True, self._fill_parts, visible=session.document.base is not None)

    def _show_progress(self) -> None:
        """How far verifying is; a replay of parts that bend is not drawn, and that is said."""
        session, recorded = self._ui.session, self._recorder.fraction
        self._stop.visible = recorded is not None
        self._filmed.content = "" if recorded is None else notice(f"recording: {100.0 * recorded:.0f} %", "running")
        job = session.run
        running = job is not None and job.verb == "verify" and job.running
        self._cancel.visible = running
        if job is not None and running:
            share = "" if job.fraction is None else f"{100.0 * job.fraction:.0f} % "
            self._progress.content = notice(f"{share}{job.stage} {job.message}".strip(), "running")
        elif self._full.visible:
            self._progress.content = notice("Parts that bend are replayed and judged in numbers; the replay is not drawn.", "info")
        else:
            self._progress.content = ""

    def _fill(self, shown: Any) -> None:
        if shown is None:
            self._verdict.content = self._certificate.content = self._moments.content = ""
            return
        certificate, verdict = shown.performance.certificate, shown.verdict
        notes = "".join(f'<div style="font-size:12px;padding:0 .6em">{escape(note)}</div>' for note in certificate.notes[:6])
        self._certificate.content = checks_table(certificate.checks, "Certificate") + notes
        self._moments.content = moments_table(worst_moments(shown.performance))
        said = "" if verdict is None else notice(verdict["sentence"], "good" if verdict["holds"] else "bad")
        self._verdict.content = said + checks_table([_check(one) for one in verdict["checks"]], "MuJoCo replay") if said else ""

    def _fill_export(self) -> None:
        ui, gui = self._ui, self._ui.gui
        names = tuple(exporters())
        which = gui.add_dropdown("Format", names, hint="; ".join(f"{name}: {one.meaning}" for name, one in exporters().items()))
        ui.button("Download", lambda: self._download(which.value))
        ui.button("Download the performance", self._download_performance)
        ui.button("Download the character", self._download_character)

    def _download(self, name: str) -> None:
        result, exporter = self._ui.session.result, exporters()[name]
        if result is not None:
            stem = Path(result.path.name.removesuffix(".performance.npz")).name
            self._send(stem + exporter.suffix, exporter.function(result.performance))

    def _download_performance(self) -> None:
        result = self._ui.session.result
        if result is not None:
            self._send(result.path.name, result.path.read_bytes())

    def _download_character(self) -> None:
        who = self._ui.session.document.need_character()
        self._send(f"{who.name}.character.yaml", write_character_yaml(who).encode())

    def _send(self, label: str, data: bytes, client: Any = None) -> None:
        """To the project's folder, and to the browser that asked for it: ``client``, or the one whose button is carried out."""
        name = plain(label)  # names of characters and clips may come from a stranger's file
        write_atomically(self._ui.session.project.place("exports") / name, data)
        self._ui.session.say("note", f"wrote exports/{name}")
        client = client or self._ui.client
        if client is not None:
            client.send_file_download(name, data, save_immediately=True)

    def _fill_record(self) -> None:
        ui = self._ui
        hint = "One file, works offline, with the voice"
        page = "Page that plays it (HTML)"
        ui.button(page, lambda: self._later(f"{self._name()}.html", lambda client: self._recorder.page()), hint=hint)
        ui.button("Film with sound (MP4)", lambda: self._film(".mp4"), hint="As this browser sees it")
        ui.button("Film (GIF)", lambda: self._film(".gif"))

    def _film(self, suffix: str) -> None:
        self._later(f"{self._name()}{suffix}", lambda client: self._recorder.film(suffix, client))

    def _later(self, name: str, make: Callable[[Any], bytes]) -> None:
        """Make a file for the browser that asked in a thread of its own: others go on working."""
        session, client = self._ui.session, self._ui.client

        def work() -> None:
            try:
                data = make(client)
            except Cancelled as stopped:
                session.say("note", str(stopped))
                return
            except Exception as error:
                session.say("error", str(error) if isinstance(error, BunrakuError) else f"{name} could not be made ({error!r})")
                return
            self._ui.act(lambda: self._send(name, data, client))

        threading.Thread(target=work, name=f"studio {name}", daemon=True).start()

    def _name(self) -> str:
        document = self._ui.session.document
        return plain(f"{document.clip.name if document.clip is not None else 'pose'}-{document.need_character().name}")

    def _fill_parts(self) -> None:
        ui, make = self._ui, self._ui.session.make
        for k, label in enumerate(("Bed x [mm]", "Bed y [mm]", "Height [mm]")):
            side = ui.gui.add_number(label, round(1e3 * make.printer[k], 1), min=10.0, max=5000.0, step=1.0, hint="Of your printer")
            Typed(ui, side, label, partial(self._set_printer, k))
        ui.button("Make the parts", ui.settled(make.fabricate), hint="Files for the printer, bill of materials, assembly notes")
        ui.button("Download the parts (ZIP)", self._download_parts, hint="As they were made last; they also lie in the project")

    def _set_printer(self, side: int, length: float) -> None:
        session = self._ui.session
        if not 10.0 <= length <= 5000.0:
            raise BadInput(f"a printer of {length:g} mm arrived; give 10 to 5000 mm")
        x, y, z = (1e-3 * length if k == side else old for k, old in enumerate(session.make.printer))
        session.make.printer = (x, y, z)
        session.tell("shown")  # what is warned of depends on it

    def _download_parts(self) -> None:
        folder = self._ui.session.project.place("parts").resolve()
        files = sorted(one for one in folder.rglob("*") if one.is_file() and one.resolve() == one)
        if not files:
            raise BadInput("there are no parts to download yet; press Make the parts first")
        self._later(f"{self._name()}-parts.zip", lambda client: _zipped(folder, files))


def _zipped(folder: Path, files: list[Path]) -> bytes:
    """Files of a folder as one ZIP."""
    box = io.BytesIO()
    with zipfile.ZipFile(box, "w", zipfile.ZIP_DEFLATED) as out:
        for one in files:
            out.write(one, one.relative_to(folder).as_posix())
    return box.getvalue()


def _check(facts: dict[str, Any]) -> Check:
    value = float("nan") if facts["value"] is None else float(facts["value"])
    return Check(**{field.name: facts[field.name] for field in dataclasses.fields(Check)} | {"value": value})
