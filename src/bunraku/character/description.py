"""The base of all descriptions: frozen, self-validating, in SI units, with the quantity of each number declared.

Fields carry no unit in memory: everything is SI (metres, kilograms, seconds, radians). In files the unit is part of the
key (``mass_kg``, ``range_deg``); `bunraku.formats.units` turns one into the other by the quantity declared here.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Annotated, Any, Self

from pydantic import BaseModel, ConfigDict, Field, ValidationError

from bunraku.errors import BadInput

Name = Annotated[str, Field(min_length=1, max_length=200, pattern=r"^[^\s/\x00-\x1f][^\x00-\x1f]*$")]
Vector3 = tuple[float, float, float]
Quaternion = tuple[float, float, float, float]
Range = tuple[float, float]


def quantity(kind: str, default: Any = ..., **rules: Any) -> Any:
    """A field holding a physical quantity.

    ``kind`` is one of mass, length, inertia, time, frequency, angle, coordinate (rad or m, by the joint), rate,
    acceleration, jerk (their derivatives), speed, linear_acceleration (of a point, m/s and m/s²), effort (N·m or N),
    force (N), drag (N·s/m), stiffness, damping (effort per coordinate, per rate), modulus (Pa), density (kg/m³).
    """
    if "default_factory" in rules:
        return Field(json_schema_extra={"quantity": kind}, **rules)
    return Field(default, json_schema_extra={"quantity": kind}, **rules)


class Description(BaseModel):
    """A fact about a character or a motion; changing one means making another with ``changed``."""

    model_config = ConfigDict(frozen=True, extra="forbid", allow_inf_nan=False)

    def __init__(self, **data: Any) -> None:
        try:
            super().__init__(**data)
        except ValidationError as error:
            raise BadInput(first_problem(error), place=type(self).__name__) from error

    def changed(self, **fields: Any) -> Self:
        """The same description with some fields replaced, validated again."""
        return type(self)(**{name: getattr(self, name) for name in type(self).model_fields} | fields)


class Misfit(ValueError):
    """A part that does not fit the others; ``steps`` lead to it from the whole: ("joints", 3, "child")."""

    def __init__(self, message: str, *steps: str | int) -> None:
        super().__init__(message)
        self.steps = steps


def misfit_of(error: BaseException | None) -> Misfit | None:
    """The misfit that made a description fail, if that is what lies behind an error."""
    while error is not None and not isinstance(error, ValidationError):
        error = error.__cause__
    cause = None if error is None else error.errors(include_url=False)[0].get("ctx", {}).get("error")
    return cause if isinstance(cause, Misfit) else None


def some(names: Iterable[str], limit: int = 8) -> str:
    """The first of some names, in order, and how many more there are."""
    listed = list(names)
    return ", ".join(listed[:limit]) + (f" and {len(listed) - limit} more" if len(listed) > limit else "")


def first_problem(error: ValidationError) -> str:
    """The first problem of a validation, as one line: the place within the data, what arrived, what is accepted."""
    problem = error.errors(include_url=False)[0]
    place = ".".join(str(part) for part in problem["loc"])
    more = error.error_count() - 1
    arrived = "" if isinstance(problem["input"], dict) else f", got {str(problem['input'])[:80]!r}"
    message = problem["msg"].removeprefix("Value error, ")
    return f"{place + ': ' if place else ''}{message}{arrived if place else ''}{f' (and {more} more problems)' if more else ''}"
