"""Skins in the session: a surface is begun as a recipe, planned anew after each edit, and made into a creature that is opened."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.errors import BunrakuError
from bunraku.formats.provenance import content_hash
from bunraku.formats.surface_file import read_surface
from bunraku.studio.document import Document
from bunraku.studio.edits.skins import recipe_of, scale_of
from bunraku.studio.jobs.exchange import read_arrays
from bunraku.studio.jobs.state import JobState
from bunraku.studio.project import Project
from bunraku.studio.results import Recent

MOST_PLANS = 12
_SHAPES = ("source", "scale", "template", "thickness", "teeth", "folds", "places")
_UNITS = ((5.0, 1.0), (100.0, 0.01))


@dataclass(frozen=True, eq=False)
class PlannedSkin:
    """The plan of a recipe: ``arrays`` to be drawn (`jobs.verbs.surface.planned`), the joint of every fold, repairs, figures."""

    key: str
    arrays: Mapping[str, NDArray[np.generic]] = field(repr=False)
    folds: tuple[str, ...]
    repairs: tuple[str, ...]
    figures: Mapping[str, Any]


@dataclass(frozen=True)
class MadeSkin:
    """A creature that was made: its file in the project, and figures."""

    source: str
    figures: Mapping[str, Any]


class Skinning:
    """Plans and creatures of the recipes of a session, by what they depend on.

    ``queue`` starts a job and calls back, ``do`` makes an edit, ``tell`` tells listeners.
    """

    def __init__(
        self,
        project: Project,
        queue: Callable[[str, dict[str, Any], Callable[[JobState], None]], None],
        do: Callable[..., object],
        tell: Callable[[str], None],
    ) -> None:
        self._project, self._queue, self._do, self._tell = project, queue, do, tell
        self._plans: Recent[PlannedSkin] = Recent(MOST_PLANS)
        self._made: dict[str, MadeSkin] = {}
        self._asked = ""
        self._latest = ""
        self.trouble = ""
        """Why the last plan could not be made."""

    def plan_of(self, document: Document) -> PlannedSkin | None:
        """The plan of the document's recipe as it is, if it was made."""
        return self._plans.get(_plan_key(document)) if document.recipe else None

    def latest(self, document: Document) -> PlannedSkin | None:
        """The newest plan of the document's surface, though the recipe may have changed since."""
        exact = self.plan_of(document)
        if exact is not None or not document.recipe:
            return exact
        plan = self._plans.get(self._latest)
        return plan if plan is not None and plan.key.startswith(_surface_key(document)) else None

    def made_of(self, document: Document) -> MadeSkin | None:
        """The creature of the document's recipe as it is, if it was made."""
        return self._made.get(_make_key(document)) if document.recipe else None

    def follow(self, document: Document) -> None:
        """After an edit: plan what is not planned and was not asked for already; what cannot be planned is ``trouble``."""
        if document.recipe and self.plan_of(document) is None and self._asked != _plan_key(document):
            try:
                self.plan(document)
            except BunrakuError as error:
                self._asked, self.trouble = _plan_key(document), str(error)

    def plan(self, document: Document) -> None:
        """Plan the document's recipe; listeners are told "skin" when the plan is there, or why not."""
        arguments, key = _arguments(self._project, document), _plan_key(document)
        self._asked, self.trouble = key, ""
        self._queue("planned", arguments, lambda state: self._planned(key, state))

    def make(self, document: Document) -> None:
        """Make the creature of the document's recipe in ``files/creatures`` and open it; one that was made before is opened."""
        known = self.made_of(document)
        if known is not None and self._project.path(known.source).is_file():
            self._do("open.character", source=known.source, keep_recipe=True)
            return
        key = _make_key(document)
        folder = self._project.place("files", "creatures", key.partition(":")[2][:10])
        arguments = _arguments(self._project, document) | {"folder": str(folder)}
        self._queue("surface", arguments, lambda state: self._creature(key, state))

    def _planned(self, key: str, state: JobState) -> None:
        if state.status == "done":
            result = state.result
            arrays = read_arrays(Path(result["arrays"]))
            self._plans[key] = PlannedSkin(key, arrays, tuple(result["folds"]), tuple(result["repairs"]), result["figures"])
            self._latest = key
        elif self._asked == key:
            self._asked = "" if state.status == "cancelled" else key
            self.trouble = state.error or "the plan was cancelled"
        self._tell("skin")

    def _creature(self, key: str, state: JobState) -> None:
        if state.status == "done" and state.result.get("path"):
            source = str(Path(state.result["path"]).resolve().relative_to(self._project.folder.resolve()))
            self._made[key] = MadeSkin(source, state.result["figures"])
            self._do("open.character", source=source, keep_recipe=True)
        self._tell("skin")


def guessed_scale(path: Path) -> float:
    """How many metres a unit of a surface's file probably has, by its size: creatures are between 5 cm and 5 m long."""
    size = float(np.ptp(read_surface(path).vertices, axis=0).max())
    return next((unit for most, unit in _UNITS if size <= most), 0.001)


def recipe_trouble(project: Project, document: Document) -> str:
    """Why the recipe of a document that was read cannot be used; empty when it can, or there is none."""
    try:
        if document.recipe:
            _arguments(project, document)
    except BunrakuError as error:
        return str(error)
    return ""


def _arguments(project: Project, document: Document) -> dict[str, Any]:
    recipe = recipe_of(document)
    file = str(project.path(str(document.recipe["source"])).resolve())
    return {"file": file, "scale": scale_of(document), "recipe": recipe.to_json()}


def _surface_key(document: Document) -> str:
    return content_hash({name: document.recipe.get(name) for name in _SHAPES[:2]})


def _plan_key(document: Document) -> str:
    return f"{_surface_key(document)} {content_hash({name: document.recipe.get(name) for name in _SHAPES})}"


def _make_key(document: Document) -> str:
    return content_hash(dict(document.recipe))
