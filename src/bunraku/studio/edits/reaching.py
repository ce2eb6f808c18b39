"""Hands, feet and the centre of mass: brought to a place at a time by changing the joint curves around it."""

from __future__ import annotations

from dataclasses import replace

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.retargeting.followed_point import follow_point
from bunraku.retargeting.reach import reached
from bunraku.studio.document import Document
from bunraku.studio.edits.opening import with_clip
from bunraku.studio.edits.registry import edit


@edit("pose.reach", "Moved {frame} at {time} s")
def reach(document: Document, frame: str, time: float, place: list[float | None], width: float = 0.3) -> Document:
    """Bring a frame, end effector or the centre of mass ("com") to a place [m] at a time [s], as near as its joints let it.

    Joints that are held or muted stay. Curves change only nearer to the time than ``width`` [s].
    """
    who, clip = document.need_character(), document.need_clip()
    own = clip.need_joints("moving a hand or a foot")
    if len(place) != 3:
        raise BadInput(f"a place of {len(place)} numbers arrived; give x, y, z")
    x, y, z = (None if part is None else float(part) for part in place)
    wish = document.wish
    seen = own if wish is None or wish.joints is None else wish.joints
    still = who.expand(name for name in (*clip.held, *document.muted) if name in who.groups or name in who.coordinates)
    joints: tuple[str, ...] = ()
    if set(still) & set(own.names):
        joints = tuple(name for name in follow_point(who, frame, own.names).moving if name in own.names and name not in still)
        if not joints:
            raise BadInput(f"all joints that move {frame!r} are held or muted; free one of them")
    reaching = reached(who, seen, frame, float(time), (x, y, z), joints=joints, width=float(width))
    return with_clip(document, clip.changed(joints=_with_muted(reaching.curves, own, document.muted)))


def _with_muted(curves: JointCurves, own: JointCurves, muted: tuple[str, ...]) -> JointCurves:
    """The changed curves, those of muted joints as they are in the clip."""
    kept = [j for j, name in enumerate(own.names) if name in muted]
    if not kept:
        return curves
    values = curves.values.copy()
    values[:, kept] = own.values[:, kept]
    return replace(own, values=values)
