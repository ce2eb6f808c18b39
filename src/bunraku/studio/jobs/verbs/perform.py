"""Performing: what ``bunraku perform`` does, with reports to the studio; and retargeting alone."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

from bunraku.flow.prove import prove
from bunraku.formats.registry import read_clip, write_clip, write_performance
from bunraku.motion import Certificate, Check, Performance
from bunraku.optimization.monitor import Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.prepare import prepare, read_rig
from bunraku.studio.jobs.exchange import read_who
from bunraku.studio.jobs.verbs.arguments import Arguments


def perform(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """Perform and write: {character, clip, performer, options, effort, target} -> path, reason, certificate.

    ``performer`` "": chosen. ``effort``: "once" if not given, for the page verifies by a job of its own. ``target``: where the
    performance goes; into the job's folder if not given. Cancelled, the best so far is written, its certificate saying so.
    """
    given = Arguments(arguments, "perform")
    who, wish = read_who(given.text("character"), folder), read_clip(given.text("clip"))
    performer = given.text("performer", "")
    options = {key: tuple(value) if isinstance(value, list) else value for key, value in given.mapping("options").items()}
    target = given.path("target", folder / "result.performance.npz")
    rig = read_rig(Path(given.text("rig"))) if given.has("rig") else None
    effort = given.text("effort", "once")
    given.finish()
    monitor.report(Event("preparing", None, f"{who.name} and {wish.name}"))
    performed = prove(who, wish, performer, options=options, rig=rig, effort=effort, monitor=monitor).performed
    result = performed.performance
    monitor.report(Event("writing", None, target.name))
    write_performance(target, result)
    facts = _facts(result) | {"path": str(target), "reason": performed.choice.reason, "notes": list(performed.notes)}
    return facts, result.certificate.status is Status.CANCELLED


def retarget(arguments: dict[str, Any], folder: Path, monitor: Monitor) -> tuple[dict[str, Any], bool]:
    """A captured skeleton as joint curves of the character: {character, clip, rig, target} -> the new clip's path and notes."""
    given = Arguments(arguments, "retarget")
    who, wish = read_who(given.text("character"), folder), read_clip(given.text("clip"))
    rig = read_rig(Path(given.text("rig"))) if given.has("rig") else None
    target = given.path("target", folder / "result.clip.yaml")
    given.finish()
    prepared = prepare(who, wish, rig=rig, monitor=monitor)
    write_clip(target, prepared.clip)
    facts = {"path": str(target), "notes": list(prepared.notes), "status": prepared.status.value}
    return facts, prepared.status is Status.CANCELLED


def _facts(result: Performance) -> dict[str, Any]:
    return {
        "character": result.character.name,
        "clip": result.clip_name,
        "performer": result.provenance.performer,
        "duration": result.duration,
        "rate": result.rate,
        "certificate": certificate_facts(result.certificate),
    }


def certificate_facts(certificate: Certificate) -> dict[str, Any]:
    """A certificate as plain values: status, sentence, whether it holds, checks, notes."""
    return {
        "status": certificate.status.value,
        "sentence": certificate.status.sentence,
        "holds": certificate.holds,
        "checks": [check_facts(check) for check in certificate.checks],
        "notes": list(certificate.notes),
    }


def check_facts(check: Check) -> dict[str, Any]:
    """A check as plain values."""
    return dataclasses.asdict(check) | {"state": check.state, "holds": check.holds, "sentence": check.sentence}
