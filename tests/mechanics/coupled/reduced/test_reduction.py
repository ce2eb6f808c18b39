"""A reduction is made once a skin."""

from dataclasses import fields, replace

import numpy as np

from bunraku.mechanics.coupled.reduced import reduction


def test_it_comes_back_from_the_disk(whole, model, tmp_path, monkeypatch):
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    made = model.reduction
    key = reduction._key(whole, 120)
    reduction.save_result(reduction.KIND, key, {field.name: getattr(made, field.name) for field in fields(made)})

    def forbidden(*_):
        raise AssertionError("made again")

    monkeypatch.setattr(reduction, "_reduced", forbidden)
    found = reduction.reduce_skin(whole)
    for field in fields(made):
        assert np.array_equal(getattr(found, field.name), getattr(made, field.name)), field.name


def test_another_skin_has_another_key(whole):
    moved = whole.mesh.nodes.copy()
    moved[0, 0] += 1e-6
    other = replace(whole, mesh=replace(whole.mesh, nodes=moved))
    assert reduction._key(other, 120) != reduction._key(whole, 120)
    assert reduction._key(whole, 119) != reduction._key(whole, 120)


def test_masses_are_those_of_the_skin(whole, model):
    made = model.reduction
    assert np.isclose(made.share_mass.sum(), model.node_mass.sum(), rtol=1e-12)
    assert np.isclose(made.share_mass.sum(), whole.node_mass.sum(), rtol=1e-12)
    assert np.linalg.eigvalsh(made.mass[model.nq - 6 :, model.nq - 6 :]).min() > 0.0
    assert np.linalg.eigvalsh(made.stiff).min() > 0.0
