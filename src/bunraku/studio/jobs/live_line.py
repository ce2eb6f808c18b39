"""The line to the live worker: one request at a time, the newest of each handle waits, what is older is dropped."""

from __future__ import annotations

import threading
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

from bunraku.errors import BadInput
from bunraku.studio.jobs.exchange import read_curves, written
from bunraku.studio.jobs.process import WorkerProcess
from bunraku.studio.jobs.state import LiveAnswer
from bunraku.studio.jobs.teller import Teller

KINDS = ("open", "dimensions", "goal", "target", "gait")


class LiveLine:
    """Latest wins: while an answer is computed, a newer request for the same handle replaces one that waits.

    Requests: ``{"kind": "open", "character", "clip"}`` (nouns, paths or built-in names; "samples" if wished) begins, and is solved
    from rest. Then ``{"kind": "dimensions", "parameters": {name: m}}``, ``{"kind": "goal", "distance": [x, y], "turn": rad}``,
    ``{"kind": "target", "number": k, "place": [x, y, z]}`` and ``{"kind": "gait", "clip"}``, each with ``"phase"``: "drag" (bounded
    work) or "release" (solved to the end). A release under way is cut short when a newer drag comes.
    """

    def __init__(self, folder: Path, on_answer: Callable[[LiveAnswer], None] | None) -> None:
        self._folder = folder
        self._teller: Teller[LiveAnswer] = Teller(on_answer)
        self._lock = threading.RLock()
        self._worker: WorkerProcess | None = None
        self._waiting: dict[tuple[str, int], dict[str, Any]] = {}
        self._now: tuple[int, list[dict[str, Any]]] | None = None
        self._made: dict[tuple[str, int], dict[str, Any]] = {}
        self._count = 0
        self._closed = False

    @property
    def pid(self) -> int | None:
        """The worker's process number; None when there is none."""
        with self._lock:
            return self._worker.pid if self._worker is not None and self._worker.alive else None

    def ask(self, request: dict[str, Any]) -> None:
        """Send a request, or let it wait for its turn."""
        kind = request.get("kind")
        if kind not in KINDS:
            raise BadInput(f"a live request of kind {kind!r} arrived; there are {', '.join(KINDS)}")
        with self._lock:
            if self._closed:
                raise BadInput("the session is closed; open it again to edit")
            key = (str(kind), int(request.get("number", 0)) if kind == "target" else 0)
            for known in (self._waiting, self._made):
                if kind == "open":
                    known.clear()
                elif not self._made:
                    raise BadInput("nothing is open to edit live; ask with the kind open first")
                elif kind == "gait":
                    for old in [one for one in known if one[0] in ("goal", "target")]:
                        del known[old]
                known.pop(key, None)
                known[key] = request
            if self._now is None:
                self._send()
            elif self._worker is not None and (kind == "open" or self._releasing()):
                self._worker.send({"cancel": self._now[0]})

    def close(self) -> None:
        """End the worker."""
        with self._lock:
            self._closed = True
            worker, self._worker = self._worker, None
            self._waiting.clear()
        if worker is not None:
            worker.end(patience=1.0)
        self._teller.close()

    def _releasing(self) -> bool:
        return self._now is not None and all(
            request.get("phase") == "release" and request["kind"] != "open" for request in self._now[1]
        )

    def _send(self) -> None:
        """Send all that waits as one request; a fresh worker is first told what was open, and all edits since."""
        fresh = self._worker is None or not self._worker.alive
        requests = list((self._made if fresh else self._waiting).values())
        self._waiting.clear()
        self._count += 1
        folder = self._folder
        try:
            if self._worker is None or fresh:
                self._worker = WorkerProcess(self._hear, self._gone)
            folder.mkdir(parents=True, exist_ok=True)
            sent = [
                {name: written(name, value, folder) for name, value in request.items() if name != "mark"} for request in requests
            ]
        except (OSError, BadInput) as error:
            worker, self._worker = self._worker, None  # a fresh one is told everything again
            if worker is not None:
                worker.end(patience=0.0)
            self._teller.tell(_answer(requests, error=str(error)))
            return
        self._now = (self._count, requests)
        self._worker.send(
            {"id": self._count, "verb": "live", "arguments": {"requests": sent, "number": self._count}, "folder": str(folder)}
        )

    def _hear(self, message: dict[str, Any]) -> None:
        if "ended" not in message:
            return
        with self._lock:
            if self._now is None or message.get("id") != self._now[0]:
                return
            requests, self._now = self._now[1], None
            answer = _read(requests, message)
            if ("open", 0) not in self._waiting:  # else it is the motion of what is no longer open
                self._teller.tell(replace(answer, latest=not self._waiting))
            if self._waiting and not self._closed:
                self._send()

    def _gone(self, worker: WorkerProcess) -> None:
        with self._lock:
            if worker is not self._worker or self._closed:
                return
            self._worker = None
            requests = self._now[1] if self._now is not None else []
            self._now = None
            said = f"; its last words: {worker.errors[-1][:200]}" if worker.errors else ""
            if requests:
                error = f"the live solver died: {worker.ended}{said}; the next edit starts it again"
                self._teller.tell(_answer(requests, error=error, latest=not self._waiting))
            if self._waiting:
                self._send()


def _answer(requests: list[dict[str, Any]], **fields: Any) -> LiveAnswer:
    last = requests[-1]
    phase = "release" if any(request.get("phase") == "release" for request in requests) else str(last.get("phase", "drag"))
    return LiveAnswer(str(last.get("kind", "")), phase, mark=str(last.get("mark", "")), **fields)


def _read(requests: list[dict[str, Any]], message: dict[str, Any]) -> LiveAnswer:
    """The answer of a worker, its arrays loaded and their file removed."""
    result = message.get("result")
    if message["ended"] == "failed" or not isinstance(result, dict) or "curves" not in result:
        return _answer(requests, error=str(message.get("error") or "no answer came"))
    path = Path(str(result["curves"]))
    try:
        curves = read_curves(path)
    except BadInput as error:
        return _answer(requests, error=str(error))
    finally:
        path.unlink(missing_ok=True)
    return _answer(
        requests,
        curves=curves,
        status=str(result.get("status", "")),
        ok=bool(result.get("ok")),
        energy=result.get("energy"),
        violated=str(result.get("violated", "")),
        amount=float(result.get("amount") or 0.0),
        figures=dict(result.get("figures") or {}),
    )
