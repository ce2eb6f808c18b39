"""Steps of a replay on the floor, and the eyes that see it fall or slip."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.foreign import went_wrong
from bunraku.verification.rigid.model import ForeignModel
from bunraku.verification.servos.commands import Commands
from bunraku.verification.servos.drives import tick_drives
from bunraku.verification.servos.roll import roll
from bunraku.verification.worlds import World

FALLEN_TILT = 0.6
"""A base that leans more than this [rad] from where it stood has fallen."""

FALLEN_HEIGHT = 0.7
"""A base lower than this share of its height at home has fallen."""

_AFTER_FALL = 0.3


@dataclass
class FloorRecord:
    """What a simulation recorded, times counted from the first frame of the clip.

    Per step times [s], places and speeds of the links, torques; per sample, ``every`` steps, qpos and (once it plays) tilt.
    """

    times: Array
    positions: Array
    speeds: Array
    torques: Array
    qpos: Array
    tilt: Array
    slip: float
    reason: str
    complete: bool
    every: int


def simulate(foreign: ForeignModel, sent: Commands, lead: int, world: World, monitor: Monitor = SILENT) -> FloorRecord:
    """Step MuJoCo through the commands in a world; the clip begins at sample ``lead``. A second at a time, until it has fallen."""
    import mujoco

    model, rate = foreign.model, sent.rate
    samples, every = len(sent.values), round(1.0 / (sent.rate * model.opt.timestep))
    steps, h = samples * every, 1.0 / (rate * every)
    data = mujoco.MjData(model)
    data.qpos[:] = _start(foreign, world)
    mujoco.mj_forward(model, data)
    watch = _Watch(foreign, lead, rate)
    full = mujoco.mjtState.mjSTATE_FULLPHYSICS
    state = np.empty(mujoco.mj_stateSize(model, full))
    mujoco.mj_getState(model, data, state, full)
    late = foreign.servos.delay + 1.0 / rate
    control = foreign.at.controls(foreign.servos, tick_drives(foreign.servos, sent, world, np.arange(steps) * h, late=late))
    states, torques = np.empty((steps, len(state))), np.empty((steps, len(foreign.servos.names)))
    pushed = -1 if world.push is None or foreign.base < 0 else min(lead + round(world.push[0] * rate), samples - 1)
    done, stop, complete = 0, samples, True
    while done < stop and complete:
        until = min(done + max(1, int(rate)), stop)
        if done == pushed and world.push is not None:
            state[1 + model.nq : 3 + model.nq] += world.push[1:]
        until = pushed if done < pushed < until else until
        steps_now = slice(done * every, until * every)
        states[steps_now], sensed, state = roll(model, data, foreign.at, foreign.servos, state, control[steps_now])
        torques[steps_now] = sensed[:, foreign.torques]
        watch.look(states[steps_now][::every], done, unstable=went_wrong(data))
        if watch.reason:
            stop = min(stop, watch.fallen_at + 1 + int(_AFTER_FALL * rate))
        done = min(until, stop)
        monitor.report(Event("replay", done / samples, watch.reason))
        complete = not monitor.cancelled
    n = done * every
    qpos, qvel = states[:n, 1 : 1 + model.nq], states[:n, 1 + model.nq : 1 + model.nq + model.nv]
    return FloorRecord(
        (np.arange(n) / every - lead) / rate, foreign.at.angle(qpos), foreign.at.speed(qvel), torques[:n], qpos[::every],
        np.array(watch.tilts[lead:done]), watch.slip, watch.reason, complete or done == samples, every,
    )  # fmt: skip


def _start(foreign: ForeignModel, world: World) -> Array:
    """The home pose, or near it in a world where the character starts elsewhere; then just above the floor."""
    import mujoco

    model, qpos = foreign.model, foreign.home.copy()
    if world.joints is None and world.lean is None:
        return qpos
    if world.joints is not None:
        qpos[foreign.at.position] += world.joints
    if foreign.base >= 0:
        if world.lean is not None:
            turn = np.zeros(model.nv)
            turn[3:5] = world.lean
            mujoco.mj_integratePos(model, qpos, turn, 1.0)
        data = mujoco.MjData(model)
        data.qpos[:] = qpos
        mujoco.mj_forward(model, data)
        qpos[2] -= min(float(data.contact.dist.min(initial=0.0)), 0.0)
    return qpos


class _Watch:
    """Looks for falls: how the base stands, what touches the floor, where the soles are."""

    def __init__(self, foreign: ForeignModel, lead: int, rate: float) -> None:
        import mujoco

        self._foreign, self._lead, self._rate = foreign, lead, rate
        self._data: Any = mujoco.MjData(foreign.model)
        self._soles = np.concatenate(foreign.feet) if foreign.feet else np.zeros(0, dtype=np.int64)
        self._first: Array | None = None
        self.tilts: list[float] = []
        self.slip, self.reason, self.fallen_at = 0.0, "", 0

    def look(self, states: Array, first: int, *, unstable: bool) -> None:
        """Look at the states (m, n) of samples from ``first`` on; ``unstable``: MuJoCo said so."""
        import mujoco

        foreign, data = self._foreign, self._data
        for sample, state in enumerate(states, first):
            if self.reason and sample > self.fallen_at + int(_AFTER_FALL * self._rate):
                return
            if foreign.base < 0 and np.isfinite(state).all():
                self.tilts.append(0.0)
                continue
            mujoco.mj_setState(foreign.model, data, state, mujoco.mjtState.mjSTATE_FULLPHYSICS)
            mujoco.mj_forward(foreign.model, data)
            if self._first is None:
                self._upright = data.xmat[foreign.base].reshape(3, 3).copy()
                self._height = float(data.xpos[foreign.base, 2])
            if self._first is None or sample < self._lead:
                self._first = data.geom_xpos[self._soles, :2].copy()
            else:
                self.slip = max(self.slip, self._slipped())
            self.tilts.append(self._tilt())
            if not self.reason:
                self.reason, self.fallen_at = self._fallen((sample - self._lead) / self._rate), sample
        if unstable and not self.reason:
            self.reason = f"the simulation became unstable at {(first + len(states) - self._lead) / self._rate:.2f} s"
            self.fallen_at = first + len(states) - 1

    def _slipped(self) -> float:
        """The farthest sideways move [m] of a sole's middle."""
        moved = self._data.geom_xpos[self._soles, :2] - self._first
        worst, at = 0.0, 0
        for foot in self._foreign.feet:
            worst = max(worst, float(np.linalg.norm(moved[at : at + len(foot)].mean(axis=0))))
            at += len(foot)
        return worst

    def _tilt(self) -> float:
        """Angle [rad] between the base's up direction at the start and now; a turn about the vertical does not count."""
        if self._foreign.base < 0:
            return 0.0
        now = self._data.xmat[self._foreign.base].reshape(3, 3)
        up = now @ self._upright[2]
        return float(np.arctan2(np.hypot(up[0], up[1]), up[2]))

    def _fallen(self, time: float) -> str:
        """Why the character counts as fallen, or nothing."""
        data, foreign = self._data, self._foreign
        if not np.isfinite(data.qpos).all():
            return f"the simulation became unstable at {time:.2f} s"
        if foreign.base < 0:
            return ""
        if self.tilts[-1] > FALLEN_TILT:
            return f"the base leans {self.tilts[-1]:.2f} rad at {time:.2f} s"
        if self._height > 0.0 and data.xpos[foreign.base, 2] < FALLEN_HEIGHT * self._height:
            return f"the base sank to {data.xpos[foreign.base, 2]:.3f} m at {time:.2f} s"
        pairs = data.contact.geom[: data.ncon]
        touching = set(pairs[(pairs == foreign.floor).any(axis=1)].ravel().tolist()) - set(self._soles.tolist()) - {foreign.floor}
        if touching:
            body = foreign.model.body(int(foreign.model.geom_bodyid[min(touching)])).name
            return f"{body} touches the floor at {time:.2f} s"
        return ""
