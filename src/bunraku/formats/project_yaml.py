"""Project files, ``bunraku: project/1``: what a studio project is made of. Character and clip are built in, or files beside it."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

from bunraku.formats.units import build
from bunraku.formats.yaml_file import dump_yaml, read_yaml

Text = Annotated[str, Field(max_length=500)]
Plain = bool | int | float | str | None | list[Any] | dict[str, Any]


class ProjectFile(BaseModel):
    """What a project file holds. ``character`` and ``clip``: a built-in name, or the name of a file in the project's folder."""

    model_config = ConfigDict(extra="forbid", frozen=True)

    character: Text = ""
    clip: Text = ""
    performer: Text = ""
    options: dict[Text, Plain] = Field(default_factory=dict)
    dimensions_m: dict[Text, float] = Field(default_factory=dict, max_length=10_000)
    muted: tuple[Text, ...] = ()
    mode: Literal["manual", "semi-automatic", "automatic"] = "manual"
    kept: Text = "feet"
    aim: Text = "energy"
    free: tuple[Text, ...] = ()
    mirror: bool = True
    recipe: dict[Text, Plain] = Field(default_factory=dict)


def read_project_yaml(data: bytes, *, file: str) -> ProjectFile:
    """The project in the bytes of a file."""
    content = read_yaml(data, file=file, kind="project")
    return build(ProjectFile, content.data, file=file, lines=content.lines)


def write_project_yaml(project: ProjectFile) -> bytes:
    """The bytes of a project file, defaults left out."""
    return dump_yaml("project", project.model_dump(mode="json", exclude_defaults=True))
