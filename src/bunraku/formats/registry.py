"""All formats behind one door: a character, a clip or a performance is read and written by its file name.

A source without suffix and folder that is no file names a built-in asset (``nao``, ``no-problem``). A format is one entry in
the table below: suffixes, the function that reads it, the one that writes it; their modules are imported when first needed.
Readers take (bytes, file=, folder=). Writers take the noun and return bytes; of clips, also the file's name, and return all
files to write by name, the main one last.
"""

from __future__ import annotations

import importlib
from collections.abc import Callable
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path
from typing import Any, Literal

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes
from bunraku.formats.places import known_names
from bunraku.formats.yaml_file import kind_of_yaml
from bunraku.motion import Clip, Performance

Kind = Literal["character", "clip", "performance"]
_BUILT_IN: tuple[Kind, ...] = ("character", "clip")


@dataclass(frozen=True)
class Format:
    """A file format: its suffixes, what it holds, and the functions of this room that read and write it as ``module:function``."""

    name: str
    kind: Kind
    suffixes: tuple[str, ...]
    reader: str
    writer: str = ""


_NPZ = ("performance_npz:read_performance_npz", "performance_npz:write_performance_npz")
_FORMATS = (
    Format(
        "character YAML",
        "character",
        (".character.yaml", ".yaml", ".yml"),
        "character_yaml:read_character_yaml",
        "character_yaml:write_character_yaml",
    ),
    Format("URDF", "character", (".urdf",), "urdf_read:read_urdf", "urdf_write:write_urdf"),
    Format("MJCF", "character", (".xml", ".mjcf"), "mjcf_read:read_mjcf", "mjcf_write:export_mjcf"),
    Format("clip YAML", "clip", (".clip.yaml", ".yaml", ".yml"), "clip_yaml:read_clip_yaml", "clip_yaml:write_clip_yaml"),
    Format("BVH", "clip", (".bvh",), "bvh:read_bvh"),
    Format("CSV", "clip", (".csv",), "csv_curves:read_csv", "csv_curves:write_csv"),
    Format("WAV", "clip", (".wav",), "wav:read_wav", "wav:write_wav_clip"),
    Format("glTF animation", "clip", (".gltf", ".glb"), "gltf:read_gltf"),
    Format("performance", "performance", (".performance.npz", ".npz"), *_NPZ),
)


def formats() -> tuple[Format, ...]:
    """The table of formats."""
    return _FORMATS


def built_in(kind: Kind) -> tuple[str, ...]:
    """The names of the built-in characters or clips."""
    folder = files("bunraku.assets") / f"{kind}s"
    suffix = f".{kind}.yaml"
    names = [entry.name for entry in folder.iterdir()] if folder.is_dir() else []
    return tuple(sorted(name.removesuffix(suffix) for name in names if name.endswith(suffix)))


def read_character(source: str | Path, *, overlay: str | Path | None = None) -> Character:
    """The character of a file (YAML, URDF, MJCF) or the built-in one of that name, with an overlay laid over it if given.

    ``overlay`` is a file, or the name of a built-in one: "marionette-motors" gives the marionette twelve servos.
    """
    return read_character_with_notes(source, overlay=overlay)[0]


def read_character_with_notes(source: str | Path, *, overlay: str | Path | None = None) -> tuple[Character, tuple[str, ...]]:
    """The same, with the list of what a foreign format held that was dropped or changed."""
    parsed = _read(source, "character")
    character, notes = parsed if isinstance(parsed, tuple) else (parsed, ())
    if overlay is not None:
        apply = _function("overlay:apply_overlay")
        character = apply(character, _overlay(overlay), file=str(overlay))
    return character, tuple(notes)


def _overlay(source: str | Path) -> bytes:
    """The bytes of an overlay file, or of the built-in overlay of that name."""
    asset = files("bunraku.assets") / "overlays" / f"{source}.overlay.yaml"
    named = len(Path(source).parts) == 1 and not Path(source).exists()
    return asset.read_bytes() if named and asset.is_file() else read_bytes(source)


def read_clip(source: str | Path) -> Clip:
    """The clip of a file (YAML, BVH, CSV, WAV, glTF, a performance) or the built-in one of that name."""
    if _format_of(Path(source), "performance") is not None:
        return read_performance(source).as_clip()
    return _read(source, "clip")


def read_performance(source: str | Path) -> Performance:
    """The performance of a file."""
    return _read(source, "performance")


def read_any(source: str | Path, *, overlay: str | Path | None = None) -> tuple[Character | Clip | Performance, tuple[str, ...]]:
    """Whatever a file or built-in name holds, and what its reader dropped or changed, in sentences."""
    kind = _kind_of(source)
    if kind != "character":
        return (read_performance(source) if kind == "performance" else read_clip(source)), ()
    return read_character_with_notes(source, overlay=overlay)


def _kind_of(source: str | Path) -> Kind:
    path = Path(source)
    if _is_bare(path, source) and not path.is_file():
        for kind in _BUILT_IN:
            if str(source) in built_in(kind):
                return kind
    if path.suffix.lower() in (".yaml", ".yml"):
        header = kind_of_yaml(read_bytes(path), file=str(source))
        if header in ("character", "clip"):
            return "character" if header == "character" else "clip"
        raise BadInput(
            f"a file of kind {header!r} stands by itself nowhere; inspect takes characters, clips and performances",
            file=str(source),
        )
    for entry in _FORMATS:
        if path.name.lower().endswith(entry.suffixes):
            return entry.kind
    names = ", ".join((*built_in("character"), *built_in("clip")))
    suffixes = ", ".join(suffix for entry in _FORMATS for suffix in entry.suffixes)
    raise BadInput(f"neither a file Bunraku reads ({suffixes}) nor built in ({names})", file=str(source))


def write_character(path: str | Path, character: Character) -> tuple[str, ...]:
    """Write a character as YAML, URDF or MJCF, by the suffix of ``path``; returns what was dropped, in sentences."""
    return _write(path, character, "character")


def write_clip(path: str | Path, clip: Clip) -> None:
    """Write a clip as YAML (a voice goes beside it as WAV) or its joint curves as CSV, by the suffix of ``path``."""
    _write(path, clip, "clip")


def write_performance(path: str | Path, performance: Performance) -> None:
    """Write a performance, whole and self-contained."""
    _write(path, performance, "performance")


def _read(source: str | Path, kind: Kind) -> Any:
    path = _located(source, kind)
    form = _format_of(path, kind)
    if form is None:
        readable = ", ".join(suffix for entry in _FORMATS if entry.kind == kind for suffix in entry.suffixes)
        raise BadInput(f"the suffix {path.suffix!r} is not one of a {kind}; these are read: {readable}", file=str(source))
    return _function(form.reader)(read_bytes(path), file=str(source), folder=path.parent)


def _write(path: str | Path, noun: Any, kind: Kind) -> tuple[str, ...]:
    path = Path(path)
    form = _format_of(path, kind)
    if form is None or not form.writer:
        writable = ", ".join(suffix for entry in _FORMATS if entry.kind == kind and entry.writer for suffix in entry.suffixes)
        raise BadInput(f"a {kind} cannot be written as {path.suffix!r}; these can: {writable}", file=str(path))
    writer = _function(form.writer)
    written, notes = writer(noun, path.name) if kind == "clip" else writer(noun), ()
    if isinstance(written, tuple):
        written, notes = written
    parts: dict[str, bytes] = written if kind == "clip" else {path.name: written.encode() if isinstance(written, str) else written}
    for name, data in parts.items():
        write_atomically(path.parent / name, data)
    return notes


def _format_of(path: Path, kind: Kind) -> Format | None:
    name = path.name.lower()
    return next((entry for entry in _FORMATS if entry.kind == kind and name.endswith(entry.suffixes)), None)


def _located(source: str | Path, kind: Kind) -> Path:
    """The path of a source: a file, or a built-in asset."""
    path = Path(source)
    text = str(source)
    if kind not in _BUILT_IN or not _is_bare(path, source) or path.is_file():
        return path
    asset = Path(str(files("bunraku.assets") / f"{kind}s" / f"{text}.{kind}.yaml"))
    if not asset.is_file():
        raise BadInput(f"{text!r} is neither a file nor a built-in {kind}; {known_names(text, built_in(kind), 40)}", file=text)
    return asset


def _is_bare(path: Path, source: str | Path) -> bool:
    """Whether a source can name a built-in asset: no folder, no suffix."""
    return path.suffix == "" and path.name == str(source) and "\x00" not in str(source)


def _function(target: str) -> Callable[..., Any]:
    module, _, name = target.partition(":")
    return getattr(importlib.import_module(f"bunraku.formats.{module}"), name)
