"""Masses as points: the four points of a body have its mass, centre and inertia; the character's totals are those of its tree."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.centroidal.kinematics import center_of_mass, contact_points, kinematics
from bunraku.mechanics.centroidal.kinematics_kernels import momentum
from bunraku.mechanics.centroidal.model import centroidal_model, point_masses
from bunraku.mechanics.tree import compile_tree

ROBOTS = ("swizzlebot", "agilebot", "walker", "skatebot", "creature3")


def inertia_of(places: np.ndarray, mass: float) -> np.ndarray:
    r = places - places.mean(axis=0)
    return mass * sum((p @ p) * np.eye(3) - np.outer(p, p) for p in r)


@pytest.mark.parametrize("seed", range(5))
def test_four_points_have_the_inertia_of_a_turned_box(seed: int) -> None:
    rng = np.random.default_rng(seed)
    half, mass = rng.uniform(0.01, 0.2, 3), rng.uniform(0.1, 3.0)
    U, _ = np.linalg.qr(rng.standard_normal((3, 3)))
    box = mass / 3.0 * np.diag([half[1] ** 2 + half[2] ** 2, half[0] ** 2 + half[2] ** 2, half[0] ** 2 + half[1] ** 2])
    center = rng.standard_normal(3)
    places, quarter = point_masses(mass, center, U @ box @ U.T)
    assert quarter * 4 == pytest.approx(mass, rel=1e-15)
    assert places.mean(axis=0) == pytest.approx(center, abs=1e-13)
    assert inertia_of(places, quarter) == pytest.approx(U @ box @ U.T, abs=1e-12 * box.max() + 1e-15)


def test_an_inertia_of_no_body_is_refused() -> None:
    with pytest.raises(BadInput, match="belongs to no body"):
        point_masses(1.0, np.zeros(3), np.diag([1.0, 1.0, 3.0]))


@pytest.mark.parametrize("name", ROBOTS)
def test_centre_of_mass_is_that_of_the_tree(name: str) -> None:
    character = read_character(name)
    model, tree = centroidal_model(character), compile_tree(character)
    rng = np.random.default_rng(3)
    q = model.home + 0.3 * rng.standard_normal(model.nq)
    whole = tree.expand(model.names, q[None])[0]
    assert model.mass == pytest.approx(tree.mass.sum(), rel=1e-13)
    assert center_of_mass(model, q) == pytest.approx(tree.configuration(whole).center_of_mass(), abs=1e-13)


@pytest.mark.parametrize("name", ROBOTS)
def test_everything_stands_on_the_ground_at_home(name: str) -> None:
    model = centroidal_model(read_character(name))
    assert contact_points(model, model.home)[:, 2] == pytest.approx(np.zeros(model.n_tips), abs=1e-6)


def test_momentum_between_samples_is_that_of_the_mean_place_and_the_difference() -> None:
    model = centroidal_model(read_character("walker"))
    rng = np.random.default_rng(1)
    h, m = 0.05, model.points[2]
    a, b = (kinematics(model, (model.home + 0.2 * rng.standard_normal(model.nq))[None]).arrays[5][0] for _ in range(2))
    L = np.empty(3)
    momentum(m, a, b, h, L)
    expected = np.einsum("p,pi->i", m, np.cross(0.5 * (a + b), (b - a) / h))
    assert pytest.approx(expected, rel=1e-12) == L


def test_a_fixed_character_is_refused() -> None:
    with pytest.raises(BadInput, match="fixed to the world"):
        centroidal_model(read_character("one-rod"))
