"""Plan and follow with the skin reduced, while one waits: for trying things out before the whole skin proves them.

A :class:`LightPuppet` takes the place of a `Puppet` in the alternation. Its frames take milliseconds, its skin bends to a stance by
the law of its folds, and it knows no self-collision: what it performs is a preview, not a proof.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from typing import TypeAlias, cast

import numpy as np
from numpy.typing import NDArray

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.reduced.frames import ReducedFrames
from bunraku.mechanics.coupled.reduced.model import ReducedModel, ReducedState
from bunraku.mechanics.coupled.share import SkinShare
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.motion import Gait
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.performers.skin.alternate import Alternated, Puppet, alternate
from bunraku.performers.skin.spacetime.tracks import Tracks
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.tracking import FrameRecord, track
from bunraku.performers.skin.wishes import FrameWeights

Array: TypeAlias = NDArray[np.float64]


@dataclass(frozen=True)
class LightPuppet(Puppet):
    """A puppet whose ``model`` is a `ReducedModel`."""

    @property
    def reduced(self) -> ReducedModel:
        """Its model."""
        return cast(ReducedModel, self.model)

    @cached_property
    def frames(self) -> CoupledFrames:
        """Its frames, `ReducedFrames` of the same interface."""
        return _frames(self.reduced, self.h)

    @cached_property
    def share(self) -> SkinShare:
        """The shares of skin as functions of the points of a reduced state."""
        return self.reduced.share

    @cached_property
    def laden(self) -> Character:
        """The character whose bodies carry their skin as if rigid, as for the whole skin."""
        return Puppet(self.reduced.whole, self.h, speed=self.speed).laden

    @cached_property
    def touching(self) -> None:
        """Nothing touches inside: there are no nodes."""
        return None

    @cached_property
    def stiffness(self) -> Array:
        """How the skin resists the joints at home (nq, nq) [N·m/rad], by the slopes of its folds."""
        model, red = self.reduced, self.reduced.reduction
        found = np.zeros((model.nq, model.nq))
        found[6:, 6:] = red.coupling + np.diag(red.law.at(np.zeros(model.nq - 6))[1][:, 0])
        return found


def settle_light(
    puppet: LightPuppet, *, frames: int = 40, step: float = 0.02, stance: Array | None = None, weights: FrameWeights | None = None
) -> tuple[SkinnedState, FrameRecord]:
    """The character standing at home, or in a ``stance`` (nq,), soles at rest; its folds are in equilibrium from the start."""
    model = puppet.reduced
    pose = model.home if stance is None else stance
    rest = model.rest()
    state = replace(rest, q=pose.copy(), x=model.points(pose, rest.s))
    stands = np.ones((frames, len(model.character.end_effectors)), dtype=bool)
    tracked = track(_frames(model, step), state, np.tile(pose, (frames, 1)), stands, weights=weights)
    if tracked.failed:
        raise BadInput(f"{model.character.name!r} cannot stand, {tracked.failed}; crouch less, or look at its skin and weight")
    last = cast(ReducedState, tracked.state)
    still = {name: np.zeros_like(getattr(last, name)) for name in ("v", "w", "r")}
    return replace(last, **still), tracked.records[-1]


def rehearse(
    puppet: LightPuppet,
    gait: Gait,
    tracks: Tracks | None = None,
    *,
    weights: SpacetimeWeights | None = None,
    frame_weights: FrameWeights | None = None,
    margin: float = 0.0,
    most: int = 1,
    stance: Array | None = None,
    start: tuple[SkinnedState, FrameRecord] | None = None,
    monitor: Monitor = SILENT,
) -> Alternated:
    """The alternation of `alternate` on the reduced skin; ``start`` of an earlier one in the same ``stance`` saves settling."""
    began = settle_light(puppet, stance=stance, weights=frame_weights) if start is None else start
    return alternate(
        puppet, gait, tracks,
        weights=weights, frame_weights=frame_weights, margin=margin, most=most, stance=stance, start=began, monitor=monitor,
    )  # fmt: skip


def _frames(model: ReducedModel, h: float) -> CoupledFrames:
    """Reduced frames where coupled ones are asked for: the two have one interface."""
    return cast(CoupledFrames, ReducedFrames(model, h))
