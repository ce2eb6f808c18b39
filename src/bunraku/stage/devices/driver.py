"""The contract of a driver: whole numbers to a machine at a rate, and what it measures back.

To add a protocol:

1. Write a final class with the six methods below in a file of its own. The constructor takes the `Device` that describes the
   machine and stores it; nothing is opened and no heavy package is imported before :meth:`Driver.open`.
2. Every wait has an end well below 100 ms, and calls :meth:`Driver.waiting` every few milliseconds: someone may press stop
   meanwhile, and then the wait ends with what that raises. What goes wrong is raised as a `DeviceFault` of the fitting kind; no
   exception of another library gets out.
3. :meth:`Driver.release` is the safe state. It is called after a fault too, when the line may be gone: it does what it can,
   returns in time, and never raises. Its docstring says what the machine does then. :meth:`Driver.check_release` comes after it.
4. Add a line to the table in `drivers.py`, and a simulated machine with its faults to the tests.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray


class Driver(ABC):
    """A line to one machine. Commands are whole numbers, one for each output in the order of the device's description.

    They are clamped before they arrive here; a driver sends what it gets. ``hear`` is what a wait for an answer listens to, if
    anything; what it raises ends the wait, and the driver can be released then.
    """

    hear: Callable[[], None] | None = None

    def waiting(self) -> None:
        """Called by a driver again and again while it waits for the machine."""
        if self.hear is not None:
            self.hear()

    @abstractmethod
    def open(self) -> None:
        """Find the machine and every servo named in its description, ready to move; the outputs do not move yet."""

    @abstractmethod
    def send(self, counts: NDArray[np.int64]) -> None:
        """Tell every output its next position, (outputs,), in one go."""

    @abstractmethod
    def measure(self) -> NDArray[np.float64] | None:
        """Where the outputs are now, in counts (outputs,), then the device's sensors if it has any; None if it does not report."""

    @abstractmethod
    def release(self) -> None:
        """Bring the machine to its safe state; never raises."""

    @abstractmethod
    def check_release(self) -> str:
        """After :meth:`release`: ask the machine, try again what is not released, say in a sentence what stays so; never raises.

        Empty when all is released as far as the machine can tell.
        """

    @abstractmethod
    def close(self) -> None:
        """Give the line back; never raises, and may be called twice."""
