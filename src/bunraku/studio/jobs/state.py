"""How a job stands: what the studio shows while it runs, and what came of it."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from typing import Any, Literal

from bunraku.motion import JointCurves

JobStatus = Literal["running", "done", "cancelled", "failed", "lost"]

MOST_HISTORY = 2000
"""Most points of a history; beyond, every second one is dropped."""


@dataclass(frozen=True)
class JobState:
    """One job. ``stage``, ``fraction`` (0 to 1, None when unknown) and ``message`` of its last report.

    ``history``: (seconds since the start, figures by name) of its reports, for a convergence plot. ``result``: files and figures
    of one that is done, or the best so far of one that was cancelled. ``error``: one line where it failed or was lost.
    """

    id: int
    verb: str
    status: JobStatus = "running"
    stage: str = ""
    fraction: float | None = None
    message: str = ""
    history: tuple[tuple[float, dict[str, float]], ...] = ()
    result: dict[str, Any] = field(default_factory=dict)
    error: str = ""

    @property
    def running(self) -> bool:
        """Whether it is under way."""
        return self.status == "running"


@dataclass(frozen=True)
class LiveAnswer:
    """The motion after live edits: joint ``curves`` at the plan's samples, None where there are none, and how the plan stands.

    ``ok``: every row is met; else ``violated`` names the kind of row violated most and ``amount`` by how much, in its own unit.
    ``latest``: nothing newer was asked for when it came. ``mark``: that of the newest request it answers.
    ``figures``: unknowns, residual, distance, turn, CPU time. ``error``: one
    line where a request was refused.
    """

    kind: str
    phase: str
    curves: JointCurves | None = None
    status: str = ""
    ok: bool = False
    energy: float | None = None
    violated: str = ""
    amount: float = 0.0
    latest: bool = True
    mark: str = ""
    figures: dict[str, Any] = field(default_factory=dict)
    error: str = ""


def with_event(state: JobState, event: dict[str, Any]) -> JobState:
    """The state after a report of the worker: stage, fraction, message and new points of the history."""
    fraction = event.get("fraction")
    history = state.history
    for point in event.get("history") or ():
        seconds, figures = point
        history += ((float(seconds), {str(name): float(value) for name, value in figures.items() if value is not None}),)
    while len(history) > MOST_HISTORY:
        history = history[:-1:2] + history[-1:]
    return replace(
        state,
        stage=str(event.get("stage", state.stage)),
        fraction=None if fraction is None else min(max(float(fraction), 0.0), 1.0),
        message=str(event.get("message", "")),
        history=history,
    )
