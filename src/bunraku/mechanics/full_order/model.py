"""The full-order model: what it is made of, its rest under gravity, its motion when motors move."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid, compose
from bunraku.geometry.rotations import quaternion_of_matrix
from bunraku.mechanics.full_order.assembly import Assembly, TrialState
from bunraku.mechanics.full_order.description import ElasticPiece, Link, RigidBody
from bunraku.mechanics.full_order.links import LinkRows
from bunraku.mechanics.full_order.motion import Energies, FullMotion, FullState, SolverEffort
from bunraku.mechanics.full_order.newton import Solved
from bunraku.mechanics.full_order.schemes import scheme_of
from bunraku.mechanics.full_order.statics import guessed, settle, settle_near
from bunraku.mechanics.full_order.stepping import Record, begin, march
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status

_RANK = 1e-9


@dataclass(frozen=True)
class Rested:
    """A state of rest, Newton iterations, and how the search ended; not converged, ``state`` is where it began and ``note`` why."""

    state: FullState
    iterations: int
    status: Status
    note: str


class FullOrderModel:
    """Rigid bodies, links and elastic pieces under ``gravity`` [m/s^2]; ``motors`` prescribed values drive some of the links.

    ``home`` (motors,): the motors' values at which the bodies' poses were described (0 unless given). ``posing`` gives better ones
    for any values, where there is such a function. ``frames``: (name, body, pose in it), followed in motions.
    Rows of closing links that repeat others are left out (named in :attr:`redundant`) and watched all the same.
    """

    def __init__(
        self,
        bodies: Sequence[RigidBody],
        links: Sequence[Link] = (),
        pieces: Sequence[ElasticPiece] = (),
        *,
        motors: Sequence[str] = (),
        gravity: ArrayLike = (0.0, 0.0, -9.81),
        frames: Sequence[tuple[str, str, Rigid]] = (),
        home: ArrayLike | None = None,
        posing: Callable[[Array], Sequence[Rigid]] | None = None,
    ) -> None:
        g = np.asarray(gravity, dtype=np.float64)
        if g.shape != (3,):
            raise BadInput(f"gravity has shape {g.shape}; (3,) is needed")
        self.motors = tuple(motors)
        self.assembly = Assembly(tuple(bodies), tuple(links), tuple(pieces), g, len(self.motors))
        self.body_names = tuple(body.name for body in bodies)
        self.piece_names = tuple(piece.name for piece in pieces)
        for names in (self.body_names, self.piece_names, self.motors):
            if len(set(names)) < len(names):
                raise BadInput(f"the name {next(n for n in names if names.count(n) > 1)!r} is used twice; names must differ")
        self.home = self.motor_values(np.zeros(len(self.motors)) if home is None else home)
        self._posing = posing
        self.frames = {name: (body, pose) for name, body, pose in frames}
        self.redundant: tuple[str, ...] = self._leave_out_repeated()

    @property
    def size(self) -> int:
        """How many numbers describe a configuration: six for each body, three for each node."""
        return 6 * len(self.body_names) + sum(part.solid.size for part in self.assembly.pieces)

    def unbent(self, motors: ArrayLike | None = None) -> FullState:
        """Bodies where they were described (or posed for ``motors``), pieces unbent on their bases, nothing moving."""
        A = self.assembly
        poses: Sequence[Rigid] = [body.pose for body in A.bodies]
        values = self.home
        if motors is not None and self._posing is not None:
            values = self.motor_values(motors)
            poses = self._posing(values)
        R = [np.asarray(pose[0], dtype=np.float64) for pose in poses]
        c = [pose[1] + r @ center for pose, r, center in zip(poses, R, A.centers[:-1], strict=True)]
        x = []
        for part in A.pieces:
            base, held = int(part.bodies[0]), part.piece.held[0]
            turn, shift = compose(poses[base], held.pose) if base < A.count else held.pose
            x.append(part.X @ turn.T + shift)
        q = quaternion_of_matrix(np.array(R)) if R else np.zeros((0, 4))
        zero, none = np.zeros((A.count, 3)), np.zeros(A.multipliers)
        return FullState(np.array(c).reshape(-1, 3), q, tuple(x), zero, zero.copy(), tuple(0.0 * n for n in x), none, values)

    def rest(self, motor_angles: ArrayLike | None = None, start: FullState | None = None) -> Rested:
        """The state of rest under gravity at values (motors,) [rad, m] of the motors (home unless given): the quasi-static pose.

        ``start``: a state of rest to go on from (warm start); otherwise from the unbent pose, gravity growing.
        """
        values = self.home if motor_angles is None else self.motor_values(motor_angles)
        first = self.unbent(values) if start is None else start
        solved = settle(self.assembly, self.trial_of(first), (first.motors, values), (0.0 if start is None else 1.0, 1.0))
        if solved.trial is None:
            return Rested(first, solved.iterations, Status.STALLED, solved.cause)
        return Rested(self._resting(solved.trial, values), solved.iterations, Status.CONVERGED, "")

    def rests(self, curve: ArrayLike) -> Iterator[Rested]:
        """The states of rest along ``curve`` (n, motors), each from those before it: faster than :meth:`rest` one by one."""
        now: FullState | None = None
        before: FullState | None = None
        for row in self.motor_values(curve, steps=True):
            solved = Solved(None, 0)
            if now is not None:
                trial = self.trial_of(now)
                guess = trial if before is None else guessed(self.assembly, self.trial_of(before), trial)
                solved = settle_near(self.assembly, guess, row)
            if solved.trial is None:
                rested = self.rest(row, now)
            else:
                rested = Rested(self._resting(solved.trial, row), solved.iterations, Status.CONVERGED, "")
            before, now = (now, rested.state) if rested.status.good else (None, now)
            yield rested

    def _resting(self, trial: TrialState, values: Array) -> FullState:
        zero = np.zeros((self.assembly.count, 3))
        return FullState(trial.c, trial.q, trial.x, zero, zero.copy(), tuple(0.0 * x for x in trial.x), trial.lam, values)

    def simulate(
        self,
        curve: ArrayLike,
        dt: float,
        *,
        start: FullState | None = None,
        method: str = "bdf2",
        every: int = 1,
        snapshots: Sequence[str] = (),
        monitor: Monitor = SILENT,
        tolerance: float = 1e-11,
    ) -> FullMotion:
        """The motion when the motors follow ``curve`` (N + 1, motors), its nodes ``dt`` [s] apart, from ``start``.

        ``start``: rest at curve[0] unless given. ``method``: bdf2, generalized-alpha, newmark or backward-euler. Kept are every
        ``every``-th node and the last; ``snapshots`` names the pieces whose nodes are kept too. ``tolerance``: of Newton's steps,
        relative to the largest piece. A curve must start with the velocity of ``start`` (from rest: slowly), or it strikes a blow.
        """
        values = self.motor_values(curve, steps=True)
        if not (np.isfinite(dt) and dt > 0.0) or len(values) < 2:
            raise BadInput(f"{len(values)} nodes {dt:g} s apart arrived; at least two and a positive step are needed")
        unknown = set(snapshots) - set(self.piece_names)
        if unknown:
            raise BadInput(f"snapshots of {sorted(unknown)[0]!r} were asked for; the pieces are {', '.join(self.piece_names)}")
        scheme, record = scheme_of(method), Record(max(1, every), frozenset(snapshots))
        begun = time.thread_time()
        if start is None:
            resting = self.rest(values[0])
            start, note = resting.state, resting.note
        else:
            note = ""
        A = self.assembly
        if note:
            steps, status, moment, factors_made, iterations, note = 0, Status.STALLED, None, 0, 0, f"at rest: {note}"
        else:
            first = begin(A, self.trial_of(start), start, values, dt)
            moment, status, note, steps, factors = march(A, first, values, dt, scheme, record, monitor, tolerance)
            factors_made, iterations = factors.renewed, factors.iterations
        if moment is None:
            last = start
        else:
            t, r = moment.trial, moment.rates
            last = FullState(t.c, t.q, t.x, r.v, r.w, r.xv or (), t.lam, values[steps])
        kept = {name: np.array(moments) for name, moments in record.snapshots.items()}
        B, K = A.count, len(record.times)
        energies = np.array(record.energies).reshape(K, 3).T
        return FullMotion(
            np.array(record.times),
            self.body_names,
            np.array(record.positions).reshape(K, B, 3),
            np.array(record.quaternions).reshape(K, B, 4),
            self.frames,
            kept,
            np.array(record.drift),
            Energies(energies[0], energies[1], energies[2]),
            np.array(record.torques).reshape(K, len(self.motors)),
            SolverEffort(steps, iterations, factors_made, time.thread_time() - begun),
            status,
            note,
            last,
        )

    def _leave_out_repeated(self) -> tuple[str, ...]:
        """Keep all rows of links of the tree, and of closing ones those that are independent of them where things were described.

        Pieces are left out of account: they bend, so what closes through one is independent.
        """
        A = self.assembly
        turned = A.turned(np.zeros(A.motors))
        owners = LinkRows.owners(turned)
        closing = np.array([link.closing for link in A.links], dtype=bool)[owners] if len(owners) else np.zeros(0, dtype=bool)
        if not closing.any():
            return ()
        state = self.unbent()
        c, R = A.placed(state.c, state.q)
        J = LinkRows(turned, A.count).assemble(c, R, np.zeros(A.all_rows))[1]
        J = J / np.linalg.norm(J, axis=1, keepdims=True)
        Q = np.linalg.qr(J[~closing].T)[0]
        kept = [int(k) for k in np.flatnonzero(~closing)]
        left = J - (J @ Q) @ Q.T
        waiting = [int(k) for k in np.flatnonzero(closing)]
        while waiting:
            best = max(waiting, key=lambda k: float(np.linalg.norm(left[k])))
            size = float(np.linalg.norm(left[best]))
            if size < _RANK:
                break
            direction = left[best] / size
            left = left - np.outer(left @ direction, direction)
            kept.append(best)
            waiting.remove(best)
        A.drop(np.array(sorted(kept), dtype=np.int64))
        return tuple(f"{A.links[owners[k]].name}, row {k}" for k in waiting)

    def trial_of(self, state: FullState) -> TrialState:
        """The positions of a state."""
        A = self.assembly
        if state.c.shape != (A.count, 3) or [len(x) for x in state.x] != [part.solid.nodes for part in A.pieces]:
            raise BadInput("the state belongs to another model: its bodies or nodes are not as many as here")
        lam = state.multipliers if len(state.multipliers) == A.multipliers else np.zeros(A.multipliers)
        return TrialState(state.c, state.q, state.x, lam)

    def motor_values(self, values: ArrayLike, steps: bool = False) -> Array:
        """Values (motors,) or a curve (N + 1, motors) as arrays, checked."""
        array = np.asarray(values, dtype=np.float64)
        n = len(self.motors)
        if (array.ndim != (2 if steps else 1)) or array.shape[-1] != n or not np.isfinite(array).all():
            needed = f"(N + 1, {n})" if steps else f"({n},)"
            raise BadInput(
                f"the motors' values have shape {array.shape}; {needed} finite numbers are needed: {', '.join(self.motors)}"
            )
        return array
