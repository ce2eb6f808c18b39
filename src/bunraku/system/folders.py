"""Where programs keep what they can make again.

``~/.cache`` on Linux, ``~/Library/Caches`` on macOS, ``%LOCALAPPDATA%`` on Windows.
"""

from __future__ import annotations

import os
import sys
from pathlib import Path


def user_cache() -> Path:
    """The user's folder for caches of all programs; it need not exist."""
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")


def numba_cache() -> Path:
    """Where Numba keeps what it compiled of modules beside which nothing may be written; it need not exist."""
    return user_cache() / "numba" / ("Cache" if sys.platform == "win32" else "")
