"""Parts of a character that are soft get the cubature of their material, and keep it on disk; steel keeps its strains."""

from __future__ import annotations

import numpy as np

from bunraku.character import ElasticMaterial, PartShape
from bunraku.mechanics.flexible.system import flexible_system


def rubber_of(character):
    """The character with its rod of rubber, 5 cm thick."""
    rubber = ElasticMaterial(name="steel", young=2e6, poisson=0.45, density=1100.0, strain_damping=1e-3)
    part = character.flexibles[0].model_copy(update={"shape": PartShape(kind="rod", length=0.5, diameter=0.05, cell=0.05)})
    return character.model_copy(update={"materials": (rubber,), "flexibles": (part,)})


def test_a_rubber_rod_gets_points_and_keeps_them(one_rod, monkeypatch, tmp_path) -> None:
    """Made and read back: the same points, the same energy of a bent rod; the frequency at rest is that of the strains."""
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    character = rubber_of(one_rod())
    made, kept = (flexible_system(character, gravity=(0.0, 0.0, 0.0)) for _ in range(2))
    first, second = made.parts["rod"], kept.parts["rod"]
    assert not first.cached
    assert second.cached
    assert "cubature of" in first.reduction.note
    points, again = first.reduction.segment.points, second.reduction.segment.points
    for name in ("weights", "lame", "gradients"):
        np.testing.assert_array_equal(getattr(points, name), getattr(again, name))
    q = made.home.copy()
    q[made.system.dynamic[0]] = 0.01
    zero = np.zeros(len(q))
    assert made.system.energies(q, zero) == kept.system.energies(q, zero)
    L1 = first.reduction.segment.L1
    rest = -made.system.lagrangian_derivatives(0.0 * q, zero).qq[1:, 1:]
    np.testing.assert_allclose(rest, L1 @ L1.T, rtol=0, atol=2e-3 * np.abs(L1 @ L1.T).max())


def test_a_steel_rod_keeps_its_strains(one_rod) -> None:
    part = flexible_system(one_rod(cell=0.06)).parts["rod"]
    assert part.reduction.segment.points is None
    assert "cubature" not in part.reduction.note
