"""Replay of a performance in MuJoCo: a simulator whose dynamics share no code with ours.

The character starts at home on the floor, rests, moves smoothly to the first frame, plays what the position channels send through
its servos (`servos`), and holds the last frame. Everything is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import qpos_to_coordinates
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import JointCurves, MotionLimits, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.verification.foreign import substeps, without_log_file
from bunraku.verification.limits import position_curves
from bunraku.verification.rigid.model import ForeignModel, foreign_model
from bunraku.verification.rigid.simulate import simulate
from bunraku.verification.servos.bank import ServoBank
from bunraku.verification.servos.commands import Commands
from bunraku.verification.servos.heat import winding_heat
from bunraku.verification.worlds import World

_REST, _HOLD = 0.5, 1.0


@dataclass(frozen=True)
class RigidReplay:
    """What happened in one ``world``. Arrays over motors have shape (k,); ``times`` (n,) run from the first frame of the clip.

    ``fell`` with the ``reason`` in words; ``slides``: motors that slide, measured in m and N where others are in rad and N·m;
    tracking errors against the plan with the pure delay removed (the stated one, and a period from command to command);
    ``peak_torque``; ``heat`` of the windings (`servos.heat`); ``saturation``: share of the time at the torque limit; ``foot_slip``
    [m]: the farthest a sole moved sideways from where it stood; tilts [rad]; ``coordinates`` (n, nq) and ``torques`` (n, k): the
    motion, for films; ``complete`` false when it was cancelled.
    """

    world: World
    servos: ServoBank = field(repr=False)
    slides: NDArray[np.bool_]
    reason: str
    complete: bool
    tracking_rms: Array
    tracking_max: Array
    peak_torque: Array
    heat: Array
    saturation: Array
    foot_slip: float
    tilt_max: float
    tilt_final: float
    times: Array = field(repr=False)
    coordinates: JointCurves = field(repr=False)
    torques: Array = field(repr=False)

    @property
    def described(self) -> str:
        """The world in words."""
        return self.world.described

    @property
    def motors(self) -> tuple[str, ...]:
        """The motors."""
        return self.servos.names

    @property
    def fell(self) -> bool:
        """Whether it fell, or the simulation broke."""
        return self.reason != ""

    @property
    def motion(self) -> JointCurves | None:
        """The coordinates from the first sample of the performance on."""
        curves = self.coordinates
        values = curves.values[max(int((self.times < -0.5 / curves.rate).sum()), 0) :]
        return JointCurves(curves.names, curves.rate, values) if len(values) else None

    @property
    def figures(self) -> dict[str, float]:
        """The worst of each as flat numbers; those in m only when a motor slides."""
        tracking: dict[str, float] = {}
        for unit, chosen in (("rad", ~self.slides), ("m", self.slides)):
            if unit == "rad" or chosen.any():
                rms = float(np.sqrt(np.mean(self.tracking_rms[chosen] ** 2))) if chosen.any() else 0.0
                tracking |= {f"tracking_rms_{unit}": rms, f"tracking_max_{unit}": float(self.tracking_max[chosen].max(initial=0.0))}
        return {
            "fell": float(self.fell),
            **tracking,
            "peak_torque_share": float((self.peak_torque / self.servos.stall).max(initial=0.0)),
            "winding_heat": float(np.nan_to_num(self.heat).max(initial=0.0)),
            "saturation_share": float(self.saturation.max(initial=0.0)),
            "foot_slip_m": self.foot_slip,
            "tilt_max_rad": self.tilt_max,
            "tilt_final_rad": self.tilt_final,
        }


def model_for(performance: Performance, timestep: float = 0.001, *, servos: ServoBank | None = None) -> ForeignModel:
    """The foreign model with the longest step of at most ``timestep`` [s] that divides the period of the channels."""
    character, curves = performance.character, position_curves(performance)
    if not character.motors:
        raise BadInput(f"{character.name!r} has no motors; there is nothing to replay")
    period = 1.0 / curves.rate
    return foreign_model(character, period / substeps(period, timestep), servos)


def play(
    performance: Performance, foreign: ForeignModel, world: World | None = None, monitor: Monitor = SILENT
) -> RigidReplay:  # fmt: skip
    """Play what the position channels of a performance send, in its foreign model as it is in a world (None: as stated)."""
    world = World() if world is None else world
    with without_log_file():
        foreign = foreign.under(world)
        sent, planned, lead, rate = _sent_and_planned(performance)
        run = simulate(foreign, Commands(sent, rate), lead, world, monitor)
    character, servos = performance.character, foreign.servos
    duration = (len(planned) - 1) / rate
    late = servos.delay + 1.0 / rate
    playing = (run.times >= 0.0) & (run.times <= duration + late.max())
    played = np.arange(len(planned)) / rate
    played = played[played <= max(run.times[-1], 0.0)]
    error = late_by(run.times, run.positions, played, late) - planned[: len(played)]
    kinds = {axis.name: axis.kind for axis in character.axes}
    every, used = run.every, servos.utilisation(run.torques[playing], run.speeds[playing])
    tree = compile_tree(character)
    values = qpos_to_coordinates(character, foreign.model, run.qpos)
    values[:, [tree.index(name) for name in servos.coordinates]] = run.positions[::every]
    return RigidReplay(
        world,
        servos,
        np.array([kinds[motor.coordinate] == "slide" for motor in character.motors]),
        run.reason,
        run.complete,
        np.sqrt(np.mean(error**2, axis=0)),
        np.abs(error).max(axis=0),
        np.abs(run.torques[playing]).max(axis=0, initial=0.0),
        winding_heat(servos, run.torques[playing], 1.0 / (rate * every), repeats=False),
        (used >= 1.0 - 1e-6).mean(axis=0) if playing.any() else np.zeros(len(servos.names)),
        run.slip,
        float(run.tilt.max(initial=0.0)),
        float(run.tilt[-1]) if len(run.tilt) else 0.0,
        run.times[::every],
        JointCurves(tree.names, rate, values),
        run.torques[::every],
    )


def late_by(times: Array, values: Array, at: Array, delays: Array) -> Array:
    """Curves ``values`` (n, k) at ``times`` (n,), read at ``at`` (m,) plus each column's delay (k,) [s]: shape (m, k)."""
    return np.column_stack([np.interp(at + delay, times, values[:, j]) for j, delay in enumerate(delays)])


def _sent_and_planned(performance: Performance) -> tuple[Array, Array, int, float]:
    """What all motors are sent (m, k) with the way there and back, the plan (n, k), samples of lead, and the rate."""
    character, curves, plan = performance.character, position_curves(performance), performance.positions()
    tree = compile_tree(character)
    driven = [tree.index(motor.coordinate) for motor in character.motors]
    commanded, planned = (tree.expand(some.names, some.values)[:, driven] for some in (curves, plan))
    lead, sent = _with_lead(commanded, tree.home[driven], MotionLimits.of(character).velocity, curves.rate)
    return sent, planned, lead, curves.rate


def _with_lead(commanded: Array, home: Array, velocity: Array, rate: float) -> tuple[int, Array]:
    """Rest at home, a minimum-jerk move to the first frame at half the motors' speed, the motion, a hold: (lead samples, curves).

    The move is s(u) = 10 u^3 - 15 u^4 + 6 u^5, whose peak rate is 1.875 / T; it takes 1 to 5 s.
    """
    seconds = float(np.clip(np.max(1.875 * np.abs(commanded[0] - home) / (0.5 * velocity), initial=0.0), 1.0, 5.0))
    u = np.linspace(0.0, 1.0, int(np.ceil(seconds * rate)) + 1)[:-1, None]
    move = home + (10 * u**3 - 15 * u**4 + 6 * u**5) * (commanded[0] - home)
    rest = np.tile(home, (int(np.ceil(_REST * rate)), 1))
    hold = np.tile(commanded[-1], (int(np.ceil(_HOLD * rate)), 1))
    return len(rest) + len(move), np.concatenate([rest, move, commanded, hold])
