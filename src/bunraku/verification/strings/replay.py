"""Replay of a performance that physics carries out (strings, torques) in MuJoCo, open loop and with its feedback.

Carriage places and string lengths run from rest on cubic splines through the samples of their channels, torques are held from
sample to sample. With feedback the state is measured at every sample, the command of the coming step corrected by -K (x - x_k), cut
to what carriages, winches and motors can do, and the correction of places and lengths added linearly over the step. Points are
compared with the predicted motion at every sample. MuJoCo's strings are stiff, not rigid, and go slack; the plan's are rigid and
two-sided.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.motion import JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.foreign import substeps, went_wrong, without_log_file
from bunraku.verification.strings.clamp import CarriageClamp, ForceClamp
from bunraku.verification.strings.model import StringModel, string_model
from bunraku.verification.strings.plan import StringPlan, plan_of
from bunraku.verification.strings.state import StateMap
from bunraku.verification.verifier import Replay

LOST = 0.5
"""A replay has lost the plan, and ends, when a point is farther [m] from where it should be."""

SLACK = 1e-4
"""A string is slack when its ends are closer than its length by more than this [m]; less is the chatter of a stiff limit."""

_SETTLE, _AT_REST, _SETTLED = 0.5, 1e-6, 1e-3


@dataclass(frozen=True)
class StringRun:
    """One replay. ``rms`` and ``largest`` [m] of the points' errors over all samples, ``worst`` the point that errs most.

    ``errors`` (n, points) [m] at the samples; ``lost``: why it ended early, empty if it did not; ``tensions`` (n - 1, strings) [N],
    means over each sample's step; ``least_tension`` [N]; ``slack``: share of the time that some string hung slack (``SLACK``);
    ``stretch`` [m]: the longest a string became beyond its length; ``clamped``: steps whose command was cut to the limits; ``q``
    (n, nq), ``v`` (n, nq): the motion; ``commands`` (n - 1, nu + nk): what was sent.
    """

    rms: float
    largest: float
    worst: str
    lost: str
    least_tension: float
    slack: float
    stretch: float
    clamped: int
    errors: Array = field(repr=False)
    tensions: Array = field(repr=False)
    q: Array = field(repr=False)
    v: Array = field(repr=False)
    commands: Array = field(repr=False)


@dataclass(frozen=True)
class StringReplay(Replay):
    """Both replays of a performance: open loop, and with feedback when it has one.

    ``settling`` [m]: how far the points of a character that starts at rest moved while it came to rest in MuJoCo, where the replay
    then began, or in the planned pose if that is more than 1 mm; infinite if the simulation broke, 0 if it does not start at rest.
    ``points``, ``strings``: their names; ``complete`` false when it was cancelled.
    """

    plan: StringPlan = field(repr=False)
    points: tuple[str, ...]
    strings: tuple[str, ...]
    open_loop: StringRun
    closed_loop: StringRun | None
    settling: float
    complete: bool

    @property
    def motion(self) -> JointCurves | None:
        """The coordinates of the replay that counts, until it broke off."""
        q = self.best.q
        whole = int(np.isfinite(q).all(axis=1).cumprod().sum())
        return JointCurves(self.plan.system.names, 1.0 / self.plan.dt, q[:whole]) if whole else None

    @property
    def rows(self) -> list[tuple[str, dict[str, float]]]:
        """Open loop and with feedback, where there are both."""
        runs = {"open loop": self.open_loop, "with feedback": self.closed_loop}
        rows = [
            (name, {"replay_rms_m": run.rms, "replay_max_m": run.largest, "fell": float(bool(run.lost))})
            for name, run in runs.items()
            if run is not None
        ]
        return rows if len(rows) > 1 else []

    @property
    def best(self) -> StringRun:
        """The replay that counts: with feedback where there is one."""
        return self.open_loop if self.closed_loop is None else self.closed_loop

    @property
    def fell(self) -> bool:
        """Whether the replay that counts lost the plan."""
        return bool(self.best.lost)

    @property
    def reason(self) -> str:
        """Why it did, in words."""
        return self.best.lost

    @property
    def figures(self) -> dict[str, float]:
        """Flat numbers of the replay that counts, and of the open loop."""
        run = self.best
        figures = {
            "replay_rms_m": run.rms,
            "replay_max_m": run.largest,
            "open_loop_replay_rms_m": self.open_loop.rms,
            "fell": float(self.fell),
            "settling_m": self.settling,
            "clamped_steps": float(run.clamped),
        }
        if self.strings:
            figures |= {"replay_least_tension_n": run.least_tension, "slack_share": run.slack, "string_stretch_m": run.stretch}
        return figures


def replay_strings(performance: Performance, *, timestep: float = 0.001, monitor: Monitor = SILENT) -> StringReplay:
    """Replay in MuJoCo; ``timestep`` [s] is the longest step of the simulation."""
    with without_log_file():
        return play(player_of(plan_of(performance), timestep), monitor)


def player_of(plan: StringPlan, timestep: float = 0.001) -> StringPlayer:
    """The player with the longest step of at most ``timestep`` [s] that divides the plan's."""
    return StringPlayer(plan, substeps(plan.dt, timestep))


def play(player: StringPlayer, monitor: Monitor = SILENT) -> StringReplay:
    """Settle, then play open loop and, where there are gains, with feedback."""
    plan = player.plan
    start, settling = player.settled()
    open_loop = player.run(*start, feedback=False, monitor=monitor)
    closed = None
    if plan.gains is not None and not monitor.cancelled:
        closed = player.run(*start, feedback=True, monitor=monitor)
    strings = tuple(string.name for string in plan.character.strings)
    return StringReplay(plan, plan.points.names, strings, open_loop, closed, settling, not monitor.cancelled)


class StringPlayer:
    """Plays one plan in MuJoCo, from any start, ``every`` steps of the simulation to one of the plan."""

    def __init__(self, plan: StringPlan, every: int) -> None:
        self.plan, self._every, self._h = plan, every, plan.dt / every
        self.foreign: StringModel = string_model(plan.character, plan.system, self._h)
        self.states = StateMap(plan)
        system, times = plan.system, np.arange(plan.steps + 1) * plan.dt
        fine = np.arange(plan.steps * every + 1) * self._h
        self._path = np.zeros((len(fine), 0))
        if system.nk:
            self._path = CubicSpline(times, plan.k, bc_type=((1, np.zeros(system.nk)), "not-a-knot"))(fine)
        self._kinematic = self.foreign.velocity[system.kinematic], self.foreign.position[system.kinematic]
        self._dynamic = self.foreign.velocity[system.dynamic]
        self._gear = system.force_derivatives(plan.q[0], np.zeros(system.nq), np.zeros(system.nu))[3][system.dynamic]
        self._predicted = plan.predicted

    def settled(self) -> tuple[tuple[Array, Array], float]:
        """Start q, v (nq,), come to rest in MuJoCo if the plan starts at rest near there, else as planned; and how far it moved."""
        import mujoco

        plan, q, v = self.plan, self.plan.q[0], self.states.v[0]
        if np.abs(v).max() > _AT_REST * 10.0:
            return (q, v), 0.0
        data = mujoco.MjData(self.foreign.model)
        self.foreign.place(data, q, np.zeros_like(q))
        for _ in range(int(_SETTLE / self._h)):
            data.qfrc_applied[self._dynamic] = self._gear @ plan.commands[0, : plan.system.nu]
            self._step(data, plan.k[0])
        rest = data.qpos[self.foreign.position].copy()
        moved = float(np.linalg.norm(plan.points.positions(rest[None])[0] - self._predicted[0], axis=1).max())
        still = bool(np.isfinite(rest).all()) and moved <= _SETTLED
        return ((rest, np.zeros_like(q)) if still else (q, v)), moved if np.isfinite(moved) else float("inf")

    def run(self, q: Array, v: Array, *, feedback: bool, monitor: Monitor = SILENT) -> StringRun:
        """From q, v (nq,) through the plan, with or without its feedback."""
        import mujoco

        plan, system = self.plan, self.plan.system
        N, nu = plan.steps, system.nu
        data = mujoco.MjData(self.foreign.model)
        self.foreign.place(data, q, v)
        clamp, forces = CarriageClamp(plan.character, plan.dt), ForceClamp(plan.character, system.inputs)
        speeds_at = [0 if name is None else system.names.index(name) for name in forces.coordinates]
        Q, V = np.full((N + 1, system.nq), np.nan), np.full((N + 1, system.nq), np.nan)
        pull, sent = np.zeros((N, len(self.foreign.tendons))), np.empty((N, nu + system.nk))
        slack = steps = 0
        stretch, lost, done = 0.0, "", 0
        u, offset, speed = plan.commands[0, :nu], np.zeros(system.nk), np.zeros(system.nk)
        Q[0], V[0] = q, v
        for j in range(N):
            now, command = Q[j, system.kinematic], plan.commands[j]
            if feedback and plan.gains is not None:
                command = command - plan.gains[j] @ (self.states.state(j, Q[j], V[j], u) - plan.states[j])
            u = forces(command[:nu], V[j, speeds_at])
            reached = clamp(command[nu:], now, speed) if feedback else plan.k[j + 1]
            new, speed = reached - plan.k[j + 1], (reached - now) / plan.dt
            sent[j] = np.concatenate([u, reached])
            data.qfrc_applied[self._dynamic] = self._gear @ u
            for i in range(1, self._every + 1):
                share = i / self._every
                self._step(data, self._path[j * self._every + i] + (1.0 - share) * offset + share * new)
                pull[j] += self.foreign.tensions(data) / self._every
                longer = self.foreign.stretch(data)
                slack, steps = slack + bool((longer < -SLACK).any()), steps + 1
                stretch = max(stretch, float(longer.max(initial=0.0)))
            offset = new
            Q[j + 1], V[j + 1] = data.qpos[self.foreign.position], data.qvel[self.foreign.velocity]
            V[j + 1, system.kinematic] = speed
            done = j + 1
            lost = self._lost(data, Q[done], done)
            if done % 100 == 0:
                monitor.report(Event("replay with feedback" if feedback else "open-loop replay", done / N, lost))
            if lost or monitor.cancelled:
                break
        return self._judged(
            Q[: done + 1], V[: done + 1], pull[:done], sent[:done], slack / max(steps, 1), stretch, lost, clamp.count + forces.count
        )

    def _step(self, data: Any, target: Array) -> None:
        """One step of MuJoCo that ends with the prescribed coordinates at ``target`` (nk,)."""
        import mujoco

        velocity, position = self._kinematic
        if not len(velocity):
            mujoco.mj_step(self.foreign.model, data)
            return
        speed = (target - data.qpos[position]) / self._h
        data.qfrc_applied[velocity] = self.foreign.model.dof_M0[velocity] * (speed - data.qvel[velocity]) / self._h
        mujoco.mj_step(self.foreign.model, data)
        data.qpos[position], data.qvel[velocity] = target, speed

    def _lost(self, data: Any, q: Array, node: int) -> str:
        """Why the plan is lost at a node, or nothing."""
        if not np.isfinite(q).all() or went_wrong(data):
            return f"the simulation became unstable at {node * self.plan.dt:.2f} s"
        away = np.linalg.norm(self.plan.points.positions(q[None])[0] - self._predicted[node], axis=1)
        far = int(away.argmax())
        return f"{self.plan.points.names[far]} is {away[far]:.2f} m off at {node * self.plan.dt:.2f} s" if away[far] > LOST else ""

    def _judged(
        self, Q: Array, V: Array, pull: Array, sent: Array, slack: float, stretch: float, lost: str, clamped: int
    ) -> StringRun:
        whole: NDArray[np.bool_] = np.asarray(np.isfinite(Q).all(axis=1))
        points = self.plan.points.positions(np.where(whole[:, None], Q, self.plan.q[: len(Q)]))
        errors = np.linalg.norm(np.where(whole[:, None, None], points, np.inf) - self._predicted[: len(Q)], axis=2)
        rms = float(np.sqrt(np.mean(errors**2)))
        worst = self.plan.points.names[int(np.sqrt(np.mean(errors**2, axis=0)).argmax())]
        least = float(pull.min()) if pull.size else 0.0
        return StringRun(rms, float(errors.max()), worst, lost, least, slack, stretch, clamped, errors, pull, Q, V, sent)
