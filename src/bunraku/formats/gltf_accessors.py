"""The container of a glTF file: its JSON part as checked models, and numbers out of its buffers."""

from __future__ import annotations

import base64
import binascii
import json
import struct
from pathlib import Path
from typing import Annotated, Any, TypeVar
from urllib.parse import unquote

import numpy as np
from numpy.typing import NDArray
from pydantic import BaseModel, Field, ValidationError

from bunraku.arrays import Array
from bunraku.character.description import first_problem
from bunraku.errors import BadInput
from bunraku.formats.files import MAX_BYTES, check_size, confined, read_reference
from bunraku.formats.places import Where

T = TypeVar("T")
Index = Annotated[int, Field(ge=0, le=2**31, strict=True)]
Finite = Annotated[float, Field(allow_inf_nan=False, ge=-1e9, le=1e9)]
MAX_JSON_BYTES = 48 * 1024 * 1024
_MAX_PARTS = 100_000


class _Buffer(BaseModel):
    byteLength: Annotated[int, Field(ge=0, le=MAX_BYTES)]  # noqa: N815
    uri: str | None = None


class _View(BaseModel):
    buffer: Index
    byteLength: Index  # noqa: N815
    byteOffset: Index = 0  # noqa: N815
    byteStride: Annotated[int, Field(ge=1, le=1024)] | None = None  # noqa: N815


class _Accessor(BaseModel):
    componentType: int  # noqa: N815
    count: Index
    type: str
    bufferView: Index | None = None  # noqa: N815
    byteOffset: Index = 0  # noqa: N815
    normalized: bool = False
    sparse: dict[str, object] | None = None


class GltfNode(BaseModel):
    """A node: its name, children, and pose in its parent as matrix (column major) or translation, rotation (x, y, z, w), scale."""

    name: str = ""
    children: Annotated[list[Index], Field(max_length=_MAX_PARTS)] = []
    matrix: Annotated[list[Finite], Field(min_length=16, max_length=16)] | None = None
    translation: tuple[Finite, Finite, Finite] = (0.0, 0.0, 0.0)
    rotation: tuple[Finite, Finite, Finite, Finite] = (0.0, 0.0, 0.0, 1.0)
    scale: tuple[Finite, Finite, Finite] = (1.0, 1.0, 1.0)
    mesh: Index | None = None


class _Target(BaseModel):
    path: str
    node: Index | None = None


class AnimationChannel(BaseModel):
    """Which sampler moves which property of which node."""

    sampler: Index
    target: _Target


class _Sampler(BaseModel):
    input: Index
    output: Index
    interpolation: str = "LINEAR"


class _Animation(BaseModel):
    channels: Annotated[list[AnimationChannel], Field(max_length=_MAX_PARTS)] = []
    samplers: Annotated[list[_Sampler], Field(max_length=_MAX_PARTS)] = []
    name: str = ""


class _Skin(BaseModel):
    joints: Annotated[list[Index], Field(max_length=_MAX_PARTS)]


class GltfPrimitive(BaseModel):
    """Points, lines or triangles (``mode``), by the accessors of their ``attributes`` and ``indices``."""

    attributes: dict[str, Index]
    indices: Index | None = None
    mode: Annotated[int, Field(ge=0, le=6)] = 4


class _Mesh(BaseModel):
    primitives: Annotated[list[GltfPrimitive], Field(max_length=_MAX_PARTS)]
    name: str = ""


class _Scene(BaseModel):
    nodes: Annotated[list[Index], Field(max_length=_MAX_PARTS)] = []


class _Document(BaseModel):
    buffers: Annotated[list[_Buffer], Field(max_length=1000)] = []
    bufferViews: Annotated[list[_View], Field(max_length=_MAX_PARTS)] = []  # noqa: N815
    accessors: Annotated[list[_Accessor], Field(max_length=_MAX_PARTS)] = []
    nodes: Annotated[list[GltfNode], Field(max_length=10_000)] = []
    animations: Annotated[list[_Animation], Field(max_length=_MAX_PARTS)] = []
    skins: Annotated[list[_Skin], Field(max_length=10_000)] = []
    meshes: Annotated[list[_Mesh], Field(max_length=10_000)] = []
    scenes: Annotated[list[_Scene], Field(max_length=10_000)] = []
    scene: Index | None = None
    extensionsRequired: Annotated[list[str], Field(max_length=1000)] = []  # noqa: N815


class GltfFile:
    """A glTF 2.0 file: ``document`` is its JSON part; ``numbers`` reads an accessor."""

    def __init__(self, data: bytes, *, file: str, folder: Path | None) -> None:
        self.file = file
        self._folder = folder
        text, self._binary = _parts(data, file)
        check_size(text, file=file, limit=MAX_JSON_BYTES)
        try:
            content = json.loads(text)
        except (ValueError, RecursionError) as error:
            line = getattr(error, "lineno", 1)
            raise BadInput(f"is not valid JSON: {error}"[:200], file=file, place=f"line {line}") from error
        if not isinstance(content, dict) or not isinstance(content.get("asset"), dict):
            raise BadInput("is no glTF file: it has no 'asset'", file=file, place="line 1")
        version = content["asset"].get("version")
        if not isinstance(version, str) or not version.startswith("2."):
            raise BadInput(f"is glTF {str(version)[:20]!r}; version 2 is read", file=file, place="asset.version")
        try:
            self.document = _Document.model_validate(content)
        except ValidationError as error:
            place = ".".join(str(part) for part in error.errors(include_url=False)[0]["loc"])[:200]
            raise BadInput(first_problem(error)[:400], file=file, place=place) from error
        self._buffers: dict[int, bytes] = {}
        self._files: dict[Path, bytes] = {}
        self._read = 0

    def wrong(self, message: str, place: str) -> BadInput:
        """An error at a place of this file."""
        return BadInput(message, file=self.file, place=place)

    def numbers(self, accessor: int, place: str) -> Array:
        """The numbers of an accessor as floats, shape (count, parts); normalized integers become [0, 1] or [-1, 1]."""
        entry = self._entry(self.document.accessors, accessor, "accessors", place)
        place = f"accessors[{accessor}]"
        parts = {"SCALAR": 1, "VEC2": 2, "VEC3": 3, "VEC4": 4}.get(entry.type)
        component = {5126: "<f4", 5120: "i1", 5121: "u1", 5122: "<i2", 5123: "<u2"}.get(entry.componentType)
        if parts is None or component is None or entry.sparse is not None or entry.bufferView is None:
            raise self.wrong("only dense vectors of floats and small integers are read", place)
        if component != "<f4" and not entry.normalized:
            raise self.wrong("integers that stand for real numbers must be normalized", place)
        raw = self._raw(entry, entry.bufferView, parts, np.dtype(component), place)
        with np.errstate(all="ignore"):
            values = raw.astype(np.float64)
        if component != "<f4":
            values = np.maximum(values / float(np.iinfo(raw.dtype).max), -1.0)
        if not np.abs(values).max(initial=0.0) < 1e9:
            raise self.wrong("holds a number that is not finite, or beyond 1e9", place)
        return values

    def indices(self, accessor: int, place: str) -> NDArray[np.int64]:
        """The whole numbers (count,) of an accessor that numbers vertices."""
        entry = self._entry(self.document.accessors, accessor, "accessors", place)
        place = f"accessors[{accessor}]"
        component = {5121: "u1", 5123: "<u2", 5125: "<u4"}.get(entry.componentType)
        if entry.type != "SCALAR" or component is None or entry.sparse is not None or entry.bufferView is None:
            raise self.wrong("numbers of vertices are dense scalars of unsigned bytes, shorts or ints", place)
        return self._raw(entry, entry.bufferView, 1, np.dtype(component), place)[:, 0].astype(np.int64)

    def _raw(self, entry: _Accessor, number: int, parts: int, kind: np.dtype[Any], place: str) -> NDArray[Any]:
        """The numbers (count, parts) of an accessor as they stand in its buffer."""
        view = self._entry(self.document.bufferViews, number, "bufferViews", place)
        buffer = self._buffer(view.buffer)
        width = parts * kind.itemsize
        stride = view.byteStride or width
        start = view.byteOffset + entry.byteOffset
        needed = (entry.count - 1) * stride + width if entry.count else 0
        if stride < width or entry.byteOffset + needed > view.byteLength or start + needed > len(buffer):
            raise self.wrong("reaches beyond the end of its buffer", place)
        self._read += entry.count * parts
        if self._read > 50_000_000:
            raise self.wrong("the file holds more numbers than are read", place)
        return np.ndarray((entry.count, parts), kind, buffer, start, (stride, kind.itemsize))

    def _entry(self, entries: list[T], index: int, name: str, place: str) -> T:
        if index >= len(entries):
            raise self.wrong(f"refers to {name}[{index}]; there are {len(entries)}", place)
        return entries[index]

    def _buffer(self, index: int) -> bytes:
        place = f"buffers[{index}]"
        entry = self._entry(self.document.buffers, index, "buffers", place)
        if index not in self._buffers:
            if entry.uri is None:
                if index != 0 or self._binary is None:
                    raise self.wrong("has no data: no uri, and no binary part follows", place)
                content = self._binary
            elif entry.uri.startswith("data:"):
                head, _, body = entry.uri.partition(",")
                if not head.endswith(";base64"):
                    raise self.wrong("its data URI is not base64", place)
                try:
                    content = base64.b64decode(body, validate=True)
                except (binascii.Error, ValueError) as error:
                    raise self.wrong(f"its base64 is damaged: {error}", place) from error
            else:
                content = self._referenced(unquote(entry.uri), Where(self.file, ("buffers", index)))
            if len(content) < entry.byteLength:
                raise self.wrong(f"holds {len(content)} bytes where {entry.byteLength} are declared", place)
            self._buffers[index] = content
        return self._buffers[index]

    def _referenced(self, name: str, where: Where) -> bytes:
        """The bytes of a file beside this one: each is loaded once, and all together hold at most ``MAX_BYTES``."""
        path = confined(name, self._folder, where)
        if path not in self._files:
            left = MAX_BYTES - sum(len(content) for content in self._files.values())
            self._files[path] = read_reference(name, self._folder, where, limit=left)
        return self._files[path]


def _parts(data: bytes, file: str) -> tuple[bytes, bytes | None]:
    """The JSON text and the binary part of a ``.glb``, or the text of a ``.gltf``."""
    if data[:4] != b"glTF":
        return data.removeprefix(b"\xef\xbb\xbf"), None
    text: bytes | None = None
    binary: bytes | None = None
    at = 12
    while at + 8 <= len(data):
        length, kind = struct.unpack_from("<I4s", data, at)
        chunk = data[at + 8 : at + 8 + length]
        if len(chunk) < length:
            raise BadInput(f"is cut short: {length} bytes are declared, {len(chunk)} follow", file=file, place=f"byte {at}")
        if kind == b"JSON" and text is None:
            text = chunk
        elif kind == b"BIN\x00" and binary is None:
            binary = chunk
        at += 8 + length + (-length % 4)
    if text is None:
        raise BadInput("is a binary glTF file without its JSON part", file=file, place="byte 12")
    return text, binary
