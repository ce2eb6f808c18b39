"""Replays on the ground over a small set of perturbations: single replays of marginal plans scatter.

Servos of their own stiffness, half and twice that, floors of two frictions, commands at two rates; what counts is the worst of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

from bunraku.motion import JointCurves
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.ground.model import GroundModel
from bunraku.verification.ground.plan import GroundPlan
from bunraku.verification.ground.replay import GroundReplay, plan_model, replay_plan
from bunraku.verification.verifier import Replay

GAINS = (0.5, 1.0, 2.0)
"""Stiffnesses of the servos, in their own (`ground_servos`)."""

FRICTIONS = (0.6, 0.8)
"""Frictions of the floor; a motion that is planned on more than the largest is replayed on just that much."""

RATES = (100.0, 200.0)
"""Rates [Hz] of the commands."""

ROW = ("velocity_error", "distance_error", "yaw_error_deg", "slip_m", "torque_utilisation", "fell")
"""The figures by which replays are compared."""

WORST = {
    "replay_velocity_error": "velocity_error",
    "replay_distance_error": "distance_error",
    "replay_yaw_error_deg": "yaw_error_deg",
    "replay_slip_m": "slip_m",
    "replay_tracking_rms_rad": "tracking_rms_rad",
    "torque_utilisation": "torque_utilisation",
    "rms_torque_share": "rms_torque_share",
    "saturation_share": "saturation_share",
}
"""Figures of the verdict that are the largest of all replays."""


class Perturbation(NamedTuple):
    """One way a stage may be: ``gain`` of the servos in their own stiffness, ``friction`` of the floor, ``rate`` [Hz]."""

    gain: float
    friction: float
    rate: float


@dataclass(frozen=True)
class GroundReplays(Replay):
    """Replays under all perturbations, first the usual one (own stiffness, most friction and rate); ``complete``: none missing."""

    replays: tuple[GroundReplay, ...]
    complete: bool

    @property
    def motion(self) -> JointCurves:
        """The motion under the usual conditions."""
        return self.usual.coordinates

    @property
    def rows(self) -> list[tuple[str, dict[str, float]]]:
        """Every replay."""
        return [(described(one), {key: one.figures[key] for key in ROW}) for one in self.replays]

    @property
    def fell(self) -> bool:
        """Whether one of them fell."""
        return any(replay.fell for replay in self.replays)

    @property
    def reason(self) -> str:
        """Why the first that fell did, under which perturbation; or nothing."""
        return next((f"{replay.reason} ({described(replay)})" for replay in self.replays if replay.fell), "")

    @property
    def usual(self) -> GroundReplay:
        """The replay under the usual conditions."""
        return self.replays[0]

    def worst(self, name: str) -> GroundReplay:
        """The replay in which a figure is largest."""
        return max(self.replays, key=lambda replay: replay.figures[name])

    @property
    def figures(self) -> dict[str, float]:
        """The worst of each; of displacements the one that is farthest from the planned one; how many fell."""
        each = [replay.figures for replay in self.replays]
        farthest = max(each, key=lambda one: abs(one["distance_m"] - one["planned_distance_m"]))
        return {
            **{name: max(one[key] for one in each) for name, key in WORST.items()},
            "replay_distance_m": farthest["distance_m"],
            "planned_distance_m": each[0]["planned_distance_m"],
            "planned_utilisation": each[0]["planned_utilisation"],
            "fell": float(sum(one["fell"] for one in each)),
        }


def described(replay: GroundReplay) -> str:
    """The perturbation of a replay in words."""
    mu = "its own friction" if replay.friction is None else f"friction {replay.friction:g}"
    stiff = "servos of their own stiffness" if replay.gain == 1.0 else f"servos {replay.gain:g} times as stiff"
    return f"{stiff}, {mu}, commands at {replay.rate:g} Hz"


def ground_perturbations(
    planned_friction: float | None = None, *, rate: float = RATES[-1], slower: Sequence[float] = RATES[:-1]
) -> tuple[Perturbation, ...]:
    """Every stiffness with every friction at a performance's own ``rate`` [Hz] and at those ``slower`` than it; the usual first.

    A plan that counts on more friction than the floors have is replayed on exactly that much.
    """
    frictions: tuple[float, ...] = FRICTIONS
    if planned_friction is not None and planned_friction > max(FRICTIONS) + 1e-9:
        frictions = (planned_friction,)
    rates = [*(r for r in slower if r < rate), rate]
    rows = [Perturbation(gain, mu, r) for r in rates for mu in frictions for gain in GAINS]
    usual = Perturbation(1.0, max(frictions), rate)
    return (usual, *(row for row in rows if row != usual))


def replay_all(
    plan: GroundPlan, perturbations: Sequence[Perturbation], *, model: GroundModel | None = None, monitor: Monitor = SILENT
) -> GroundReplays:
    """A plan under every perturbation, all in one foreign model."""
    model = plan_model(plan) if model is None else model
    replays: list[GroundReplay] = []
    for i, row in enumerate(perturbations):
        replays.append(replay_plan(plan, **row._asdict(), model=model))
        monitor.report(Event("replay", (i + 1) / len(perturbations), replays[-1].reason))
        if monitor.cancelled:
            break
    return GroundReplays(tuple(replays), len(replays) == len(perturbations) and all(replay.complete for replay in replays))
