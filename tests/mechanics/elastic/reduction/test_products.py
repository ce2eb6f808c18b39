"""Products of coordinates in the strain: what each is responsible for, and leaving out those that hardly matter."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.mechanics.elastic.reduction.loaded import elastic_terms, load_reduced
from bunraku.mechanics.elastic.reduction.products import needed_products, product_shares, with_products


@pytest.fixture(scope="module")
def bent(short_rod):
    """Rest of the reduced rod under a slanted force at its tip: the load, and modal coordinates."""
    load = short_rod.end.load(np.zeros(short_rod.solid.size), force=[2.0, -1.5, 1.0], moment=[0.0, 0.0, 0.02])
    found = load_reduced(short_rod.solid, short_rod.reduction.segment, short_rod.basis.shapes, load, short_rod.bench.carried)
    assert found.share == 1.0
    return load, found.u


def test_a_share_is_what_leaving_the_product_out_moves(short_rod, bent) -> None:
    """Each of ten products scaled down by 1e-4: Newton's answer at the old rest, over 1e-4, is the share."""
    segment, (load, u) = short_rod.reduction.segment, bent
    shares = product_shares(segment, u)
    p = short_rod.basis.shapes @ load
    for m in np.argsort(-shares)[:10]:
        Qp = np.array(segment.Qp)
        Qp[m] *= 1.0 - 1e-4
        changed = type(segment)(segment.mass, segment.N, segment.E, segment.interfaces, segment.L1, segment.pairs, Qp, segment.beta)
        f, K = elastic_terms(changed, u)
        moved = np.linalg.solve(K, p - f)
        assert np.linalg.norm(moved) / np.linalg.norm(u) / 1e-4 == pytest.approx(shares[m], rel=5e-2)


def test_keeping_all_changes_nothing(short_rod, bent) -> None:
    segment = short_rod.reduction.segment
    same = with_products(segment, np.ones(len(segment.pairs), dtype=bool))
    s, expected = same.strain(bent[1]), segment.strain(bent[1])
    assert s @ s == pytest.approx(expected @ expected, rel=1e-9)


def test_few_products_are_needed(short_rod, bent) -> None:
    """Most are left out, none of two primary shapes, and the rest under the load moves by no more than twice the budget."""
    segment, (load, u) = short_rod.reduction.segment, bent
    keep = needed_products(segment, short_rod.basis.primary, [u], 3e-3)
    assert keep[np.all(segment.pairs < short_rod.basis.primary, axis=1)].all()
    few = with_products(segment, keep)
    assert few.k == segment.r + keep.sum() < 0.5 * segment.k
    found = load_reduced(short_rod.solid, few, short_rod.basis.shapes, load, short_rod.bench.carried)
    assert found.share == 1.0
    assert np.linalg.norm(found.u - u) < 6e-3 * np.linalg.norm(u)
