"""States of the full-order model, and what comes out of its simulation."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.geometry.poses import Rigid
from bunraku.geometry.rotations import matrix_of_quaternion, quaternion_of_matrix
from bunraku.mechanics.full_order.description import GROUND
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class FullState:
    """Where everything is and how it moves, in the world.

    Of the B rigid bodies: centres of mass ``c`` (B, 3), quaternions ``q`` (B, 4), velocities ``v`` and angular velocities ``w``
    (B, 3). Of each elastic piece: nodes ``x`` (n, 3) and their velocities ``xv``. ``multipliers`` (rows,): forces [N] and moments
    [N m] of the constraints, the links' rows first, then six for each interface. ``motors``: the values of the motors.
    """

    c: Array
    q: Array
    x: tuple[Array, ...]
    v: Array
    w: Array
    xv: tuple[Array, ...]
    multipliers: Array
    motors: Array

    @property
    def rotations(self) -> Array:
        """R (B, 3, 3)."""
        return matrix_of_quaternion(self.q) if len(self.q) else np.zeros((0, 3, 3))


@dataclass(frozen=True)
class Energies:
    """Kinetic, elastic and gravitational energy (K,) [J] at the kept nodes of time."""

    kinetic: Array
    elastic: Array
    weight: Array

    @property
    def total(self) -> Array:
        """Their sum (K,) [J]."""
        return self.kinetic + self.elastic + self.weight


@dataclass(frozen=True)
class SolverEffort:
    """What the simulation took: steps, Newton iterations, factorizations, seconds of this thread."""

    steps: int
    iterations: int
    factorizations: int
    seconds: float

    @property
    def steps_per_second(self) -> float:
        """Steps a second of thread CPU."""
        return self.steps / max(self.seconds, 1e-9)


@dataclass(frozen=True)
class FullMotion:
    """A simulated motion at the kept nodes of time.

    ``times`` (K,) [s]; ``positions`` (K, B, 3) and ``quaternions`` (K, B, 4) of the bodies' frames, by ``names``; ``frames`` says
    where named frames stand on bodies. ``snapshots``: for each piece the displacements (K, n, 3) of its nodes in its floating frame
    (that of its base), if asked for. ``drift`` (K,): how far [m, or 1 for turns] the worst constraint is from holding. ``torques``
    (K, motors): what each motor has to give [N m, N]. ``status`` is CONVERGED, CANCELLED, or STALLED with the time, piece and cause
    in ``note``; then what came before is kept. ``last`` is the last state.
    """

    times: Array
    names: tuple[str, ...]
    positions: Array
    quaternions: Array
    frames: dict[str, tuple[str, Rigid]]
    snapshots: dict[str, Array]
    drift: Array
    energies: Energies
    torques: Array
    effort: SolverEffort
    status: Status
    note: str
    last: FullState

    @property
    def rotations(self) -> Array:
        """R (K, B, 3, 3)."""
        return matrix_of_quaternion(self.quaternions)

    def pose(self, name: str) -> Rigid:
        """Rotations (K, 3, 3) and positions (K, 3) of a body or frame."""
        body, (R, p) = self.frames.get(name, (name, (np.eye(3), np.zeros(3))))
        if body == GROUND:
            return np.broadcast_to(R, (len(self.times), 3, 3)), np.broadcast_to(p, (len(self.times), 3))
        if body not in self.names:
            known = ", ".join([*self.names, *self.frames])
            raise BadInput(f"{name!r} is no body or frame of this motion; known: {known}")
        k = self.names.index(body)
        turn = self.rotations[:, k]
        return turn @ R, self.positions[:, k] + turn @ p

    def tracked(self, names: list[str] | tuple[str, ...]) -> Array:
        """Positions (K, len(names), 3) [m] of bodies or frames."""
        return np.stack([self.pose(name)[1] for name in names], axis=1)

    def orientations(self, name: str) -> Array:
        """Quaternions (K, 4) of a body or frame."""
        return quaternion_of_matrix(self.pose(name)[0])
