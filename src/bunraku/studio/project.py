"""A project: a plain folder with a project file, the character and the clip as files where they are not built in, and results."""

from __future__ import annotations

import contextlib
import hashlib
import os
import re
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from bunraku.character import Character, FlexiblePart
from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.atomic import refusal_of, write_atomically
from bunraku.formats.character_yaml import write_character_yaml
from bunraku.formats.clip_yaml import write_clip_yaml
from bunraku.formats.files import confined, read_bytes, refuse_link
from bunraku.formats.places import Where
from bunraku.formats.project_yaml import ProjectFile, read_project_yaml, write_project_yaml
from bunraku.formats.provenance import content_hash
from bunraku.formats.registry import built_in, read_character, read_clip
from bunraku.formats.wav import wav_bytes
from bunraku.formats.yaml_file import kind_of_yaml
from bunraku.formats.zip_folder import unpack_folder
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.motion import Clip
from bunraku.studio.document import EMPTY, Document
from bunraku.system.files import is_link
from bunraku.system.names import safe_name

FILE = "project.yaml"
_ALIKE = ("performer", "options", "muted", "mode", "kept", "aim", "free", "mirror", "recipe")
"""Fields that a document and a project file have in common."""
_ODD = re.compile(r"[^A-Za-z0-9._-]+")
_ENDINGS = (".character.yaml", ".clip.yaml", ".performance.npz", ".skin.npz", ".yaml", ".yml", ".urdf", ".xml", ".mjcf", ".bvh",
            ".csv", ".wav", ".gltf", ".glb", ".obj", ".stl", ".ply", ".npz", ".zip")  # fmt: skip


class Project:
    """The folder of a project. Nothing outside of it is read or written, but built-in characters and clips."""

    def __init__(self, folder: Path) -> None:
        if folder.exists() and not folder.is_dir():
            raise BadInput("this is a file; a project is a folder", file=str(folder))
        self.folder = folder

    def place(self, *parts: str) -> Path:
        """A folder of the project, made at need; one that is a link, as a stranger's project may have, is refused."""
        folder = self.folder
        _make(folder)
        for part in parts:
            folder = folder / part
            refuse_link(folder)
            _make(folder)
        return folder

    @property
    def own(self) -> Path:
        """Where the studio keeps what is its own: journal, work files."""
        return self.folder / ".bunraku"

    def load(self) -> Document:
        """The document as it was saved last; an empty one if nothing was."""
        path = self.folder / FILE
        if not os.path.lexists(path):
            return EMPTY
        content = read_project_yaml(read_bytes(path, follow=False), file=str(path))
        base = self.read_character(content.character) if content.character else None
        return _document(content, base, self.read_clip(content.clip) if content.clip else None)

    def save(self, document: Document) -> Document:
        """Write the document; returns it as it will be loaded, with its sources as they are now.

        Nothing is overwritten: a file that is there already stays, and the new one has a name of its own. What was written is read
        again before the project file names it, and that is written last: a disk that fills up, or a file that could not be read
        another day, leaves the project as it was saved before.
        """
        _make(self.folder)
        sources = dict(document.sources)
        base, clip = document.base, document.clip
        if base is not None and not sources.get("character"):
            sources["character"] = self.write_character(base)
            base = self.read_character(sources["character"])
        if clip is not None and not sources.get("clip"):
            sources["clip"] = self.write_clip(clip)
            clip = self.read_clip(sources["clip"])
        alike: dict[str, Any] = {name: getattr(document, name) for name in _ALIKE}
        content = ProjectFile(
            character=sources.get("character", ""),
            clip=sources.get("clip", ""),
            dimensions_m=dict(document.dimensions),
            **{name: dict(value) if isinstance(value, Mapping) else value for name, value in alike.items()},
        )
        data = write_project_yaml(content)
        saved = _document(read_project_yaml(data, file=FILE), base, clip)
        write_atomically(self.folder / FILE, data)
        same = document.changed(sources=saved.sources)
        return same if same == saved else saved  # what is in memory already is not kept twice

    def read_character(self, source: str) -> Character:
        """The built-in character of that name, or the one in a file of the project."""
        return read_character(self._located(source, "character"))

    def read_clip(self, source: str) -> Clip:
        """The built-in clip of that name, or the one in a file of the project."""
        return read_clip(self._located(source, "clip"))

    def path(self, name: str) -> Path:
        """The path of a file named inside the project; it may not lead out of it."""
        return confined(name, self.folder, Where(str(self.folder)))

    @contextlib.contextmanager
    def brought(self, name: str, data: bytes) -> Iterator[list[str]]:
        """What `keep` keeps; when something is refused meanwhile, what was not there before is removed again."""
        home = self.folder / "files" / _digest(data)
        before = set() if is_link(home) else set(home.rglob("*"))
        try:
            yield self.keep(name, data)
        except BaseException:
            left = [] if is_link(home) or is_link(home.parent) else sorted(set(home.rglob("*")) - before, reverse=True)
            for path in [*left, home, home.parent]:
                with contextlib.suppress(OSError):  # a folder that still holds something stays
                    if path.is_dir() and not is_link(path):
                        path.rmdir()
                    elif path in left:
                        path.unlink()
            raise

    def keep(self, name: str, data: bytes) -> list[str]:
        """Keep bytes that a user brought under a name of ours in ``files/``; a ZIP is unpacked. Returns the names in the project.

        The user's name serves only to say what kind of file it is and to be recognised: letters, digits, dots, dashes.
        """
        base = plain(Path(name.replace("\\", "/")).name)
        ending = next((one for one in _ENDINGS if base.lower().endswith(one)), None)
        if ending is None:
            raise BadInput(f"a file named {name[:80]!r} is none that can be opened; these can: {', '.join(_ENDINGS)}")
        home = self.place("files", _digest(data))
        if ending == ".zip":
            return [str(path.relative_to(self.folder)) for path in unpack_folder(data, home, file=base)]
        write_atomically(home / base, data)
        return [str((home / base).relative_to(self.folder))]

    def result_path(self, key: str, character: str, clip: str) -> Path:
        """Where the performance of a document with this key goes."""
        return self.place("performances") / f"{plain(clip)}-{plain(character)}-{key.removeprefix('sha256:')[:12]}.performance.npz"

    def found_result(self, key: str) -> Path | None:
        """The performance of that key, if it was made before."""
        with contextlib.suppress(OSError):
            folder = self.folder / "performances"
            found = sorted(folder.glob(f"*-{key.removeprefix('sha256:')[:12]}.performance.npz"))
            return None if is_link(folder) else next((path for path in found if not is_link(path)), None)
        return None

    def _located(self, source: str, kind: str) -> str | Path:
        if source in built_in("character" if kind == "character" else "clip"):
            return source
        return self.path(source)

    def write_character(self, character: Character) -> str:
        """Write a character, its skin and the meshes of its parts beside it; returns the name of its file."""
        if character.skin is not None:
            from bunraku.formats.skin_file import skin_bytes

            file = self._write_beside(character.skin.file, ".skin.npz", skin_bytes(skin_of(character)))
            character = character.changed(skin=character.skin.changed(file=file))
        if any(part.shape.kind == "mesh" for part in character.flexibles):
            character = character.changed(flexibles=tuple(self._with_mesh(part) for part in character.flexibles))
        return self._write_beside(plain(character.name), ".character.yaml", write_character_yaml(character).encode())

    def write_clip(self, clip: Clip) -> str:
        """Write a clip, its voice beside it with every bit it has; returns the name of its file."""
        for stem in _stems(plain(clip.name), content_hash(clip)[-8:]):
            name = f"{stem}.clip.yaml"
            voice = {} if clip.audio is None else {f"{stem}.wav": wav_bytes(clip.audio, exact=True)}
            files = {self.folder / one: data for one, data in (write_clip_yaml(clip, name) | voice).items()}
            if all(_free(path, data) for path, data in files.items()):
                for path, data in files.items():
                    _write_new(path, data)
                return name
        raise BadInput(f"there are too many clips named {clip.name!r}; give this one another name", file=str(self.folder))

    def _with_mesh(self, part: FlexiblePart) -> FlexiblePart:
        """The part with its mesh in the project, if it has one."""
        from bunraku.formats.gmsh_mesh import gmsh_bytes
        from bunraku.mechanics.elastic.known_meshes import KNOWN_MESHES

        if part.shape.kind != "mesh":
            return part
        mesh = KNOWN_MESHES.find(part.shape.digest)
        if mesh is None:
            raise BadInput(f"the mesh {part.shape.file!r} of {part.name!r} was not read; open the character from its file again")
        stem = str(Path(part.shape.file or part.name).with_suffix(""))
        return part.changed(shape=part.shape.changed(file=self._write_beside(stem, ".msh", gmsh_bytes(mesh))))

    def _write_beside(self, name: str, ending: str, data: bytes) -> str:
        """Write bytes under a name, or one by their content where other bytes have it already; returns the name in the project."""
        folder = self.path(str(Path(name).parent))
        _make(folder)
        for stem in _stems(Path(name).name.removesuffix(ending), hashlib.sha256(data).hexdigest()[:8]):
            path = folder / f"{stem}{ending}"
            if _free(path, data):
                _write_new(path, data)
                return (Path(name).parent / path.name).as_posix()
        raise BadInput(f"there are too many files named {name!r}; remove some", file=str(self.folder))


def _document(content: ProjectFile, base: Character | None, clip: Clip | None) -> Document:
    """The document of a project file whose character and clip were read."""
    sources = {kind: source for kind in ("character", "clip") if (source := getattr(content, kind))}
    alike = {name: getattr(content, name) for name in _ALIKE}
    return EMPTY.changed(base=base, clip=clip, sources=sources, dimensions=content.dimensions_m, **alike)


def _digest(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()[:10]


def _stems(name: str, mark: str) -> Iterator[str]:
    """Names to try, one after the other: as it is, with a mark of its content, with a number."""
    yield name
    yield f"{name}-{mark}"
    yield from (f"{name}-{mark}-{k}" for k in range(2, 100))


def _free(path: Path, data: bytes) -> bool:
    """Whether nothing lies at a path, or these very bytes; a link is something."""
    try:
        if not os.path.lexists(path):
            return True
        return not is_link(path) and path.is_file() and path.stat().st_size == len(data) and path.read_bytes() == data
    except OSError:
        return False


def _write_new(path: Path, data: bytes) -> None:
    if not path.exists():
        write_atomically(path, data)


def _make(folder: Path) -> None:
    with refusal_of(folder, "cannot be made"):
        folder.mkdir(parents=True, exist_ok=True)


def plain(name: str) -> str:
    """A name of letters, digits, dots and dashes only, at most 80 of them, that hides no file and leads nowhere."""
    return safe_name(_ODD.sub("-", name).strip("-.")[-80:].lstrip("-.") or "unnamed")


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
