"""What can be wrong with a simulated machine, switched on and off while it runs."""

from __future__ import annotations

from enum import Enum


class SimulatedFault(Enum):
    """One thing that is wrong, in a sentence."""

    NONE = "all is well"
    CORRUPTED = "every answer is damaged: one bit of each is wrong"
    MISSING = "one servo is not there"
    HALF = "only the first half of every answer comes"
    UNPLUGGED = "the plug is drawn"
    STALLED = "the machine stops reading and the buffer of the line is full"
    LATE = "every answer comes a quarter of a second late"
