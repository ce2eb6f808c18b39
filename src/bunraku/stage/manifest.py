"""What a file for a controller says of its channels beside their samples, so that it can be read back: JSON in a comment.

    bunraku: {"rate_hz": 50.0, "channels": [{"name": "HeadYaw", "kind": "position", "unit": "rad", "key": 3, ...}]}

The line is printable ASCII and holds nothing that ends a comment or continues it.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any, Literal

from pydantic import Field, ValidationError

from bunraku.character.description import Description, first_problem
from bunraku.errors import BadInput
from bunraku.motion import Channel

KEY = "bunraku"
"""The name of the manifest in files that name their parts."""
MARK = f"{KEY}: "
"""How the line begins, after the mark of a comment."""
_RISKY = {mark: f"\\u{ord(mark):04x}" for mark in "*/?<>&"}


class ManifestChannel(Description):
    """A channel of a file: what it drives, and where its samples are.

    ``key`` is the number under which the file holds the samples: the id of a servo, or the channel's place. They are whole numbers
    zero + per_unit * value, rounded; without ``per_unit`` they are the values themselves.
    """

    name: str = Field(max_length=1000)
    kind: Literal["position", "velocity", "torque", "length"]
    unit: str = Field(max_length=20)
    key: int = Field(0, ge=0)
    zero: float = 0.0
    per_unit: float | None = None


class Manifest(Description):
    """The channels of a file, and their exact rate."""

    rate_hz: float = Field(gt=0.0, le=100_000.0)
    channels: tuple[ManifestChannel, ...] = Field(max_length=10_000)


def manifest(
    rate: float, channels: Sequence[Channel], keys: Sequence[int] = (), lines: Sequence[tuple[float, float]] = ()
) -> Manifest:
    """Of channels at ``rate`` [Hz]: ``keys``, by default their places, and ``lines`` (zero, per_unit) where they are rounded."""
    return Manifest(
        rate_hz=rate,
        channels=tuple(
            ManifestChannel(
                name=channel.name,
                kind=channel.kind,
                unit=channel.unit,
                key=keys[place] if keys else place,
                **({"zero": lines[place][0], "per_unit": lines[place][1]} if lines else {}),
            )
            for place, channel in enumerate(channels)
        ),
    )


def as_data(content: Manifest) -> dict[str, Any]:
    """The manifest as plain data, for a file that is JSON itself."""
    return content.model_dump(exclude_none=True)


def as_text(content: Manifest) -> str:
    """The manifest as one line of ASCII."""
    return json.dumps(as_data(content), ensure_ascii=True)


def as_line(content: Manifest) -> str:
    """The manifest as a line of a comment, without the mark of the comment and the line break."""
    text = as_text(content)
    for mark, safe in _RISKY.items():
        text = text.replace(mark, safe)
    return MARK + text


def from_data(content: Any, *, file: str) -> Manifest:
    """The manifest in plain data of a file."""
    try:
        return Manifest.model_validate(content)
    except ValidationError as error:
        raise BadInput(f"says of its channels what cannot be used: {first_problem(error)[:300]}", file=file) from error


def from_text(text: str, *, file: str) -> Manifest:
    """The manifest in the first line of a text that holds one."""
    start = text.find(f'{MARK}{{"rate_hz"')
    end = text.find("\n", start)
    if start < 0:
        raise BadInput(f"has no line {MARK.strip()!r} that names its channels; export it again with this version", file=file)
    line = text.count("\n", 0, start) + 1
    try:
        content = json.loads(text[start + len(MARK) : end if end >= 0 else None])
    except (ValueError, RecursionError) as error:
        raise BadInput(f"the line that names the channels is damaged: {error}"[:200], file=file, place=f"line {line}") from error
    return from_data(content, file=file)
