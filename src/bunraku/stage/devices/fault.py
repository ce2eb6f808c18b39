"""What goes wrong on the way to a machine while it moves."""

from __future__ import annotations

from enum import Enum

from bunraku.errors import BunrakuError


class FaultKind(Enum):
    """Why a device no longer does what it is commanded, in a sentence."""

    LOST = "the device is gone"
    SILENT = "the device does not answer"
    CORRUPTED = "what arrived from the device is damaged"
    MISSING = "a servo does not answer"
    SLOW = "the device takes commands too slowly"
    REFUSED = "the device reports an error of its own"


class DeviceFault(BunrakuError):
    """A device failed while it was in use: what kind of fault, at which device, and what to look at."""

    exit_code = 1

    def __init__(self, kind: FaultKind, device: str, advice: str) -> None:
        super().__init__(" ".join(f"{device}: {kind.value}; {advice}".split()))
        self.kind = kind
