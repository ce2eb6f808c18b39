"""Content hashes: equal contents, equal hashes; any difference, another hash."""

from __future__ import annotations

import sys
from itertools import combinations

import numpy as np
import pytest

from bunraku.character import Body
from bunraku.errors import BadInput
from bunraku.formats.provenance import content_hash, provenance
from bunraku.motion import Clip, JointCurves, Mark
from bunraku.optimization.solution import Status


def test_equal_contents_have_equal_hashes() -> None:
    assert content_hash({"a": 1, "b": [1, 2]}) == content_hash({"b": (1, 2), "a": 1})
    assert content_hash(np.arange(6.0).reshape(2, 3).T) == content_hash(np.ascontiguousarray(np.arange(6.0).reshape(2, 3).T))
    assert content_hash(np.arange(3, dtype=">f8")) == content_hash(np.arange(3, dtype="<f8"))
    assert content_hash(Body(name="a", mass=1.0)) == content_hash(Body(name="a", mass=1.0))
    assert content_hash(np.float64(0.5), Status.CONVERGED) == content_hash(0.5, "converged")


def test_different_contents_have_different_hashes() -> None:
    curves = JointCurves(("a",), 10.0, np.zeros((2, 1)))
    things = [
        None, True, 1, 1.0, "1", b"1", [1], [[1]], [1, 1], {"1": 1}, {"a": 1}, ["a", 1], [], {}, "", 0, 0.0, -0.0,
        np.zeros(2), np.zeros((2, 1)), np.zeros((1, 2)), np.zeros(2, np.float32), np.zeros(2, np.int64),
        Body(name="a"), Body(name="a", mass=1e-300),
        Body(name="b"), Clip("a"), Clip("a", joints=curves), Clip("a", joints=JointCurves(("b",), 10.0, np.zeros((2, 1)))),
        Mark("a", 0.0, 1.0),
        Mark("a", 0.0, np.nextafter(1.0, 2.0)), ["ab", "c"], ["a", "bc"],
    ]  # fmt: skip
    hashes = [content_hash(thing) for thing in things]
    for (i, a), (j, b) in combinations(enumerate(hashes), 2):
        assert a != b, (things[i], things[j])


def test_the_hash_of_known_contents_is_the_same_everywhere() -> None:
    # sha256 of b"text:" + length as 8 bytes + b"abc", made with another program
    import hashlib

    assert content_hash("abc") == "sha256:" + hashlib.sha256(b"text:\x03\0\0\0\0\0\0\0abc").hexdigest()


def test_provenance_says_versions_and_keeps_hashes() -> None:
    made = provenance("speech", {"character": Body(name="a"), "clip": "sha256:00"}, {"n": 1}, seed=3)
    assert made.inputs == {"character": content_hash(Body(name="a")), "clip": "sha256:00"}
    assert made.versions["numpy"] == np.__version__
    assert made.versions["python"] == ".".join(map(str, sys.version_info[:2]))
    assert set(made.versions) == {"bunraku", "python", "numpy", "scipy", "numba"}
    assert (made.performer, made.options, made.seed) == ("speech", {"n": 1}, 3)


def test_what_has_no_content_is_refused() -> None:
    with pytest.raises(BadInput, match="no content hash"):
        content_hash(object())
