"""Muting: some coordinates stay at home for now, whatever the clip says; the clip itself is left as it is."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import replace

from bunraku.character import Character
from bunraku.motion.clip import Clip


def muted_clip(character: Character, clip: Clip, names: Collection[str]) -> Clip:
    """The clip as it is performed with some coordinates muted.

    Their curves are constant at home, they are among those held (which performers of servos do not move at all), and in a gait they
    are locked. Groups may be named too.
    """
    still = character.expand(names)
    if not still:
        return clip
    changes: dict[str, object] = {"held": (*clip.held, *(name for name in still if name not in clip.held))}
    if clip.joints is not None:
        values = clip.joints.values.copy()
        for j, name in enumerate(clip.joints.names):
            if name in still:
                values[:, j] = character.home.get(name, 0.0)
        changes["joints"] = replace(clip.joints, values=values)
    if clip.gait is not None:
        driven = tuple(name for name in still if name not in clip.gait.locked)
        changes["gait"] = clip.gait.changed(locked=(*clip.gait.locked, *driven))
    return clip.changed(**changes)
