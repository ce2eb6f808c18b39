"""What is played after what: start, idle until a cue, the show itself so many times, the end; and cues that change it.

Without idle: start, main (``loops`` times), end. With idle: start, idle again and again until a cue starts main, then idle again; a
stop leads to the end performance from wherever the show is. A cue with a name goes to the performance of that name.
"""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion import Audio, Performance
from bunraku.stage.player.cues import Cue


@dataclass(frozen=True)
class Show:
    """The performances of a show; ``loops``: how often ``main`` is played, 0 for until someone stops it."""

    main: Performance
    start: Performance | None = None
    idle: Performance | None = None
    end: Performance | None = None
    loops: int = 1

    def __post_init__(self) -> None:
        if not 0 <= self.loops <= 1_000_000:
            raise BadInput(f"a show cannot be played {self.loops} times; give 1 or more, or 0 for until it is stopped")

    @property
    def parts(self) -> dict[str, Performance]:
        """The performances by their role: start, idle, main, end."""
        parts = {"start": self.start, "idle": self.idle, "main": self.main, "end": self.end}
        return {role: one for role, one in parts.items() if one is not None}

    @property
    def unbounded(self) -> bool:
        """Whether only a person ends the show."""
        return self.loops == 0 or self.idle is not None


@dataclass(frozen=True)
class Take:
    """One performance ready to be played: ``table`` (n, k) at the device's rate, with its voice."""

    role: str
    name: str
    table: Array
    audio: Audio | None


class Program:
    """Which take comes next. ``role`` is the one being played."""

    def __init__(self, takes: dict[str, Take], loops: int) -> None:
        self._takes, self._loops = takes, loops
        self._left = loops
        self.stopping = False
        """Whether a cue has asked for the end."""
        self.role = ""

    @property
    def names(self) -> list[str]:
        """What a cue can ask for by name: roles and performances."""
        return list(dict.fromkeys([*self._takes, *(take.name for take in self._takes.values())]))

    def next(self) -> Take | None:
        """The take after the one that has ended, now the one being played; None at the end of the show."""
        role = self._after()
        if role == "main" and self.role != "main":
            self._left = self._loops
        self.role = role
        return self._takes.get(role)

    def _after(self) -> str:
        waiting = "idle" if "idle" in self._takes else "main"
        if self.stopping:
            return "" if self.role == "end" else self._or_nothing("end")
        match self.role:
            case "":
                return "start" if "start" in self._takes else waiting
            case "start" | "idle":
                return waiting
            case "main":
                self._left -= 1
                if self._loops == 0 or self._left > 0:
                    return "main"
                return "idle" if "idle" in self._takes else self._or_nothing("end")
        return ""

    def _or_nothing(self, role: str) -> str:
        return role if role in self._takes else ""

    def cue(self, cue: Cue) -> tuple[bool, Take | None]:
        """Whether a cue breaks off what is being played, and for which take; None: come to rest, the show is over."""
        if self.stopping:
            return False, None
        if cue.kind == "stop":
            self.stopping = True
            self.role = self._or_nothing("end")
            return True, self._takes.get(self.role)
        if cue.kind == "start" and self.role in ("start", "idle"):
            return self._go("main")
        if cue.kind == "cue":
            role = next((role for role, take in self._takes.items() if cue.name in (role, take.name)), None)
            if role is not None:
                return self._go(role)
        return False, None

    def _go(self, role: str) -> tuple[bool, Take | None]:
        self.role, self._left = role, self._loops
        self.stopping = role == "end"
        return True, self._takes[role]
