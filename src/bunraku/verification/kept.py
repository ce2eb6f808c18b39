"""The verdict that is kept with a performance: made of a verdict, and found again only while nothing it judged has changed."""

from __future__ import annotations

import dataclasses
import functools
import hashlib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import numpy as np

import bunraku
from bunraku.formats.provenance import content_hash, installed
from bunraku.motion import KeptVerdict, Performance
from bunraku.verification.verifier import REPLAY, Verdict
from bunraku.verification.verify import judge_of

JUDGES = ("character", "formats", "geometry", "mechanics", "motion", "optimization", "rhythm", "verification")
"""The rooms whose code decides a verdict: verification and all that it is computed with."""

PHYSICS = ("mujoco", "scikit-fem")
"""The packages that replay."""


def with_verdict(performance: Performance, verdict: Verdict) -> Performance:
    """The performance with what was found about it."""
    kept = KeptVerdict(verdict.holds, verdict.sentence, verdict.checks, content_key(performance), verdict.figures)
    return performance.changed(verdict=kept)


def verdict_kept(performance: Performance) -> KeptVerdict | None:
    """The verdict that is kept with it; None where there is none, nothing was replayed, or what it judged has changed since."""
    kept = performance.verdict
    if kept is None or any(check.name == REPLAY for check in kept.checks):
        return None
    return kept if kept.key == content_key(performance) else None


def verdict_again(performance: Performance) -> Verdict | None:
    """The same as a verdict without its replay."""
    kept = verdict_kept(performance)
    if kept is None:
        return None
    return Verdict(kept.holds, kept.checks, None, dict(kept.figures), judge_of(performance))


def content_key(performance: Performance) -> str:
    """The hash of what a verdict is about, and of who judges: our code, and the versions of the physics that replays.

    Notes, the surface and the verdict itself are left out: nothing is judged by them.
    """
    one = performance
    said = (one.certificate.status, one.certificate.checks, one.certificate.figures, one.provenance.performer)
    judged = (one.channels, one.wish, one.motion, one.feedback, one.audio, one.words, one.phrases, one.provenance.options, said)
    return content_hash(one.character, _as_read(judged), _judges())


def _as_read(thing: Any) -> Any:
    """A thing with the kinds of numbers that a file gives back: whole ones as floats, dataclasses as their fields."""
    if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
        return [_as_read(getattr(thing, field.name)) for field in dataclasses.fields(thing)]
    if isinstance(thing, Mapping):
        return {str(key): _as_read(value) for key, value in thing.items()}
    if isinstance(thing, list | tuple):
        return [_as_read(part) for part in thing]
    if isinstance(thing, np.ndarray | np.generic) and thing.ndim == 0:
        return _as_read(thing.item())
    return float(thing) if isinstance(thing, int) and not isinstance(thing, bool) else thing


@functools.cache
def _judges() -> str:
    digest = hashlib.sha256(" ".join(f"{package} {installed(package)}" for package in PHYSICS).encode())
    for room in JUDGES:
        for source in sorted((Path(bunraku.__file__).parent / room).rglob("*.py")):
            digest.update(source.read_bytes())
    return digest.hexdigest()
