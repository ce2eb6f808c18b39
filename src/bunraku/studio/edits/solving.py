"""Which performer solves it, with which options."""

from __future__ import annotations

import typing
from typing import Any

from bunraku.errors import BadInput
from bunraku.performers.performer import make_performer, options_of, performer_class
from bunraku.studio.document import Document
from bunraku.studio.edits.registry import edit


@edit("performer.set", "Performer: {performer}")
def set_performer(document: Document, performer: str) -> Document:
    """The performer by name, empty: the one that suits best; its options start at their defaults."""
    if performer:
        make_performer(performer)
    return document.changed(performer=performer, options={})


@edit("option.set", "Set {name} to {value}")
def set_option(document: Document, name: str, value: Any) -> Document:
    """One option of the performer; None: its default again."""
    if not document.performer:
        raise BadInput(f"choose a performer before its option {name!r}")
    options = dict(document.options)
    options.pop(name, None)
    if value is not None:
        hints = typing.get_type_hints(performer_class(document.performer))
        known = {field.name: field.default for field in options_of(document.performer)}
        if name not in known:
            raise BadInput(f"performer {document.performer!r} has no option {name!r}; it has {', '.join(known)}")
        hint = hints[name]
        if hint is float or (isinstance(known[name], float) and isinstance(value, int)):
            value = float(value)
        elif isinstance(value, list):
            value = tuple(value)
        options[name] = value
    make_performer(document.performer, options)
    return document.changed(options=options)
