"""Forces that turn with their bodies: second derivatives of places, and the stiffness of a loaded skin."""

from dataclasses import replace

import numpy as np

from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.reduced.frames import ReducedFrames
from bunraku.mechanics.coupled.reduced.loads import skin_loads, turning_of_forces
from bunraku.mechanics.coupled.share import skin_share

H = 0.005


def test_turning_is_the_curvature_of_the_work_of_dead_forces(whole):
    """Forces that keep their direction in the world, on points of two bodies: against central differences of their work."""
    rng = np.random.default_rng(3)
    tree, nodes = whole.tree, [whole.tree.nodes[tip.body] for tip in whole.character.end_effectors[:2]]
    q = whole.home + np.concatenate([np.zeros(3), rng.uniform(-0.4, 0.4, whole.nq - 3)])
    local, f = rng.normal(size=(len(nodes), 5, 3)), rng.normal(size=(len(nodes), 5, 3))
    at = tree.configuration(q)

    def work(q):
        now = tree.configuration(q)
        return sum(float((f[k] * (now.position[n] + local[k] @ now.rotation[n].T)).sum()) for k, n in enumerate(nodes))

    axes, arm = np.zeros((len(nodes), 3, whole.nq)), np.zeros((len(nodes), 3, whole.nq))
    for k, n in enumerate(nodes):
        i = n
        while i >= 0:
            c = int(tree.coordinate[i])
            if c >= 3:
                axes[k, :, c], arm[k, :, c] = at.world_axis[i], at.position[n] - at.position[i]
            i = int(tree.parent[i])
    virial = np.stack([(local[k] @ at.rotation[n].T).T @ f[k] for k, n in enumerate(nodes)])
    found = turning_of_forces(f.sum(axis=1), virial, axes, arm)
    d, expected = 1e-4, np.zeros((whole.nq, whole.nq))
    E = d * np.eye(whole.nq)
    for a in range(whole.nq):
        for b in range(whole.nq):
            both = work(q + E[a] + E[b]) + work(q - E[a] - E[b])
            expected[a, b] = (both - work(q + E[a] - E[b]) - work(q - E[a] + E[b])) / (4 * d * d)
    assert np.abs(found - expected).max() < 1e-5 * np.abs(expected).max()


def test_forces_of_a_skin_balance_themselves(whole, model):
    """Elastic forces neither push nor turn the whole skin."""
    P3 = 3 * whole.n_patches
    rng = np.random.default_rng(4)
    shapes = rng.normal(size=(whole.solid.size, P3 + 2))
    share = skin_share(whole)
    loads = skin_loads(whole, share, shapes)
    R = whole.tree.configuration(whole.home).rotation[share.nodes]
    world = np.einsum("kij,kjc->kic", R, loads.sum)
    assert np.abs(world.sum(axis=0)).max() < 1e-9 * np.abs(world).max()


def test_a_loaded_skin_answers_as_the_whole_one(whole, model):
    """Standing under its weight, at rest: steps by torques and forces, which are far off if loads do not turn."""
    full, rest = CoupledFrames(whole, H), model.rest()
    P = model.n_patches
    F = np.zeros((P, 3))
    F[:, 2], F[:, 0] = 3.0 * model.total_mass * 9.81 / P, 1.5
    s = rest.s.copy()
    s[: 3 * P] = np.linalg.solve(model.reduction.stiff[: 3 * P, : 3 * P], F.ravel())
    state = replace(rest, s=s, x=model.points(rest.q, s))
    one, few = full.linearize(model.expanded(state)), ReducedFrames(model, H).linearize(state)
    blind = ReducedFrames(model, H)
    blind._turning = lambda state, now: (np.zeros((model.nq, model.nq)), np.zeros((model.nq, len(state.s))))
    none = blind.linearize(state)
    far = np.abs(none.W - one.W).max()
    assert np.abs(few.W - one.W).max() < 0.4 * far
    assert np.abs(few.R - one.R).max() < 0.4 * np.abs(none.R - one.R).max()
    assert far > 0.005 * np.abs(one.W).max()
