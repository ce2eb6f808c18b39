"""Asking for less: the limbs of a captured motion that are to be followed, in words."""

from __future__ import annotations

from collections.abc import Sequence

from bunraku.errors import BadInput
from bunraku.retargeting.rig_map import RigMap

WORDS = {
    "arms": ("left arm", "right arm"),
    "legs": ("left leg", "right leg"),
    "upper": ("head", "left arm", "right arm", "trunk"),
}
"""Words for several limbs."""


def limbs_asked(only: Sequence[str]) -> frozenset[str]:
    """The limbs that some words mean: "arms" both arms; a limb's own name means itself."""
    return frozenset(name for word in only for name in WORDS.get(word, (word,)))


def rig_of(rig: RigMap, only: Sequence[str]) -> RigMap:
    """The part of a rig map that drives the limbs asked for; all of it when nothing is said."""
    if not only:
        return rig
    asked = limbs_asked(only)
    known = {*(limb.name for limb in rig.limbs), "trunk", *(["head"] if rig.head is not None else [])}
    strange = next((word for word in only if not limbs_asked([word]) & known), None)
    if strange is not None:
        words = [word for word, limbs in WORDS.items() if set(limbs) & known]
        raise BadInput(f"{strange!r} is no limb of the rig map; there are {', '.join([*words, *sorted(known)])}")
    limbs = tuple(limb for limb in rig.limbs if limb.name in asked)
    head = rig.head if "head" in asked else None
    if not limbs and head is None:
        raise BadInput("the trunk alone cannot be followed; ask for the head or a limb too")
    return rig.changed(limbs=limbs, head=head)
