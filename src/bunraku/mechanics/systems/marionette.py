"""Marionettes as mechanical systems: a character on its strings, how it hangs, and what its strings carry.

The joints' coordinates are dynamic. Kinematic, in this order after them, are ``carriage.x``, ``carriage.y`` of every carriage and
``string.length`` of every string: `Character.prescribed`. A string is the constraint |p_carriage - p_hook|² = length². It is kept
whether it pulls or pushes; real strings only pull, so look at the tensions: a negative one says that the string would go slack.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.equilibrium import Equilibrium, find_equilibrium
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.results import Trajectory
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.optimization.solution import Status


def marionette_system(
    character: Character,
    *,
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    damping: float | Mapping[str, float] | None = None,
) -> System:
    """The character on its strings as a mechanical system.

    ``gravity`` [m/s²]. ``damping`` of the joints [N·m·s/rad or N·s/m]: one number for all coordinates, a number for each of some
    (the others undamped), or None for what the joints state.
    """
    if not character.strings:
        raise BadInput(f"the character {character.name!r} has no strings; describe carriages and strings to make it a marionette")
    return character_system(character, gravity=gravity, damping=damping)


@dataclass(frozen=True)
class Hanging:
    """A puppet at rest: q (nq,), the tension [N] by string, and the equilibrium they come from.

    ``problem`` is empty when the puppet hangs on taut strings; otherwise it says in a line which strings keep it from that.
    """

    system: System
    q: Array
    tensions: dict[str, float]
    equilibrium: Equilibrium
    status: Status
    problem: str

    def require(self) -> Hanging:
        """The same hanging if it is one on taut strings; otherwise BadInput with the problem."""
        if self.problem:
            raise BadInput(self.problem)
        return self


def hang(
    character: Character,
    system: System | None = None,
    *,
    q: ArrayLike | None = None,
    prescribed: Mapping[str, float] | None = None,
    slack_below: float = 0.0,
) -> Hanging:
    """Let the puppet come to rest.

    ``q`` (nq,) is where to start, home if not given; ``prescribed`` puts some carriages and string lengths [m] elsewhere, by the
    name of their coordinate. ``system``: one made before by :func:`marionette_system`, to save making it. The status is INFEASIBLE
    when no pose fits all the strings (one is too short to hang), or when one would have to carry less than ``slack_below`` [N].
    """
    system = marionette_system(character) if system is None else system
    start = character_home(character, system) if q is None else system.vector("q", q, system.nq).copy()
    for name, value in (prescribed or {}).items():
        if name not in character.prescribed:
            raise BadInput(f"{name!r} is no carriage's or string's coordinate; known: {', '.join(character.prescribed[:20])}")
        if not np.isfinite(value) or (name.endswith(".length") and value <= 0.0):
            raise BadInput(f"{name!r} is {value}; it must be a finite number of metres, and a length positive")
        start[system.index(name)] = value
    rest = find_equilibrium(system, start)
    pull = dict(zip(_string_names(system), resting_tensions(system, rest.q, rest.multipliers).tolist(), strict=True))
    status, problem = rest.status, ""
    if rest.status is Status.INFEASIBLE:
        problem = _misfit(system, rest)
    elif not rest.status.good:
        problem = f"the puppet found no rest: {rest.status.value}, forces of {rest.force_residual:.2g} N left over"
    else:
        slack = [f"{name} ({value:.3g} N)" for name, value in pull.items() if value < slack_below]
        if slack:
            what = "slack at rest" if slack_below <= 0.0 else f"at rest, less than {slack_below:g} N"
            do = "shorten these strings or lengthen the others" + (", or ask for a smaller margin" if slack_below > 0.0 else "")
            status, problem = Status.INFEASIBLE, f"{what}: {', '.join(slack)}; {do}"
    return Hanging(system, rest.q, pull, rest, status, problem)


def resting_tensions(system: System, q: Array, multipliers: Array) -> Array:
    """Tension (strings,) [N] from the multipliers (nc,) of an equilibrium or continuous motion at q: -2 length x multiplier."""
    rows, lengths = string_rows(system)
    return -2.0 * q[lengths] * multipliers[rows]


def tensions(system: System, trajectory: Trajectory) -> Array:
    """Tension (N, strings) [N] over each step of a trajectory: T = 2 d lam / dt, positive when taut.

    lam is the step's multiplier (an impulse over a length, N·s/m) and d the string's length [m] at the start of the step. A puppet
    at rest starts with the momentum of a step at rest, ``integrator.initial(q, q)``: half of what gravity gives in a step; from
    momentum zero the first step's tensions come out as half of those that hold the weight.
    """
    rows, lengths = string_rows(system)
    result: Array = 2.0 * trajectory.q[:-1, lengths] * trajectory.lam[:, rows] / trajectory.dt
    return result


def _string_names(system: System) -> list[str]:
    return [name for name in system.constraint_names if f"{name}.length" in system.names]


def string_rows(system: System) -> tuple[list[int], list[int]]:
    """Where the strings stand among the constraints, and their lengths in q."""
    names = _string_names(system)
    return [system.constraint_names.index(name) for name in names], [system.index(f"{name}.length") for name in names]


def _misfit(system: System, rest: Equilibrium) -> str:
    """Which strings fit least where the search for a pose that fits all of them ended."""
    rows, lengths = string_rows(system)
    d = rest.q[lengths]
    lack = np.sqrt(np.maximum(system.constraint_values(rest.q)[rows] + d * d, 0.0)) - d
    short, long = [], []
    for name, has, more in zip(_string_names(system), d, lack, strict=True):
        if more > 0.5 * np.abs(lack).max():
            short.append(f"{name} ({has:.4g} m, {more:.2g} m missing)")
        elif -more > 0.5 * np.abs(lack).max():
            long.append(f"{name} ({has:.4g} m, {-more:.2g} m too much)")
    parts = [f"too short: {', '.join(short)}"] if short else []
    parts += [f"too long to be taut: {', '.join(long)}"] if long else []
    return f"no pose of the puppet fits its strings; {'; '.join(parts)}; change these lengths or move the carriages"
