"""The verdict of the replay on the ground, over a small set of perturbations: single replays of marginal plans scatter.

Servos of their own stiffness, half and twice that, floors of two frictions, commands at two rates; what counts is the worst of all.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from bunraku.motion import HeightField, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.ground.plan import ground_plan
from bunraku.verification.ground.replay import GroundReplay, replay_plan

GAINS = (0.5, 1.0, 2.0)
"""Stiffnesses of the servos, in their own (`ground_servos`)."""

FRICTIONS = (0.6, 0.8)
"""Frictions of the floor; a motion that is planned on more than the largest is replayed on just that much."""

RATES = (100.0, 200.0)
"""Rates [Hz] of the commands."""


@dataclass(frozen=True)
class Perturbation:
    """One way a stage may be: ``gain`` of the servos in their own stiffness, ``friction`` of the floor, ``rate`` [Hz]."""

    gain: float
    friction: float
    rate: float


@dataclass(frozen=True)
class GroundVerdict:
    """Replays under all perturbations, first the usual one (own stiffness, most friction and rate); ``complete``: none missing.

    ``figures`` hold the worst of each: ``replay_velocity_error``, ``replay_distance_m`` (the displacement that is farthest from the
    planned one), ``replay_distance_error``, ``replay_yaw_error_deg``, ``replay_slip_m``, ``torque_utilisation``,
    ``rms_torque_share``, ``replay_tracking_rms_rad``, ``fell`` (how many did), and ``planned_utilisation``.
    """

    replays: tuple[GroundReplay, ...]
    complete: bool

    @property
    def rows(self) -> list[dict[str, float]]:
        """Flat figures of every replay, with its perturbation."""
        return [{"friction": replay.friction or 0.0, **replay.figures} for replay in self.replays]

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
        """The worst over the replays."""
        rows = self.rows
        farthest = max(rows, key=lambda row: abs(row["distance_m"] - row["planned_distance_m"]))
        return {
            "replay_velocity_error": max(row["velocity_error"] for row in rows),
            "replay_distance_m": farthest["distance_m"],
            "planned_distance_m": rows[0]["planned_distance_m"],
            "replay_distance_error": max(row["distance_error"] for row in rows),
            "replay_yaw_error_deg": max(row["yaw_error_deg"] for row in rows),
            "replay_slip_m": max(row["slip_m"] for row in rows),
            "replay_tracking_rms_rad": max(row["tracking_rms_rad"] for row in rows),
            "torque_utilisation": max(row["torque_utilisation"] for row in rows),
            "planned_utilisation": rows[0]["planned_utilisation"],
            "rms_torque_share": max(row["rms_torque_share"] for row in rows),
            "saturation_share": max(row["saturation_share"] for row in rows),
            "fell": float(sum(row["fell"] for row in rows)),
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


def judge_on_ground(
    performance: Performance,
    *,
    perturbations: Sequence[Perturbation] | None = None,
    terrain: HeightField | None = None,
    monitor: Monitor = SILENT,
) -> GroundVerdict:
    """Replay a locomotion performance under every perturbation (None: `ground_perturbations`), on its own or the given terrain."""
    plan = ground_plan(performance, terrain)
    if perturbations is None:
        perturbations = ground_perturbations(plan.friction, rate=performance.rate)
    replays: list[GroundReplay] = []
    for i, row in enumerate(perturbations):
        replays.append(replay_plan(plan, gain=row.gain, friction=row.friction, rate=row.rate))
        monitor.report(Event("replay", (i + 1) / len(perturbations), replays[-1].reason))
        if monitor.cancelled:
            break
    return GroundVerdict(tuple(replays), len(replays) == len(perturbations) and all(replay.complete for replay in replays))
