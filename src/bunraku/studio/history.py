"""The command stack: every document that was, and the edit that led from one to the next."""

from __future__ import annotations

from dataclasses import dataclass, field

from bunraku.errors import BadInput
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import Edit, words_of

MOST = 500
MOST_BYTES = 256 * 2**20
"""Bytes of the curves and sounds of all documents; a long clip whose keys are edited would fill the memory before 500 steps do."""
NEAR = 4
"""Documents so many steps from the present keep what was derived from them; the others make it again at need."""


@dataclass(frozen=True)
class History:
    """Documents in the order they were made, ``at`` the present one; ``edits[k]`` leads from document k to k + 1.

    A value: doing, undoing and redoing return a new history. Documents are values that share what they have in common, so keeping
    them costs little, and undoing is exact by construction.
    """

    documents: tuple[Document, ...]
    edits: tuple[Edit, ...] = ()
    at: int = 0
    dropped: int = field(default=0, compare=False)

    def __post_init__(self) -> None:
        if len(self.documents) != len(self.edits) + 1 or not 0 <= self.at < len(self.documents):
            raise BadInput(f"a history of {len(self.documents)} documents, {len(self.edits)} edits, at {self.at} is none")

    @classmethod
    def begin(cls, document: Document) -> History:
        """A history that starts with a document."""
        return cls((document,))

    @property
    def document(self) -> Document:
        """The present document."""
        return self.documents[self.at]

    @property
    def can_redo(self) -> bool:
        """Whether there is something to do again."""
        return self.at < len(self.edits)

    def done(self, edit: Edit, document: Document) -> History:
        """After an edit; what had been undone is forgotten. The oldest of more than 500 steps, or 256 MiB, are dropped."""
        documents = (*self.documents[: self.at + 1], document)
        edits = (*self.edits[: self.at], edit)
        over = max(0, len(edits) - MOST, len(edits) - _affordable(documents))
        return History(documents[over:], edits[over:], len(edits) - over, self.dropped + over)

    def undone(self) -> History:
        """One step back; at the start, the same history."""
        return History(self.documents, self.edits, max(0, self.at - 1), self.dropped)

    def redone(self) -> History:
        """One step forward; at the end, the same history."""
        return History(self.documents, self.edits, min(len(self.edits), self.at + 1), self.dropped)

    def jumped(self, at: int) -> History:
        """At another step, which must exist."""
        if not 0 <= at <= len(self.edits):
            raise BadInput(f"step {at} of a history of {len(self.edits)} steps arrived; give 0 to {len(self.edits)}")
        return History(self.documents, self.edits, at, self.dropped)

    def slim(self) -> None:
        """Let go of what was derived from documents far from the present: several hundred characters fill the memory."""
        for k, document in enumerate(self.documents):
            if abs(k - self.at) > NEAR:
                document.slim()

    @property
    def words(self) -> tuple[str, ...]:
        """What each step did, in words."""
        return tuple(words_of(edit) for edit in self.edits)


def _affordable(documents: tuple[Document, ...]) -> int:
    """How many steps back from the last document fit into the memory; `NEAR` always do."""
    seen: set[int] = set()
    total = 0
    for count, document in enumerate(reversed(documents)):
        clip = document.clip
        if clip is None:
            continue
        joints = None if clip.joints is None else clip.joints.values
        for array in (joints, None if clip.audio is None else clip.audio.samples):
            if array is not None and id(array) not in seen:
                seen.add(id(array))
                total += array.nbytes
        if total > MOST_BYTES and count > NEAR:
            return count - 1
    return len(documents) - 1
