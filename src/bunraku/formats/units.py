"""Between files, where the unit is part of the key, and descriptions, which are SI throughout.

``build`` reads and makes the description, translating its complaints into errors with file, line and field; ``from_si`` writes.
Both follow the fields of the description class and the quantity each declares
(`character.description.quantity`); no field is listed here by name but the rotation of a pose, which may be written as
``rpy_deg`` (roll, pitch, yaw: R = Rz(yaw) Ry(pitch) Rx(roll)). The unit is part of a key: ``mass_g: 250`` is a mass of 0.25 kg.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from functools import cache
from math import pi
from types import UnionType
from typing import Any, TypeVar, Union, get_args, get_origin

from pydantic import BaseModel, ValidationError

from bunraku.character import Character, Joint, Pose
from bunraku.character.description import first_problem
from bunraku.errors import BadInput
from bunraku.formats.places import Steps, Where, known_names
from bunraku.geometry.euler import roll_pitch_yaw_matrix
from bunraku.geometry.rotations import quaternion_of_matrix

_DEG = pi / 180.0
_RPM = pi / 30.0
_INCH = 0.0254
_GRAVITY = 9.80665
_OUNCE_FORCE = 0.028349523125 * _GRAVITY

ANGULAR = "angular"
LINEAR = "linear"

_LENGTH = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": _INCH}
_ANGLE = {"rad": 1.0, "deg": _DEG}

FAMILIES: dict[str, dict[str, dict[str, float]]] = {  # quantity -> family -> suffix of the key: factor to SI, SI first
    "mass": {LINEAR: {"kg": 1.0, "g": 0.001}},
    "length": {LINEAR: _LENGTH},
    "angle": {ANGULAR: _ANGLE},
    "time": {LINEAR: {"s": 1.0, "ms": 0.001}},
    "frequency": {LINEAR: {"hz": 1.0, "khz": 1000.0}},
    "inertia": {
        ANGULAR: {"kg_m2": 1.0, "kg_cm2": 1e-4, "kg_mm2": 1e-6, "g_cm2": 1e-7, "g_mm2": 1e-9},
        LINEAR: {"kg": 1.0, "g": 0.001},
    },
    "coordinate": {ANGULAR: _ANGLE, LINEAR: _LENGTH},
    "keys": {ANGULAR: _ANGLE, LINEAR: _LENGTH},
    "rate": {ANGULAR: {"rad_s": 1.0, "deg_s": _DEG, "rpm": _RPM}, LINEAR: {"m_s": 1.0, "cm_s": 0.01, "mm_s": 0.001}},
    "acceleration": {ANGULAR: {"rad_s2": 1.0, "deg_s2": _DEG}, LINEAR: {"m_s2": 1.0, "cm_s2": 0.01, "mm_s2": 0.001}},
    "speed": {LINEAR: {"m_s": 1.0, "cm_s": 0.01, "mm_s": 0.001}},
    "linear_acceleration": {LINEAR: {"m_s2": 1.0, "cm_s2": 0.01, "mm_s2": 0.001}},
    "jerk": {ANGULAR: {"rad_s3": 1.0, "deg_s3": _DEG}, LINEAR: {"m_s3": 1.0, "cm_s3": 0.01, "mm_s3": 0.001}},
    "effort": {
        ANGULAR: {"n_m": 1.0, "n_cm": 0.01, "n_mm": 0.001, "kg_cm": 0.01 * _GRAVITY, "oz_in": _OUNCE_FORCE * _INCH},
        LINEAR: {"n": 1.0, "kgf": _GRAVITY},
    },
    "modulus": {LINEAR: {"pa": 1.0, "kpa": 1e3, "mpa": 1e6, "gpa": 1e9}},
    "density": {LINEAR: {"kg_m3": 1.0, "g_cm3": 1000.0}},
    "force": {LINEAR: {"n": 1.0, "kgf": _GRAVITY}},
    "stiffness": {ANGULAR: {"n_m_per_rad": 1.0, "n_m_per_deg": 180.0 / pi}, LINEAR: {"n_per_m": 1.0, "n_per_mm": 1000.0}},
    "drag": {LINEAR: {"n_s_per_m": 1.0}},
    "damping": {ANGULAR: {"n_m_s_per_rad": 1.0, "n_m_s_per_deg": 180.0 / pi}, LINEAR: {"n_s_per_m": 1.0, "n_s_per_mm": 1000.0}},
}


def accepted_units(quantity: str) -> dict[str, tuple[float, str]]:
    """Suffix -> (factor to SI, family) for every unit in which a quantity may be written."""
    return {suffix: (factor, family) for family, units in FAMILIES[quantity].items() for suffix, factor in units.items()}


def si_suffix(quantity: str, *, linear: bool = False) -> str:
    """The suffix of the SI unit: ``rad`` or, of a sliding coordinate, ``m``."""
    families = FAMILIES[quantity]
    return next(iter(families[LINEAR if linear and LINEAR in families else next(iter(families))]))


Model = TypeVar("Model", bound=BaseModel)


def build(model: type[Model], raw: Any, *, file: str, place: str = "", lines: Mapping[Steps, int] | None = None) -> Model:
    """A validated description from a mapping with units in its keys; what is wrong is said with file, line and field."""
    return _convert(model, raw, Where(file, (), lines or {}, place))


def from_si(description: BaseModel, prismatic: Collection[str] = ()) -> dict[str, Any]:
    """The mapping to write for a description: SI units in the keys, defaults left out; ``build`` gives back the same numbers.

    ``prismatic`` names the coordinates that slide, whose numbers get metres and newtons; a character knows its own.
    """
    if isinstance(description, Character):
        prismatic = {axis.name for axis in description.axes if axis.kind == "slide"}
    written: dict[str, Any] = {}
    for name, field in type(description).model_fields.items():
        value = getattr(description, name)
        if value == field.get_default(call_default_factory=True):
            continue
        kind = quantity_of(field)
        if kind is None:
            written[name] = _plain(value, prismatic)
            continue
        for linear, part in _by_kind(description, name, value, prismatic):
            written[f"{name}_{si_suffix(kind, linear=linear)}"] = _plain(part, prismatic)
    return written


def quantity_of(field: Any) -> str | None:
    """The quantity a model field declares, or None."""
    extra = field.json_schema_extra
    return extra.get("quantity") if isinstance(extra, dict) else None


def nested_model(annotation: Any) -> type[BaseModel] | None:
    """The description class inside an annotation such as ``tuple[Body, ...]`` or ``Pose | None``, if there is one."""
    if isinstance(annotation, type) and issubclass(annotation, BaseModel):
        return annotation
    for part in get_args(annotation):
        inner = nested_model(part)
        if inner is not None:
            return inner
    return None


@cache
def _keys(model: type[BaseModel]) -> dict[str, tuple[str, float | None, str | None]]:
    """Key in the file -> (field, factor or None without dimension, family of the unit)."""
    keys: dict[str, tuple[str, float | None, str | None]] = {}
    for name, field in model.model_fields.items():
        kind = quantity_of(field)
        if kind is None:
            keys[name] = (name, None, None)
        else:
            keys |= {f"{name}_{suffix}": (name, factor, family) for suffix, (factor, family) in accepted_units(kind).items()}
    if model is Pose:
        keys |= {f"rpy_{suffix}": ("quaternion", factor, ANGULAR) for suffix, (factor, _) in accepted_units("angle").items()}
    return keys


def _convert(model: type[BaseModel], raw: Any, where: Where) -> Any:
    if not isinstance(raw, dict):
        raise where.wrong(f"{_arrived(raw)} where a mapping is needed; {_known('', _keys(model))}")
    known = _keys(model)
    converted: dict[str, Any] = {}
    source: dict[str, str] = {}
    for key, value in raw.items():
        inside = where.at(key)
        if key not in known:
            raise inside.wrong(_unknown(model, key, known))
        name, factor, family = known[key]
        field = model.model_fields[name]
        if model is Pose and name == "quaternion" and factor is not None:
            value = _quaternion(_scaled(value, factor, False, inside), inside)
        elif factor is not None:
            _check_family(model, raw, family, inside)
            value = _scaled(value, factor, quantity_of(field) == "keys", inside)
        elif (child := nested_model(field.annotation)) is not None:
            value = _nested(child, field.annotation, value, inside)
        if name in converted:
            value = _merged(converted[name], value, source[name], inside)
        converted[name] = value
        source[name] = key
    try:
        return model(**converted)
    except (ValidationError, BadInput) as error:
        cause = error if isinstance(error, ValidationError) else error.__cause__
        if not isinstance(cause, ValidationError):
            raise where.wrong(str(error)) from error
        steps = [part for part in cause.errors(include_url=False)[0]["loc"] if isinstance(part, str | int)]
        if steps and isinstance(steps[0], str):
            at = where.at(source.get(steps[0], steps[0]), *steps[1:])
            said = first_problem(cause).removeprefix(f"{'.'.join(map(str, steps))}: ")  # the place is told once
            raise at.wrong(said[:400]) from error
        raise where.wrong(first_problem(cause)[:400]) from error


def _nested(child: type[BaseModel], annotation: Any, value: Any, where: Where) -> Any:
    origin = get_origin(annotation)
    if value is None:
        return None
    if origin in (UnionType, Union):
        inner = next(part for part in get_args(annotation) if nested_model(part) is not None)
        return _nested(child, inner, value, where)
    if origin in (tuple, list):
        if not isinstance(value, list | tuple):
            raise where.wrong(f"{_arrived(value)} where a list is needed")
        return [_convert(child, part, where.at(index)) for index, part in enumerate(value)]
    if origin is dict:
        if not isinstance(value, dict):
            raise where.wrong(f"{_arrived(value)} where a mapping is needed")
        return {key: _convert(child, part, where.at(key)) for key, part in value.items()}
    return value if isinstance(value, child) else _convert(child, value, where)


def _scaled(value: Any, factor: float, timed: bool, where: Where) -> Any:
    """Numbers times ``factor``, within lists and mappings; of a timed key [time, value] only the value."""
    if value is None:
        return None
    if isinstance(value, list | tuple):
        if timed and len(value) == 2 and not any(isinstance(part, list | tuple | dict) for part in value):
            return [_scaled(value[0], 1.0, False, where.at(0)), _scaled(value[1], factor, False, where.at(1))]
        return [_scaled(part, factor, timed, where.at(index)) for index, part in enumerate(value)]
    if isinstance(value, dict):
        return {key: _scaled(part, factor, timed, where.at(key)) for key, part in value.items()}
    if isinstance(value, bool) or not isinstance(value, int | float):
        raise where.wrong(f"{_arrived(value)} where a number is needed")
    try:
        return float(value) * factor
    except OverflowError as error:
        raise where.wrong("the number is too large") from error


def _merged(first: Any, second: Any, first_key: str, where: Where) -> Any:
    """Two spellings of one field: mappings are joined, lists are joined where one of them has null."""
    if isinstance(first, dict) and isinstance(second, dict):
        both = set(first) & set(second)
        if not both:
            return first | second
        raise where.wrong(f"{sorted(both)[0]!r} is given here and in {first_key}; keep one")
    if isinstance(first, list) and isinstance(second, list) and len(first) == len(second):
        pairs = list(zip(first, second, strict=True))
        if all(a is None or b is None for a, b in pairs):
            return [b if a is None else a for a, b in pairs]
    raise where.wrong(f"is given here and as {first_key}; keep one")


def _check_family(model: type[BaseModel], raw: Mapping[str, Any], family: str | None, where: Where) -> None:
    """A hinge is not limited in metres nor a slide in degrees."""
    if model is Joint and raw.get("kind") in ("hinge", "slide"):
        needed = ANGULAR if raw["kind"] == "hinge" else LINEAR
        if family is not None and family != needed:
            units = "angles (deg, rad)" if needed == ANGULAR else "lengths (m, mm)"
            raise where.wrong(f"has the wrong unit for a {raw['kind']} joint, whose coordinate is measured in {units}")


def _quaternion(rpy: Any, where: Where) -> tuple[float, float, float, float]:
    """Unit quaternion (w, x, y, z) of roll, pitch, yaw [rad] about fixed x, then y, then z."""
    if not isinstance(rpy, list) or len(rpy) != 3 or not all(isinstance(part, float) and abs(part) < 1e9 for part in rpy):
        raise where.wrong("roll, pitch and yaw are three numbers in a list")
    w, x, y, z = (float(part) for part in quaternion_of_matrix(roll_pitch_yaw_matrix(rpy)))
    return w, x, y, z


def _unknown(model: type[BaseModel], key: str, known: Mapping[str, tuple[str, float | None, str | None]]) -> str:
    if key in model.model_fields:
        kind = quantity_of(model.model_fields[key])
        spellings = ", ".join(f"{key}_{suffix}" for suffix in accepted_units(kind or "length"))
        return f"the number has no unit; put it into the key: {spellings}"
    what = re.sub(r"(?<=[a-z])(?=[A-Z])", " ", model.__name__.removesuffix("File")).lower()
    return f"the key {key[:60]!r} is not known in {'an' if what[0] in 'aeiou' else 'a'} {what}; {_known(key, known)}"


def _known(key: str, known: Mapping[str, tuple[str, float | None, str | None]]) -> str:
    """Near matches among all spellings, then every field once, in the first of its units."""
    first = {name: spelling for spelling, (name, _, _) in reversed(list(known.items()))}
    close = known_names(key, known).partition("known: ")[0]
    return close + known_names("", first.values(), 40)


def _arrived(value: Any) -> str:
    kinds = {dict: "a mapping", list: "a list", str: "a text", bool: "true or false", type(None): "nothing"}
    shown = f" {str(value)[:40]!r}" if isinstance(value, str | int | float) else ""
    return f"{kinds.get(type(value), 'a number')}{shown} arrived"


def _by_kind(description: BaseModel, name: str, value: Any, prismatic: Collection[str]) -> list[tuple[bool, Any]]:
    """The value split into parts that are (linear or not, part), by the kind of the coordinate each number belongs to."""
    if isinstance(description, Joint):
        linear = [axis.kind == "slide" for axis in description.axes]
        if name == "ranges" and any(linear) and not all(linear):
            pick = [
                [part if flag == slides else None for part, flag in zip(value, linear, strict=True)] for slides in (True, False)
            ]
            return [
                (slides, part) for slides, part in zip((True, False), pick, strict=True) if any(one is not None for one in part)
            ]
        return [(bool(linear) and all(linear), value)]
    if isinstance(value, dict):
        split = [(slides, {key: part for key, part in value.items() if (key in prismatic) == slides}) for slides in (False, True)]
        return [(slides, part) for slides, part in split if part]
    coordinate = getattr(description, "coordinate", getattr(description, "follower", None))
    return [(coordinate in prismatic, value)]


def _plain(value: Any, prismatic: Collection[str]) -> Any:
    if isinstance(value, BaseModel):
        return from_si(value, prismatic)
    if isinstance(value, tuple | list):
        return [_plain(part, prismatic) for part in value]
    if isinstance(value, dict):
        return {key: _plain(part, prismatic) for key, part in value.items()}
    return value
