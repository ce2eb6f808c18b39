"""Nouns of a document as arguments of jobs: names of files where there are some, so that skins and skeletons are found."""

from __future__ import annotations

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import built_in
from bunraku.motion import Clip
from bunraku.studio.document import Document
from bunraku.studio.project import Project


def character_argument(project: Project, document: Document) -> str | Character:
    """The character of a document as an argument of a job."""
    source = document.sources.get("character", "")
    if source and not document.dimensions:
        return source if source in built_in("character") else str(project.path(source).resolve())
    character = document.need_character()
    if character.skin is None:
        return character
    folder = project.place(".bunraku", "work", "skinned")
    return str((folder / Project(folder).write_character(character)).resolve())


def clip_argument(project: Project, document: Document) -> str | Clip:
    """The wish of a document as an argument of a job."""
    source = document.sources.get("clip", "")
    if source and document.wish is document.clip:
        return source if source in built_in("clip") else str(project.path(source).resolve())
    wish = document.wish
    if wish is None:
        raise BadInput("there is no clip yet; open one from the gallery, or a file of your own")
    return wish
