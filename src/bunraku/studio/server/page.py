"""The page: viser's own index.html with our title, icon, style and script, and the hashes of the scripts it runs inline."""

from __future__ import annotations

import base64
import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

import numpy as np

from bunraku.errors import BadInput

TITLE = "Bunraku studio"
ICON = (
    "data:image/svg+xml,%3Csvg xmlns='http://www.w3.org/2000/svg' viewBox='0 0 32 32'%3E"
    "%3Cpath d='M4 5h24M9 5v7M23 5v7M16 5v4' stroke='%23a33' stroke-width='2' fill='none'/%3E"
    "%3Ccircle cx='16' cy='12' r='4' fill='%23a33'/%3E"
    "%3Cpath d='M9 12l7 6 7-6M16 16v7l-5 6M16 23l5 6' stroke='%23333' stroke-width='2.5' fill='none'/%3E%3C/svg%3E"
)
_ALPHABET = "!#$%()*+,-./0123456789:;=?@ABCDEFGHIJKLMNOPQRSTUVWXYZ[\\]^_abcdefghijklmnopqrstuvwxyz{|}~"
_LOADER = re.compile(r'<script data-p="([^"]*)" data-ss="(\d+)" data-cs="(\d+)">(.*?)</script>', re.DOTALL)


@dataclass(frozen=True)
class PageFiles:
    """What the server sends for the page: the document, ``page.js``, ``page.css``.

    ``hashes``: CSP hashes of the inline scripts in the document, and of the one that viser's loader adds.
    """

    html: bytes
    script: bytes
    style: bytes
    hashes: tuple[str, ...]


def decode_base88(text: str) -> bytes:
    """Bytes of viser's packed text: groups of 5 letters of an alphabet of 88 are 4 bytes, big end first; r left over are r-1."""
    value_of = np.full(256, 255, np.uint8)
    value_of[np.frombuffer(_ALPHABET.encode(), np.uint8)] = np.arange(88)
    digits = value_of[np.frombuffer(text.encode("ascii", "replace"), np.uint8)].astype(np.uint64)
    if digits.size and digits.max() > 87:
        raise ValueError("a letter outside the alphabet")
    whole = digits.size - digits.size % 5
    weights = 88 ** np.arange(4, -1, -1, dtype=np.uint64)
    head = (digits[:whole].reshape(-1, 5) @ weights).astype(">u4").tobytes()
    rest = 0
    for digit in digits[whole:]:
        rest = rest * 88 + int(digit)
    return head + (rest.to_bytes(digits.size - whole - 1, "big") if digits.size > whole else b"")


def read_page(upload_limit: int) -> PageFiles:
    """The page of the installed viser, which lets a user choose files of at most ``upload_limit`` bytes.

    BadInput when viser's page is not built as expected, so that its scripts cannot be told from others.
    """
    import viser

    html = (Path(viser.__file__).parent / "client" / "build" / "index.html").read_text(encoding="utf-8")
    loaders = _LOADER.findall(html)
    if len(loaders) != 1 or html.count("<script") != 1 or "<title>Viser</title>" not in html:
        raise BadInput(_unexpected())
    packed, style_bytes, code_bytes, loader = loaders[0]
    hashes = (_hash(loader.encode()), _hash(_unpack(packed, int(style_bytes), int(code_bytes))))
    html = html.replace("<title>Viser</title>", f"<title>{TITLE}</title>").replace('content="Viser client"', f'content="{TITLE}"')
    html = re.sub(r'(<link\s+rel="icon"\s+href=")[^"]*(")', lambda match: match[1] + ICON + match[2], html, count=1)
    ours = (
        f'<meta name="bunraku-upload-limit" content="{upload_limit:d}" />\n    '
        '<link rel="stylesheet" href="page.css" />\n    <script src="page.js"></script>\n  '
    )
    html = html.replace("<script data-p=", ours + "<script data-p=", 1)
    folder = resources.files("bunraku.studio.server")
    return PageFiles(html.encode(), (folder / "page.js").read_bytes(), (folder / "page.css").read_bytes(), hashes)


def _unpack(packed: str, style_bytes: int, code_bytes: int) -> bytes:
    import zstandard

    if style_bytes + code_bytes > 2**26:
        raise BadInput(_unexpected())
    try:
        content = zstandard.ZstdDecompressor().decompress(decode_base88(packed), max_output_size=style_bytes + code_bytes)
    except (ValueError, OverflowError, zstandard.ZstdError) as error:
        raise BadInput(_unexpected()) from error
    return content[style_bytes : style_bytes + code_bytes]


def _hash(code: bytes) -> str:
    return "sha256-" + base64.b64encode(hashlib.sha256(code).digest()).decode()


def _unexpected() -> str:
    from importlib.metadata import version

    return f"the page of viser {version('viser')} is not built as expected; install the version tried: pip install viser==1.1.1"
