from __future__ import annotations

import numpy as np
import pytest

from _stress import energy_and_stress
from bunraku.errors import BadInput
from bunraku.geometry.meshing.section import disk
from bunraku.geometry.meshing.shapes import box, rod
from bunraku.geometry.rotations import exponential
from bunraku.geometry.tet_mesh import TetMesh, boundary_faces, quadratic
from bunraku.mechanics.elastic.material import Material
from bunraku.mechanics.elastic.solid import Collapsed, ElasticSolid
from bunraku.optimization.derivative_check import check_gradient, check_jacobian

MODELS = ("neo-hookean", "st-venant-kirchhoff")
KINDS = [(model, order) for model in MODELS for order in (1, 2)]


def material(model: str = "neo-hookean", **changes: float) -> Material:
    return Material(**({"young": 1e5, "poisson": 0.3, "density": 900.0, "model": model} | changes))  # type: ignore[arg-type]


def jolted(order: int, size: float = 0.03) -> TetMesh:
    """A box whose inner corners are moved at random; edges stay straight."""
    mesh = box((1, 1, 1), (2, 2, 2), order=1)
    nodes = mesh.nodes.copy()
    inner = np.setdiff1d(np.arange(len(nodes)), boundary_faces(mesh))
    nodes[inner] += size * np.random.default_rng(0).normal(size=(len(inner), 3))
    moved = TetMesh(nodes, mesh.cells, mesh.patches)
    if order == 1:
        return moved
    return quadratic(moved)


@pytest.mark.parametrize(("model", "order"), KINDS)
def test_patch_test_a_uniform_strain_is_in_balance(model: str, order: int) -> None:
    mesh = jolted(order)
    solid = ElasticSolid(mesh, material(model))
    F = np.eye(3) + 0.1 * np.random.default_rng(1).normal(size=(3, 3))
    f = solid.force((mesh.nodes @ (F - np.eye(3)).T).ravel()).reshape(-1, 3)
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), boundary_faces(mesh))
    assert len(inner) > 0
    assert np.abs(f[inner]).max() < 1e-12 * np.abs(f).max()
    assert solid.energy((mesh.nodes @ (F - np.eye(3)).T).ravel()) == pytest.approx(
        energy_and_stress(material(model), F[None])[0][0], rel=1e-12
    )


def imbalance(mesh: TetMesh, degree: int) -> float:
    """Largest force on an inner node in a uniform strain, relative to the largest on the surface."""
    u = (mesh.nodes @ np.diag([0.01, -0.02, 0.03])).ravel()
    inner = np.setdiff1d(np.arange(len(mesh.nodes)), boundary_faces(mesh))
    f = ElasticSolid(mesh, material(), degree=degree).force(u).reshape(-1, 3)
    return float(np.abs(f[inner]).max() / np.abs(f).max())


@pytest.mark.parametrize("rings", [1, 2])
def test_patch_test_on_curved_rods_holds_with_four_points(rings: int) -> None:
    assert imbalance(rod(0.05, 0.01, layers=3, rings=rings), 2) < 1e-12


def test_patch_test_on_cells_curved_throughout_needs_the_cubic_rule() -> None:
    """The cofactors of a curved cell are quadratic, so a uniform stress is integrated exactly from degree 3 on."""

    def bent(X: np.ndarray) -> np.ndarray:
        x, y, z = X.T
        return np.column_stack([x + 0.1 * z**2 - 0.1 * y * z, y + 0.15 * x * z, z + 0.1 * x * y])

    mesh = box((1, 1, 1), (2, 2, 2)).moved(bent)
    assert imbalance(mesh, 3) < 1e-12
    assert 1e-6 < imbalance(mesh, 2) < 1e-2


@pytest.mark.parametrize(("model", "order"), KINDS)
def test_rigid_motion_gives_no_force(model: str, order: int) -> None:
    mesh = rod(0.05, 0.01, layers=3, order=order)
    solid = ElasticSolid(mesh, material(model))
    u = (mesh.nodes @ (exponential([0.5, -2.0, 1.0]) - np.eye(3)).T + [1.0, 2.0, 3.0]).ravel()
    stretched = np.abs(solid.force((0.01 * mesh.nodes).ravel())).max()
    assert np.abs(solid.force(u)).max() < 1e-10 * stretched
    assert abs(solid.energy(u)) < 1e-15


@pytest.mark.parametrize(("model", "order"), KINDS)
def test_force_and_stiffness_are_derivatives(model: str, order: int) -> None:
    mesh = rod(0.05, 0.02, layers=1, order=order)
    solid = ElasticSolid(mesh, material(model))
    u = 5e-4 * np.random.default_rng(2).normal(size=solid.size)
    assert check_gradient(solid.energy, solid.force, u, scale=1e-2).holds
    assert check_jacobian(solid.force, solid.stiffness, u, scale=1e-2).holds
    K = solid.stiffness(u)
    assert abs(K - K.T).max() < 1e-12 * abs(K).max()
    np.testing.assert_allclose(solid.force_and_stiffness(u)[0], solid.force(u), rtol=1e-12, atol=1e-12)


def test_a_free_solid_has_six_motions_without_stiffness() -> None:
    for order in (1, 2):
        values = np.linalg.eigvalsh(ElasticSolid(jolted(order), material()).stiffness().toarray())
        assert np.abs(values[:6]).max() < 1e-10 * values[-1]
        assert values[6] > 1e-4 * values[-1]


def test_mass_is_exact() -> None:
    mesh = rod(0.05, 0.01, layers=4)
    solid = ElasticSolid(mesh, material())
    volume = disk(0.005).area * 0.05
    assert solid.total_mass == pytest.approx(900 * volume, rel=1e-12)
    v = np.tile([1.0, 2.0, 3.0], solid.nodes)
    assert v @ (solid.mass @ v) == pytest.approx(14 * solid.total_mass, rel=1e-12)
    axial = np.zeros((solid.nodes, 3))
    axial[:, 0] = mesh.nodes[:, 2]
    assert axial.ravel() @ (solid.mass @ axial.ravel()) == pytest.approx(solid.total_mass * 0.05**2 / 3, rel=1e-12)
    assert np.linalg.eigvalsh(solid.mass.toarray())[0] > 0


def test_density_may_vary() -> None:
    mesh = box((1, 1, 2), (1, 1, 4))
    halves = np.where(mesh.nodes[mesh.cells[:, :4]].mean(axis=1)[:, 2] < 1, 100.0, 300.0)
    graded = ElasticSolid(mesh, material(), density=halves)
    assert graded.total_mass == pytest.approx(400, rel=1e-12)
    moment = graded.weight([0, 0, -9.81])[2::3] @ mesh.nodes[:, 2]
    assert moment == pytest.approx(-9.81 * (100 * 0.5 + 300 * 1.5), rel=1e-12)
    for density, words in ((0.0, "is 0 kg"), (np.ones(3), r"one a cell \(24,\)"), (-halves, "-100 kg.* in cell 0; .*positive")):
        with pytest.raises(BadInput, match=words):
            _ = ElasticSolid(mesh, material(), density=density).mass


def test_strain_rate_damping_has_exact_derivatives_and_only_takes_energy() -> None:
    mesh = rod(0.05, 0.02, layers=1)
    solid = ElasticSolid(mesh, material(strain_damping=0.01))
    rng = np.random.default_rng(4)
    u, v = 5e-4 * rng.normal(size=solid.size), rng.normal(size=solid.size)
    f, by_v, by_u = solid.damping(u, v)
    np.testing.assert_allclose(f, solid.damping_force(u, v), rtol=1e-12, atol=1e-12)
    assert check_jacobian(lambda w: solid.damping_force(u, w), lambda w: by_v, v).holds
    assert check_jacobian(lambda w: solid.damping_force(w, v), lambda w: by_u, u, scale=1e-2).holds
    values = np.linalg.eigvalsh(by_v.toarray())
    assert values[0] > -1e-12 * values[-1]
    assert v @ f > 0


def test_strain_rate_damping_does_not_resist_rigid_motion() -> None:
    mesh = rod(0.05, 0.02, layers=1)
    R = exponential([0.4, 1.0, -0.7])
    u = (mesh.nodes @ (R - np.eye(3)).T).ravel()
    v = np.cross([1.0, 2.0, 3.0], mesh.nodes @ R.T).ravel() + np.tile([1.0, 0, 0], len(mesh.nodes))
    viscous = ElasticSolid(mesh, material(strain_damping=0.01)).damping_force(u, v)
    stretching = ElasticSolid(mesh, material(strain_damping=0.01)).damping_force(u, mesh.nodes.ravel())
    assert np.abs(viscous).max() < 1e-12 * np.abs(stretching).max()


def test_at_rest_strain_rate_damping_is_beta_times_the_stiffness() -> None:
    solid = ElasticSolid(rod(0.05, 0.02, layers=1), material(strain_damping=0.01))
    _, by_v, _ = solid.damping(np.zeros(solid.size), np.zeros(solid.size))
    assert abs(by_v - 0.01 * solid.stiffness()).max() < 1e-13 * abs(by_v).max()


def test_matrices_share_one_pattern_even_with_exact_zeros() -> None:
    solid = ElasticSolid(box((1, 1, 1), (1, 1, 1)), material())
    K, M = solid.stiffness(), solid.mass
    assert K.indices is not None
    np.testing.assert_array_equal(K.indices, M.indices)
    total = solid.pattern.matrix(K.data + 2.0 * M.data)
    np.testing.assert_allclose(total.toarray(), (K + 2.0 * M).toarray(), rtol=1e-14)


def test_collapse_is_named_and_costs_infinite_energy() -> None:
    mesh = box((1, 1, 1), (1, 1, 1), order=1)
    solid = ElasticSolid(mesh, material())
    u = (mesh.nodes * [0, 0, -2.0]).ravel()
    assert solid.energy(u) == np.inf
    for call in (solid.force, solid.stiffness):
        with pytest.raises(Collapsed, match="cell 0 is turned inside out"):
            call(u)
    assert np.isfinite(ElasticSolid(mesh, material("st-venant-kirchhoff")).energy(u))


def test_wrong_vectors_and_meshes_are_named() -> None:
    mesh = box((1, 1, 1), (1, 1, 1), order=1)
    solid = ElasticSolid(mesh, material())
    with pytest.raises(BadInput, match=r"\(24,\) is needed"):
        solid.force(np.zeros(3))
    with pytest.raises(BadInput, match="not finite at node 2"):
        solid.force(np.where(np.arange(24) == 7, np.nan, 0.0))
    with pytest.raises(BadInput, match="gravity"):
        solid.weight([1.0])
    with pytest.raises(BadInput, match="cell 0 is inverted"):
        ElasticSolid(TetMesh(mesh.nodes, mesh.cells[:, [1, 0, 2, 3]]), material())
