"""How many shapes a part needs: bases are tried from small to large until the reduced part agrees with the whole solid.

The judges are nonlinear states of the whole solid under a few dead loads that bend it by up to a fifth of its length and turn its
children by up to 0.3 rad (accelerations of 50 m/s^2 where that is less): across its two softest directions, and with a couple at
the tip (50 m/s^2 on the carried mass at its radius of gyration) or opposite pushes at several children. Compared are the
displacement of the children, relative to the largest in the part, and the frequencies of small vibrations about the loaded state,
up to BAND times the lowest; of those above four times the lowest, f_1, the error counts 4 f_1 / f.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

import numpy as np
from scipy.optimize import linear_sum_assignment

from bunraku.arrays import Array
from bunraku.mechanics.elastic.modes import orthonormalize
from bunraku.mechanics.elastic.reduction.basis import ACCELERATION, BEND, Basis, Workbench, make_basis
from bunraku.mechanics.elastic.reduction.cubature import SOFT, with_cubature
from bunraku.mechanics.elastic.reduction.loaded import LoadedState, load_full, load_reduced
from bunraku.mechanics.elastic.reduction.products import needed_products, with_products
from bunraku.mechanics.elastic.reduction.reduce import Reduction, reduce_to
from bunraku.mechanics.elastic.reduction.strain import displacement_gradients
from bunraku.mechanics.elastic.solid import ElasticSolid

TURN = 0.3
"""How far [rad] the judges turn a child at most: as far as the end of a rod turns that bends by BEND."""
BAND = 15.0
"""Frequencies up to so many times the lowest are compared."""

BUDGETS = (3e-3, 1e-3)
"""The share of the motion that products left out of the strain may be responsible for, summed; the second where the first fails."""


@dataclass(frozen=True, kw_only=True)
class Setting:
    """What :func:`make_basis` is asked for."""

    bending: int
    attach: float = 1e-3
    release: float = 0.01


SETTINGS = (
    Setting(bending=4),
    Setting(bending=4, release=1e-3),
    Setting(bending=6, attach=3e-4, release=1e-3),
)
"""Tried in this order; the last is tried once more with the loaded states themselves added to it."""


@dataclass(frozen=True)
class BasisTrial:
    """One basis tried: how many ``shapes``, and its largest relative errors in ``position`` and ``frequency``."""

    shapes: int
    position: float
    frequency: float

    @property
    def worst(self) -> float:
        """The larger of the two errors; infinite where the reduced part found no rest."""
        return max(self.position, self.frequency)


@dataclass(frozen=True, eq=False)
class ReductionChoice:
    """The ``reduction`` chosen, all ``trials`` in order, and the peak ``strain`` of the judges."""

    reduction: Reduction
    trials: tuple[BasisTrial, ...]
    strain: float


def choose_reduction(bench: Workbench, *, tolerance: float = 5e-3, settings: Sequence[Setting] = SETTINGS) -> ReductionChoice:
    """The smallest basis in the list that meets the ``tolerance``, or the best one, with the errors that were measured.

    Of the products in its strain those are left out that hardly matter (:mod:`products`), unless it then misses the tolerance: the
    last trial. A Neo-Hookean part strained beyond SOFT gets cubature, and keeps all products. Takes some seconds for the states
    of the whole solid.
    """
    solid = bench.solid
    loads = reference_loads(bench)
    states = [load_full(bench, load, count=6) for load in loads]
    loads = [state.share * load for state, load in zip(states, loads, strict=True)]
    displaced = np.array([state.u for state in states])
    strain = max(peak_strain(solid, u) for u in displaced)
    soft = strain > SOFT and solid.material.model == "neo-hookean"
    trials: list[BasisTrial] = []
    tried: list[Reduction] = []
    for setting in (*settings, None):
        if setting is not None:
            basis = make_basis(bench, **vars(setting))
        else:
            more, _ = orthonormalize(bench.inertia, displaced, basis.shapes)
            labels = (*basis.labels, *(f"state {i + 1}" for i in range(len(more))))
            basis = Basis(np.vstack([basis.shapes, more]), labels, basis.primary)
        reduction = reduce_to(bench, basis)
        tried.append(with_cubature(bench, reduction, loads) if soft else reduction)
        trials.append(_compare(bench, tried[-1], loads, states))
        if trials[-1].worst <= tolerance:
            break
    at = int(np.argmin([trial.worst for trial in trials]))
    best, errors = tried[at], trials[at]
    for budget in () if soft else BUDGETS:
        lean = _lean(bench, tried[at], loads, budget)
        trials.append(_compare(bench, lean, loads, states))
        if trials[-1].worst <= max(tolerance, 1.1 * errors.worst):
            best, errors = lean, trials[-1]
            break
    far = float(np.linalg.norm(displaced.reshape(len(states), -1, 3), axis=2).max()) / bench.length
    note = (
        f"{best.note}; against the whole solid bent by {far:.2f} of its length: position {errors.position:.2%}, "
        f"frequencies {errors.frequency:.2%}, {'within' if errors.worst <= tolerance else 'NOT within'} {tolerance:.2%} "
        f"(tried {', '.join(str(trial.shapes) for trial in trials)} shapes)"
    )
    note += "" if best.segment.points is None else f"; strain up to {strain:.1%}"
    return ReductionChoice(replace(best, errors=(errors.position, errors.frequency), note=note), tuple(trials), strain)


def soften(bench: Workbench, reduction: Reduction) -> Reduction:
    """The reduction of a Neo-Hookean part with cubature where the reference loads strain it beyond SOFT; the note says so."""
    solid = bench.solid
    if solid.material.model != "neo-hookean" or reduction.segment.points is not None:
        return reduction
    loads = reference_loads(bench)
    states = [load_reduced(solid, reduction.segment, reduction.shapes, load, (), count=1).u for load in loads]
    strain = max(peak_strain(solid, u @ reduction.shapes) for u in states)
    if strain <= SOFT:
        return reduction
    return with_cubature(bench, replace(reduction, note=f"{reduction.note}; strain up to {strain:.1%}"), loads)


def reference_loads(bench: Workbench) -> list[Array]:
    """Three dead loads (3 n,) [N] that, linearly, displace no node beyond BEND of the length and turn no child beyond TURN."""
    answers = bench.factor.solve(np.ascontiguousarray(bench.gravity_loads.T)).T
    soft = np.linalg.eigh(bench.gravity_loads @ answers.T)[1].T[::-1]
    first, second = soft[0] @ bench.gravity_loads, soft[1] @ bench.gravity_loads
    apart = np.zeros(bench.solid.size)
    still = np.zeros(bench.solid.size)
    for i, child in enumerate(bench.children):
        bodies = [body for body in bench.carried if body.interface is child]
        weight = sum((body.mass for body in bodies), 0.1 * bench.solid.total_mass)
        if len(bench.children) > 1:
            apart += child.load(still, force=(-1.0) ** i * ACCELERATION * weight * soft[0])
            continue
        lever = np.sqrt(
            sum((0.5 * np.trace(body.spatial(np.eye(3))[:3, :3]) for body in bodies), 1e-3 * weight * bench.length**2) / weight
        )
        apart += 0.5 * first + child.load(
            still, moment=ACCELERATION * weight * lever * (np.cross(bench.axis, soft[0]) + bench.axis)
        )
    loads = [first, 0.6 * (first + second), apart]
    for load in loads:
        bent = bench.factor.solve(load)
        far = float(np.linalg.norm(bent.reshape(-1, 3), axis=1).max())
        turned = max(float(np.linalg.norm(child.jacobian(still)[:3] @ bent[child.unknowns])) for child in bench.children)
        load *= min(1.0, BEND * bench.length / far, TURN / turned)
    return loads


def _lean(bench: Workbench, reduction: Reduction, loads: list[Array], budget: float) -> Reduction:
    """The same without the products that hardly matter under the loads and mixtures of them."""
    mixtures = np.vstack([np.eye(len(loads)), np.random.default_rng(0).uniform(-1.0, 1.0, (2 * len(loads), len(loads)))])
    at_rest = [
        load_reduced(bench.solid, reduction.segment, reduction.shapes, mixture @ np.array(loads), bench.carried)
        for mixture in mixtures
    ]
    states = [state.u for state in at_rest if state.share == 1.0]
    if not states:
        return reduction
    keep = needed_products(reduction.segment, reduction.primary, states, budget)
    segment = with_products(reduction.segment, keep)
    note = f"{reduction.note.rpartition(':')[0]}: {len(segment.pairs)} of {len(keep)}"
    return replace(reduction, segment=segment, note=note)


def peak_strain(solid: ElasticSolid, u: Array) -> float:
    """The norm of Green's strain that is exceeded at a thousandth of the quadrature points only."""
    H = displacement_gradients(solid, u[None])[0]
    E = 0.5 * (H + H.swapaxes(-1, -2) + np.matmul(H.swapaxes(-1, -2), H))
    return float(np.quantile(np.linalg.norm(E, axis=(-2, -1)), 0.999))


def _compare(bench: Workbench, reduction: Reduction, loads: list[Array], states: list[LoadedState]) -> BasisTrial:
    position = frequency = 0.0
    for load, state in zip(loads, states, strict=True):
        reduced = load_reduced(bench.solid, reduction.segment, reduction.shapes, load, bench.carried, count=12)
        if reduced.share < 1.0:
            return BasisTrial(len(reduction.shapes), np.inf, np.inf)
        u = reduced.u @ reduction.shapes
        size = float(np.linalg.norm(state.u.reshape(-1, 3), axis=1).max())
        for child in bench.children:
            position = max(position, float(np.linalg.norm(child.position(u) - child.position(state.u))) / size)
        in_band = state.frequencies[state.frequencies <= BAND * state.frequencies[0]]
        off = np.abs(reduced.frequencies[None, :] / in_band[:, None] - 1.0) * np.minimum(1.0, 4.0 * in_band[0] / in_band)[:, None]
        if off.shape[1] < off.shape[0]:
            frequency = np.inf
        elif in_band.size:
            frequency = max(frequency, float(off[linear_sum_assignment(off)].max()))
    return BasisTrial(len(reduction.shapes), position, frequency)
