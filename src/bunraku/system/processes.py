"""Processes of this machine: whether one still runs, and how one is started that Ctrl-C does not reach.

Who left a lock or a folder behind may be gone, and its number taken by another, so that a number alone says little: Linux tells in
``/proc`` when a process began, macOS by ``ps``, Windows by a handle of it.
"""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from typing import Any

_ASK, _RUNS, _NO_SUCH = 0x1000, 259, 87
"""Of Windows: the right to ask about a process, the exit code of one that runs, the error for a number that none has."""


def birth(pid: int) -> str:
    """When a process began, as the system counts it: the same number twice is another process. Empty where it is not told."""
    if sys.platform == "win32":
        return _asked_windows(pid)[1]
    if sys.platform == "darwin":
        return _asked_ps(pid)
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
        runs, now = _asked_windows(pid)
        return runs and not (born and now and born != now)
    try:
        os.kill(pid, 0)
    except (ProcessLookupError, OverflowError):
        return False
    except OSError:
        return True
    now = birth(pid)
    return not (born and now and born != now)


def apart() -> dict[str, Any]:
    """Arguments of ``subprocess.Popen`` for a process that Ctrl-C in our terminal does not end: we end it."""
    if sys.platform == "win32":
        return {"creationflags": subprocess.CREATE_NEW_PROCESS_GROUP}
    return {"start_new_session": True}


def _asked_ps(pid: int) -> str:
    words = ["/bin/ps", "-p", str(int(pid)), "-o", "lstart="]
    try:
        answer = subprocess.run(words, capture_output=True, check=False, timeout=5.0, env={"LC_ALL": "C"})  # noqa: S603 (our own words)
    except (OSError, subprocess.SubprocessError):
        return ""
    return " ".join(answer.stdout.decode("ascii", "replace").split())


def _asked_windows(pid: int) -> tuple[bool, str]:
    """Whether a process runs and when it began; signal 0, which asks elsewhere, would end it there."""
    if sys.platform != "win32":
        return False, ""
    import ctypes
    from ctypes import wintypes

    kernel = ctypes.WinDLL("kernel32", use_last_error=True)
    kernel.OpenProcess.restype = wintypes.HANDLE
    kernel.OpenProcess.argtypes = (wintypes.DWORD, wintypes.BOOL, wintypes.DWORD)
    kernel.GetExitCodeProcess.argtypes = (wintypes.HANDLE, ctypes.c_void_p)
    kernel.GetProcessTimes.argtypes = (wintypes.HANDLE, *(ctypes.c_void_p,) * 4)
    kernel.CloseHandle.argtypes = (wintypes.HANDLE,)
    if pid >= 1 << 32:
        return False, ""
    handle = kernel.OpenProcess(_ASK, False, pid)
    if not handle:
        return ctypes.get_last_error() != _NO_SUCH, ""
    try:
        code, times = wintypes.DWORD(), [ctypes.c_uint64() for _ in range(4)]
        runs = not kernel.GetExitCodeProcess(handle, ctypes.byref(code)) or code.value == _RUNS
        known = kernel.GetProcessTimes(handle, *(ctypes.byref(time) for time in times))
        return bool(runs), str(times[0].value) if known else ""
    finally:
        kernel.CloseHandle(handle)
