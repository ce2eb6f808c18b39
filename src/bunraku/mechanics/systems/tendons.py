"""Tendons that hold a pose: tensions, none of them a push, under which a character rests.

With B the moment arms (what a tension does to the coordinates), the tensions T and the multipliers lambda of a pose at rest obey

    L_q + F + B T + Dh' lambda = 0 (dynamic rows),    least <= T <= max_tension,

and of all that do, those with the least sum of (T / max_tension)² are taken. A closing ball joint stands for a fingertip on an
object: its force on the child may be asked to push along a direction and to stay within a friction pyramid about it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.character import WORLD, Character, Joint
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.tree import rotation_of
from bunraku.optimization.quadratic import QuadraticProgram, solve_quadratic
from bunraku.optimization.solution import Status


@dataclass(frozen=True)
class Holding:
    """Tensions [N] by tendon, inputs u (nu,) with them in place, multipliers (nc,), the forces left over, and how it ended."""

    tensions: dict[str, float]
    u: Array
    multipliers: Array
    force_residual: float
    status: Status

    def require(self) -> Holding:
        """The same if it holds; otherwise BadInput."""
        if not self.status.good:
            left = f"forces of {self.force_residual:.2g} N or N·m are left over at the closest"
            raise BadInput(f"no tensions within their limits hold this pose: {left}; ask for less, or change the tendons")
        return self


def contact_forces(character: Character, system: System, q: ArrayLike, multipliers: ArrayLike) -> dict[str, Array]:
    """World force (3,) [N] of the parent on the child at each closing ball joint, from multipliers (nc,) at q (nq,)."""
    lam = np.asarray(multipliers, dtype=np.float64)
    return {loop.name: _force_map(system, loop, np.asarray(q)) @ lam for loop in character.loops if loop.kind == "ball"}


def holding_tensions(
    character: Character,
    system: System,
    q: ArrayLike,
    *,
    least: float = 0.0,
    pushes: Mapping[str, ArrayLike] | None = None,
    least_push: float = 0.0,
    friction: float = 0.5,
) -> Holding:
    """The tensions that hold the character at rest at q (nq,).

    Every tendon carries at least ``least`` [N]. ``pushes`` maps closing ball joints to world directions (3,): there the force on
    the child has at least ``least_push`` [N] along it and at most ``friction`` times that along each of two directions square.
    Status INFEASIBLE: no tensions do all this; those that come closest are returned.
    """
    q = system.vector("q", q, system.nq)
    if not character.tendons:
        raise BadInput(f"the character {character.name!r} has no tendons; describe some to hold it by")
    d, zero, m = system.dynamic, np.zeros(system.nq), len(character.tendons)
    where = [system.inputs.index(tendon.name) for tendon in character.tendons]
    F, _, _, Fu = system.force_derivatives(q, zero, np.zeros(system.nu))
    pull = (system.lagrangian_derivatives(q, zero).q + F)[d]
    rows = [np.hstack([Fu[d][:, where], system.constraint_jacobian(q)[:, d].T])]
    lower, upper = [-pull], [-pull]
    loops = {loop.name: loop for loop in character.loops if loop.kind == "ball"}
    for name, direction in (pushes or {}).items():
        if name not in loops:
            raise BadInput(f"{name!r} is no ball joint that closes a loop; known: {', '.join(loops) or 'none'}")
        f = np.hstack([np.zeros((3, m)), _force_map(system, loops[name], q)])
        n = np.asarray(direction, dtype=np.float64) / np.linalg.norm(np.asarray(direction))
        s = np.cross(n, np.eye(3)[int(np.argmin(np.abs(n)))])
        s /= np.linalg.norm(s)
        rows.append(np.vstack([n @ f, *(friction * (n @ f) + side @ f for t in (s, np.cross(n, s)) for side in (t, -t))]))
        lower.append(np.array([least_push, 0.0, 0.0, 0.0, 0.0]))
        upper.append(np.full(5, np.inf))
    most = np.array([tendon.max_tension for tendon in character.tendons])
    P = np.diag(np.concatenate([1.0 / most**2, np.full(system.nc, 1e-9)]))
    free = np.full(system.nc, np.inf)
    problem = QuadraticProgram(
        P,
        np.zeros(m + system.nc),
        np.vstack(rows),
        np.concatenate(lower),
        np.concatenate(upper),
        np.concatenate([np.full(m, least), -free]),
        np.concatenate([most, free]),
    )
    solution = solve_quadratic(problem)
    u = np.zeros(system.nu)
    u[where] = solution.x[:m]
    left = float(np.abs(rows[0] @ solution.x + pull).max(initial=0.0))
    names = [tendon.name for tendon in character.tendons]
    return Holding(dict(zip(names, solution.x[:m].tolist(), strict=True)), u, solution.x[m:], left, solution.status)


def _force_map(system: System, loop: Joint, q: Array) -> Array:
    """(3, nc): the world force on the child per multiplier of a ball joint's rows, minus their directions on the parent."""
    R = np.eye(3)
    if loop.parent != WORLD:
        R = system.tree.configuration(system.tree_configuration(q)).pose(loop.parent)[0]
    axes = R @ rotation_of(loop.pose)
    result = np.zeros((3, system.nc))
    for label, column in (("across-1", 0), ("across-2", 1), ("along", 2)):
        name = f"{loop.name}.{label}"
        if name in system.constraint_names:
            result[:, system.constraint_names.index(name)] = -axes[:, column]
    return result
