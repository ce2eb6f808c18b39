"""The certificate of a retargeted motion: everything computed anew from the channels, with the reduced model at the fine step."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from bunraku.mechanics.flexible.judge import Judged
from bunraku.mechanics.flexible.measures import measure_flexible
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem
from bunraku.motion import Certificate, Check, JointCurves, Mark
from bunraku.optimization.solution import Status
from bunraku.performers.certify import certify


def certificate_of(
    flexible: FlexibleCharacterSystem,
    wish: JointCurves,
    played: JointCurves,
    judged: Judged,
    *,
    status: Status,
    words: Sequence[Mark] = (),
    phrases: Sequence[Mark] = (),
    notes: Sequence[str] = (),
    figures: Mapping[str, float] | None = None,
) -> Certificate:
    """The common measures of servos, then those of a flexible character."""
    measured = measure_flexible(flexible, wish, played, judged, [*words, *phrases])
    common = certify(
        flexible.character,
        wish,
        played,
        words=words,
        status=status,
        notes=[*notes, *measured.notes],
        figures={**(figures or {}), **measured.figures},
    )
    return _without_lag_threshold(common, measured.checks)


def _without_lag_threshold(certificate: Certificate, more: Sequence[Check]) -> Certificate:
    """The certificate with ``more`` checks; the lag is information: motors move ahead so that what they carry is on time."""
    note = "of the motors, which move ahead on purpose; see hits moved"
    checks = tuple(
        Check(check.name, check.value, check.unit, None, note=f"{check.note}; {note}" if check.note else note)
        if check.name == "lag"
        else check
        for check in certificate.checks
    )
    return Certificate(certificate.status, (*checks, *more), certificate.notes, certificate.figures)
