"""The recipe of a skin: the surface it is made of, the template inside, folds, glue, thickness."""

from __future__ import annotations

from pathlib import Path
from typing import Any

from bunraku.building.creatures.mechanism import LEGS, TEMPLATES, TORSO
from bunraku.building.creatures.recipe import SkinRecipe
from bunraku.errors import BadInput
from bunraku.formats.surface_file import SURFACE_SUFFIXES
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import edit
from bunraku.studio.project import Project, plain

_OWN = ("source", "scale")


@edit("skin.begin", "Began a skin of {source}")
def begin(document: Document, source: str, template: str = "", scale: float = 1.0, folder: Path | None = None) -> Document:
    """A skin of a surface in a file of the project, whose unit has ``scale`` metres; without a ``template``, one by its name."""
    if not _text(source).lower().endswith(SURFACE_SUFFIXES):
        raise BadInput(f"{source[-60:]!r} is no surface; one of {', '.join(SURFACE_SUFFIXES)} is")
    path = Project(folder if folder is not None else Path()).path(source)
    if folder is not None and not path.is_file():
        raise BadInput("the surface is not in the project; bring it again", file=source)
    name = plain(Path(source).stem)
    suited = next((one for one in TEMPLATES if one in name.lower()), next(iter(TEMPLATES)))
    recipe = SkinRecipe.from_json({"template": _text(template) or suited, "name": name})
    return _kept(document, recipe, source=source, scale=_scale(scale))


@edit("skin.set", "Skin: {field} {value}")
def set_choice(document: Document, field: str, value: Any) -> Document:
    """One choice of the recipe, or the ``scale`` of its file. What a new template does not have is dropped."""
    recipe = recipe_of(document)
    if field == "scale":
        return _kept(document, recipe, scale=_scale(value))
    choices = recipe.to_json() | {_text(field): plain(_text(value)) if field == "name" else value}
    if field == "template" and _text(value) in TEMPLATES:
        joints = [joint.name for joint in TEMPLATES[value].joints]
        for name, known in (("folds", joints), ("places", joints), ("bonds", bodies_of(value))):
            choices[name] = {key: one for key, one in choices[name].items() if key in known}
    return _kept(document, _with_folds(SkinRecipe.from_json(choices)))


@edit("skin.fold", "Fold at the {joint}")
def fold(document: Document, joint: str, on: bool | None = None, place: float | None = None, spread: bool = False) -> Document:
    """Whether the skin folds about a joint of every leg, and where along it: 0 at the torso, 1 at the foot; ``spread``: evenly."""
    recipe = recipe_of(document)
    if _text(joint) not in recipe.joints:
        raise BadInput(f"there is no joint {joint!r} in the template {recipe.template!r}; there are {', '.join(recipe.joints)}")
    folds, places = dict(recipe.folds), dict(recipe.places)
    if on is not None:
        own = next(one.fold for one in TEMPLATES[recipe.template].joints if one.name == joint)
        folds.pop(joint, None)
        folds |= {joint: on} if on is not own else {}
    if spread or on is False:
        places.pop(joint, None)
    if place is not None:
        places[joint] = place
    return _kept(document, _with_folds(SkinRecipe.from_json(recipe.to_json() | {"folds": folds, "places": places})))


@edit("skin.bond", "Glue of {body}: {share} times its share")
def bond(document: Document, body: str, share: float) -> Document:
    """How much glue a body gets, over its share by area; 1: that."""
    recipe = recipe_of(document)
    if _text(body) not in bodies_of(recipe.template):
        raise BadInput(f"there is no body {body!r} in {recipe.template!r}; there are {', '.join(bodies_of(recipe.template))}")
    bonds = {key: value for key, value in recipe.bonds.items() if key != body} | ({body: share} if share != 1 else {})
    return _kept(document, SkinRecipe.from_json(recipe.to_json() | {"bonds": bonds}))


@edit("skin.end", "Left the skin")
def end(document: Document) -> Document:
    """Drop the recipe; a creature that was made of it stays."""
    recipe_of(document)
    return document.changed(recipe={})


def recipe_of(document: Document) -> SkinRecipe:
    """The recipe of a document, checked; BadInput when none was begun."""
    if not document.recipe.get("source"):
        raise BadInput("no skin was begun; open a surface (.obj, .stl, .ply, .glb) first")
    return SkinRecipe.from_json({key: value for key, value in document.recipe.items() if key not in _OWN})


def bodies_of(template: str) -> tuple[str, ...]:
    """The bodies of a template, the torso first."""
    chosen = TEMPLATES[template]
    spine = () if chosen.spine is None else (f"{chosen.spine.name}_link",)
    return (TORSO, *spine, *(f"{leg}.{joint.name}_link" for leg in LEGS for joint in chosen.joints))


def scale_of(document: Document) -> float:
    """How many metres a unit of the surface's file has."""
    return _scale(document.recipe.get("scale", 1.0))


def _kept(document: Document, recipe: SkinRecipe, **own: Any) -> Document:
    held = {key: document.recipe[key] for key in _OWN if key in document.recipe}
    return document.changed(recipe={**held, **own, **recipe.to_json()})


def _with_folds(recipe: SkinRecipe) -> SkinRecipe:
    lowest = list(recipe.joints)[-1]
    if not recipe.joints[lowest]:
        raise BadInput(f"the lowest joint, {lowest!r}, needs its fold: the sole turns with it")
    return recipe


def _scale(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float)) or not 1e-6 <= value <= 1e3:
        raise BadInput(f"a unit of {str(value)[:40]!r} metres cannot be; 1 is for metres, 0.001 for millimetres")
    return float(value)


def _text(value: Any) -> str:
    if not isinstance(value, str):
        raise BadInput(f"{str(value)[:40]!r} arrived where a text is needed")
    return value
