"""Whether a process of this machine still runs: who left a lock or a folder behind may be gone, and its number taken by another."""

from __future__ import annotations

import os
import sys
from pathlib import Path


def birth(pid: int) -> str:
    """When a process began, as the system counts it: the same number twice is another process. Empty where it is not told."""
    try:
        stat = Path(f"/proc/{int(pid)}/stat").read_bytes()
    except (OSError, ValueError):
        return ""
    fields = stat[stat.rfind(b")") + 1 :].split()  # the name before may hold anything
    return fields[19].decode(errors="replace") if len(fields) > 19 else ""


def alive(pid: int, born: str = "") -> bool:
    """Whether a process runs; with ``born`` (its :func:`birth`), whether it is still the same one."""
    if pid <= 0:
        return False
    if sys.platform == "win32":
        return True  # not to be asked there: signal 0 would end it
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    now = birth(pid)
    return not (born and now and born != now)
