"""What a run is made from, as plain data: a built-in name, or the bytes of a file and of all files it refers to.

So a worker needs no folder in common with whoever sends it work, and what is performed is what was hashed, whatever happens to the
files meanwhile.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from importlib.resources import files
from pathlib import Path, PurePosixPath
from typing import Any
from urllib.parse import unquote

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import read_bytes
from bunraku.formats.provenance import content_hash
from bunraku.formats.yaml_file import load_yaml

MAX_TOGETHER = 256 * 1024 * 1024
MAX_FILES = 500
_QUOTED = re.compile(rb"[\"']([^\"'\n\x00]{1,300})[\"']")


@dataclass(frozen=True)
class Source:
    """A character, clip, overlay or rig map: its ``label`` in the table, and the ``main`` file among ``contents`` by relative name.

    A ``built_in`` one travels by name alone; its contents are only hashed.
    """

    label: str
    main: str
    contents: dict[str, bytes]
    built_in: bool = False

    @property
    def digest(self) -> str:
        """The hash of all that is read."""
        return content_hash(self.main, self.contents)

    def plain(self) -> dict[str, Any]:
        """As plain data, to be sent."""
        sent = {} if self.built_in else self.contents
        return {"label": self.label, "main": self.main, "contents": sent, "built_in": self.built_in, "digest": self.digest}

    def unpacked(self, folder: Path) -> Path:
        """Its files written below ``folder``; the path of the main one."""
        for name, content in self.contents.items():
            path = folder / PurePosixPath(name)
            path.parent.mkdir(parents=True, exist_ok=True)
            write_atomically(path, content)
        return folder / PurePosixPath(self.main)


def pack(label: str, path: Path, *, built_in: bool = False) -> Source:
    """A file with all files it refers to, and those they refer to, inside its own folder."""
    root = path.parent.resolve()
    contents: dict[str, bytes] = {}
    rest, size = [path.name], 0
    while rest:
        name = rest.pop()
        if name in contents:
            continue
        contents[name] = read_bytes(root / name)
        size += len(contents[name])
        if size > MAX_TOGETHER or len(contents) > MAX_FILES:
            raise BadInput(f"refers to more than {MAX_FILES} files or {MAX_TOGETHER} bytes; runs take less", file=str(path))
        rest += _references(name, contents[name], root)
    return Source(label, path.name, dict(sorted(contents.items())), built_in)


def built_in_path(kind: str, name: str) -> Path | None:
    """The file of a built-in ``character``, ``clip`` or ``overlay``, if there is one of that name."""
    if not re.fullmatch(r"[\w-]{1,100}", name):
        return None
    asset = Path(str(files("bunraku.assets") / f"{kind}s" / f"{name}.{kind}.yaml"))
    return asset if asset.is_file() else None


def _references(name: str, data: bytes, root: Path) -> list[str]:
    """The names, relative to ``root``, of the files inside it that a file names."""
    suffix, below = PurePosixPath(name).suffix.lower(), PurePosixPath(name).parent
    if suffix in (".yaml", ".yml"):
        texts = _texts(load_yaml(data, file=name)[0])
    elif suffix in (".xml", ".mjcf", ".urdf", ".gltf", ".obj"):
        texts = [quoted.decode(errors="replace") for quoted in _QUOTED.findall(data)]
        texts = [unquote(text) for text in texts] if suffix == ".gltf" else texts  # which names files by addresses
    else:
        return []
    named = []
    for text in dict.fromkeys(texts):
        candidate = root / below / text
        try:
            inside = candidate.resolve().is_relative_to(root) and not PurePosixPath(text).is_absolute() and candidate.is_file()
        except (OSError, ValueError, RuntimeError):
            continue
        if inside:
            named.append(candidate.resolve().relative_to(root).as_posix() if ".." in text else (below / text).as_posix())
    return named


def _texts(value: Any) -> list[str]:
    """All texts in YAML data that could name a file."""
    texts: list[str] = []
    rest = [value]
    while rest:
        one = rest.pop()
        if isinstance(one, dict):
            rest += one.values()
        elif isinstance(one, list):
            rest += one
        elif isinstance(one, str) and 0 < len(one) <= 300 and "\n" not in one and "\x00" not in one:
            texts.append(one)
    return texts
