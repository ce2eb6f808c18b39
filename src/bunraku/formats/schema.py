"""JSON Schemas (draft 2020-12) of our files, made from the same models that read them, with the units in the keys.

An editor that knows them completes keys and marks mistakes while one types. Two spellings of one quantity (``range_deg``,
``range_rad``) are both listed; that only one may be given is checked on reading.
"""

from __future__ import annotations

import importlib
from typing import Any

from pydantic import BaseModel

from bunraku.character import Pose
from bunraku.errors import BadInput
from bunraku.formats.places import known_names
from bunraku.formats.units import FAMILIES, accepted_units, nested_model, quantity_of
from bunraku.formats.yaml_file import CURRENT

_DRAFT = "https://json-schema.org/draft/2020-12/schema"
_MODELS = {
    "batch": "bunraku.formats.batch_yaml:BatchFile",
    "character": "bunraku.character:Character",
    "clip": "bunraku.formats.clip_file:ClipFile",
    "device": "bunraku.stage.devices.device:Device",
    "overlay": "bunraku.formats.overlay:Overlay",
    "performance": "bunraku.formats.performance_npz:PerformanceFile",
    "project": "bunraku.formats.project_yaml:ProjectFile",
    "rig": "bunraku.retargeting.rig_map:RigMap",
    "study": "bunraku.formats.study_yaml:StudyPlan",
}
"""The model of each kind of file as ``module:class``, imported when asked for."""
_RULES = ("minimum", "maximum", "exclusiveMinimum", "exclusiveMaximum")


def json_schema(kind: str) -> dict[str, Any]:
    """The schema of a file: character, clip, device, overlay, project, rig or study; of a performance, that of its header."""
    if kind not in _MODELS:
        raise BadInput(f"there is no schema {kind!r}; {known_names(kind, _MODELS)}")
    module, _, name = _MODELS[kind].partition(":")
    model: type[BaseModel] = getattr(importlib.import_module(module), name)
    if kind == "performance":
        return {"$schema": _DRAFT, **model.model_json_schema()}
    definitions: dict[str, Any] = {}
    top = _object(model, definitions)
    header = {"const": f"{kind}/{CURRENT[kind]}", "description": "Which file this is, and in which version."}
    return {
        "$schema": _DRAFT,
        "title": f"Bunraku {kind} file",
        **top,
        "properties": {"bunraku": header, **top["properties"]},
        "required": ["bunraku", *top["required"]],
        "$defs": definitions,
    }


def _object(model: type[BaseModel], definitions: dict[str, Any]) -> dict[str, Any]:
    """The schema of one description: every key as a person writes it."""
    plain = model.model_json_schema()
    properties: dict[str, Any] = {}
    required: list[str] = []
    choices: list[dict[str, Any]] = []
    for name, field in model.model_fields.items():
        kind = quantity_of(field)
        if kind is None:
            properties[name] = _field(field.annotation, definitions, plain["properties"][name])
            if field.is_required():
                required.append(name)
            continue
        base = {key: value for key, value in plain["properties"][name].items() if key not in ("quantity", "title", "default")}
        for suffix, (factor, _) in accepted_units(kind).items():
            properties[f"{name}_{suffix}"] = base if factor == 1.0 else _rescaled(base, factor)
        if field.is_required():
            choices.append({"anyOf": [{"required": [f"{name}_{suffix}"]} for suffix in accepted_units(kind)]})
    if model is Pose:
        three = {"type": "array", "items": {"type": "number"}, "minItems": 3, "maxItems": 3}
        properties |= {f"rpy_{suffix}": three for suffix in next(iter(FAMILIES["angle"].values()))}
    text = " ".join((model.__doc__ or "").split())
    schema: dict[str, Any] = {"type": "object", "description": text, "properties": properties, "additionalProperties": False}
    return schema | {"required": required} | ({"allOf": choices} if choices else {})


def _field(annotation: Any, definitions: dict[str, Any], plain: dict[str, Any]) -> dict[str, Any]:
    """The schema of a field without unit; nested descriptions become references."""
    child = nested_model(annotation)
    if child is None:
        return {key: value for key, value in plain.items() if key not in ("title", "default")}
    name = child.__name__.removesuffix("File").removesuffix("Entry")
    if name not in definitions:
        definitions[name] = {}
        definitions[name] = _object(child, definitions)
    reference = {"$ref": f"#/$defs/{name}"}
    if plain.get("type") == "array":
        return {"type": "array", "items": reference, **{key: plain[key] for key in ("minItems", "maxItems") if key in plain}}
    if plain.get("type") == "object":
        return {"type": "object", "additionalProperties": reference}
    if type(None) in getattr(annotation, "__args__", ()):
        return {"anyOf": [reference, {"type": "null"}]}
    return reference


def _rescaled(schema: Any, factor: float) -> Any:
    """The same schema for numbers in a unit of ``factor`` SI units: bounds are divided by it."""
    if isinstance(schema, dict):
        return {
            key: value / factor if key in _RULES and isinstance(value, int | float) else _rescaled(value, factor)
            for key, value in schema.items()
        }
    if isinstance(schema, list):
        return [_rescaled(part, factor) for part in schema]
    return schema
