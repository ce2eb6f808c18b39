"""The processor: how many cores this process may use, and its name, by which compiled code is known."""

from __future__ import annotations

import os
import platform
import sys
from contextlib import suppress


def cores() -> int:
    """How many cores this process may use: on Linux those it is bound to, elsewhere all there are."""
    if sys.platform == "linux":
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1


def processor_name() -> str:
    """Model of the processor, as the system calls it; at least its kind."""
    if sys.platform == "linux":
        with suppress(OSError), open("/proc/cpuinfo", encoding="utf-8", errors="replace") as facts:
            for line in facts:
                if line.startswith("model name"):
                    return line.partition(":")[2].strip()
    elif sys.platform == "win32":
        return os.environ.get("PROCESSOR_IDENTIFIER") or platform.machine()
    return platform.machine()
