"""Loaded by our own workers when they start: Ctrl-C is for the command alone, which ends them."""

from __future__ import annotations

import signal
from typing import Any


def dask_setup(worker: Any) -> None:
    """Dask calls this in the worker's process."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
