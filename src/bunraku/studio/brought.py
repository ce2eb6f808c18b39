"""Files that a user brings: which edit opens them."""

from __future__ import annotations

from pathlib import Path

from bunraku.errors import BunrakuError
from bunraku.formats.files import read_bytes
from bunraku.formats.registry import read_clip
from bunraku.formats.yaml_file import kind_of_yaml


def edit_for(path: Path) -> str | None:
    """The edit that opens a file; None when it is no character, clip or performance."""
    name = path.name.lower()
    if name.endswith(".performance.npz"):
        return "open.performance"
    if name.endswith((".bvh", ".csv", ".wav")):
        return "open.clip"
    if name.endswith((".gltf", ".glb")):
        return "open.clip" if _moves(path) else None
    if name.endswith((".urdf", ".xml", ".mjcf")):
        return "open.character"
    if name.endswith((".yaml", ".yml")):
        return {"character": "open.character", "clip": "open.clip"}.get(kind_of_yaml(read_bytes(path), file=path.name))
    return None


def _moves(path: Path) -> bool:
    """Whether a glTF file holds a motion; else it is a surface."""
    try:
        read_clip(path)
    except BunrakuError:
        return False
    return True
