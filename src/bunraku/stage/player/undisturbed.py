"""Conditions under which a loop is punctual: no garbage collection, short turns of other threads, a place before other programs."""

from __future__ import annotations

import gc
import os
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from typing import Any

PRIORITY = 10
"""Among the programs that the system runs before all others."""
TURN = 5e-4
"""Longest turn of another Python thread [s]."""


@contextmanager
def undisturbed() -> Iterator[bool]:
    """For the time of a loop in this thread; yields whether the system lets it run before ordinary programs.

    Where it may not (that takes the right to, such as ``rtprio`` in the system's limits), it runs as any other program.
    """
    collects, turn = gc.isenabled(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(TURN)
    before = _first()
    try:
        yield before is not None
    finally:
        if before is not None:
            with suppress(OSError):
                os.sched_setscheduler(0, *before)
        sys.setswitchinterval(turn)
        gc.unfreeze()
        if collects:
            gc.enable()


def _first() -> tuple[int, Any] | None:
    """Put this thread before ordinary programs; how it was before, or None where that is not possible."""
    if not hasattr(os, "sched_setscheduler"):
        return None
    try:
        before = os.sched_getscheduler(0), os.sched_getparam(0)
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(PRIORITY))
    except OSError:
        return None
    return before
