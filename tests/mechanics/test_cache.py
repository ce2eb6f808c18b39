"""Results on disk: equal content, equal key; broken files are as good as none; the folder stays bounded."""

from __future__ import annotations

import os
import time
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest

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
    assert [path.name for path in (tmp_path / "new").iterdir()] == ["k-0.kept"]


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
    now = time.time()
    for i in range(3):
        cache.save_result("k", str(i), {"a": np.zeros(1000)})
        os.utime(tmp_path / f"k-{i}.kept", (now - 100.0 + i, now - 100.0 + i))
    cache.load_result("k", "0")
    cache.save_result("k", "3", {"a": np.zeros(1000)})
    assert sorted(path.name for path in tmp_path.iterdir()) == ["k-0.kept", "k-2.kept", "k-3.kept"]


KINDS = ("part", "mesh", "skin", "full-order", "full-run")
ARRAYS = {"a": np.arange(50.0), "n": np.arange(6).reshape(2, 3), "t": np.array(["one", "two"])}


def _flipped(data: bytes, rng: np.random.Generator) -> bytes:
    bit = int(rng.integers(8 * len(data)))
    return data[: bit // 8] + bytes([data[bit // 8] ^ 1 << bit % 8]) + data[bit // 8 + 1 :]


DAMAGES: dict[str, Callable[[bytes, np.random.Generator], bytes]] = {
    "a bit": _flipped,
    "cut": lambda data, rng: data[: int(rng.integers(len(data)))],
    "empty": lambda data, rng: b"",
    "longer": lambda data, rng: data + b"\0",
    "zeros": lambda data, rng: bytes(len(data)),
}


@pytest.mark.parametrize("kind", KINDS)
def test_a_damaged_file_is_said_once_and_as_good_as_none(kind, monkeypatch, tmp_path, capsys) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    cache._say_damaged.cache_clear()
    rng = np.random.default_rng(7)
    cache.save_result(kind, "0", ARRAYS)
    path = tmp_path / f"{kind}-0.kept"
    whole = path.read_bytes()
    for damage in [*["a bit"] * 400, *["cut"] * 50, "empty", "longer", "zeros"]:
        path.write_bytes(DAMAGES[damage](whole, rng))
        assert cache.load_result(kind, "0") is None, damage
        assert not path.exists()
    assert len(capsys.readouterr().err.splitlines()) == 1
    cache.save_result(kind, "0", ARRAYS)
    assert path.read_bytes() == whole


def test_a_file_under_the_name_of_another_is_not_taken(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    cache.save_result("k", "0", ARRAYS)
    os.replace(tmp_path / "k-0.kept", tmp_path / "k-1.kept")
    assert cache.load_result("k", "1") is None


def test_what_is_whole_and_no_arrays_is_as_good_as_none(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    (tmp_path / "k-0.kept").write_bytes(cache.MAGIC + cache._checksum("k-0.kept", b"PK") + b"PK")
    assert cache.load_result("k", "0") is None


def test_what_nobody_will_ask_for_is_dropped_and_nothing_else(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    earlier, old = f"mesh-{'0' * 32}.npz", time.time() - 2 * cache.UNUSED

    def put(name: str, when: float) -> Path:
        path = tmp_path / name
        path.write_bytes(b"x")
        os.utime(path, (when, when))
        return path

    dropped = [put("tmpabc.part", time.time() - 2 * cache.ABANDONED), put("k-9.kept", old), put(earlier, time.time())]
    kept = [put("tmpnow.part", time.time()), put("k-8.kept", time.time()), put("mine-1.npz", old), put("film.part", old)]
    cache.save_result("k", "0", ARRAYS)
    assert not any(path.exists() for path in dropped)
    assert all(path.exists() for path in kept)


def test_what_is_larger_than_the_folder_may_be_is_not_kept(monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    monkeypatch.setattr(cache, "LIMIT", 3_000)
    cache.save_result("k", "0", {"a": np.zeros(1000)})
    assert list(tmp_path.iterdir()) == []
