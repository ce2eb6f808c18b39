"""Stabilizing feedback: how the commands of a performance are corrected when the character is not where it should be."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.motion.curves import frozen_array


@dataclass(frozen=True)
class Feedback:
    """Linear feedback along a motion: at node k, t = k / rate, the command is u = u_k - K_k (x - x_k).

    The state x = (q, p) holds the ``coordinates`` q (nq) and the ``momenta`` p (nd) of those that physics moves; the command u
    holds the ``inputs``, named as the channels they correct: first torques, held from node k to the next, then prescribed
    coordinates (carriage places, string lengths), to be reached at node k + 1. ``rate`` [Hz]; ``states`` x_k (N + 1, nq + nd),
    ``commands`` u_k (N, nu), ``gains`` K_k (N, nu, nq + nd). The momenta are those of the variational integrator at the same rate.
    """

    rate: float
    coordinates: tuple[str, ...]
    momenta: tuple[str, ...]
    inputs: tuple[str, ...]
    states: Array
    commands: Array
    gains: Array

    def __post_init__(self) -> None:
        for what in ("coordinates", "momenta", "inputs"):
            names = tuple(getattr(self, what))
            object.__setattr__(self, what, names)
            twice = next((name for name in names if names.count(name) > 1), None)
            if twice is not None:
                raise BadInput(f"the feedback names {twice[:60]!r} twice among its {what}; each has one place")
        stray = next((name for name in self.momenta if name not in self.coordinates), None)
        if stray is not None:
            raise BadInput(f"the feedback has a momentum of {stray[:60]!r}, which is none of its coordinates")
        if not self.inputs or not self.momenta:
            raise BadInput("the feedback corrects no input or sees no momentum; give at least one of each")
        if not 0.0 < self.rate <= 100_000.0:
            raise BadInput(f"the feedback has the rate {self.rate} Hz; give one between 0 and 100000")
        nx, nu = len(self.coordinates) + len(self.momenta), len(self.inputs)
        object.__setattr__(self, "states", frozen_array(self.states, (None, nx), "the feedback's states"))
        steps = len(self.states) - 1
        if steps < 1:
            raise BadInput(f"the feedback has {steps + 1} states; at least 2 are needed, one a node")
        object.__setattr__(self, "commands", frozen_array(self.commands, (steps, nu), "the feedback's commands"))
        object.__setattr__(self, "gains", frozen_array(self.gains, (steps, nu, nx), "the feedback's gains"))

    @property
    def steps(self) -> int:
        """Number of steps N."""
        return len(self.commands)

    def command(self, k: int, state: Array) -> Array:
        """The corrected command (nu,) of step ``k`` at the state x (nq + nd,)."""
        return self.commands[k] - self.gains[k] @ (state - self.states[k])
