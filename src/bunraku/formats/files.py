"""Reading bytes: bounded, from regular files only, and confined to a folder when a file names another."""

from __future__ import annotations

import stat
import tempfile
from pathlib import Path, PureWindowsPath

from bunraku.errors import BadInput
from bunraku.formats.places import Where
from bunraku.system.files import is_link, open_plain

MAX_BYTES = 256 * 1024 * 1024
MAX_NUMBERS = 50_000_000


def check_size(data: bytes, *, file: str, limit: int = MAX_BYTES) -> None:
    """Refuse data of more than ``limit`` bytes."""
    if len(data) > limit:
        raise BadInput(f"holds {len(data)} bytes; at most {limit} are read", file=file, place="byte 0")


def refuse_link(path: str | Path) -> None:
    """Refuse a path that leads elsewhere: in a folder from a stranger it may lead to what is the user's own."""
    if is_link(path):
        raise BadInput("this is a link; put the file or folder itself there, or remove it", file=str(path))


def read_bytes(path: str | Path, *, limit: int = MAX_BYTES, follow: bool = True) -> bytes:
    """The bytes of a regular file of at most ``limit`` bytes; not ``follow``: and of no link."""
    path = Path(path)
    if not follow:
        refuse_link(path)
    try:
        status = path.stat()
        if stat.S_ISDIR(status.st_mode):
            raise BadInput("this is a folder; give a file", file=str(path))
        if not stat.S_ISREG(status.st_mode):
            raise BadInput("this is a device or a pipe; give a regular file", file=str(path))
        if status.st_size > limit:
            raise BadInput(f"holds {status.st_size} bytes; at most {limit} are read", file=str(path))
        with open(path, "rb", opener=None if follow else open_plain) as stream:
            data = stream.read(limit + 1)
    except FileNotFoundError as error:
        raise BadInput("there is no such file; check the name", file=str(path)) from error
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else str(error)
        raise BadInput(f"cannot be read ({reason})", file=str(path)) from error
    check_size(data, file=str(path), limit=limit)
    return data


def line_of(data: bytes, at: int) -> int:
    """The number of the line, counted from 1, on which the byte ``at`` stands; lines end as on any system."""
    head = data[:at]
    return head.count(b"\n") + head.count(b"\r") - head.count(b"\r\n") + 1


def decoded(data: bytes, *, file: str) -> str:
    """UTF-8 text, a byte order mark dropped; the error names the line of the first byte that is none."""
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        line = line_of(data.removeprefix(b"\xef\xbb\xbf"), error.start)
        raise BadInput(
            f"holds the byte 0x{data[error.start]:02x}, which is not UTF-8 text; save it as UTF-8", file=file, place=f"line {line}"
        ) from error


CLIMB = 2
"""How many folders above that of an opened file its tree may begin."""
TOPS = (".git", "pyproject.toml", "project.yaml")
"""What marks the top of a tree, a repository, a package or a project of the studio: a folder that holds one is not left."""


def tree_around(folder: Path) -> Path:
    """The folder tree to which a file in ``folder`` belongs: at most `CLIMB` folders up, within one repository or project.

    It is never the home folder, the folder for temporary files, or one that holds them, such as the file system's root.
    """
    root = folder.resolve()
    private = [Path(place).resolve() for place in (Path("~").expanduser(), tempfile.gettempdir())]
    for _ in range(CLIMB):
        above = root.parent
        if any(place.is_relative_to(above) for place in private) or any((root / mark).exists() for mark in TOPS):
            break
        root = above
    return root


def confined(name: str, folder: Path | None, where: Where, *, tree: Path | None = None) -> Path:
    """The path of a file named inside another file: relative to ``folder``, and inside it even after symbolic links are followed.

    ``tree``: a folder above, inside which it may lie instead.
    """
    if folder is None:
        raise where.wrong(f"refers to the file {name[:100]!r}, but the folder to look in is not known; read it by its path")
    pure = PureWindowsPath(name)
    if not name or "\x00" in name or Path(name).is_absolute() or pure.drive or pure.root:
        raise where.wrong(f"the reference {name[:100]!r} is not a relative path; name a file inside the same folder")
    try:
        root = (tree or folder).resolve()
        path = (folder.resolve() / name).resolve()
    except (OSError, ValueError, RuntimeError) as error:
        raise where.wrong(f"the reference {name[:100]!r} cannot be followed; name a file inside the same folder") from error
    if not path.is_relative_to(root):
        raise where.wrong(f"the reference {name[:100]!r} leads out of the folder; only files inside it are read")
    return path


def read_reference(name: str, folder: Path | None, where: Where, *, limit: int = MAX_BYTES, tree: Path | None = None) -> bytes:
    """The bytes, at most ``limit`` of them, of a file named inside another file, confined to its folder or to the ``tree``."""
    path = confined(name, folder, where, tree=tree)
    try:
        return read_bytes(path, limit=limit)
    except BadInput as error:
        raise where.wrong(f"the file {name[:100]!r} it refers to: {str(error).removeprefix(str(path) + ': ')}") from error
