"""The document: what is being made in the studio. A value; every change makes a new one (`bunraku.studio.edits`)."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields, replace
from functools import cached_property
from types import MappingProxyType
from typing import Any, Literal

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.provenance import content_hash
from bunraku.motion import Clip, Gait

Mode = Literal["manual", "semi-automatic", "automatic"]


@dataclass(frozen=True, eq=False)
class Document:
    """Who performs what, and how it is to be solved.

    ``base``: the character before its ``dimensions`` [m] are changed; ``clip``: the wish; ``sources`` name where both came from
    while they are as they came (a built-in name, or a file of the project). ``performer``: empty, the best is chosen; its
    ``options`` are its own. ``muted`` coordinates stay at home whatever the clip says. ``mode``, ``kept``, ``aim`` and ``free`` say
    how the design follows an edit: by hand, with features kept, or by itself. ``mirror``: components are added on both sides.
    Documents are equal when their contents are.
    """

    base: Character | None = None
    clip: Clip | None = None
    sources: Mapping[str, str] = field(default_factory=lambda: MappingProxyType({}))
    performer: str = ""
    options: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))
    dimensions: Mapping[str, float] = field(default_factory=lambda: MappingProxyType({}))
    muted: tuple[str, ...] = ()
    mode: Mode = "manual"
    kept: str = "feet"
    aim: str = "energy"
    free: tuple[str, ...] = ()
    mirror: bool = True
    recipe: Mapping[str, Any] = field(default_factory=lambda: MappingProxyType({}))

    def changed(self, **changes: Any) -> Document:
        """The same document with some fields replaced."""
        for name in ("sources", "options", "dimensions", "recipe"):
            if name in changes:
                changes[name] = MappingProxyType(dict(changes[name]))
        return replace(self, **changes)

    @cached_property
    def content(self) -> str:
        """The content hash of everything; of sounds, skins and meshes what they are counts, not what their files are called."""
        all_of_it = {one.name: getattr(self, one.name) for one in fields(self)}
        return content_hash(all_of_it | {"base": _unnamed(self.base), "clip": _heard(self.clip)})

    def __eq__(self, other: object) -> bool:
        return self is other or (isinstance(other, Document) and self.content == other.content)

    def __hash__(self) -> int:
        return hash(self.content)

    @cached_property
    def character(self) -> Character | None:
        """The character with its dimensions as they are set."""
        if self.base is None or not self.dimensions:
            return self.base
        from bunraku.building.components.dimensions import dimensions

        design = dimensions(self.base)
        p = design.initial
        for name, value in self.dimensions.items():
            p[design.index(name)] = value
        return design.character(p)

    @cached_property
    def wish(self) -> Clip | None:
        """The clip as it is performed: with muted coordinates held at home."""
        if self.clip is None or self.character is None or not self.muted:
            return self.clip
        from bunraku.motion.muting import muted_clip

        return muted_clip(self.character, self.clip, self.muted)

    @cached_property
    def key(self) -> str:
        """The content hash of all that a performance depends on: two documents of one key have the same performance."""
        return content_hash(_unnamed(self.character), _heard(self.wish), self.performer, dict(self.options))

    def slim(self) -> None:
        """Let go of what can be made again from the rest; it is made again when it is asked for."""
        for name in ("character", "wish"):
            self.__dict__.pop(name, None)

    def need_character(self) -> Character:
        """The character, or an error that says what to do."""
        if self.character is None:
            raise BadInput("there is no character yet; open one from the gallery, or a file of your own")
        return self.character

    def need_clip(self) -> Clip:
        """The clip, or an error that says what to do."""
        if self.clip is None:
            raise BadInput("there is no clip yet; open one from the gallery, or a file of your own")
        return self.clip

    @property
    def gait(self) -> Gait | None:
        """The gait of the clip, where it has one: then the motion is solved live."""
        return None if self.clip is None else self.clip.gait

    def need_gait(self) -> Gait:
        """The gait of the clip, or an error that says what to do."""
        gait = self.need_clip().gait
        if gait is None:
            raise BadInput(f"the clip {self.need_clip().name!r} has no gait; open one that goes somewhere")
        return gait


def _unnamed(character: Character | None) -> Character | None:
    """A character whose skin and meshes, where they were read, are called by the digests of their contents."""
    if character is None:
        return None
    changes: dict[str, Any] = {}
    if character.skin is not None and character.skin.digest:
        changes["skin"] = character.skin.changed(file=character.skin.digest)
    if any(part.shape.kind == "mesh" and part.shape.digest for part in character.flexibles):
        shapes = [(part, part.shape) for part in character.flexibles]
        changes["flexibles"] = tuple(
            part.changed(shape=shape.changed(file=shape.digest)) if shape.kind == "mesh" and shape.digest else part
            for part, shape in shapes
        )
    return character.changed(**changes) if changes else character


def _heard(clip: Clip | None) -> Clip | tuple[Any, ...] | None:
    """A clip with its sound as it is heard, wherever it came from."""
    if clip is None or clip.audio is None:
        return clip
    return clip.changed(audio=None), clip.audio.samples, clip.audio.rate


EMPTY = Document()
