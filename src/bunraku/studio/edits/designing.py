"""Dimensions of a character, and how the design follows: by hand, with a feature kept, or by itself."""

from __future__ import annotations

from typing import get_args

from bunraku.building.components.dimensions import dimensions
from bunraku.design.features import feature as known
from bunraku.errors import BadInput
from bunraku.studio.document import Document, Mode
from bunraku.studio.edits.registry import edit


@edit("dimension.set", "Set {name} to {value} m")
def set_dimension(document: Document, name: str, value: float) -> Document:
    """One dimension [m]; what cannot be built is refused."""
    return set_dimensions(document, {name: value})


@edit("dimension.several", "Set dimensions")
def set_dimensions(document: Document, values: dict[str, float]) -> Document:
    """Several dimensions [m] at once: what the design made of them by itself."""
    document.need_character()
    assert document.base is not None  # noqa: S101 - a character has a base
    design = dimensions(document.base)
    kept = dict(document.dimensions)
    for name, value in values.items():
        k = design.index(name)
        low, high = float(design.lower[k]), float(design.upper[k])
        if not low - 1e-12 <= float(value) <= high + 1e-12:
            raise BadInput(f"{name} = {value:g} m cannot be built; {low:g} to {high:g} can")
        kept[name] = float(value)
        if abs(float(value) - float(design.initial[k])) < 1e-12:
            del kept[name]
    changed = document.changed(dimensions=kept)
    changed.need_character()
    return changed


@edit("dimension.fix", "Took the dimensions over")
def fix_dimensions(document: Document) -> Document:
    """The character as it is now becomes the one that dimensions are counted from."""
    return document.changed(base=document.need_character(), dimensions={}, sources={**document.sources, "character": ""})


@edit("design.mode", "Design mode: {mode}")
def set_mode(document: Document, mode: Mode) -> Document:
    """Manual, semi-automatic or automatic."""
    if mode not in get_args(Mode):
        raise BadInput(f"the mode {mode!r} is none; there are {', '.join(get_args(Mode))}")
    return document.changed(mode=mode)


@edit("design.kept", "Keep {feature} while designing")
def set_kept(document: Document, feature: str) -> Document:
    """The feature that a semi-automatic edit keeps, or several joined by "+"."""
    known(feature)
    return document.changed(kept=feature)


@edit("design.aim", "Improve {aim}")
def set_aim(document: Document, aim: str) -> Document:
    """What an automatic design improves."""
    if aim not in ("energy", "target", "torque"):
        raise BadInput(f"the aim {aim!r} is none; there are energy, target, torque")
    return document.changed(aim=aim)


@edit("design.free", "Chose which dimensions may follow")
def set_free(document: Document, names: list[str]) -> Document:
    """The dimensions that may change by themselves; none: all."""
    document.need_character()
    assert document.base is not None  # noqa: S101
    design = dimensions(document.base)
    for name in names:
        design.index(name)
    return document.changed(free=tuple(names))


@edit("design.mirror", "Mirror components: {on}")
def set_mirror(document: Document, on: bool) -> Document:
    """Whether components are added, removed and exchanged on both sides."""
    return document.changed(mirror=bool(on))
