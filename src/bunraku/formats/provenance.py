"""Where a result came from: hashes of what went in, and the versions of what computed it. No clock, no machine."""

from __future__ import annotations

import dataclasses
import hashlib
import struct
import sys
from collections.abc import Mapping
from enum import Enum
from importlib.metadata import PackageNotFoundError, version
from pathlib import PurePath
from typing import Any

import numpy as np
from pydantic import BaseModel

from bunraku import __version__
from bunraku.errors import BadInput
from bunraku.motion import Provenance


def content_hash(*things: Any) -> str:
    """``sha256:`` and the hash of things by their contents.

    Bytes, texts, numbers, arrays, lists, mappings (in any order), descriptions, and dataclasses such as clips can be hashed.
    Equal contents give equal hashes on every machine; unlike kinds never mix.
    """
    digest = hashlib.sha256()
    for thing in things:
        _feed(digest, thing)
    return f"sha256:{digest.hexdigest()}"


def provenance(performer: str, inputs: Mapping[str, Any], options: Mapping[str, Any] | None = None, seed: int = 0) -> Provenance:
    """The provenance of a result. ``inputs`` maps names to nouns, or to hashes already made by ``content_hash``."""
    hashes = {
        name: thing if isinstance(thing, str) and thing.startswith("sha256:") else content_hash(thing)
        for name, thing in inputs.items()
    }
    return Provenance(performer, hashes, dict(options or {}), versions(), seed)


def versions() -> dict[str, str]:
    """Versions of Bunraku, of Python (major.minor) and of the packages that numbers depend on."""
    software = {"bunraku": __version__, "python": f"{sys.version_info.major}.{sys.version_info.minor}"}
    return software | {package: installed(package) for package in ("numpy", "scipy", "numba")}


def installed(package: str) -> str:
    """The version of a package, or "not installed"."""
    try:
        return version(package)
    except PackageNotFoundError:
        return "not installed"


def _feed(digest: Any, thing: Any) -> None:
    """Add one thing, its kind and length first, so that different structures give different streams of bytes."""

    def put(kind: str, body: bytes) -> None:
        digest.update(kind.encode() + b":" + struct.pack("<Q", len(body)) + body)

    if isinstance(thing, Enum):
        thing = thing.value
    if isinstance(thing, np.generic):
        thing = thing.item()
    match thing:
        case None | bool():
            put("constant", repr(thing).encode())
        case int():
            put("int", str(thing).encode())
        case float():
            put("float", struct.pack("<d", thing))
        case str() | PurePath():
            put("text", str(thing).encode("utf-8", "surrogatepass"))
        case bytes() | bytearray():
            put("bytes", bytes(thing))
        case np.ndarray():
            plain = np.ascontiguousarray(thing).astype(thing.dtype.newbyteorder("<"), copy=False)
            put("array", f"{plain.dtype.str}{thing.shape}".encode() + b":" + plain.tobytes())
        case BaseModel():
            put("model", type(thing).__name__.encode())
            _feed(digest, {name: getattr(thing, name) for name in type(thing).model_fields})
        case Mapping():
            put("mapping", str(len(thing)).encode())
            for key in sorted(thing, key=str):
                _feed(digest, key)
                _feed(digest, thing[key])
        case list() | tuple():
            put("list", str(len(thing)).encode())
            for part in thing:
                _feed(digest, part)
        case set() | frozenset():
            put("set", str(len(thing)).encode())
            for part in sorted(thing, key=str):
                _feed(digest, part)
        case _ if dataclasses.is_dataclass(thing) and not isinstance(thing, type):
            put("dataclass", type(thing).__name__.encode())
            _feed(digest, {field.name: getattr(thing, field.name) for field in dataclasses.fields(thing)})
        case _:
            raise BadInput(f"a {type(thing).__name__} has no content hash; give numbers, texts, arrays or descriptions")
