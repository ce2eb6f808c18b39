"""Shapes a part is reduced to: vibration modes, static attachment shapes, modal derivatives; all of unit mass and orthogonal.

Modes satisfy the six conditions of the base interface (:mod:`grip`) and vibrate with the carried bodies at the child interfaces.
They are chosen by kind, not by their place in the spectrum: torsion may lie below, between or above the bending pairs.

An attachment shape is the static answer G l to a load l of a child interface (G: the inverse of the stiffness under the
conditions). With loads scaled by the root of the carried inertia, what the modes Phi (frequencies omega) leave of it,

    D = l' (G - Phi' diag(omega)^-2 Phi) l,

has the squared periods (over 4 pi^2) of the missing motions as its eigenvalues; those above a share of the longest period are
taken.

Modal derivatives tell how a part must deform a second time when two of its modes bend it far; without them a slender rod locks:
bending would stretch it. Static displacements u = sum u_a phi_a + 1/2 sum u_a u_b phi_ab under loads that the shapes phi_a balance
to first order satisfy to second order K phi_ab = -g_ab, with g_ab the third derivative of the St. Venant-Kirchhoff energy,
V'''(phi_a, phi_b, .), which is (dK/du . phi_b) phi_a and symmetric in a and b. With H_a = grad phi_a, e_a = sym(H_a) and Hooke's
law S(.),

    g_ab = int P_ab G,    P_ab = S(sym(H_a' H_b)) + H_a S(e_b) + H_b S(e_a)

They are weighed by the energy they release, 1/2 g_ab' G g_cd u_a u_b u_c u_d, at amplitudes u_a = (2 V)^1/2 /
omega_a (omega_1 / omega_a)^1/2 with V the energy of a gravity-like load; the principal ones of that quadratic form above a share
of V are taken. (Weighing them by mass would drop the small changes of the section that a turn of it needs, and lock the part.)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array, Indices
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.grip import Grip, GripFactor
from bunraku.mechanics.elastic.interface import Interface
from bunraku.mechanics.elastic.modes import CarriedBody, Inertia, Modes, grip_modes, orthonormalize
from bunraku.mechanics.elastic.reduction.kinds import kinds_of, part_axis
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients, strain_pairs
from bunraku.mechanics.elastic.solid import ElasticSolid

ACCELERATION = 50.0
"""How strongly [m/s^2] parts are taken to be shaken, in any direction ..."""
BEND = 0.2
"""... unless that displaces them by more than this share of their length."""


@dataclass(frozen=True, eq=False)
class Basis:
    """Orthonormal ``shapes`` (r, 3 n), a ``label`` each, and how many, the first, are ``primary`` (modes and attachment shapes)."""

    shapes: Array
    labels: tuple[str, ...]
    primary: int


class Workbench:
    """A part with its grip, its inertia and one factorization of its stiffness at rest, for all solves; modes are kept."""

    def __init__(
        self, solid: ElasticSolid, base: Interface, children: Sequence[Interface], carried: Sequence[CarriedBody] = ()
    ) -> None:
        if not children:
            raise BadInput("the part has no child interface; give at least one")
        for body in carried:
            if not any(body.interface is child for child in children):
                raise BadInput(f"a body is carried at {body.interface.name!r}, which is not among the child interfaces")
        self.solid, self.base, self.children, self.carried = solid, base, tuple(children), tuple(carried)
        self.grip = Grip(solid, base)
        self.inertia = Inertia(solid, carried)
        self.factor: GripFactor = self.grip.factorize(solid.stiffness())
        self.axis = part_axis(solid, base, children)
        self._modes = Modes(np.zeros(0), np.zeros((0, solid.size)))

    @cached_property
    def length(self) -> float:
        """The longest distance [m] from the base to a node."""
        return float(np.linalg.norm(self.solid.mesh.nodes - self.base.centroid, axis=1).max())

    @cached_property
    def gravity_loads(self) -> Array:
        """The loads (3, 3 n) of ACCELERATION along x, y, z on the part and what it carries (linear, at rest)."""
        pushes = np.tile(np.eye(3), (1, self.solid.nodes))
        return ACCELERATION * np.asarray(self.inertia @ np.ascontiguousarray(pushes.T)).T

    @cached_property
    def reference_energy(self) -> float:
        """The elastic energy [J] of the worst of these loads, or of what of it bends the part by BEND of its length."""
        answers = self.factor.solve(np.ascontiguousarray(self.gravity_loads.T)).T
        values, vectors = np.linalg.eigh(0.5 * self.gravity_loads @ answers.T)
        bent = (vectors[:, -1] @ answers).reshape(-1, 3)
        far = float(np.linalg.norm(bent, axis=1).max())
        return float(values[-1]) * min(1.0, BEND * self.length / far) ** 2

    def modes(self, count: int) -> Modes:
        """At least the ``count`` lowest modes."""
        if count > len(self._modes.frequencies):
            self._modes = grip_modes(self.factor, self.inertia, self.solid.size, count)
        return self._modes


def make_basis(bench: Workbench, *, bending: int = 4, attach: float = 1e-3, release: float = 0.01) -> Basis:
    """The lowest ``bending`` modes of that kind, lower and first twist and stretch, attachment shapes, and modal derivatives.

    ``attach``: the share of the longest squared period above which a missing motion gets an attachment shape (infinite: none).
    ``release``: the share of the energy above which a principal derivative is taken, of all pairs, those of bending with twist
    too: without them a bent rod twists as if it were stiffer, and rods in series that bend out of one plane are wrong.
    """
    if bending < 1:
        raise BadInput(f"{bending} bending modes were asked for; at least 1 is needed")
    chosen, names, frequencies = _choose_modes(bench, bending)
    extra, slow = _attachments(bench, chosen, frequencies, attach)
    extra, kept = orthonormalize(bench.inertia, extra, chosen)
    shapes = np.vstack([chosen, extra])
    names += [f"attachment {i + 1}" for i in range(len(kept))]
    primary = len(shapes)
    second, labels = _derivatives(bench, shapes, np.concatenate([frequencies, slow[kept]]), release)
    second, kept = orthonormalize(bench.inertia, second, shapes)
    names += [labels[i] for i in kept]
    return Basis(np.vstack([shapes, second]), tuple(names), primary)


def _derivatives(bench: Workbench, shapes: Array, frequencies: Array, release: float) -> tuple[Array, list[str]]:
    """The principal derivatives (m, 3 n) of all pairs of shapes by the energy they release, falling."""
    pairs = strain_pairs(len(shapes))
    forces = second_forces(bench.solid, shapes, pairs)
    answers = -bench.factor.solve(np.ascontiguousarray(forces.T)).T
    energy = bench.reference_energy
    u = np.sqrt(2.0 * energy) / (2.0 * np.pi * frequencies) * np.sqrt(frequencies.min() / frequencies)
    a, b = pairs.T
    scale = np.where(a == b, 0.5, 1.0) * u[a] * u[b]
    form = -0.5 * scale[:, None] * (forces @ answers.T) * scale
    values, vectors = np.linalg.eigh(0.5 * (form + form.T))
    take = [i for i in np.argsort(-values) if values[i] > release * energy]
    return (vectors[:, take].T * scale) @ answers, [f"derivative {n + 1}" for n in range(len(take))]


def _choose_modes(bench: Workbench, bending: int) -> tuple[Array, list[str], Array]:
    """Bending modes first (rising), then the first twist unless very fast, and all twists and stretches below the last bending."""
    count = bending + 6
    while True:
        modes = bench.modes(min(count, bench.solid.size - 8))
        kinds = kinds_of(bench.solid, modes.shapes, bench.axis, bench.carried)
        flexing = [i for i, kind in enumerate(kinds) if kind == "bending"]
        if len(flexing) >= bending or count > 60:
            break
        count *= 2
    flexing = flexing[:bending]
    limit = modes.frequencies[flexing[-1]] if flexing else np.inf
    order, names = list(flexing), [f"bending {i + 1}" for i in range(len(flexing))]
    for kind in ("torsion", "axial"):
        places = [i for i, other in enumerate(kinds) if other == kind]
        first = 50.0 * modes.frequencies[0] if kind == "torsion" else 0.0
        places = [i for n, i in enumerate(places) if modes.frequencies[i] < (max(first, limit) if n == 0 else limit)]
        order += places
        names += [f"{kind} {i + 1}" for i in range(len(places))]
    return modes.shapes[order], names, modes.frequencies[order]


def _attachments(bench: Workbench, modes: Array, frequencies: Array, share: float) -> tuple[Array, Array]:
    """The static shapes (m, 3 n) that the modes miss, and the frequencies (m,) [Hz] they stand for, rising."""
    size, loads = bench.solid.size, []
    still = np.zeros(size)
    for child in bench.children:
        whole = sum((body.spatial(np.eye(3)) for body in bench.carried if body.interface is child), np.zeros((6, 6)))
        own = bench.solid.total_mass / len(bench.children)
        floor = np.diag([0.01 * own * child.area] * 3 + [0.01 * own] * 3)
        root = np.linalg.cholesky(whole + floor)
        rows = np.zeros((6, size))
        rows[:, child.unknowns] = root.T @ child.jacobian(still)
        loads.append(rows)
    load = np.vstack(loads)
    answer = bench.factor.solve(np.ascontiguousarray(load.T)).T
    whole = load @ answer.T
    seen = (load @ modes.T) / (2.0 * np.pi * frequencies)
    values, vectors = np.linalg.eigh(whole - seen @ seen.T)
    longest = float(np.linalg.eigvalsh(whole)[-1])
    take = [i for i in np.argsort(-values) if values[i] > share * longest]
    return vectors[:, take].T @ answer, 1.0 / (2.0 * np.pi * np.sqrt(values[take]))


def second_forces(solid: ElasticSolid, shapes: ArrayLike, pairs: Indices) -> Array:
    """g_ab (m, 3 n) for the ``pairs`` (m, 2) of shapes (r, 3 n)."""
    H = displacement_gradients(solid, shapes)
    lam, mu = (part[:, None, None, None] for part in solid.lame)
    w = solid.weights[:, :, None, None]

    def hooke(E: Array) -> Array:
        """Second Piola stress, times the weight, of the symmetric part of E (e, q, 3, 3)."""
        trace = np.trace(E, axis1=-2, axis2=-1)[..., None, None]
        return np.asarray(w * (lam * trace * np.eye(3) + mu * (E + E.swapaxes(-1, -2))))

    stress = {a: hooke(H[a]) for a in np.unique(pairs).tolist()}
    forces = np.empty((len(pairs), solid.nodes, 3))
    places = solid.mesh.cells.ravel()
    for row, (a, b) in enumerate(pairs.tolist()):
        P = hooke(np.matmul(H[a].swapaxes(-1, -2), H[b])) + np.matmul(H[a], stress[b]) + np.matmul(H[b], stress[a])
        local = np.einsum("eqij,eqja->eai", P, solid.gradients, optimize=True)
        for i in range(3):
            forces[row, :, i] = np.bincount(places, weights=local[:, :, i].ravel(), minlength=solid.nodes)
    return forces.reshape(len(pairs), -1)
