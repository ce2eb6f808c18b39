"""Folders in a ZIP file, unpacked safely: bounded in number and size, no path that leads out, no link."""

from __future__ import annotations

import io
import stat
import zipfile
from pathlib import Path, PurePosixPath

from bunraku.errors import BadInput
from bunraku.formats.atomic import write_atomically
from bunraku.formats.files import MAX_BYTES
from bunraku.system.files import is_link
from bunraku.system.names import name_trouble, same_file

MAX_MEMBERS = 500
_CHUNK = 1 << 16


def unpack_folder(data: bytes, folder: Path, *, file: str, limit: int = MAX_BYTES) -> list[Path]:
    """Write the members of a ZIP file below ``folder``, at most ``limit`` bytes together; returns the files, in the file's order.

    What the archive claims about sizes is not believed: bytes are counted while they are unpacked. What lies in ``folder`` already
    is not trusted either: nothing is written through a link.
    """
    try:
        archive = zipfile.ZipFile(io.BytesIO(data))
        members = [member for member in archive.infolist() if not member.is_dir()]
    except (zipfile.BadZipFile, ValueError, OSError, NotImplementedError) as error:
        raise BadInput(f"is no ZIP file that can be read ({error})", file=file) from error
    if len(members) > MAX_MEMBERS:
        raise BadInput(f"holds {len(members)} files; at most {MAX_MEMBERS} are unpacked", file=file)
    contents: dict[PurePosixPath, bytes] = {}
    left = limit
    for member in members:
        name = _name(member, file)
        if name in contents:
            raise BadInput(f"holds {str(name)!r} twice; every file once", file=file)
        if trouble := next(filter(None, map(name_trouble, name.parts)), ""):
            raise BadInput(f"{str(name)!r} inside has a name that not every system takes ({trouble}); rename it", file=file)
        contents[name] = _contents(archive, member, left, limit, file)
        left -= len(contents[name])
    if pair := same_file(map(str, contents)):
        raise BadInput(f"holds {pair[0]!r} and {pair[1]!r}, one file on Windows and macOS; rename one of them", file=file)
    for name in contents:  # a link that lies in the folder already may be a stranger's
        link = next((one for one in name.parents if one.parts and is_link(folder / one)), None)
        if link is not None:
            raise BadInput(f"{str(name)!r} inside would be written through {str(link)!r}, a link; remove the link first", file=file)
    written = []
    for name, content in contents.items():
        path = folder / name
        try:
            path.parent.mkdir(parents=True, exist_ok=True)
        except OSError as error:
            raise BadInput(f"{str(name)!r} inside lies below a file ({error.strerror}); use plain folders", file=file) from error
        write_atomically(path, content)
        written.append(path)
    return written


def _name(member: zipfile.ZipInfo, file: str) -> PurePosixPath:
    """The path of a member, relative and going down only."""
    text = member.filename.replace("\\", "/")
    name = PurePosixPath(text)
    bad = not text or name.is_absolute() or ".." in name.parts or ":" in text or any(ord(letter) < 32 for letter in text)
    if bad or len(text) > 300 or len(name.parts) > 8:
        raise BadInput(f"the name {text[:80]!r} inside leads out of the folder or is none; use plain relative names", file=file)
    if stat.S_ISLNK(member.external_attr >> 16):
        raise BadInput(f"{text[:80]!r} inside is a symbolic link; put the file itself in", file=file)
    return name


def _contents(archive: zipfile.ZipFile, member: zipfile.ZipInfo, left: int, limit: int, file: str) -> bytes:
    pieces, size = [], 0
    try:
        with archive.open(member) as stream:
            while piece := stream.read(_CHUNK):
                size += len(piece)
                if size > left:
                    raise BadInput(f"unpacks to more than {limit} bytes; send less at a time", file=file)
                pieces.append(piece)
    except (zipfile.BadZipFile, RuntimeError, NotImplementedError, OSError, EOFError, ValueError) as error:
        raise BadInput(f"{member.filename[:80]!r} inside cannot be unpacked ({error})", file=file) from error
    except Exception as error:  # zlib.error has no public base
        if isinstance(error, BadInput):
            raise
        raise BadInput(f"{member.filename[:80]!r} inside is damaged ({error})", file=file) from error
    return b"".join(pieces)
