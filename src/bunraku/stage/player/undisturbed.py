"""Conditions under which a loop is punctual: no garbage collection, short turns of other threads, a place before other programs."""

from __future__ import annotations

import gc
import sys
from collections.abc import Iterator
from contextlib import contextmanager

from bunraku.system.priority import before_others

TURN = 5e-4
"""Longest turn of another Python thread [s]."""


@contextmanager
def undisturbed() -> Iterator[bool]:
    """For the time of a loop in this thread; yields whether the system lets it run before ordinary programs."""
    collects, turn = gc.isenabled(), sys.getswitchinterval()
    gc.collect()
    gc.freeze()
    gc.disable()
    sys.setswitchinterval(TURN)
    try:
        with before_others() as first:
            yield first
    finally:
        sys.setswitchinterval(turn)
        gc.unfreeze()
        if collects:
            gc.enable()
