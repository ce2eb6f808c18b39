"""Results on disk: equal content, equal key; broken files are as good as none; the folder stays bounded."""

from __future__ import annotations

import os

import numpy as np

from bunraku.mechanics import cache


def test_keys_follow_content() -> None:
    a = np.arange(6.0).reshape(2, 3)
    same = [cache.content_key(a, "x", {"p": 1, "q": [2.0]}), cache.content_key(a.copy(), "x", {"q": [2.0], "p": 1})]
    assert same[0] == same[1]
    assert cache.content_key(np.array([0.0])) == cache.content_key(np.array([-0.0]))
    others = [
        cache.content_key(a.T, "x"),
        cache.content_key(a.reshape(3, 2), "x"),
        cache.content_key(np.nextafter(a, 9.0), "x"),
        cache.content_key(a, "y"),
        cache.content_key(a, ["x"]),
        cache.content_key("ab", "c"),
        cache.content_key("a", "bc"),
        cache.content_key(1),
        cache.content_key(1.0),
        cache.content_key("1"),
    ]
    assert len(set(others)) == len(others)


def test_arrays_come_back(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path / "new"))
    arrays = {"a": np.arange(4.0), "t": np.array(["one", "two"])}
    assert cache.load_result("k", "0") is None
    cache.save_result("k", "0", arrays)
    back = cache.load_result("k", "0")
    assert back is not None
    assert all(np.array_equal(back[name], arrays[name]) for name in arrays)
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["k-0.npz"]


def test_a_value_is_found_by_its_digest_in_another_process_and_not_when_altered(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))

    def known() -> cache.KnownValues[tuple[float, ...]]:
        return cache.KnownValues("k", cache.content_key, lambda x: {"x": np.array(x)}, lambda kept: tuple(kept["x"].tolist()))

    first = known()
    digest = first.remember((1.0, 2.0))
    assert first.find(digest) == known().find(digest) == (1.0, 2.0)
    assert known().find("") is None
    cache.save_result("k", digest, {"x": np.array([1.0, 3.0])})
    assert known().find(digest) is None
    cache.save_result("k", digest, {"y": np.zeros(1)})
    assert known().find(digest) is None
    assert first.find(digest) == (1.0, 2.0)


def test_nothing_is_kept_when_off_or_not_writable(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", "off")
    assert cache.cache_folder() is None
    cache.save_result("k", "0", {"a": np.zeros(1)})
    assert cache.load_result("k", "0") is None
    blocked = tmp_path / "file"
    blocked.write_text("")
    monkeypatch.setenv("BUNRAKU_CACHE", str(blocked))
    cache.save_result("k", "0", {"a": np.zeros(1)})
    assert cache.load_result("k", "0") is None


def test_the_least_used_is_dropped(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "LIMIT", 30_000)
    for i in range(3):
        cache.save_result("k", str(i), {"a": np.zeros(1000)})
        os.utime(tmp_path / f"k-{i}.npz", (1000.0 + i, 1000.0 + i))
    cache.load_result("k", "0")
    cache.save_result("k", "3", {"a": np.zeros(1000)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k-0.npz", "k-2.npz", "k-3.npz"]
