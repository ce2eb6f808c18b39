"""Performance files (``.performance.npz``): one archive that holds everything needed to play, judge and explain a performance.

Arrays (channels, wish, motion, audio, feedback, surface) are stored as such; the rest is one JSON text, ``header``, with the
character as the YAML text of a character file. The same performance gives the same bytes. Reading executes nothing, checks sizes
first and validates everything.

A moving surface is kept in whole steps of 2^-16 m, and of every frame but the first only what changed: differences of slow points
are small numbers, which deflate well; multiples of a power of two come back as the same bytes when they are written again.
"""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

import numpy as np
from pydantic import AliasChoices, BaseModel, ConfigDict, Field, ValidationError

from bunraku.character import Character
from bunraku.character.description import first_problem
from bunraku.errors import BadInput
from bunraku.formats.archive import pack, unpack
from bunraku.formats.files import check_size
from bunraku.formats.places import located
from bunraku.formats.units import build, from_si
from bunraku.formats.yaml_file import CURRENT, dump_yaml, migrate, read_yaml
from bunraku.motion import Audio, Certificate, Channel, Check, Feedback, JointCurves, KeptVerdict, Mark, Performance, Provenance
from bunraku.motion.surface import MAX_FAR, MAX_NUMBERS, SurfaceMotion
from bunraku.optimization.solution import Status

STEP = 2.0**-16
"""The step [m] of stored coordinates: 15 micrometres."""

_KINDS = {"surface_faces": ("i4", 2), "surface_start": ("i4", 2), "surface_changes": ("i2", 3)}
SURFACE_ARRAYS = tuple(_KINDS)


class SurfacePart(BaseModel):
    """What the header of a performance file says of its surface.

    Arrays beside it: ``surface_faces`` (f, 3) int32; ``surface_start`` (v, 3) int32, the first frame in steps of 2^-16 m;
    ``surface_changes`` (frames - 1, v, 3) int16, what each later frame adds, in ``step`` such steps.
    """

    model_config = ConfigDict(extra="forbid", frozen=True)

    rate_hz: float
    step: int = 1


def packed_surface(surface: SurfaceMotion | None) -> tuple[SurfacePart | None, dict[str, Any]]:
    """The header's part of a surface, and its arrays."""
    if surface is None:
        return None, {}
    whole = np.round(surface.points.astype(np.float64) / STEP).astype(np.int64)
    step = _coarseness(whole)
    rough = whole[0] + step * np.round((whole - whole[0]) / step).astype(np.int64)
    changes = np.diff(rough, axis=0) // step
    arrays = (surface.faces.astype(np.int32), whole[0].astype(np.int32), changes.astype(np.int16))
    return SurfacePart(rate_hz=surface.rate, step=step), dict(zip(SURFACE_ARRAYS, arrays, strict=True))


def unpacked_surface(part: SurfacePart | None, arrays: Mapping[str, Any]) -> SurfaceMotion | None:
    """The surface of arrays that :func:`packed_surface` made; BadInput when they are not such."""
    if part is None:
        return None
    for name, (kind, axes) in _KINDS.items():
        array = arrays[name]
        if array.dtype != np.dtype(kind) or array.ndim != axes or array.shape[-1] != 3:
            raise BadInput(f"the array {name!r} holds {array.dtype} of shape {array.shape[:4]}; a surface has other ones")
    start, changes = arrays["surface_start"], arrays["surface_changes"]
    if changes.shape[1:] != start.shape or changes.size + start.size > MAX_NUMBERS or not 1 <= part.step <= 1 << 20:
        raise BadInput(f"a surface of {start.shape} points has changes of shape {changes.shape[:4]} in steps of {part.step}")
    whole = np.empty((len(changes) + 1, *start.shape), dtype=np.int64)
    whole[0] = start
    np.cumsum(changes, axis=0, dtype=np.int64, out=whole[1:])
    whole[1:] = start + part.step * whole[1:]
    if np.abs(whole).max(initial=0) * STEP > MAX_FAR:
        raise BadInput(f"points of a surface are farther than {MAX_FAR:g} m from the origin")
    return SurfaceMotion(arrays["surface_faces"], part.rate_hz, (whole * STEP).astype(np.float32))


def _coarseness(whole: np.ndarray[Any, np.dtype[np.int64]]) -> int:
    """The smallest power of two of steps in which the changes from frame to frame fit into 16 bits."""
    most = int(np.abs(np.diff(whole, axis=0)).max(initial=0))
    step = 1
    while most // step + 1 >= 1 << 15:
        step *= 2
    return step


MAX_HEADER_BYTES = 32 * 1024 * 1024
_FEEDBACK = ("states", "commands", "gains")


class _Part(BaseModel):
    model_config = ConfigDict(extra="forbid", frozen=True)


class _ChannelPart(_Part):
    name: str
    kind: Literal["position", "velocity", "torque", "length"]
    unit: str
    rate_hz: float


class _CurvesPart(_Part):
    names: list[str]
    rate_hz: float


class _CheckPart(_Part):
    name: str
    value: float
    unit: str = ""
    threshold: float | None = Field(default=None, validation_alias=AliasChoices("threshold", "bar"))
    at_least: bool = False
    note: str = ""
    applies: bool = True
    missing: str = ""


class _CertificatePart(_Part):
    status: Status
    checks: list[_CheckPart]
    notes: list[str] = []
    figures: dict[str, float] = {}


class _VerdictPart(_Part):
    holds: bool
    sentence: str
    checks: list[_CheckPart] = Field(max_length=10_000)
    key: str
    figures: dict[str, float] = {}


class _ProvenancePart(_Part):
    performer: str
    inputs: dict[str, str]
    options: dict[str, Any]
    versions: dict[str, str]
    seed: int = 0


class _AudioPart(_Part):
    rate_hz: float
    file: str = ""


class _MarkPart(_Part):
    text: str
    start_s: float
    end_s: float
    stroke_s: float | None = None


class _FeedbackPart(_Part):
    rate_hz: float
    coordinates: list[str] = Field(max_length=10_000)
    momenta: list[str] = Field(max_length=10_000)
    inputs: list[str] = Field(max_length=10_000)


class PerformanceFile(_Part):
    """The header of a performance file.

    Arrays beside it: ``channel_0000``..., ``wish`` (if there is one), ``motion`` (samples, names), ``audio``; with feedback
    ``feedback_states`` (nodes, states: coordinates, momenta), ``feedback_commands`` (steps, inputs), ``feedback_gains`` (steps,
    inputs, states); with a surface those of `SurfacePart`.
    """

    bunraku: str = Field(pattern=r"^performance/[0-9]{1,6}$")
    character: str
    clip_name: str
    channels: list[_ChannelPart] = Field(max_length=10_000)
    wish: _CurvesPart | None = None
    motion: _CurvesPart
    certificate: _CertificatePart
    provenance: _ProvenancePart
    audio: _AudioPart | None = None
    words: list[_MarkPart] = []
    phrases: list[_MarkPart] = []
    feedback: _FeedbackPart | None = None
    surface: SurfacePart | None = None
    verdict: _VerdictPart | None = None


def write_performance_npz(performance: Performance) -> bytes:
    """The bytes of a performance file."""
    arrays: dict[str, Any] = {f"channel_{index:04d}": channel.values for index, channel in enumerate(performance.channels)}
    wish = performance.wish
    arrays |= {"motion": performance.motion.values} if wish is None else {"wish": wish.values, "motion": performance.motion.values}
    if performance.audio is not None:
        arrays["audio"] = performance.audio.samples
    feedback = performance.feedback
    names = {what: list(getattr(feedback, what, ())) for what in ("coordinates", "momenta", "inputs")}
    if feedback is not None:
        arrays |= {f"feedback_{part}": getattr(feedback, part) for part in _FEEDBACK}
    surface, surface_arrays = packed_surface(performance.surface)
    arrays |= surface_arrays
    certificate = performance.certificate
    header = PerformanceFile(
        bunraku=f"performance/{CURRENT['performance']}",
        character=dump_yaml("character", from_si(performance.character)).decode(),
        clip_name=performance.clip_name,
        channels=[_ChannelPart(name=c.name, kind=c.kind, unit=c.unit, rate_hz=c.rate) for c in performance.channels],
        wish=None if wish is None else _CurvesPart(names=list(wish.names), rate_hz=wish.rate),
        motion=_CurvesPart(names=list(performance.motion.names), rate_hz=performance.motion.rate),
        certificate=_CertificatePart(
            status=certificate.status,
            checks=_check_parts(certificate.checks),
            notes=list(certificate.notes),
            figures=dict(certificate.figures),
        ),
        provenance=_ProvenancePart(**{name: getattr(performance.provenance, name) for name in _ProvenancePart.model_fields}),
        audio=None if performance.audio is None else _AudioPart(rate_hz=performance.audio.rate, file=performance.audio.file),
        words=[_mark_part(mark) for mark in performance.words],
        phrases=[_mark_part(mark) for mark in performance.phrases],
        feedback=None if feedback is None else _FeedbackPart(rate_hz=feedback.rate, **names),
        surface=surface,
        verdict=None if performance.verdict is None else _verdict_part(performance.verdict),
    )
    content = header.model_dump()
    for name in ("feedback", "surface", "wish", "verdict"):
        if content[name] is None:
            del content[name]
    content["certificate"]["status"] = certificate.status.value
    text = json.dumps(content, sort_keys=True, ensure_ascii=False, default=_jsonable)
    return pack(arrays | {"header": np.frombuffer(text.encode("utf-8", "replace"), np.uint8)})


def read_performance_npz(data: bytes, *, file: str, folder: Path | None = None) -> Performance:
    """The performance of a file."""
    arrays: dict[str, Any] = dict(unpack(data, file=file))
    header = _header(arrays.pop("header", None), file)
    yaml = read_yaml(header.character.encode("utf-8", "replace"), file=file, kind="character")
    character = build(Character, yaml.data, file=file, place="character", lines=yaml.lines)
    names = [f"channel_{index:04d}" for index in range(len(header.channels))]
    expected = [*names, *(["wish"] if header.wish else []), "motion", *(["audio"] if header.audio else [])]
    expected += [f"feedback_{part}" for part in _FEEDBACK] if header.feedback else []
    expected += SURFACE_ARRAYS if header.surface else ()
    if sorted(expected) != sorted(arrays):
        odd = sorted(set(expected) ^ set(arrays))
        raise BadInput(f"the array {odd[0]!r} is missing or not announced", file=file, place="header")
    for name, array in arrays.items():
        if array.dtype.kind != "f" and name not in SURFACE_ARRAYS:
            raise BadInput(f"holds {array.dtype} where floats are needed", file=file, place=name)
    with located(file, "header"):
        return Performance(
            character=character,
            clip_name=header.clip_name,
            channels=tuple(
                Channel(c.name, c.kind, c.unit, c.rate_hz, arrays[name]) for c, name in zip(header.channels, names, strict=True)
            ),
            wish=None if header.wish is None else JointCurves(tuple(header.wish.names), header.wish.rate_hz, arrays["wish"]),
            motion=JointCurves(tuple(header.motion.names), header.motion.rate_hz, arrays["motion"]),
            certificate=Certificate(
                header.certificate.status,
                _checks(header.certificate.checks),
                tuple(header.certificate.notes),
                dict(header.certificate.figures),
            ),
            provenance=Provenance(**header.provenance.model_dump()),
            audio=None if header.audio is None else Audio(arrays["audio"], header.audio.rate_hz, header.audio.file),
            words=tuple(Mark(*part.model_dump().values()) for part in header.words),
            phrases=tuple(Mark(*part.model_dump().values()) for part in header.phrases),
            feedback=_feedback(header.feedback, arrays),
            surface=unpacked_surface(header.surface, arrays),
            verdict=_verdict(header.verdict),
        )


def _header(array: Any, file: str) -> PerformanceFile:
    if array is None or array.dtype != np.uint8 or array.ndim != 1:
        raise BadInput("is no performance file: it has no header", file=file, place="header")
    check_size(array.tobytes(), file=file, limit=MAX_HEADER_BYTES)
    try:
        content = json.loads(array.tobytes().decode("utf-8"))
        if not isinstance(content, dict) or not isinstance(content.get("bunraku"), str):
            raise BadInput("the header does not say which version it is", file=file, place="header")
        kind, _, number = content["bunraku"].partition("/")
        if kind != "performance" or not number.isdigit() or len(number) > 6:
            raise BadInput(f"this is {content['bunraku'][:40]!r}; 'performance/1' is needed", file=file, place="header.bunraku")
        content = migrate("performance", int(number), content, file=file, place="header.bunraku")
        return PerformanceFile.model_validate(content)
    except ValidationError as error:
        raise BadInput(first_problem(error)[:400], file=file, place="header") from error
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the header is damaged: {error}"[:200], file=file, place="header") from error


def _check_parts(checks: Sequence[Check]) -> list[_CheckPart]:
    return [_CheckPart(**{name: getattr(check, name) for name in _CheckPart.model_fields}) for check in checks]


def _checks(parts: Sequence[_CheckPart]) -> tuple[Check, ...]:
    return tuple(Check(**part.model_dump()) for part in parts)


def _verdict_part(verdict: KeptVerdict) -> _VerdictPart:
    figures = {name: float(value) for name, value in verdict.figures.items()}
    return _VerdictPart(
        holds=verdict.holds, sentence=verdict.sentence, checks=_check_parts(verdict.checks), key=verdict.key, figures=figures
    )


def _verdict(part: _VerdictPart | None) -> KeptVerdict | None:
    if part is None:
        return None
    return KeptVerdict(part.holds, part.sentence, _checks(part.checks), part.key, dict(part.figures))


def _mark_part(mark: Mark) -> _MarkPart:
    return _MarkPart(text=mark.text, start_s=mark.start, end_s=mark.end, stroke_s=mark.stroke)


def _feedback(part: _FeedbackPart | None, arrays: dict[str, Any]) -> Feedback | None:
    if part is None:
        return None
    values = [arrays[f"feedback_{name}"] for name in _FEEDBACK]
    return Feedback(part.rate_hz, tuple(part.coordinates), tuple(part.momenta), tuple(part.inputs), *values)


def _jsonable(value: Any) -> Any:
    """Numbers of NumPy, arrays and paths among the options, as JSON knows them."""
    if isinstance(value, np.generic):
        return value.item()
    if isinstance(value, np.ndarray):
        return value.tolist()
    return str(value)
