from __future__ import annotations

import numpy as np
import pytest

from _stress import energy_and_stress, tangent
from bunraku.errors import BadInput
from bunraku.geometry.rotations import exponential
from bunraku.mechanics.elastic.material import Material
from bunraku.optimization.derivative_check import check_gradient, check_jacobian

MODELS = ("neo-hookean", "st-venant-kirchhoff")


def rubber(model: str) -> Material:
    return Material(young=2.0, poisson=0.4, density=1000.0, model=model)  # type: ignore[arg-type]


@pytest.mark.parametrize("model", MODELS)
def test_stress_is_the_derivative_of_energy_and_tangent_of_stress(model: str) -> None:
    material = rubber(model)
    at = (np.eye(3) + 0.2 * np.random.default_rng(0).normal(size=(3, 3))).ravel()

    def energy(F: np.ndarray) -> float:
        return float(energy_and_stress(material, F.reshape(1, 3, 3))[0][0])

    def stress(F: np.ndarray) -> np.ndarray:
        return energy_and_stress(material, F.reshape(1, 3, 3))[1].ravel()

    def slope(F: np.ndarray) -> np.ndarray:
        return tangent(material, F.reshape(1, 3, 3)).reshape(9, 9)

    assert check_gradient(energy, stress, at).holds
    assert check_jacobian(stress, slope, at).holds
    np.testing.assert_allclose(slope(at), slope(at).T, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_a_rotation_costs_nothing_and_turns_the_stress(model: str) -> None:
    material = rubber(model)
    rng = np.random.default_rng(1)
    R, F = exponential(rng.normal(size=3)), np.eye(3) + 0.2 * rng.normal(size=(3, 3))
    assert np.abs(energy_and_stress(material, R[None])[1]).max() < 1e-15 * 10
    assert energy_and_stress(material, (R @ F)[None])[0][0] == pytest.approx(energy_and_stress(material, F[None])[0][0], rel=1e-13)
    turned, still = (energy_and_stress(material, G[None])[1][0] for G in (R @ F, F))
    np.testing.assert_allclose(turned, R @ still, atol=1e-14)


@pytest.mark.parametrize("model", MODELS)
def test_both_are_hooke_s_law_at_small_strain(model: str) -> None:
    material = rubber(model)
    lam, mu = material.lame
    H = np.random.default_rng(2).normal(size=(3, 3))
    e = 0.5 * (H + H.T)
    hooke = lam * np.trace(e) * np.eye(3) + 2 * mu * e
    exact = np.einsum("ijkl,kl->ij", tangent(material, np.eye(3)[None])[0], H)
    np.testing.assert_allclose(exact, hooke, atol=1e-13)


def test_the_two_energies_part_at_third_order() -> None:
    H = np.random.default_rng(3).normal(size=(3, 3))
    sizes = np.array([1e-2, 1e-3])
    F = np.eye(3) + sizes[:, None, None] * H
    gap = np.abs(energy_and_stress(rubber(MODELS[0]), F)[0] - energy_and_stress(rubber(MODELS[1]), F)[0])
    assert np.log10(gap[0] / gap[1]) == pytest.approx(3.0, abs=0.1)
    stresses = np.abs(energy_and_stress(rubber(MODELS[0]), F)[1] - energy_and_stress(rubber(MODELS[1]), F)[1]).max(axis=(1, 2))
    assert np.log10(stresses[0] / stresses[1]) == pytest.approx(2.0, abs=0.1)


def test_uniaxial_stretch_of_rubber_follows_the_closed_form() -> None:
    material = Material(young=1.0, poisson=0.3, density=1.0)
    lam, mu = material.lame
    F = np.diag([1.5, 0.9, 0.9])
    J = np.linalg.det(F)
    expected = mu * (F - np.linalg.inv(F)) + lam * np.log(J) * np.linalg.inv(F)
    np.testing.assert_allclose(energy_and_stress(material, F[None])[1][0], expected, rtol=1e-13)
    energy = mu / 2 * ((F**2).sum() - 3 - 2 * np.log(J)) + lam / 2 * np.log(J) ** 2
    assert energy_and_stress(material, F[None])[0][0] == pytest.approx(energy, rel=1e-13)
    assert energy_and_stress(material, np.diag([-1.0, 1, 1])[None])[0][0] == np.inf


@pytest.mark.parametrize(
    ("changes", "words"),
    [
        ({"poisson": 0.5}, "Poisson's ratio is 0.5; .*below 0.5"),
        ({"poisson": 0.7}, "for rubber take 0.49"),
        ({"poisson": -1.0}, "above -1"),
        ({"density": 0.0}, "density is 0 kg/m.3; it must be positive"),
        ({"density": -5.0}, "density is -5"),
        ({"young": 0.0}, "Young's modulus is 0"),
        ({"young": np.nan}, "young is nan"),
        ({"strain_damping": -1.0}, "must not be negative"),
        ({"model": "jelly"}, "neo-hookean and st-venant"),
    ],
)
def test_impossible_materials_are_refused(changes: dict[str, float], words: str) -> None:
    with pytest.raises(BadInput, match=words) as caught:
        Material(**({"young": 1.0, "poisson": 0.3, "density": 1.0} | changes))  # type: ignore[arg-type]
    assert "\n" not in str(caught.value)
