"""Replay of motor positions in MuJoCo for a character whose rods are chains of rigid links, at two resolutions.

From rest under gravity, the motors follow the cubic spline through their samples exactly. Chains of n and
m > n hinges err as 1/n^2 and 1/m^2, so their positions p_n, p_m extrapolate to Richardson's limit

    p = p_m + (p_m - p_n) n^2 / (m^2 - n^2)

How far the finer chain is from it says how far to trust it.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.flexible.model import ChainModel, chain_model
from bunraku.verification.flexible.rest import find_chain_rest
from bunraku.verification.foreign import went_wrong, without_log_file


@dataclass(frozen=True)
class ChainRun:
    """One simulation: ``positions`` (n, frames, 3) [m] and ``rotations`` (n, frames, 3, 3) at the samples.

    ``links`` hinges a rod, steps of ``timestep`` [s]; ``lost``: why it ended early, empty if it did not (what follows is NaN);
    ``gap`` [m]: the widest a closed loop opened.
    """

    links: int
    timestep: float
    lost: str
    gap: float
    positions: Array = field(repr=False)
    rotations: Array = field(repr=False)


@dataclass(frozen=True)
class ChainReplay:
    """Replays at two resolutions, the coarser first. ``times`` (n,) [s]; ``frames``: the names of what is tracked."""

    times: Array = field(repr=False)
    frames: tuple[str, ...]
    runs: tuple[ChainRun, ChainRun]

    @property
    def positions(self) -> Array:
        """Richardson's limit (n, frames, 3) [m] of the two resolutions."""
        coarse, fine = self.runs
        ratio = coarse.links**2 / (fine.links**2 - coarse.links**2)
        return np.asarray(fine.positions + ratio * (fine.positions - coarse.positions))

    @property
    def lost(self) -> str:
        """Why a replay ended early; empty if none did."""
        return next((run.lost for run in self.runs if run.lost), "")

    def deviation(self, reference: ArrayLike) -> Array:
        """Distance (n, frames) [m] of the limit from a motion (n, frames, 3) of the same frames; infinite where it was lost."""
        compared = np.asarray(reference, dtype=np.float64)
        if compared.shape != self.positions.shape:
            raise BadInput(f"the motion to compare with has shape {compared.shape}; {self.positions.shape} is needed")
        apart = np.linalg.norm(self.positions - compared, axis=2)
        return np.where(np.isfinite(apart), apart, np.inf)

    def figures(self, *, target: ArrayLike | None = None, prediction: ArrayLike | None = None) -> dict[str, float]:
        """Flat numbers: peak and RMS deviation from the target and from the prediction (n, frames, 3), trust, gap.

        ``chains_apart_rms_m`` is how far the finer chain is from the limit, RMS.
        """
        figures = {"chain_lost": float(bool(self.lost)), "chain_gap_m": max(run.gap for run in self.runs)}
        for name, motion in (
            ("chains_apart", self.runs[1].positions),
            ("chain_from_target", target),
            ("chain_from_prediction", prediction),
        ):
            if motion is not None:
                away = self.deviation(motion)
                figures |= {f"{name}_peak_m": float(away.max()), f"{name}_rms_m": float(np.sqrt(np.mean(away**2)))}
        return figures


Motors = Performance | Callable[[Array], Array]
"""A performance with position channels, or a function of times (n,) that returns positions (n, k) in the order of the motors."""


def chain_models(
    character: Character,
    *,
    frames: Sequence[str],
    links: tuple[int, int],
    timestep: float,
    torsion: bool = True,
) -> tuple[ChainModel, ChainModel]:
    """Chains of ``links`` hinges a rod, the coarser first, that track frames or bodies."""
    if not 2 <= links[0] < links[1]:
        raise BadInput(f"links are {links}; two rising numbers from 2 are needed, such as (10, 20)")
    if not 0.0 < timestep <= 2e-3:
        raise BadInput(f"a time step of {timestep} s cannot be used for rods; give one above 0 and at most 0.002")
    coarse, fine = (chain_model(character, links=count, frames=frames, timestep=timestep, torsion=torsion) for count in links)
    return coarse, fine


def play_chains(
    models: tuple[ChainModel, ChainModel],
    motors: Motors,
    *,
    frames: Sequence[str],
    times: ArrayLike | None = None,
    monitor: Monitor = SILENT,
) -> ChainReplay:
    """Replay motor positions in both chains.

    ``times`` (n,), evenly spaced: where to sample; those of the performance unless given. Cancelled by the monitor, the rest of the
    motion is NaN and ``lost`` says so.
    """
    nodes, path = _followed(motors) if isinstance(motors, Performance) else (times, motors)
    if nodes is None:
        raise BadInput("motors given as a function need times to sample at")
    at = np.asarray(nodes if times is None else times, dtype=np.float64)
    steps = np.diff(at)
    if at.ndim != 1 or len(at) < 2 or not np.allclose(steps, steps[0], rtol=1e-6) or steps[0] <= 0.0:
        raise BadInput("the times of a replay must be two or more, rising, and evenly spaced")
    coarse, fine = (play_chain(foreign, at, path, monitor=monitor) for foreign in models)
    return ChainReplay(at, tuple(frames), (coarse, fine))


def play_chain(foreign: ChainModel, times: Array, path: Callable[[Array], Array], *, monitor: Monitor = SILENT) -> ChainRun:
    """From rest through the motors' ``path``, sampled at evenly spaced ``times`` (n,) [s]."""
    import mujoco

    dt = float(times[1] - times[0])
    every = max(1, int(np.ceil(dt / foreign.timestep - 1e-9)))
    h, model = dt / every, foreign.model
    before, model.opt.timestep = model.opt.timestep, h
    n, held = len(times), foreign.held
    targets = foreign.prescribed(path(times[0] + h * np.arange((n - 1) * every + 1)))
    P, R = np.full((n, len(foreign.sites), 3), np.nan), np.full((n, len(foreign.sites), 3, 3), np.nan)
    qpos, status = find_chain_rest(foreign, targets[0, : len(foreign.driven)])
    lost, gap = "" if status.good else "no rest under gravity was found at the start", 0.0
    data = mujoco.MjData(model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(model, data)
    P[0], R[0] = foreign.positions(data), foreign.rotations(data)
    with without_log_file():
        for j in range(1, n):
            if lost:
                break
            for i in range((j - 1) * every + 1, j * every + 1):
                speed = (targets[i] - data.qpos[held]) / h
                data.qfrc_applied[held] = model.dof_M0[held] * (speed - data.qvel[held]) / h
                mujoco.mj_step(model, data)
                data.qpos[held], data.qvel[held] = targets[i], speed
            if went_wrong(data):
                lost = f"the simulation became unstable before {times[j]:.2f} s"
            elif monitor.cancelled:
                lost = f"cancelled at {times[j]:.2f} s"
            else:
                if data.nefc:
                    gap = max(
                        gap, float(np.abs(data.efc_pos[data.efc_type == mujoco.mjtConstraint.mjCNSTR_EQUALITY]).max(initial=0.0))
                    )
                mujoco.mj_kinematics(model, data)
                P[j], R[j] = foreign.positions(data), foreign.rotations(data)
            if j % 50 == 0:
                monitor.report(Event(f"replay with {foreign.links} links a rod", j / (n - 1), lost))
    model.opt.timestep = before
    return ChainRun(foreign.links, h, lost, gap, P, R)


def _followed(performance: Performance) -> tuple[Array, Callable[[Array], Array]]:
    """Times of a performance's samples, and where its motors are: each follows its command after the delay it states."""
    if performance.dynamic:
        raise BadInput(f"{performance.clip_name!r} tells forces, not positions, to motors; rods are replayed with motor positions")
    given, character = performance.sent(), performance.character
    at: Array = np.arange(len(given.values)) / given.rate
    spline = CubicSpline(at, np.column_stack([given.column(name) for name in character.driven]))

    def followed(t: Array) -> Array:
        return np.column_stack([spline(np.clip(t - motor.delay, 0.0, at[-1]))[:, k] for k, motor in enumerate(character.motors)])

    return at, followed
