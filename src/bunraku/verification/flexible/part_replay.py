"""Replay of a character whose parts are scikit-fem's: motors as sent, generalized-alpha steps, frames against poses at rest.

From rest under gravity the driven coordinates follow the cubic spline through their samples exactly, with its velocity and
acceleration. The rest is stepped by the generalized-alpha scheme of Arnold and Bruels (2007, table 1) with position constraints
for closed loops, rho_inf = 0.8. Where the tracked frames should be is where this same model rests under the wished motors; these
rests are solved for every 40 ms and carried on between (`targets.between`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.motion import JointCurves, Performance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.verification.flexible.part_model import PartsModel
from bunraku.verification.flexible.targets import Guide, between

STEP, RHO = 1e-3, 0.8
"""Longest step [s]; what is left of the fastest vibrations after one."""

SAMPLE = 0.04
"""Poses at rest are solved for at this spacing [s]."""

TOLERANCE = 1e-10
"""Newton's steps end below this change of a coordinate [m, rad]."""

_ROUNDS, _EPS, _LOAD_STEPS = 30, 1e-6, (1, 4, 16)

MotorPath = Callable[[Array], tuple[Array, Array, Array]]
"""Motors (n, k) at times (n,), their velocity and acceleration."""


@dataclass(frozen=True)
class PartsReplay:
    """Frames at ``times`` (n,) [s]: ``positions`` and ``targets`` (n, frames, 3) [m].

    ``size``: coordinates of the model; ``gap`` [m]: the widest a closed loop opened; ``lost``: why it ended early, empty if it did
    not (what follows is NaN).
    """

    times: Array = field(repr=False)
    frames: tuple[str, ...]
    positions: Array = field(repr=False)
    targets: Array = field(repr=False)
    size: int
    gap: float
    lost: str = ""

    @property
    def error(self) -> Array:
        """Distance (n, frames) [m] from the targets; infinite where the replay was lost."""
        apart = np.linalg.norm(self.positions - self.targets, axis=2)
        return np.where(np.isfinite(apart), apart, np.inf)

    @property
    def figures(self) -> dict[str, float]:
        """Flat numbers: peak and RMS distance from the targets, the widest gap, and whether it ended early."""
        peak, rms = float(self.error.max()), float(np.sqrt(np.mean(self.error**2)))
        numbers = {"parts_from_target_peak_m": peak, "parts_from_target_rms_m": rms}
        return {"parts_lost": float(bool(self.lost)), "parts_gap_m": self.gap, **numbers}


class _Coefficients(NamedTuple):
    """Of generalized-alpha for a step h."""

    h: float
    am: float
    af: float
    beta: float
    gamma: float

    @property
    def mass(self) -> float:
        return (1.0 - self.am) / (self.h**2 * self.beta * (1.0 - self.af))

    @property
    def damping(self) -> float:
        return self.gamma / (self.h * self.beta)


def play_parts(
    model: PartsModel, performance: Performance, *, frames: Sequence[str], guide: Guide | None = None, monitor: Monitor = SILENT
) -> PartsReplay:
    """Replay a performance's motors; ``guide`` leads the targets between the samples."""
    if performance.wish is None:
        raise BadInput(f"{performance.clip_name!r} states no wish; where its frames should be is unknown")
    given = performance.sent()
    times: Array = np.arange(len(given.values)) / given.rate
    played, wished = _path(performance.character, given, late=True), _path(performance.character, performance.wish)
    positions, gap, lost = play_path(model, times, played, monitor=monitor)
    known = np.unique(np.append(np.arange(0.0, times[-1], SAMPLE), times[-1]))
    rests, stuck = rest_path(model, wished(known)[0], monitor=monitor)
    targets = np.full_like(positions, np.nan) if stuck else between(times, known, rests, guide)
    return PartsReplay(times, tuple(frames), positions, targets, model.size, gap, lost or stuck)


def play_path(model: PartsModel, times: Array, path: MotorPath, *, monitor: Monitor = SILENT) -> tuple[Array, float, str]:
    """Frames (n, frames, 3) at evenly spaced ``times``, how wide loops opened [m], and why it ended early."""
    import mujoco

    bodies, free = model.bodies, model.free
    data, every = mujoco.MjData(bodies.model), max(1, int(np.ceil((times[1] - times[0]) / STEP - 1e-9)))
    h = float(times[1] - times[0]) / every
    c = _Coefficients(h, (2 * RHO - 1) / (RHO + 1), RHO / (RHO + 1), 1.0 / (1.0 + RHO) ** 2, 0.5 + (1.0 - RHO) / (1.0 + RHO))
    Q, V, A = _prescribed(model, path(times[0] + h * np.arange((len(times) - 1) * every + 1)))
    P, gap = np.full((len(times), len(bodies.sites), 3), np.nan), 0.0
    q, good = find_parts_rest(model, data, Q[0])[:2]
    if not good:
        return P, gap, "no rest under gravity was found at the start"
    v, a, alike = np.zeros(model.size), np.zeros(model.size), np.zeros(len(free))
    P[0] = bodies.positions(data)
    for i in range(1, len(Q)):
        q, v, a, alike, worst = _step(model, data, (q, v, a, alike), (Q[i], V[i], A[i]), c)
        if not np.isfinite(worst):
            return P, gap, f"the equations could not be solved at {times[0] + i * h:.3f} s"
        gap = max(gap, worst)
        if i % every == 0:
            P[i // every] = bodies.positions(data)
        if i % (50 * every) == 0:
            monitor.report(Event("replay with the parts of scikit-fem", i / len(Q), ""))
            if monitor.cancelled:
                return P, gap, f"cancelled at {times[0] + i * h:.2f} s"
    return P, gap, ""


def rest_path(model: PartsModel, motors: Array, *, monitor: Monitor = SILENT) -> tuple[Array, str]:
    """Frames (n, frames, 3) at rest under gravity with the motors at each row (n, k), and why it ended early."""
    import mujoco

    data, tangent = mujoco.MjData(model.bodies.model), None
    places, q = np.zeros((len(motors), len(model.bodies.sites), 3)), None
    for k, row in enumerate(model.bodies.prescribed(motors)):
        q, good, tangent = find_parts_rest(model, data, row, start=q, tangent=tangent)
        if not good:
            return places, f"no rest was found for row {k} of the wished motors"
        places[k] = model.bodies.positions(data)
        if k % 50 == 0:
            monitor.report(Event("poses at rest with the parts of scikit-fem", k / len(motors), ""))
            if monitor.cancelled:
                return places, "cancelled"
    return places, ""


def find_parts_rest(
    model: PartsModel, data: Any, held: Array, *, start: Array | None = None, tangent: Array | None = None
) -> tuple[Array, bool, Array | None]:
    """Coordinates (n,) at rest with the prescribed ones at ``held``; whether it converged; the tangent, to start the next from."""
    bodies = model.bodies
    gravity = bodies.model.opt.gravity.copy()
    if start is not None:
        q, good, tangent = _rested(model, data, start, held, tangent)
        if good:
            return q, True, tangent
    q = np.zeros(model.size)
    try:
        for steps in _LOAD_STEPS:
            q, good = np.concatenate([bodies.home, np.zeros(model.size - len(bodies.home))]), True
            for step in range(1, steps + 1):
                bodies.model.opt.gravity[:] = gravity * step / steps
                q, good, tangent = _rested(model, data, q, held, None)
                if not good:
                    break
            if good:
                return q, True, tangent
    finally:
        bodies.model.opt.gravity[:] = gravity
    return q, False, None


def _rested(model: PartsModel, data: Any, q: Array, held: Array, tangent: Array | None) -> tuple[Array, bool, Array | None]:
    """Newton's steps from q; the tangent is kept as long as each step is at most a quarter of the one before."""
    q, free, n, longest, force = q.copy(), model.free, len(model.free), np.inf, np.zeros(0)
    q[model.bodies.held] = held
    for _ in range(_ROUNDS):
        if tangent is None:
            tangent, force = _differences(model, data, q, force)
        found = _still(model, data, q)
        c = len(found.gaps)
        force = force if len(force) == c else np.zeros(c)
        right = np.concatenate([(found.force - found.loops.T @ force)[free], found.gaps])
        full = np.block([[tangent, -found.loops[:, free].T], [found.loops[:, free], np.zeros((c, c))]])
        step = np.linalg.lstsq(full, -right, rcond=1e-14)[0] if c else np.linalg.solve(full, -right)
        before, longest = longest, float(np.abs(step[:n]).max(initial=0.0))
        if not longest < 10.0:
            return q, False, None
        q[free] += step[:n]
        force = force + step[n:]
        if longest < TOLERANCE:
            _still(model, data, q)
            return q, True, tangent
        if longest > 0.25 * before:
            tangent = None
    return q, False, None


def _differences(model: PartsModel, data: Any, q: Array, force: Array) -> tuple[Array, Array]:
    """The tangent (m, m) of the unbalanced force at given forces of loops, by central differences."""
    free, columns = model.free, []
    loops = _still(model, data, q).loops
    force = (
        force if len(force) == len(loops) else np.linalg.lstsq(loops[:, free].T, _still(model, data, q).force[free], rcond=None)[0]
    )
    for place in free:
        sides = []
        for sign in (1.0, -1.0):
            there = q.copy()
            there[place] += sign * _EPS
            found = _still(model, data, there)
            sides.append((found.force - found.loops.T @ force)[free])
        columns.append((sides[0] - sides[1]) / (2.0 * _EPS))
    return np.stack(columns, axis=1), force


def _still(model: PartsModel, data: Any, q: Array) -> Any:
    nothing = np.zeros(model.size)
    return model.balance(data, q, nothing, nothing)


State = tuple[Array, Array, Array, Array]
"""q, v, a (n,), and the scheme's own acceleration (m,) of what is free."""


def _step(
    model: PartsModel, data: Any, state: State, held: tuple[Array, Array, Array], c: _Coefficients
) -> tuple[Array, Array, Array, Array, float]:
    """One step of generalized-alpha; the last number is the widest gap of a loop, NaN when Newton did not converge."""
    (q, v, a, alike), free, places, h = state, model.free, model.bodies.held, c.h
    n = len(free)
    M, D, K = model.matrices(data, q)
    block = np.ix_(free, free)
    S = c.mass * M[block] + c.damping * D[block] + K[block]
    ahead = (c.af * a[free] - c.am * alike) / (1.0 - c.am)
    new = q.copy(), v.copy(), np.zeros_like(a)
    new[0][free] += h * v[free] + h**2 * ((0.5 - c.beta) * alike + c.beta * ahead)
    new[1][free] += h * ((1.0 - c.gamma) * alike + c.gamma * ahead)
    for mine, given in zip(new, held, strict=True):
        mine[places] = given
    force, inverse = np.zeros(0), None
    for _ in range(_ROUNDS):
        found = model.balance(data, *new)
        k = len(found.gaps)
        if inverse is None:
            J, size = found.loops[:, free], float(np.abs(S).max())
            inverse = np.linalg.inv(np.block([[S, -size * J.T], [size * J, np.zeros((k, k))]]))
            force = np.zeros(k)
        right = np.concatenate([(found.force - size * (found.loops.T @ force))[free], size * found.gaps])
        step = -inverse @ right
        new[0][free] += step[:n]
        new[1][free] += c.damping * step[:n]
        new[2][free] += c.mass * step[:n]
        force += step[n:]
        longest = float(np.abs(step[:n]).max(initial=0.0))
        if longest < TOLERANCE:
            alike = ahead + (1.0 - c.af) / (1.0 - c.am) * new[2][free]
            return *new, alike, float(np.abs(found.gaps).max(initial=0.0))
        if not longest < 1.0:
            break
    return *new, alike, np.nan


def _prescribed(model: PartsModel, motors: tuple[Array, Array, Array]) -> tuple[Array, Array, Array]:
    """The prescribed coordinates (n, held) with velocity and acceleration; followers are affine in the motors."""
    still = model.bodies.prescribed(np.zeros_like(motors[0]))
    values, *rates = (model.bodies.prescribed(part) for part in motors)
    return values, rates[0] - still, rates[1] - still


def _path(character: Character, curves: JointCurves, *, late: bool = False) -> MotorPath:
    """The cubic through the samples, each motor ``late`` by the delay it states."""
    at: Array = np.arange(len(curves.values)) / curves.rate
    splines = [CubicSpline(at, curves.column(name)) for name in character.driven]
    delays = [motor.delay if late else 0.0 for motor in character.motors]

    def followed(t: Array) -> tuple[Array, Array, Array]:
        columns = []
        for spline, delay in zip(splines, delays, strict=True):
            inside = np.clip(t - delay, 0.0, at[-1])
            moving = inside == t - delay
            columns.append([spline(inside), moving * spline(inside, 1), moving * spline(inside, 2)])
        value, rate, second = np.array(columns).transpose(1, 2, 0)
        return value, rate, second

    return followed
