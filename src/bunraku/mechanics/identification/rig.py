"""A part on its motor, simulated: the marker's curve as a function of Young's modulus and damping, without meshing anew.

The reduced strain is scaled by the root of the stiffness, so a material E/E0 times as stiff has L1 and Q times the root of that;
beta is a number of the segment. Everything else of a compiled system stays as it is.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.interpolate import CubicSpline, make_interp_spline

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.flexible import layout
from bunraku.mechanics.dynamics.model import Segments
from bunraku.mechanics.dynamics.places import Where
from bunraku.mechanics.dynamics.poses import find_jacobian
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.identification.model import DrivenMarker, ReleasedMarker
from bunraku.mechanics.identification.vibration import Window
from bunraku.mechanics.integrators.driven.outputs import track
from bunraku.mechanics.integrators.driven.simulate import simulate as simulate_driven
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.motion.curves import JointCurves

SETTLED = 0.1
"""Seconds after a stop of the command that are left out where only vibration is looked at, for the delay is not known yet."""


def scaled_system(system: System, parts: Sequence[str], young_scale: float, beta: float) -> System:
    """The same system with the segments ``parts`` ``young_scale`` times as stiff, and of strain-rate damping ``beta`` [s]."""
    model = system.model
    scaled: set[str] = set()
    known: set[str] = set()
    if isinstance(model.segments, Segments):
        numbers = model.segments.flexible_f.copy()
        for line in model.segments.segment_i:
            name = system.names[line[layout.COORDINATE_0]].rpartition(".")[0]
            known.add(name)
            if name not in parts:
                continue
            scaled.add(name)
            rows = int(line[layout.ROWS])
            for at, count in ((layout.LINEAR_F, int(line[layout.COUNT])), (layout.QUADRATIC_F, int(line[layout.PAIRS]))):
                numbers[line[at] : line[at] + count * rows] *= np.sqrt(young_scale)
            points = numbers[line[layout.POINTS_F] : line[layout.POINTS_F] + 3 * int(line[layout.POINTS])].reshape(-1, 3)
            points[:, 1:] *= young_scale  # lam and mu of Neo-Hookean points; a view
            numbers[line[layout.MASS_F] + 1] = beta
        model = model._replace(segments=model.segments._replace(flexible_f=numbers))
    missing = [part for part in parts if part not in scaled]
    if missing:
        raise BadInput(f"the system has no flexible segment {missing[0]!r}; there are {', '.join(sorted(known)) or 'none'}")
    return replace(system, model=model)


def still_windows(command: JointCurves, end: float) -> tuple[Window, ...]:
    """The stretches of time [s], up to ``end``, in which the command stands still after it has moved, without their beginnings."""
    values = command.values
    moving = np.flatnonzero(np.abs(np.diff(values, axis=0)).max(axis=1, initial=0.0) > 1e-9 * max(float(np.ptp(values)), 1e-300))
    if not len(moving) or not np.ptp(values) > 0.0:
        raise BadInput("the command never moves, so nothing sets off a vibration; give the clip that was played")
    starts = [(int(k) + 1) / command.rate for k in moving]
    ends = [*(int(k) / command.rate for k in moving[1:]), np.inf]
    gaps = [(a, min(b, end)) for a, b in zip(starts, ends, strict=True)]
    return tuple((a + min(SETTLED, 0.25 * (b - a)), b) for a, b in gaps if b - a > 1.5 / command.rate)


@dataclass(eq=False)
class Rig:
    """A part to be measured: a system whose kinematic coordinates are motors, and a marker on it.

    ``parts``: segments of one material, of modulus ``young`` [Pa] in the system. ``marker``: its place. ``home`` (nq,): where
    rest is looked for, the system's own if not given. Motors follow the twice continuously differentiable cubic through the
    samples of their command.
    """

    system: System
    parts: tuple[str, ...]
    young: float
    marker: Where
    home: Array | None = None

    def driven(self, command: JointCurves, end: float, *, latest: float = 0.3) -> DrivenMarker:
        """The model of a record that ends at ``end`` [s], the motors moved by ``command`` (held at home where it has no curve)."""
        names = [self.system.names[i] for i in self.system.kinematic]
        used = [name for name in names if name in command.names]
        if not used:
            raise BadInput(f"the clip moves {', '.join(command.names[:8])}; none is a motor's coordinate: {', '.join(names[:8])}")
        home = self.system.home[self.system.kinematic]
        own = JointCurves(tuple(used), command.rate, np.column_stack([command.column(name) for name in used]))
        seconds = end + 0.1
        between = CubicSpline(own.times, own.values) if len(own.values) > 3 else make_interp_spline(own.times, own.values, k=1)

        def simulate(young_scale: float, beta: float, dt: float) -> Array:
            times = dt * np.arange(int(np.ceil(seconds / dt)) + 1)
            K = np.tile(home, (len(times), 1))
            K[:, [names.index(name) for name in used]] = between(np.minimum(times, own.duration))
            return self._run(young_scale, beta, K, dt)

        return DrivenMarker(simulate, self.young, still_windows(own, end), 1.0 / command.rate, latest)

    def released(self, begin: float, end: float, held: Array | None = None) -> ReleasedMarker:
        """The model of a record from ``begin`` to ``end`` [s] of a part vibrating while the motors stand at ``held`` or home."""
        at = self.system.home[self.system.kinematic] if held is None else np.asarray(held, dtype=np.float64)

        def simulate(young_scale: float, beta: float, size: float, speed: float, dt: float) -> Array:
            N = int(np.ceil((end - begin) / dt)) + 2
            return self._run(young_scale, beta, np.tile(at, (N + 1, 1)), dt, size, speed)

        return ReleasedMarker(simulate, self.young, begin, end)

    def _run(self, young_scale: float, beta: float, K: Array, dt: float, size: float = 0.0, speed: float = 0.0) -> Array:
        """The marker (N + 1, 3) under motors K (N + 1, nk), from rest or from a first mode that moves it; NaN when it fails."""
        system = scaled_system(self.system, self.parts, young_scale, beta)
        failed = np.full((len(K), 3), np.nan)
        q0 = np.array(system.home if self.home is None else self.home)
        q0[system.kinematic] = K[0]
        rest = find_equilibrium(system, q0)
        if not (rest.status.good and rest.stable):
            return failed
        if size or speed:
            integrator, shape = VariationalIntegrator(system, dt), self._first_mode(system, rest.q)
            q, v = rest.q.copy(), np.zeros(system.nq)
            q[system.dynamic] += size * shape
            v[system.dynamic] = speed * shape
            free = integrator.rollout(q, integrator.initial(q, v0=v).p, np.zeros((len(K) - 1, system.nu)), K[1:])
            good, path = free.status.good, free.q
        else:
            run = simulate_driven(system, K, dt, start=rest.q)
            good, path = run.status.good, run.q
        return track(system, positions=(self.marker,)).observe(path).positions[:, 0] if good else failed

    def _first_mode(self, system: System, q: Array) -> Array:
        """The mode (nd,) about rest that a jerk of a motor sets off most at the marker, scaled to move it by 1 m.

        A jerk gives a mode phi (of unit mass) the speed phi' M_dk; modes of one frequency (within 1 %) move together.
        """
        d, zero = system.dynamic, np.zeros(system.nq)
        L = system.lagrangian_derivatives(q, zero)
        K = -(L.qq + system.force_derivatives(q, zero, np.zeros(system.nu))[1])[np.ix_(d, d)]
        C = np.linalg.inv(np.linalg.cholesky(L.vv[np.ix_(d, d)]))
        squares, vectors = np.linalg.eigh(C @ (0.5 * (K + K.T)) @ C.T)
        w, shapes = np.sqrt(np.maximum(squares, 1e-12)), C.T @ vectors
        jerks = shapes.T @ L.vv[np.ix_(d, system.kinematic)]
        moves = find_jacobian(system, q, self.marker)[0][:, d] @ shapes
        answer = np.linalg.norm(moves, axis=0)[:, None] * np.abs(jerks) / w[:, None]
        best, motor = np.unravel_index(int(np.argmax(answer)), answer.shape)
        alike = np.abs(w - w[best]) <= 0.01 * w[best]
        shape = shapes[:, alike] @ jerks[alike, motor]
        return np.asarray(shape / np.linalg.norm(moves[:, alike] @ jerks[alike, motor]))
