"""Everything a performance promises, as plain JSON: channels, units, marks, certificate, provenance."""

from __future__ import annotations

import dataclasses
import json
import math
from typing import Any

from bunraku.motion import Channel, Performance


def export_json(performance: Performance) -> bytes:
    """JSON (UTF-8, one object); floats are written so that they read back exactly.

    Keys: ``character``, ``clip``, ``rate_hz``, ``duration_s``, ``channels`` (name, kind, unit, rate_hz, values), ``words`` and
    ``phrases`` (text, start_s, end_s, stroke_s), ``audio`` (file, rate_hz, duration_s; the samples stay in their file),
    ``certificate`` and ``provenance``. A number that is not finite becomes null.
    """
    certificate = performance.certificate
    content = {
        "format": "bunraku-performance",
        "version": 1,
        "character": performance.character.name,
        "clip": performance.clip_name,
        "rate_hz": performance.rate,
        "duration_s": performance.duration,
        "channels": [channel_facts(channel) for channel in performance.channels],
        "words": [_mark(mark) for mark in performance.words],
        "phrases": [_mark(mark) for mark in performance.phrases],
        "audio": None
        if performance.audio is None
        else {"file": performance.audio.file, "rate_hz": performance.audio.rate, "duration_s": performance.audio.duration},
        "certificate": {
            "status": certificate.status.value,
            "holds": certificate.holds,
            "checks": [dataclasses.asdict(check) | {"state": check.state, "holds": check.holds} for check in certificate.checks],
            "notes": list(certificate.notes),
            "figures": certificate.figures,
        },
        "provenance": dataclasses.asdict(performance.provenance),
    }
    return as_json(content)


def channel_facts(channel: Channel) -> dict[str, Any]:
    """A channel as plain data, its samples as they are."""
    facts = {"name": channel.name, "kind": channel.kind, "unit": channel.unit, "rate_hz": channel.rate}
    return facts | {"values": channel.values.tolist()}


def as_json(content: Any) -> bytes:
    """Strict JSON bytes, ending in a line break: no NaN, no Infinity, keys in the order given."""
    return (json.dumps(_finite(content), ensure_ascii=False, allow_nan=False, indent=1) + "\n").encode()


def _mark(mark: Any) -> dict[str, Any]:
    return {"text": mark.text, "start_s": mark.start, "end_s": mark.end, "stroke_s": mark.stroke}


def _finite(value: Any) -> Any:
    """The value with what JSON cannot hold replaced: numbers that are not finite by null, foreign objects by their text."""
    if isinstance(value, dict):
        return {str(key): _finite(part) for key, part in value.items()}
    if isinstance(value, (list, tuple)):
        return [_finite(part) for part in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    if value is None or isinstance(value, (str, int, bool)):
        return value
    return _finite(value.tolist()) if hasattr(value, "tolist") else str(value)
