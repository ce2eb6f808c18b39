"""A mechanical system: a tree, which of its coordinates are prescribed, and the forces and constraints on it.

Coordinates q (nq,) are those of the tree (followers of couplings left out: they move with their driver) and then ``lengths``:
coordinates that move no body, such as the winched length of a string. Each is dynamic (nd; physics moves it) or kinematic (nk;
prescribed). ``dynamic`` and ``kinematic`` say where they stand in q.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from math import isfinite

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.dynamics import equation_kernels as kernels
from bunraku.mechanics.dynamics.compile import compile_model, compile_slots
from bunraku.mechanics.dynamics.constraints import Constraint
from bunraku.mechanics.dynamics.flexible.attach import Flexible, insert_modes, stands
from bunraku.mechanics.dynamics.forces import Force
from bunraku.mechanics.dynamics.lagrangian_layout import COORDINATE
from bunraku.mechanics.dynamics.model import Indices, Model
from bunraku.mechanics.dynamics.potentials import Potential
from bunraku.mechanics.tree import Tree


@dataclass(frozen=True)
class LagrangianDerivatives:
    """Derivatives of the Lagrangian at (q, v): gradients (nq,), Hessians (nq, nq); ``vq[i, j]`` is d2L / dv_i dq_j."""

    v: Array
    q: Array
    vv: Array
    vq: Array
    qq: Array


@dataclass(frozen=True, eq=False)
class System:
    """The system as data. Build one with :func:`build_system`. ``hang``: slot, rotation, position of each node of the tree."""

    tree: Tree
    names: tuple[str, ...]
    inputs: tuple[str, ...]
    constraint_names: tuple[str, ...]
    model: Model
    hang: tuple[tuple[int, Array, Array], ...] = ()

    @property
    def nq(self) -> int:
        """Number of coordinates."""
        return len(self.names)

    @property
    def nd(self) -> int:
        """Number of dynamic coordinates."""
        return len(self.model.dynamic)

    @property
    def nk(self) -> int:
        """Number of kinematic (prescribed) coordinates."""
        return len(self.model.kinematic)

    @property
    def nu(self) -> int:
        """Number of inputs."""
        return len(self.inputs)

    @property
    def nc(self) -> int:
        """Number of constraint rows."""
        return len(self.constraint_names)

    @property
    def dynamic(self) -> Indices:
        """Where the dynamic coordinates stand in q, (nd,)."""
        return self.model.dynamic

    @property
    def kinematic(self) -> Indices:
        """Where the kinematic coordinates stand in q, (nk,)."""
        return self.model.kinematic

    @cached_property
    def home(self) -> Array:
        """The tree's home configuration (nq,); lengths at zero."""
        place = {name: i for i, name in enumerate(self.tree.names)}
        return np.array([self.tree.home[place[name]] if name in place else 0.0 for name in self.names])

    def index(self, name: str) -> int:
        """Where a coordinate stands in q."""
        if name not in self.names:
            raise BadInput(f"there is no coordinate {name!r}; known: {', '.join(self.names[:20])}")
        return self.names.index(name)

    def vector(self, what: str, values: ArrayLike, size: int) -> Array:
        """``values`` as finite numbers of shape (size,), or a clear error that calls them ``what``."""
        try:
            result = np.ascontiguousarray(values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise BadInput(f"{what} must be {size} numbers") from error
        if result.shape != (size,):
            raise BadInput(f"{what} has shape {result.shape}; it must be ({size},)")
        if not isfinite(np.dot(result, result)) and not np.isfinite(result).all():
            bad = int(np.flatnonzero(~np.isfinite(result))[0])
            raise BadInput(f"{what} holds {result[bad]} at place {bad}; it must be finite")
        return result

    def tree_configuration(self, q: ArrayLike) -> Array:
        """The tree's configuration (tree.nq,) at q (nq,): lengths left out, followers filled in."""
        q = self.vector("q", q, self.nq)
        place = {name: i for i, name in enumerate(self.names)}
        kept = tuple(name for name in self.tree.names if name in place)
        return self.tree.expand(kept, q[[place[name] for name in kept]][None, :])[0]

    def energies(self, q: ArrayLike, v: ArrayLike) -> tuple[float, float]:
        """Kinetic and potential energy [J] at (q, v)."""
        return kernels.energies(self.model, self.vector("q", q, self.nq), self.vector("v", v, self.nq))

    def energy(self, q: ArrayLike, v: ArrayLike) -> float:
        """Total energy T + V [J] at (q, v)."""
        kinetic, potential = self.energies(q, v)
        return kinetic + potential

    def lagrangian(self, q: ArrayLike, v: ArrayLike) -> float:
        """L = T - V [J] at (q, v)."""
        kinetic, potential = self.energies(q, v)
        return kinetic - potential

    def lagrangian_derivatives(self, q: ArrayLike, v: ArrayLike) -> LagrangianDerivatives:
        """Gradient and Hessian of L at (q, v), in closed form."""
        return LagrangianDerivatives(*kernels.lagrangian(self.model, self.vector("q", q, self.nq), self.vector("v", v, self.nq)))

    def constraint_values(self, q: ArrayLike) -> Array:
        """h(q) (nc,); zero where the constraints hold."""
        return kernels.constraint_terms(self.model, self.vector("q", q, self.nq), np.zeros(self.nc))[0]

    def constraint_jacobian(self, q: ArrayLike) -> Array:
        """Dh(q) (nc, nq)."""
        return kernels.constraint_terms(self.model, self.vector("q", q, self.nq), np.zeros(self.nc))[1]

    def constraint_curvature(self, q: ArrayLike, weights: ArrayLike) -> Array:
        """The Hessian (nq, nq) of weights.h(q), ``weights`` (nc,)."""
        return kernels.constraint_terms(self.model, self.vector("q", q, self.nq), self.vector("weights", weights, self.nc))[2]

    def force(self, q: ArrayLike, v: ArrayLike, u: ArrayLike = ()) -> Array:
        """Generalized force (nq,) of everything that is neither in L nor a constraint."""
        return self.force_derivatives(q, v, u)[0]

    def force_derivatives(self, q: ArrayLike, v: ArrayLike, u: ArrayLike = ()) -> tuple[Array, Array, Array, Array]:
        """The force (nq,) and its derivatives with respect to q, v (nq, nq each) and u (nq, nu)."""
        q, v, u = self.vector("q", q, self.nq), self.vector("v", v, self.nq), self.vector("u", u, self.nu)
        return kernels.force_terms(self.model, q, v, u)

    def force_curvature(self, q: ArrayLike, v: ArrayLike, u: ArrayLike, weights: ArrayLike) -> Array:
        """The Hessian (2 nq + nu, 2 nq + nu) of weights.F over (q, v, u), ``weights`` (nq,)."""
        q, v, u = self.vector("q", q, self.nq), self.vector("v", v, self.nq), self.vector("u", u, self.nu)
        mu = self.vector("weights", weights, self.nq)
        result: Array = kernels.force_curvature(self.model, q, v, u, mu, mu)
        return result


def build_system(
    tree: Tree,
    *,
    kinematic: Sequence[str] = (),
    lengths: Sequence[str] = (),
    inputs: Sequence[str] = (),
    gravity: Sequence[float] = (0.0, 0.0, -9.81),
    potentials: Sequence[Potential] = (),
    forces: Sequence[Force] = (),
    constraints: Sequence[Constraint] = (),
    armature: Mapping[str, float] | None = None,
    segments: Sequence[Flexible] = (),
) -> System:
    """Put a system together.

    ``kinematic``: names of the prescribed coordinates. ``lengths``: coordinates besides the tree's, for winched strings.
    ``inputs``: names of the numbers u that forces refer to. ``gravity`` [m/s^2]. ``armature``: rotor inertia by coordinate
    [kg·m^2 or kg]. ``segments``: fixed joints of the tree that bend; their modal coordinates stand after those of their base.
    """
    followers = {follower: (driver, ratio, offset) for driver, follower, ratio, offset in tree.couplings}
    kept = [i for i in range(tree.nq) if i not in followers]
    order = insert_modes(tree, kept, list(segments))
    names = tuple(i if isinstance(i, str) else tree.names[i] for i in order) + tuple(lengths)
    twice = [name for name in names if names.count(name) > 1]
    if twice:
        raise BadInput(f"two coordinates are called {twice[0]!r}; names must differ")
    place = {old: (new, 1.0, 0.0) for new, old in enumerate(order) if not isinstance(old, str)}
    for follower, (driver, ratio, offset) in followers.items():
        place[follower] = (place[driver][0], ratio, offset)
    unknown = [name for name in kinematic if name not in names]
    if unknown:
        raise BadInput(f"kinematic names the coordinate {unknown[0]!r}; known: {', '.join(names[:20])}")
    dynamic = np.array([name not in set(kinematic) for name in names], dtype=bool)
    pull = np.array(gravity, dtype=np.float64)
    if pull.shape != (3,) or not np.isfinite(pull).all():
        raise BadInput(f"gravity is {gravity}; it must be three finite numbers [m/s^2]")
    slots = compile_slots(tree, place, stands(tree, segments, names))
    rotors = dict(armature or {})
    moved = {int(row[COORDINATE]) for row in slots.node_i[: slots.heavy]} | {
        names.index(n) for n, a in rotors.items() if n in names and a > 0
    }
    for i in np.flatnonzero(dynamic):
        if int(i) not in moved:
            raise BadInput(
                f"the coordinate {names[i]!r} is dynamic but moves no mass; make it kinematic or give what it moves a mass"
            )
    model, labels = compile_model(tree, slots, names, tuple(inputs), dynamic, pull, potentials, forces, constraints, rotors)
    return System(tree, names, tuple(inputs), labels, model, tuple(slots.hang))
