"""What a pass over the frames teaches the next plan: where the skin's mass was, how soles gave way, what the joints needed."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import PATCHES
from bunraku.mechanics.coupled.share import SkinShare
from bunraku.mechanics.coupled.skinned import SkinnedModel
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.performers.skin.spacetime.effect import SkinEffect, lump_nodes
from bunraku.performers.skin.spacetime.plan import SpacetimePlan


@dataclass(frozen=True)
class Seen:
    """Of one state: the centre (k, 3) of each share of skin in its body's frame; the soles (s, 3) in the frames of their feet."""

    centers: Array
    soles: Array


def seen(model: SkinnedModel, share: SkinShare, state: SkinnedState) -> Seen:
    """Look at a state."""
    at = model.tree.configuration(state.q)
    patches = np.asarray(model.patches @ state.x.ravel()).reshape(-1, PATCHES, 3).mean(axis=1)
    nodes = [model.tree.nodes[tip.body] for tip in model.character.end_effectors]
    soles = np.array([at.rotation[b].T @ (place - at.position[b]) for b, place in zip(nodes, patches, strict=True)])
    return Seen(share.centers(model, state.q, state.x), soles)


def effect_of(
    model: SkinnedModel,
    share: SkinShare,
    plan: SpacetimePlan,
    stiffness: Array,
    rest: Seen,
    looks: list[Seen],
    torques: Array,
    h: float,
) -> SkinEffect:
    """The effect for the next plan: ``looks`` (N) and ``torques`` (N, na) of the frames, compared with what the plan foresaw.

    Torques are means over the frames about each sample: one frame's torque is no plan's business.
    """
    T, step = plan.problem.samples, plan.problem.step
    N = len(looks)
    centers, soles = np.array([look.centers for look in looks]), np.array([look.soles for look in looks])
    lumps = [int(node) for node in lump_nodes(plan.problem.model)]
    shift = np.zeros((T, len(lumps), 3))
    sole = np.zeros((T, soles.shape[1], 3))
    torque = np.zeros((T, model.nq))
    foreseen = plan.torque
    point_mass = plan.problem.model.points.mass.reshape(-1, 4).sum(axis=1)
    for i in range(T):
        middle = i * step / h
        first, last = int(np.clip(round(middle - 0.5 * step / h), 0, N - 1)), int(np.clip(round(middle + 0.5 * step / h), 1, N))
        span = slice(min(first, last - 1), last)
        moved = centers[span].mean(axis=0) - rest.centers
        for k, node in enumerate(share.nodes):
            if int(node) in lumps:
                place = lumps.index(int(node))
                shift[i, place] = share.mass[k] / point_mass[place] * moved[k]
        sole[i] = soles[span].mean(axis=0) - rest.soles
        torque[i, model.driven] = torques[span].mean(axis=0) - foreseen[i, model.driven]
    before = plan.problem.effect.torque
    if before is not None:
        torque += before
    return SkinEffect(shift=shift, sole=sole, torque=torque, stiffness=stiffness)
