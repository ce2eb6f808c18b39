"""Live edits: one motion is kept open in the worker and answers each drag with bounded work, each release with a full solve."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Any

from bunraku.building.robots.builtin import ROBOTS
from bunraku.design.live import LiveMotion
from bunraku.design.redesign import family_of
from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip
from bunraku.optimization.monitor import Monitor
from bunraku.studio.jobs.exchange import read_who, write_curves
from bunraku.studio.jobs.verbs.arguments import Arguments


class _Open:
    """The motion that is open in this process."""

    motion: LiveMotion | None = None
    learning = False


def live(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """{requests, number} -> the curves' file, status, energy, worst row. Several requests are answered at once, in their order.

    See `live_line.LiveLine` for the requests.
    """
    clock = time.thread_time()
    given = Arguments(arguments, "live")
    requests, number = given.sequence("requests"), given.count("number")
    given.finish()
    drags: dict[str, Any] = {}
    released = False
    for request in requests:
        one = Arguments(request, f"live {request.get('kind')}")
        kind, phase = one.text("kind"), one.text("phase", "drag")
        if phase not in ("drag", "release"):
            raise BadInput(f"a live edit of phase {phase!r} arrived; it is a drag or a release")
        released |= phase == "release"
        if kind == "open":
            _open(one, folder, monitor)
        elif kind == "gait":
            gait = _gait(one)
            one.finish()
            _motion().regait(gait, monitor=monitor)
            released &= bool(drags)
        else:
            _merge(drags, kind, one)
            _Open.learning |= kind == "dimensions"
    motion = _motion()
    if drags:
        motion.drag(**drags)
    if released:
        motion.release(monitor=monitor)
    answer = _answer(motion, folder / f"answer-{number}.npz")
    answer["figures"]["cpu_s"] = time.thread_time() - clock
    return answer, False


def idle(monitor: Monitor) -> None:
    """Learn how the motion follows its dimensions, once it is solved; given up as soon as something is asked for."""
    if _Open.motion is not None and _Open.learning:
        _Open.motion.learn(monitor=monitor)


def _open(request: Arguments, folder: Path, monitor: Monitor) -> None:
    source, samples = request.text("character"), request.count("samples", 0)
    gait = _gait(request)
    changes = {name: float(value) for name, value in request.mapping("parameters").items()}
    request.finish()
    design = family_of(source if source in ROBOTS else read_who(source, folder))
    p = design.initial
    for name, value in changes.items():
        p[design.index(name)] = value
    _Open.motion, _Open.learning = LiveMotion(design, gait, samples=samples, parameters=p, monitor=monitor), True


def _gait(request: Arguments) -> Any:
    clip = read_clip(request.text("clip"))
    if clip.gait is None:
        raise BadInput(f"the clip {clip.name!r} has no gait; only what goes on wheels or feet is edited live")
    return clip.gait


def _merge(drags: dict[str, Any], kind: str, request: Arguments) -> None:
    """Add the edit of a request to those that are made at once."""
    if kind == "dimensions":
        drags["parameters"] = {name: float(value) for name, value in request.mapping("parameters").items()}
    elif kind == "goal":
        if request.has("distance"):
            x, y = (*request.sequence("distance"), None, None)[:2]
            drags["distance"] = (x, y)
        if request.has("turn"):
            drags["turn"] = request.number("turn")
    elif kind == "target":
        x, y, z = (*request.sequence("place"), None, None, None)[:3]
        drags.setdefault("targets", {})[request.count("number")] = (x, y, z)
    else:
        raise BadInput(f"a live edit of kind {kind!r} arrived; there are open, dimensions, goal, target and gait")
    request.finish()


def _motion() -> LiveMotion:
    if _Open.motion is None:
        raise BadInput("no motion is open to edit live; ask with the kind open first")
    return _Open.motion


def _answer(motion: LiveMotion, path: Path) -> dict[str, Any]:
    write_curves(path, motion.curves(), lasting=False)
    solution = motion.plan.solution
    name, amount = ("", 0.0) if solution.status.good else motion.worst
    x, y, turn = motion.plan.displacement
    return {
        "curves": str(path),
        "status": solution.status.value,
        "ok": solution.status.good,
        "energy": solution.objective,
        "violated": name,
        "amount": amount,
        "figures": {"unknowns": motion.size, "residual": solution.residual, "distance": [x, y], "turn": turn},
    }
