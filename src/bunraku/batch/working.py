"""One run, on whichever machine it is: plain data in, plain data out. Nothing is written but into a temporary folder."""

from __future__ import annotations

import errno
import math
import re
import tempfile
import time
import typing
from pathlib import Path
from typing import Any

from bunraku.batch.sources import Source, built_in_path, pack
from bunraku.building.character_design import character_design
from bunraku.building.design import Design
from bunraku.building.robot_design import built_in_design
from bunraku.building.robots.builtin import ROBOTS
from bunraku.character import Character
from bunraku.errors import BadInput, BunrakuError, Cancelled, MissingExtra
from bunraku.flow.prove import prove
from bunraku.formats.performance_npz import write_performance_npz
from bunraku.formats.provenance import installed, versions
from bunraku.formats.registry import read_character, read_clip
from bunraku.formats.unexpected import in_words, report_text
from bunraku.motion import Clip, KeptVerdict, Performance
from bunraku.motion.excerpt import at_tempo, excerpt
from bunraku.optimization.monitor import Monitor, SilentMonitor
from bunraku.optimization.solution import Status
from bunraku.performers.choose import choose_performer
from bunraku.performers.performer import performer_class
from bunraku.retargeting.retarget import RetargetReport
from bunraku.retargeting.rig_map import read_rig_map

BEGAN = "bunraku-batch-began"
"""The topic on which a worker tells that it begins a run."""
MOST_KEPT = 16
SOLVERS = ("daqp", "piqp")
"""Packages that solve quadratic programs of many performers."""
PEERS = ("ruckig", "toppra")
"""Performers that are packages of the same name; none is chosen unless it is named."""
_MACHINE = (
    errno.ENOSPC, errno.EDQUOT, errno.EROFS, errno.EIO, errno.ESTALE, errno.EACCES, errno.EPERM, errno.EMFILE, errno.ENFILE,
    errno.ENOMEM,
)  # fmt: skip
"""Of the system's errors those that tell of the machine, not of what is read: space, rights, disks, too much that is open."""


def carry_out(job: dict[str, Any]) -> dict[str, Any]:
    """The result of one job (`Plan.job`): ``status``, ``reason``, ``figures``, ``performance`` (bytes or None), ``seconds``.

    ``status``: "done", "refused" (bad input: the same every time), "timeout" or "failed" (an accident). Never raises. ``report``
    tells of an error that nobody foresaw.
    """
    began = time.perf_counter()
    worker = _announce(job["key"])
    figures: dict[str, Any] = {}
    performance: bytes | None = None
    report = ""
    end = began + (job["timeout"] or math.inf)
    deadline = SilentMonitor(until=lambda: time.perf_counter() > end)
    try:
        _same_versions(job)
        figures, performance = _performed(job, deadline)
        status, reason = "done", ""
    except (_TooLate, Cancelled) as error:
        late = isinstance(error, _TooLate) or deadline.cancelled
        status, reason = ("timeout", f"it took more than {job['timeout']:g} s") if late else ("failed", str(error))
    except BunrakuError as error:
        status, reason = "failed" if _accidental(error) else "refused", str(error)
    except MemoryError:
        status, reason = "failed", "no memory was left"
    except Exception as error:  # one failure never stops the others
        status, reason, report = "failed", in_words(error), report_text(error, f"run {job['key']} of a batch")
    seconds = time.perf_counter() - began
    return {
        "status": status,
        "reason": reason,
        "figures": figures,
        "performance": performance,
        "seconds": seconds,
        "worker": worker,
        "report": report,
    }


class _TooLate(Exception):
    """A run took longer than it may."""


class _Elsewhere(BunrakuError):
    """The worker is not like the one that asks, or cannot use what it was sent."""


def _accidental(error: BunrakuError) -> bool:
    """Whether an error is of this worker and its machine; on another, or later, the run may be done."""
    if isinstance(error, _Elsewhere | MissingExtra):
        return True
    cause = error.__cause__
    while cause is not None and not isinstance(cause, OSError):
        cause = cause.__cause__
    return isinstance(cause, OSError) and cause.errno in _MACHINE


def _announce(key: str) -> str:
    """Say that a run begins, if this is a Dask worker; the worker's address."""
    try:
        from distributed import get_worker

        worker = get_worker()
    except (ImportError, ValueError):
        return ""
    worker.log_event(BEGAN, {"key": key, "worker": worker.address})
    return str(worker.address)


def run_versions(effort: str, performer: str = "") -> dict[str, str]:
    """The versions of what a result depends on: also whether a solver that is used where it is there is not."""
    packages = [*SOLVERS, *(name for name in PEERS if name == performer), *(("mujoco",) if effort != "once" else ())]
    return versions() | {name: installed(name) for name in packages}


def _same_versions(job: dict[str, Any]) -> None:
    here = run_versions(job["effort"], job["performer"])
    for name, version in job["versions"].items():
        if here.get(name) != version:
            raise _Elsewhere(f"this worker has {name} {here.get(name)}, the plan was made with {version}; install the same there")


def _performed(job: dict[str, Any], monitor: Monitor) -> tuple[dict[str, Any], bytes | None]:
    who, clip = _shaped(job), _changed(_read("clip", _source(job["clip"], "clip")), job["clip_changes"])
    sent = _source(job["rig"], "rig")
    rig = None if sent is None else read_rig_map(sent.contents[sent.main], file=sent.label)
    effort = job["effort"]
    proved = prove(
        who, clip, job["performer"], options=lambda name: _options(name, job["options"]), rig=rig, effort=effort, monitor=monitor
    )
    result = proved.performance
    if result.certificate.status is Status.CANCELLED or monitor.cancelled:
        raise _TooLate
    figures = _retarget_figures(proved.performed.prepared.report) | certificate_figures(result)
    if result.verdict is not None:
        figures |= _verified(result.verdict) | {"attempts": len(proved.takes), "changed": proved.changed}
    return {name: _plain(value) for name, value in figures.items()}, write_performance_npz(result) if job["keep"] else None


def foreseen(job: dict[str, Any]) -> tuple[Character | None, str, bool]:
    """Who will perform a job, by which performer, and whether a capture is retargeted first; None, if it will be refused."""
    try:
        who, clip = _shaped(job), _read("clip", _source(job["clip"], "clip"))
        captured = clip.joints is None and clip.skeleton is not None
        if captured and not job["performer"]:
            return who, "marionette" if who.strings else "speech", True
        return who, choose_performer(who, clip, job["performer"]).name, captured
    except BunrakuError:
        return None, "", False


def certificate_figures(result: Performance) -> dict[str, Any]:
    """What the certificate says, flat: its status, whether it holds, every figure and every check (spaces as underscores)."""
    certificate = result.certificate
    return {
        "performed_by": result.provenance.performer,
        "converged": certificate.status.value,
        "holds": certificate.holds,
        "duration_s": result.duration,
        **certificate.figures,
        **{check.name.replace(" ", "_"): check.value for check in certificate.checks},
    }


def _verified(verdict: KeptVerdict) -> dict[str, Any]:
    """What the verdict says, its names after ``verify.``."""
    figures = {f"verify.{name}": value for name, value in verdict.figures.items() if name != "verified"}
    checks = {f"verify.{check.name.replace(' ', '_')}": check.value for check in verdict.checks}
    return {"verified": verdict.holds, **figures, **checks}


def _shaped(job: dict[str, Any]) -> Character:
    """The character with the run's dimensions."""
    source, overlay = _source(job["character"], "character"), _source(job["overlay"], "overlay")
    if not job["dimensions"]:
        return _read("character", source, overlay)
    design = family(source, overlay)
    values = design.initial
    for name, value in job["dimensions"].items():
        values[design.index(name)] = value
    return design.character(values)


def family(source: Source, overlay: Source | None) -> Design:
    """The design of a built-in robot, or of any character: its dimensions as parameters."""
    if source.built_in and source.label in ROBOTS and overlay is None:
        return built_in_design(source.label)
    return character_design(_read("character", source, overlay))


def _retarget_figures(report: RetargetReport | None) -> dict[str, Any]:
    """How well a captured skeleton could be followed."""
    if report is None:
        return {}
    figures: dict[str, Any] = {"retarget.speed_ratio": report.speed_ratio, "retarget.too_fast": report.too_fast}
    for error in report.targets:
        name = error.name.replace(" ", "_")
        figures[f"retarget.{name}_rms_m"] = error.rms
        figures[f"retarget.{name}_rms_reachable_m"] = error.rms_reachable
    return figures


def _changed(clip: Clip, changes: dict[str, Any]) -> Clip:
    """The clip with the plan's changes: its part first, in its own time, then its tempo, then its gait."""
    changes = {name: _number(value, name) for name, value in changes.items()}
    clip = excerpt(clip, changes.get("start_s", 0.0), changes.get("duration_s"))
    clip = at_tempo(clip, changes.get("tempo", 1.0))
    gait = {name: changes[name] for name in ("cycle_s", "distance_m", "speed_m_s") if name in changes}
    if not gait:
        return clip
    if clip.gait is None:
        raise BadInput(f"{next(iter(gait))} is of a gait; the clip {clip.name!r} has none")
    if "distance_m" in gait and "speed_m_s" in gait:
        raise BadInput("distance_m and speed_m_s are both set; keep one")
    if "cycle_s" in gait:
        clip = at_tempo(clip, clip.gait.duration / gait["cycle_s"])
    assert clip.gait is not None  # noqa: S101
    aside = None if clip.gait.distance is None else clip.gait.distance[1]
    ahead = gait.get("distance_m", gait["speed_m_s"] * clip.gait.duration if "speed_m_s" in gait else None)
    return clip if ahead is None else clip.changed(gait=clip.gait.changed(distance=(ahead, aside)))


def _number(value: Any, name: str) -> float:
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise BadInput(f"{name} takes a number; {str(value)[:60]!r} arrived")
    return float(value)


def _options(performer: str, options: dict[str, Any]) -> dict[str, Any]:
    """Options as the performer's dataclass takes them: lists are tuples, whole numbers may be written with a point."""
    hints = typing.get_type_hints(performer_class(performer))
    taken = {}
    for name, value in options.items():
        kind = hints.get(name)
        if isinstance(value, list):
            value = tuple(value)
        if kind in (int, float):
            number = _number(value, f"the option {name} of {performer}")
            value = number if kind is float else int(value) if number.is_integer() else value
        taken[name] = value
    return taken


def _plain(value: Any) -> Any:
    """A number, text or truth that JSON can say; numbers that it cannot become texts."""
    value = value.item() if hasattr(value, "item") else value
    return str(value) if isinstance(value, float) and not math.isfinite(value) else value


def _source(sent: dict[str, Any] | None, kind: str) -> Any:
    """What was sent; a built-in one is read here, and must be the same."""
    if sent is None:
        return None
    if not sent["built_in"]:
        return Source(sent["label"], sent["main"], sent["contents"])
    path = built_in_path(kind, sent["label"])
    try:
        here = None if path is None else pack(sent["label"], path, built_in=True)
    except BadInput as error:
        raise _Elsewhere(f"the built-in {kind} {sent['label']!r} of this worker cannot be used: {error}") from error
    if here is None or here.digest != sent["digest"]:
        raise _Elsewhere(f"the built-in {kind} {sent['label']!r} of this worker is another one; install the same Bunraku there")
    return here


_LAST: dict[tuple[str, str, str], Any] = {}
"""The nouns read last, by their content: most runs differ in something else."""


def _read(kind: str, source: Source, overlay: Source | None = None) -> Any:
    """The noun of a source, read from a folder that is gone afterwards."""
    key = (kind, source.digest, "" if overlay is None else overlay.digest)
    if key in _LAST:
        return _LAST[key]
    with tempfile.TemporaryDirectory(prefix="bunraku-batch-") as folder:
        try:
            path = source.unpacked(Path(folder) / kind)
            over = None if overlay is None else overlay.unpacked(Path(folder) / "overlay")
        except BadInput as error:
            raise _Elsewhere(f"the {kind} could not be unpacked: {_bare(error, folder)}") from error
        try:
            noun = read_character(path, overlay=over) if kind == "character" else read_clip(path)
        except BadInput as error:
            raise BadInput(_bare(error, folder)) from error
    while len(_LAST) >= MOST_KEPT:
        _LAST.pop(next(iter(_LAST)), None)
    _LAST[key] = noun
    return noun


def _bare(error: BadInput, folder: str) -> str:
    """What an error says, names of files without the folder that is gone afterwards."""
    return re.sub(re.escape(folder) + "/(character|clip|overlay)/", "", str(error))
