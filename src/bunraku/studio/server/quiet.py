"""Silence: what viser prints about itself stays off the user's terminal while a studio runs."""

from __future__ import annotations

import sys
import threading
import warnings
from collections.abc import Callable
from typing import Any

_lock = threading.Lock()
_loud: list[Callable[..., None]] = []


def hush() -> None:
    """Drop what viser says through ``rich.print`` until :func:`unhush`; everyone else still prints. Calls nest."""
    import rich

    with _lock:
        loud = _loud[0] if _loud else rich.print
        _loud.append(loud)

        def print_unless_viser(*args: Any, **options: Any) -> None:
            if not str(sys._getframe(1).f_globals.get("__name__", "")).startswith("viser."):
                loud(*args, **options)

        if len(_loud) == 1:
            rich.print = print_unless_viser
            warnings.filterwarnings("ignore", "Queued a .* on a closed connection")  # a browser left meanwhile


def unhush() -> None:
    """Undo one :func:`hush`."""
    import rich

    with _lock:
        loud = _loud.pop()
        if not _loud:
            rich.print = loud
