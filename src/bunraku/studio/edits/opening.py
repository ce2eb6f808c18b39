"""Opening characters and clips, built in or from files of the project."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np

from bunraku.assets.examples import DEMOS
from bunraku.building.components.piece import blank_character
from bunraku.errors import BadInput, BunrakuError
from bunraku.formats.registry import read_performance
from bunraku.motion import Clip, JointCurves
from bunraku.performers.fit import fit_of
from bunraku.studio.document import EMPTY, Document
from bunraku.studio.edits.registry import edit
from bunraku.studio.project import Project

RATE = 100.0
"""Of curves that are begun [Hz]."""
LEAST = 0.1
"""A performer that suits less than this cannot perform what is open."""
LONGEST = 600.0
"""The longest clip that can be begun [s]."""


@edit("open.character", "Opened the character {source}")
def open_character(document: Document, source: str, folder: Path | None = None, keep_recipe: bool = False) -> Document:
    """Another character; what belonged to the one before (dimensions, muted joints, options) goes with it.

    ``keep_recipe``: the recipe of the skin stays, for a creature that was made by it.
    """
    base = _project(folder).read_character(source)
    recipe = dict(document.recipe) if keep_recipe else {}
    sources = _sources(document, character=source)
    changed = document.changed(base=base, sources=sources, dimensions={}, muted=(), free=(), recipe=recipe, options={})
    return _suited(changed)


@edit("open.clip", "Opened the clip {source}")
def open_clip(document: Document, source: str, folder: Path | None = None) -> Document:
    """Another clip; joints stay muted where it has curves of them, by which they can be unmuted."""
    clip = _project(folder).read_clip(source)
    known = () if clip.joints is None else clip.joints.names
    muted = tuple(name for name in document.muted if name in known)
    return _suited(document.changed(clip=clip, muted=muted, sources=_sources(document, clip=source)))


@edit("open.example", "Opened the example {name}")
def open_example(document: Document, name: str, quick: bool = True) -> Document:
    """A built-in example: character, clip, performer and options. ``quick``: of a skinned one the coarse skin."""
    known = [key for key, one in DEMOS.items() if one.character and one.performer != "hold"]
    if name not in known:
        only = (
            f"{name!r} is no example of the studio, but bunraku demo {name} shows it"
            if name in DEMOS
            else f"there is no example {name!r}"
        )
        raise BadInput(f"{only}; there are {', '.join(known)}")
    demo = DEMOS[name]
    coarse = quick and demo.performer == "skin"
    character, clip = (f"{source}-quick" if coarse else source for source in (demo.character, demo.clip))
    project = _project(None)
    return EMPTY.changed(
        base=project.read_character(character),
        clip=project.read_clip(clip),
        sources={"character": character, "clip": clip},
        performer=demo.performer,
        options=demo.options,
        mode=document.mode,
    )


@edit("open.blank", "Began a new character, {name}")
def open_blank(document: Document, name: str = "mine", base: str = "free") -> Document:
    """A box to build on: free on the ground, or fixed to it."""
    if base not in ("free", "fixed"):
        raise BadInput(f"a base that is {base!r} cannot be; free or fixed can")
    blank = blank_character(name, base="free" if base == "free" else "fixed")
    sources = {key: value for key, value in document.sources.items() if key != "character"}
    return _suited(document.changed(base=blank, sources=sources, dimensions={}, muted=(), free=(), recipe={}, options={}))


@edit("clip.begin", "Began a clip of {kind}")
def begin_clip(document: Document, kind: str, duration: float = 4.0) -> Document:
    """A clip to work on: "gait", straight ahead at an easy pace; "curves", of ``duration`` [s], in which every joint stays at home.

    Curves are those of the driven joints, of a puppet those of all its joints.
    """
    who = document.need_character()
    if kind == "gait":
        from bunraku.gait.commands import first_gait

        clip = Clip(f"{who.name}-gait", gait=first_gait(who))
    elif kind == "curves":
        if not 0.1 <= float(duration) <= LONGEST:
            raise BadInput(f"a clip of {duration} s cannot be begun; give 0.1 to {LONGEST:g} s")
        names = who.driven or who.coordinates
        if not names:
            raise BadInput(f"{who.name!r} has no joint that could move; add a motor in Design")
        home = np.array([who.home.get(name, 0.0) for name in names])
        clip = Clip(f"{who.name}-moving", joints=JointCurves(names, RATE, np.tile(home, (round(RATE * float(duration)) + 1, 1))))
    else:
        raise BadInput(f"a clip of {kind!r} cannot be begun; gait or curves can")
    return with_clip(document.changed(muted=(), performer="", options={}), clip)


@edit("open.performance", "Opened the performance {source}")
def open_performance(document: Document, source: str, folder: Path | None = None) -> Document:
    """The character of a performance, and its motion as the clip."""
    performance = read_performance(_project(folder).path(source))
    return EMPTY.changed(base=performance.character, clip=performance.as_clip(), mode=document.mode)


def _suited(document: Document) -> Document:
    """The document; a performer that cannot perform what is open now, and its options, are left behind: the best is chosen."""
    if not document.performer or document.base is None or document.clip is None:
        return document
    try:
        suits = fit_of(document.performer).suits(document.need_character(), document.need_clip()).score >= LEAST
    except BunrakuError:
        suits = False
    return document if suits else document.changed(performer="", options={})


def _project(folder: Path | None) -> Project:
    return Project(folder if folder is not None else Path())


def _sources(document: Document, **named: str) -> dict[str, str]:
    return {key: value for key, value in {**document.sources, **named}.items() if value}


def clip_changed(document: Document, **changes: Any) -> Document:
    """The document with some fields of its clip changed."""
    return with_clip(document, document.need_clip().changed(**changes))


def with_clip(document: Document, clip: Clip) -> Document:
    """The document with a clip that was edited: it is no longer as it came."""
    return document.changed(clip=clip, sources=_sources(document, clip=""))
