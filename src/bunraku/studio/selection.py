"""What the user has picked. Not part of the document: undo does not bring it back."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Selection:
    """A body, a joint, a socket, a target, a mode of a choreography; empty or None: none."""

    body: str = ""
    joint: str = ""
    socket: str = ""
    target: int | None = None
    mode: int | None = None

    def changed(self, **fields: str | int | None) -> Selection:
        """The same with something else picked."""
        return replace(self, **fields)  # type: ignore[arg-type]
