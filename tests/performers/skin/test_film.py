"""The surface that a skin's frames leave behind: of the pass that counts, at most 25 frames a second, from the start on."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.outer_surface import outer_surface
from bunraku.mechanics.coupled.state import SkinnedState
from bunraku.performers.skin import performer
from bunraku.performers.skin.alternate import Alternated
from bunraku.performers.skin.film import SurfaceFilm


@pytest.fixture(scope="module")
def mesh():
    return skin_of(read_character("beetle-quick"))


def state(mesh, height: float) -> SkinnedState:
    return SkinnedState(np.zeros(6), np.zeros(6), mesh.nodes + np.array([0.0, 0.0, height]), np.zeros_like(mesh.nodes))


@pytest.mark.parametrize(("frame", "rate"), [(0.005, 25.0), (0.01, 25.0), (0.03, 1.0 / 0.06), (0.05, 20.0)])
def test_frames_are_kept_of_the_chosen_pass_at_their_times(mesh, frame, rate) -> None:
    film = SurfaceFilm(mesh, frame)
    for shift in (10.0, 20.0):
        for number in range(1, 51):
            film.show(number, state(mesh, shift + number * frame))
    nodes, faces = outer_surface(mesh)
    found = film.surface(1, state(mesh, 20.0))
    assert found is not None
    assert found.rate == pytest.approx(rate)
    np.testing.assert_array_equal(found.faces, faces)
    times = np.arange(len(found.points)) / found.rate
    assert times[-1] <= 50 * frame + 1e-9 < times[-1] + 1.0 / rate
    np.testing.assert_allclose(found.points[:, :, 2], 20.0 + times[:, None] + mesh.nodes[nodes][None, :, 2], atol=1e-5)


def test_a_skin_that_flew_apart_leaves_nothing(mesh) -> None:
    film = SurfaceFilm(mesh, 0.04)
    film.show(1, state(mesh, np.inf))
    assert film.surface(0, state(mesh, 0.0)) is None


def test_the_performer_keeps_the_surface_of_the_pass_it_returns(mesh, monkeypatch: pytest.MonkeyPatch) -> None:
    def two_passes(puppet, gait, tracks, *, show, **options) -> Alternated:
        for shift in (1.0, 2.0):
            for number in range(1, 9):
                show(number, state(mesh, shift))
        return Alternated(puppet, (None,), state(mesh, 0.0), 2)  # type: ignore[arg-type]  # the first of two was better

    monkeypatch.setattr(performer, "alternate", two_passes)
    artist = performer.SkinPerformer(frame=0.01)
    character, clip = read_character("beetle-quick"), read_clip("beetle-lift-quick")
    _, found = artist.solved(character, clip)
    assert found.surface is not None
    height = found.surface.points[:, :, 2].mean(axis=1)
    np.testing.assert_allclose(height - height[0], [0.0, 1.0, 1.0], atol=1e-5)
