"""The stance of a plan: the pose it stands in, home or lower. Straight legs lift a foot badly, so walks are planned in a crouch."""

from __future__ import annotations

import numpy as np
from scipy.optimize import least_squares

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model

NUDGE = 0.3
"""How far [rad] the last joint but one of a leg is bent before the pose is sought, and the last one back."""

HEIGHT, FLAT, PLACE, BEND = 1e4, 1e2, 1.0, 1e-2
"""Weights of residuals: soles on the ground [1/m], flat, near where they were [1/m], joints near home [1/rad]."""


def crouched(character: Character, drop: float) -> Array:
    """A pose (nq,) with the base ``drop`` [m] below home, its soles flat on the ground, the legs bent outwards.

    Coordinates in the order of the plan's model. Both ways of bending the legs are tried; the one with the wider support is kept.
    """
    model = centroidal_model(character)
    home = kinematics(model, model.home[None])
    stances: list[tuple[float, Array]] = []
    for sign in (1.0, -1.0):
        q = _stood(model, home.contact[0], drop, sign)
        seen = kinematics(model, q[None])
        if np.abs(seen.contact[0, :, 2]).max() < 1e-6:
            stances.append((float(np.linalg.norm(seen.contact[0, :, :2] - seen.com[0, :2], axis=1).sum()), q))
    if not stances:
        raise BadInput(f"{character.name!r} cannot stand {drop:g} m lower than at home with its soles on the ground; ask for less")
    return max(stances, key=lambda one: one[0])[1]


def _stood(model: CentroidalModel, places: Array, drop: float, sign: float) -> Array:
    """The pose found from legs bent by ``sign``; ``places`` (n_e, 3): where the soles stand at home."""
    base = model.home[:6].copy()
    base[2] -= drop
    start = model.home[6:].copy()
    chain = model.tips.chain
    for j in range(model.n_tips):
        last = [int(c) - 6 for c in chain[j] if c >= 6][-2:]
        for c, share in zip(last, (sign, -sign)[-len(last) :], strict=True):
            start[c] += NUDGE * share
    low, high = model.middle[6:] - model.half[6:] - 1e-9, model.middle[6:] + model.half[6:] + 1e-9

    def residuals(joints: Array) -> Array:
        seen = kinematics(model, np.concatenate([base, joints])[None])
        R = seen.arrays.R[0]
        up = np.array([(R[node] @ axis)[:2] for node, axis in zip(model.tips.node, model.tips.axis, strict=True)])
        e = seen.contact[0]
        parts = (HEIGHT * e[:, 2], FLAT * up.ravel(), PLACE * (e - places)[:, :2].ravel(), BEND * (joints - model.home[6:]))
        return np.concatenate(parts)

    answer = least_squares(residuals, np.clip(start, low, high), bounds=(low, high), xtol=1e-14, ftol=1e-14, gtol=1e-14)
    return np.concatenate([base, answer.x])
