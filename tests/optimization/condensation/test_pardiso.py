"""MKL: the same answers as the own factorisation; a clear word where it is absent."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import MissingExtra
from bunraku.optimization.condensation import mkl_library
from bunraku.optimization.condensation.condenser import condenser
from bunraku.optimization.linear import NotFactorizable


@pytest.mark.skipif(not mkl_library.mkl_available(), reason="MKL is not installed")
def test_equal_to_the_own_factorisation_while_the_border_changes_its_places(skin):
    own, other = (condenser(skin.matrix, skin.nodes, backend, free=skin.free) for backend in ("multifrontal", "mkl"))
    rng = np.random.default_rng(0)
    before = other.memory
    for share in (0.02, 0.1, 0.01, 1.0):
        B = skin.border * (rng.uniform(size=skin.border.shape) < share)
        S, T = (found.factorize_and_condense(skin.matrix.data, B) for found in (own, other))
        assert np.abs(S - T).max() < 1e-10 * np.abs(S).max()
        x, y = (found.combine(np.arange(8.0)) for found in (own, other))
        assert np.abs(x - y).max() < 1e-10 * np.abs(x).max()
    assert other.memory > before


@pytest.mark.skipif(not mkl_library.mkl_available(), reason="MKL is not installed")
def test_other_errors_keep_their_code(skin):
    found = condenser(skin.matrix, skin.nodes, "mkl", free=skin.free)
    with pytest.raises(NotFactorizable, match=r"error -2 \(not enough memory\)"):
        found._check(-2)


def test_absent_library_is_named(skin, monkeypatch):
    monkeypatch.setattr(mkl_library, "_places", lambda: iter(["no-such-library.so"]))
    mkl_library._library.cache_clear()
    try:
        assert not mkl_library.mkl_available()
        with pytest.raises(MissingExtra, match="mkl"):
            condenser(skin.matrix, backend="mkl")
        assert condenser(skin.matrix, free=skin.free).method == "multifrontal Cholesky"
    finally:
        mkl_library._library.cache_clear()
