"""Joint curves: keys dragged, joints muted or held."""

from __future__ import annotations

from bunraku.editing.keys import Keys, keys_of, moved, removed
from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import clip_changed
from bunraku.studio.edits.registry import edit


@edit("keys.move", "Moved a key of {joint}")
def move_key(document: Document, joint: str, key: int, time: float, value: float, keys: list[int] | None = None) -> Document:
    """Move key number ``key`` of a joint's curve to another time [s] and value.

    ``keys``: the samples at which the keys stand; those that the curve suggests if they are not given.
    """
    curves = _curves(document)
    return clip_changed(document, joints=moved(curves, joint, _keys(curves, joint, keys), int(key), float(time), float(value)))


@edit("keys.remove", "Removed a key of {joint}")
def remove_key(document: Document, joint: str, key: int, keys: list[int] | None = None) -> Document:
    """Take a key of a joint's curve away: the curve goes smoothly from the one before to the one after. ``keys`` as of a move."""
    curves = _curves(document)
    return clip_changed(document, joints=removed(curves, joint, _keys(curves, joint, keys), int(key)))


@edit("joint.mute", "Muted or unmuted {joint}")
def mute_joint(document: Document, joint: str) -> Document:
    """A muted joint stays at its home value, whatever its curve says; muting it again brings the curve back."""
    _known(document, joint)
    return document.changed(muted=_toggled(document.muted, joint))


@edit("joint.lock", "Held or freed {joint}")
def hold_joint(document: Document, joint: str) -> Document:
    """A held joint does not take part: in a gait it stays at home, in a clip it is among those held."""
    _known(document, joint)
    clip = document.need_clip()
    if clip.gait is not None:
        return clip_changed(document, gait=clip.gait.changed(locked=_toggled(clip.gait.locked, joint)))
    return clip_changed(document, held=_toggled(clip.held, joint))


def _toggled(names: tuple[str, ...], name: str) -> tuple[str, ...]:
    """Without the name, or with it at the end if it was not there."""
    return tuple(one for one in names if one != name) if name in names else (*names, name)


def _curves(document: Document) -> JointCurves:
    return document.need_clip().need_joints("editing curves")


def _keys(curves: JointCurves, joint: str, samples: list[int] | None) -> Keys:
    return keys_of(curves, joint) if samples is None else Keys(tuple(int(k) for k in samples), curves.rate)


def _known(document: Document, joint: str) -> None:
    who = document.need_character()
    if joint not in who.coordinates:
        raise BadInput(f"{joint!r} is no coordinate of {who.name!r}; it has {', '.join(who.coordinates[:12])}")
