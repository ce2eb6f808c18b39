"""A place before ordinary programs: Linux gives it to who may, Windows to anyone, macOS not to a single thread."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress

PRIORITY = 10
"""Of Linux: among the programs that the system runs before all others."""
_HIGHEST, _ORDINARY, _NONE = 2, 0, 0x7FFFFFFF
"""Priorities of a thread on Windows, and what it answers when it does not tell."""


@contextmanager
def before_others() -> Iterator[bool]:
    """Within, this thread runs before ordinary programs; yields whether it does.

    Where it may not (on Linux that takes the right to, such as ``rtprio`` in the system's limits), it runs as any other.
    """
    if sys.platform == "linux":
        before = None
        with suppress(OSError):
            known = os.sched_getscheduler(0), os.sched_getparam(0)
            os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
            before = known
        try:
            yield before is not None
        finally:
            if before is not None:
                with suppress(OSError):
                    os.sched_setscheduler(0, *before)
    elif sys.platform == "win32":
        import ctypes
        from ctypes import wintypes

        kernel = ctypes.WinDLL("kernel32", use_last_error=True)
        kernel.GetCurrentThread.restype = wintypes.HANDLE
        kernel.GetThreadPriority.argtypes = (wintypes.HANDLE,)
        kernel.SetThreadPriority.argtypes = (wintypes.HANDLE, ctypes.c_int)
        thread = kernel.GetCurrentThread()
        now = kernel.GetThreadPriority(thread)
        first = bool(kernel.SetThreadPriority(thread, _HIGHEST))
        try:
            yield first
        finally:
            if first:
                kernel.SetThreadPriority(thread, _ORDINARY if now == _NONE else now)
    else:
        yield False
