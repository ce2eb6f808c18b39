"""Kernels that are compiled while a job runs: said to its monitor, for until then the job seems to stand still."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any


@contextmanager
def told_of_compiling(began: Callable[[], None], ended: Callable[[], None]) -> Iterator[None]:
    """Call ``began`` before each kernel that Numba compiles in this process, ``ended`` after it; one that it finds on disk is none.

    A kernel with all others that it calls is one.
    """
    from numba.core.event import Listener, install_listener

    class Listening(Listener):  # type: ignore[misc]
        depth = 0

        def on_start(self, event: Any) -> None:
            self.depth += 1
            if self.depth == 1:
                began()

        def on_end(self, event: Any) -> None:
            self.depth -= 1
            if self.depth == 0:
                ended()

    with install_listener("numba:compile", Listening()):
        yield
