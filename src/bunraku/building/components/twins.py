"""Which body mirrors which, found from places and masses when all coordinates are zero."""

from __future__ import annotations

import numpy as np

from bunraku.building.character_geometry import zero_frames
from bunraku.building.components.placing import MIRROR
from bunraku.character import Character


def twin_bodies(character: Character, *, tolerance: float = 1e-6) -> dict[str, str]:
    """The mirror of each body that has one: of the same mass, its frame and its centre of mass at the mirrored places.

    A body in the middle plane is its own. The character need not be symmetric as a whole.
    """
    frames = zero_frames(character)
    total = sum(body.mass for body in character.bodies) or 1.0
    rows = []
    for body in character.bodies:
        R, p = frames[body.name]
        rows.append(np.concatenate([p, p + R @ np.array(body.center_of_mass), [body.mass / total]]))
    here = np.array(rows)
    mirrored = here * np.concatenate([MIRROR, MIRROR, [1.0]])
    near = np.abs(mirrored[:, None] - here[None]).max(axis=2) < tolerance
    names = [body.name for body in character.bodies]
    found = {}
    for index, name in enumerate(names):
        twins = np.flatnonzero(near[index])
        if len(twins):
            found[name] = name if index in twins else names[int(twins[0])]
    return found
