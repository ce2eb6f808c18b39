"""Replay of a performance in MuJoCo: a simulator whose dynamics share no code with ours.

The character starts at home on the floor, rests, moves smoothly to the first frame, plays the position channels through its servos
(rate, resolution, delay, torque-speed line; see `servo.py`), and holds the last frame. Everything is deterministic.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.formats.mjcf_coordinates import qpos_to_coordinates
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import JointCurves, MotionLimits, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.foreign import substeps, went_wrong
from bunraku.verification.limits import position_curves
from bunraku.verification.rigid.model import ForeignModel, foreign_model
from bunraku.verification.verifier import Replay

FALLEN_TILT = 0.6
"""A base that leans more than this [rad] from where it stood has fallen."""

FALLEN_HEIGHT = 0.7
"""A base lower than this share of its height at home has fallen."""

_REST, _HOLD, _AFTER_FALL = 0.5, 1.0, 0.3


@dataclass(frozen=True)
class RigidReplay(Replay):
    """What happened. Arrays over motors have shape (k,); ``times`` (n,) run from the first frame of the clip, at the motor rate.

    ``fell`` with the reason in words; ``slides``: motors that slide, measured in m and N where others are in rad and N·m; tracking
    errors with the pure delay (stated delay and half a period of hold) removed; torques; ``continuous_stated``: whether the motor's
    maker states the continuous torque, else it is assumed; ``saturation``: share of the time at the torque limit;
    ``foot_slip`` [m]: the farthest a sole moved sideways from where it stood; tilts [rad]; ``coordinates`` (n, nq) and
    ``torques`` (n, k): the motion, for films; ``complete`` false when it was cancelled.
    """

    motors: tuple[str, ...]
    slides: NDArray[np.bool_]
    fell: bool
    reason: str
    complete: bool
    tracking_rms: Array
    tracking_max: Array
    peak_torque: Array
    rms_torque: Array
    stall_torque: Array
    continuous_torque: Array
    continuous_stated: NDArray[np.bool_]
    saturation: Array
    foot_slip: float
    tilt_max: float
    tilt_final: float
    times: Array = field(repr=False)
    coordinates: JointCurves = field(repr=False)
    torques: Array = field(repr=False)

    @property
    def motion(self) -> JointCurves | None:
        """The coordinates from the first sample of the performance on."""
        curves = self.coordinates
        values = curves.values[max(int((self.times < -0.5 / curves.rate).sum()), 0) :]
        return JointCurves(curves.names, curves.rate, values) if len(values) else None

    @property
    def rows(self) -> tuple[()]:
        """There is one trial."""
        return ()

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
            "peak_torque_share": float((self.peak_torque / self.stall_torque).max(initial=0.0)),
            "rms_torque_share": float((self.rms_torque / self.continuous_torque).max(initial=0.0)),
            "saturation_share": float(self.saturation.max(initial=0.0)),
            "foot_slip_m": self.foot_slip,
            "tilt_max_rad": self.tilt_max,
            "tilt_final_rad": self.tilt_final,
        }


def model_for(performance: Performance, timestep: float = 0.001) -> ForeignModel:
    """The foreign model with the longest step of at most ``timestep`` [s] that divides the period of the channels."""
    character, curves = performance.character, position_curves(performance)
    if not character.motors:
        raise BadInput(f"{character.name!r} has no motors; there is nothing to replay")
    period = 1.0 / curves.rate
    return foreign_model(character, period / substeps(period, timestep))


def play(performance: Performance, foreign: ForeignModel, monitor: Monitor = SILENT) -> RigidReplay:
    """Play the position channels of a performance in its foreign model."""
    character, curves, servos = performance.character, position_curves(performance), foreign.servos
    tree = compile_tree(character)
    driven = [tree.index(motor.coordinate) for motor in character.motors]
    commanded, home = tree.expand(curves.names, curves.values)[:, driven], tree.home[driven]
    every = round(1.0 / (curves.rate * foreign.model.opt.timestep))
    lead, sent = _with_lead(commanded, home, MotionLimits.of(character).velocity, curves.rate)
    run = _simulate(foreign, sent, curves.rate, every, lead, monitor)
    playing = (run.times >= 0.0) & (run.times <= curves.duration + servos.pure_delay.max())
    played = curves.times[curves.times <= max(run.times[-1], 0.0)]
    error = late_by(run.times, run.positions, played, servos.pure_delay) - commanded[: len(played)]
    samples = slice(every - 1, None, every)
    kinds = {axis.name: axis.kind for axis in character.axes}
    return RigidReplay(
        servos.names,
        np.array([kinds[motor.coordinate] == "slide" for motor in character.motors]),
        run.reason != "",
        run.reason,
        run.complete,
        np.sqrt(np.mean(error**2, axis=0)),
        np.abs(error).max(axis=0),
        np.abs(run.torques[playing]).max(axis=0, initial=0.0),
        np.sqrt(np.mean(run.torques[playing] ** 2, axis=0)) if playing.any() else np.zeros(len(home)),
        servos.stall,
        servos.continuous,
        servos.continuous_stated,
        run.saturated[playing].mean(axis=0) if playing.any() else np.zeros(len(home)),
        run.slip,
        float(run.tilt.max(initial=0.0)),
        float(run.tilt[-1]) if len(run.tilt) else 0.0,
        run.times[samples],
        JointCurves(tree.names, curves.rate, qpos_to_coordinates(character, foreign.model, run.qpos)),
        run.torques[samples],
    )


def late_by(times: Array, values: Array, at: Array, delays: Array) -> Array:
    """Curves ``values`` (n, k) at ``times`` (n,), read at ``at`` (m,) plus each column's delay (k,) [s]: shape (m, k)."""
    return np.column_stack([np.interp(at + delay, times, values[:, j]) for j, delay in enumerate(delays)])


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


@dataclass
class _Run:
    """What the simulation recorded: per step times, motor positions, torques, saturation; per sample qpos and tilt."""

    times: Array
    positions: Array
    torques: Array
    saturated: NDArray[np.bool_]
    qpos: Array
    tilt: Array
    slip: float
    reason: str
    complete: bool


def _simulate(foreign: ForeignModel, sent: Array, rate: float, every: int, lead: int, monitor: Monitor) -> _Run:
    """Step MuJoCo through the curves ``sent`` (m, k) at ``rate``, ``every`` steps a sample; times count from sample ``lead``."""
    import mujoco

    model, servos = foreign.model, foreign.servos
    data = mujoco.MjData(model)
    data.qpos[:] = foreign.home
    mujoco.mj_forward(model, data)
    watch = _Watch(foreign, data)
    samples, k = len(sent), len(servos.names)
    steps = samples * every
    curve_times = np.arange(samples) / rate
    target, speed = servos.targets(np.arange(steps) / (rate * every), curve_times, sent)
    control = servos.stiffness * target + servos.damping * speed
    times = (np.arange(1, steps + 1) / every - lead) / rate
    positions, torques = np.empty((steps, k)), np.empty((steps, k))
    saturated = np.zeros((steps, k), dtype=bool)
    qpos, tilt, slip = np.empty((samples, model.nq)), np.empty(samples), 0.0
    limits = model.actuator_forcerange
    reason, stop, complete, sample = "", samples, True, 0
    while sample < stop:
        for step in range(sample * every, (sample + 1) * every):
            low, high = servos.torque_range(data.qvel[foreign.velocity_address])
            limits[:, 0], limits[:, 1] = np.maximum(low, -1e9), np.minimum(high, 1e9)
            data.ctrl[:] = control[step]
            mujoco.mj_step(model, data)
            force = data.actuator_force
            torques[step] = force
            saturated[step] = (force <= low) | (force >= high)
            positions[step] = data.qpos[foreign.position_address]
        qpos[sample] = data.qpos
        tilt[sample] = watch.tilt()
        if sample >= lead:
            slip = max(slip, watch.slip())
        else:
            watch.stand_here()
        if not reason:
            reason = watch.fallen(data.time - lead / rate, tilt[sample])
            if reason:
                stop = min(samples, sample + 1 + int(_AFTER_FALL * rate))
        sample += 1
        if sample % max(1, int(rate)) == 0:
            monitor.report(Event("replay", sample / samples, reason))
            if monitor.cancelled:
                complete = False
                break
    n = sample * every
    return _Run(times[:n], positions[:n], torques[:n], saturated[:n], qpos[:sample], tilt[lead:sample], slip, reason, complete)


class _Watch:
    """Looks for falls: how the base stands, what touches the floor, where the soles are."""

    def __init__(self, foreign: ForeignModel, data: Any) -> None:
        self._foreign, self._data = foreign, data
        self._soles = np.concatenate(foreign.feet) if foreign.feet else np.zeros(0, dtype=np.int64)
        self._start = data.geom_xpos[self._soles, :2].copy()
        if foreign.base >= 0:
            self._upright = data.xmat[foreign.base].reshape(3, 3).copy()
            self._height = float(data.xpos[foreign.base, 2])

    def stand_here(self) -> None:
        """Count slip from where the soles are now."""
        self._start = self._data.geom_xpos[self._soles, :2].copy()

    def slip(self) -> float:
        """The farthest sideways move [m] of a sole's middle."""
        moved = self._data.geom_xpos[self._soles, :2] - self._start
        worst, at = 0.0, 0
        for foot in self._foreign.feet:
            worst = max(worst, float(np.linalg.norm(moved[at : at + len(foot)].mean(axis=0))))
            at += len(foot)
        return worst

    def tilt(self) -> float:
        """Angle [rad] between the base's up direction at the start and now; a turn about the vertical does not count."""
        if self._foreign.base < 0:
            return 0.0
        now = self._data.xmat[self._foreign.base].reshape(3, 3)
        up = now @ self._upright[2]
        return float(np.arctan2(np.hypot(up[0], up[1]), up[2]))

    def fallen(self, time: float, tilt: float) -> str:
        """Why the character counts as fallen, or nothing."""
        data, foreign = self._data, self._foreign
        if not np.isfinite(data.qpos).all() or went_wrong(data):
            return f"the simulation became unstable at {time:.2f} s"
        if foreign.base < 0:
            return ""
        if tilt > FALLEN_TILT:
            return f"the base leans {tilt:.2f} rad at {time:.2f} s"
        if self._height > 0.0 and data.xpos[foreign.base, 2] < FALLEN_HEIGHT * self._height:
            return f"the base sank to {data.xpos[foreign.base, 2]:.3f} m at {time:.2f} s"
        pairs = data.contact.geom[: data.ncon]
        touching = set(pairs[(pairs == foreign.floor).any(axis=1)].ravel().tolist()) - set(self._soles.tolist()) - {foreign.floor}
        if touching:
            body = foreign.model.body(int(foreign.model.geom_bodyid[min(touching)])).name
            return f"{body} touches the floor at {time:.2f} s"
        return ""
