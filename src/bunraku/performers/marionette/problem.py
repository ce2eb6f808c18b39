"""The imitation of a wish by a puppet on strings, stated as an optimal control problem.

The puppet starts at rest as it hangs. Over the states x = (q, p, v_k) and inputs U = (torques, prescribed coordinates at the end of
the step) of the variational integrator,

    J = sum_k 1/2 ( W sum_i |p_i - wish_i|^2 + a |q_d - wish|^2 + b |v|^2 + c |acceleration|^2 + e |torque / stall|^2 )

is to be small: the tracked points p_i first, then the angles q_d of the joints, the velocities and accelerations of carriages and
winches, and the effort of motors where the puppet has any. Hard limits: every string pulls with at least the margin at every step;
range, speed, acceleration and separation of the carriages; range of the joints; torque-speed line of the motors.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.places import known_names
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.discrete_dynamics import VariationalDynamics
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.measures.driven_motion import tracked_frames
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_system
from bunraku.mechanics.systems.marionette import hang
from bunraku.motion import JointCurves
from bunraku.optimization.control.constraints import StateBounds, TrajectoryConstraint
from bunraku.optimization.control.cost import LinearResidualCost, SumOfCosts, TrackingCost, TrajectoryCost
from bunraku.performers.marionette.carriage_path import fit_root, rigid_path
from bunraku.performers.marionette.cost import PointCost
from bunraku.performers.marionette.limits import CarriageBounds, CarriageSeparation, MotorLines, TensionMargin
from bunraku.rhythm.resample import resampled

INSIDE = 0.999
"""The plan uses this share of the speed, acceleration and torque of carriages, winches and motors; the rest is for rounding."""

TENSION_ROOM = 1e-3
"""How far above the margin the plan keeps every tension [N]; for rounding too."""

LEAST_SAMPLES = 4
"""How many samples a part of a wish has at least: a cubic spline with not-a-knot ends needs four."""

LEAST_SLOPE = 1e-4
"""Weight of momenta and of prescribed coordinates away from rest: they have no wish, but no valley may be flat."""


@dataclass(frozen=True)
class ImitationWeights:
    """The weights of J: ``point`` W [1/m^2], ``angle`` a, ``speed`` b [s^2/m^2], ``acceleration`` c [s^4/m^2], ``effort`` e."""

    point: float = 100.0
    angle: float = 0.05
    speed: float = 1e-3
    acceleration: float = 0.01
    effort: float = 0.01


def cut_wish(wish: JointCurves, *, rate: float, start: float = 0.0, duration: float = 0.0, tempo: float = 1.0) -> JointCurves:
    """The part of a wish from ``start`` [s] on, ``duration`` long (0: to its end), ``tempo`` times as fast, at ``rate`` [Hz].

    ``start`` and ``duration`` are times of the wish as it was given.
    """
    first = round(start * wish.rate)
    last = len(wish.values) if duration <= 0.0 else first + round(duration * wish.rate) + 1
    values = wish.values[first:last]
    if first >= len(wish.values):
        raise BadInput(f"the start at {start:.3g} s is beyond the end of the wish, which lasts {wish.duration:.3g} s")
    if duration > 0.0 and len(values) < last - first:
        raise BadInput(
            f"{duration:.3g} s from {start:.3g} s on are asked of a wish of {wish.duration:.3g} s; "
            "choose start and duration inside it"
        )
    if len(values) < LEAST_SAMPLES:
        raise BadInput(
            f"from {start:.3g} s on {len(values)} samples of the wish at {wish.rate:g} Hz are asked for; "
            f"at least {LEAST_SAMPLES} are needed: choose a part of {(LEAST_SAMPLES - 1) / wish.rate:.3g} s or more"
        )
    return resampled(JointCurves(wish.names, wish.rate * tempo, values), rate)


@dataclass(frozen=True)
class PuppetProblem:
    """The problem as a value.

    ``wish``: all joint coordinates at the rate of the motors, blended in from the hanging pose, which those keep that the artist
    did not name, its root where the carriages can go with it; ``notes`` say if it was moved for that. ``q`` (N + 1, nq) the same as
    configurations; ``targets`` (N + 1, points, 3) where the tracked ``points`` shall be; ``rest`` (nx,) the start.
    """

    character: Character
    system: System
    dynamics: VariationalDynamics
    wish: JointCurves
    q: Array
    points: Points
    targets: Array
    rest: Array
    weights: ImitationWeights
    cost: TrajectoryCost
    constraints: tuple[TrajectoryConstraint, ...]
    notes: tuple[str, ...] = ()

    @property
    def steps(self) -> int:
        """Number of steps N."""
        return len(self.q) - 1

    @property
    def still(self) -> tuple[Array, Array]:
        """A guess: hanging still, x (N + 1, nx) and U (N, nu)."""
        return self._led(np.tile(self.rest[self.system.kinematic], (self.steps, 1)))

    @property
    def rigid(self) -> tuple[Array, Array]:
        """A guess: all carriages go with the wish's root as one plate, U alone of use: x is no motion."""
        path = rigid_path(self.character, self.system, self.rest[: self.system.nq], self.q, self.wish.rate)
        place = {name: i for i, name in enumerate(self.character.prescribed)}
        return self._led(path[1:, [place[self.system.names[i]] for i in self.system.kinematic]])

    def _led(self, k: Array) -> tuple[Array, Array]:
        """The resting state at every node, and inputs with no torque that lead the prescribed coordinates along ``k`` (N, nk)."""
        return np.tile(self.rest, (self.steps + 1, 1)), np.hstack([np.zeros((self.steps, self.system.nu)), k])


def state_puppet_problem(
    character: Character,
    wish: JointCurves,
    *,
    rate: float = 100.0,
    blend: float = 1.2,
    settle: float = 0.0,
    tension_margin: float = 0.1,
    weights: ImitationWeights | None = None,
    frames: tuple[str, ...] = (),
) -> PuppetProblem:
    """State the imitation of ``wish`` (at ``rate``), faded in from the hanging pose over ``blend`` [s].

    ``settle`` [s] is added to it, in which the puppet comes back to hang still: without it the motion ends as the wish does.

    ``tension_margin`` [N] of every string. ``frames``: the tracked points, see `tracked_frames`.
    """
    unknown = [name for name in wish.names if name not in character.coordinates]
    if unknown:
        known = known_names(unknown[0], character.coordinates)
        raise BadInput(f"the wish names {unknown[0]!r}, which is no coordinate of {character.name!r}; {known}")
    weights = weights or ImitationWeights()
    system = character_system(character, torques=True)
    resting = hang(character, system, slack_below=tension_margin).require()
    _check_start(character, system, resting.q, 1.0 / rate)
    dynamics = VariationalDynamics(VariationalIntegrator(system, 1.0 / rate), kinematic_velocity=True)
    rest = dynamics.state(resting.q, dynamics.integrator.initial(resting.q, resting.q).p)
    fitted = fit_root(character, system, resting.q, wish)
    q = _faded(system, resting.q, fitted.wish, blend, settle)
    points = Points(system, frames or tracked_frames(character))
    targets = points.positions(q)
    tracked = np.full(len(points.names), weights.point)
    parts: list[TrajectoryCost] = [
        PointCost(points, targets, tracked, system.nq),
        _quadratic(dynamics, rest, q, character, weights),
    ]
    parts += _motion_costs(dynamics, weights)
    return PuppetProblem(
        character,
        system,
        dynamics,
        JointCurves(tuple(system.names[i] for i in system.dynamic), rate, q[:, system.dynamic]),
        q,
        points,
        targets,
        rest,
        weights,
        SumOfCosts(*parts),
        _constraints(character, dynamics, tension_margin),
        fitted.notes,
    )


def _check_start(character: Character, system: System, q: Array, dt: float) -> None:
    """Refuse a puppet that hangs beyond a limit at the start, which no motion from there can keep."""
    limits = CarriageLimits.of(character)
    excess = limits.excess(np.tile(q[[system.index(name) for name in limits.names]], (3, 1)), dt)
    if not excess.kept:
        raise BadInput(f"{character.name!r} hangs beyond a limit at the start: {excess.worst}; move the carriages")
    for axis in character.axes:
        if axis.range is not None and axis.name in system.names:
            at, (low, high) = float(q[system.index(axis.name)]), axis.range
            if not low <= at <= high:
                raise BadInput(
                    f"{character.name!r} hangs with {axis.name} at {at:.3g}, outside its range [{low:.3g}, {high:.3g}]; "
                    "widen it, or hang the puppet differently"
                )


def _faded(system: System, rest: Array, wish: JointCurves, blend: float, settle: float) -> Array:
    """The wish as configurations (N + 1, nq), faded in from the resting one and, if it is to settle, back to it.

    Both by the smooth step s^3 (10 - 15 s + 6 s^2); the way back takes 60 % of ``settle`` [s], the rest is for the puppet to calm.
    """
    last = round(settle * wish.rate)
    values = np.vstack([wish.values, np.repeat(wish.values[-1:], last, axis=0)])
    t = np.arange(len(values)) / wish.rate
    share = _smooth(t / blend) if blend > 0.0 else np.ones(len(t))
    if last:
        share = share * (1.0 - _smooth((t - wish.duration) / (0.6 * settle)))
    q = np.tile(rest, (len(values), 1))
    columns = [system.index(name) for name in wish.names]
    q[:, columns] = (1.0 - share[:, None]) * q[:, columns] + share[:, None] * values
    return q


def _smooth(s: Array) -> Array:
    """0 below 0, 1 above 1, s^3 (10 - 15 s + 6 s^2) between."""
    s = np.clip(s, 0.0, 1.0)
    step: Array = s**3 * (10.0 - 15.0 * s + 6.0 * s * s)
    return step


def _quadratic(
    dynamics: VariationalDynamics, rest: Array, q: Array, character: Character, weights: ImitationWeights
) -> TrackingCost:
    """The angles' distance from the wish, the effort, and a little of everything else."""
    system = dynamics.system
    x = np.tile(rest, (len(q), 1))
    x[:, system.dynamic] = q[:, system.dynamic]
    Q = np.full(dynamics.nx, LEAST_SLOPE)
    Q[system.dynamic] = weights.angle
    stall = {motor.name: motor.stall_torque or 1.0 for motor in character.motors}
    R = np.zeros(dynamics.nu)
    R[: system.nu] = [weights.effort / stall.get(name, 1.0) ** 2 for name in system.inputs]
    return TrackingCost(x, np.diag(Q), np.diag(R))


def _motion_costs(dynamics: VariationalDynamics, weights: ImitationWeights) -> list[TrajectoryCost]:
    """Velocity and acceleration of the prescribed coordinates."""
    V, A = _speed_rows(dynamics), acceleration_rows(dynamics)
    return [LinearResidualCost(V, np.full(len(V), weights.speed)), LinearResidualCost(A, np.full(len(A), weights.acceleration))]


def _speed_rows(dynamics: VariationalDynamics) -> Array:
    """V (nk, nx + nu) with V (x, U) = (k2 - k)/dt."""
    system, dt, nk, n = dynamics.system, dynamics.integrator.dt, dynamics.system.nk, dynamics.nx
    V = np.zeros((nk, n + dynamics.nu))
    V[:, n + system.nu :] = np.eye(nk) / dt
    V[np.arange(nk), system.kinematic] = -1.0 / dt
    return V


def acceleration_rows(dynamics: VariationalDynamics) -> Array:
    """The matrix (nk, nx + nu) that makes the accelerations ((k2 - k)/dt - v_k)/dt of the prescribed coordinates from (x, U)."""
    system, dt = dynamics.system, dynamics.integrator.dt
    A = _speed_rows(dynamics) / dt
    A[:, system.nq + system.nd : dynamics.nx] = -np.eye(system.nk) / dt
    return A


def _constraints(character: Character, dynamics: VariationalDynamics, margin: float) -> tuple[TrajectoryConstraint, ...]:
    system = dynamics.system
    constraints: list[TrajectoryConstraint] = [
        TensionMargin(dynamics, margin + TENSION_ROOM),
        CarriageBounds(character, dynamics, INSIDE),
        CarriageSeparation(character, dynamics, INSIDE),
    ]
    if any(motor.stall_torque is not None for motor in character.motors):
        constraints.append(MotorLines(character, dynamics, INSIDE))
    low, high = np.full(dynamics.nx, -np.inf), np.full(dynamics.nx, np.inf)
    for axis in character.axes:
        if axis.range is not None and axis.name in system.names:
            low[system.index(axis.name)], high[system.index(axis.name)] = axis.range
    if np.isfinite(low).any() or np.isfinite(high).any():
        constraints.append(StateBounds(low, high))
    return tuple(constraints)
