"""Who is first is kept, whole; the others see it and step back."""

from __future__ import annotations

import os
import threading
from pathlib import Path
from typing import Any

import pytest

from bunraku.batch.store import Store
from bunraku.errors import BadInput

KEY = "ab" * 32


def result(value: float, status: str = "done", reason: str = "") -> dict[str, Any]:
    return {
        "status": status,
        "reason": reason,
        "figures": {"value": value},
        "performance": str(value).encode(),
        "seconds": value,
        "worker": "tcp://127.0.0.1:1",
    }


def test_of_many_who_race_one_is_kept_whole(tmp_path: Path) -> None:
    for race in range(20):
        key = f"{race:064x}"
        gate, won = threading.Barrier(6), []

        def compete(value: int, key: str = key, gate: threading.Barrier = gate, won: list[int] = won) -> None:
            store = Store(tmp_path)
            gate.wait()
            if store.keep(key, {}, result(float(value)), 1):
                won.append(value)

        threads = [threading.Thread(target=compete, args=(value,)) for value in range(6)]
        for thread in threads:
            thread.start()
        for thread in threads:
            thread.join()
        assert len(won) == 1
        store = Store(tmp_path)
        found = store.done(key)
        assert found is not None
        assert found["figures"] == {"value": won[0]}
        assert (tmp_path / "runs" / key / "result.performance.npz").read_bytes() == str(float(won[0])).encode()
        assert store.timing(key)["seconds"] == won[0]
    assert not list((tmp_path / "runs").glob(".*"))


def test_a_failure_may_be_tried_again_and_is_forgotten_when_done(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(KEY, {"a": 1}, result(1.0, "failed", "the worker died"), 3)
    assert store.done(KEY) is None
    assert store.failure(KEY) == {
        "key": KEY, "settings": {"a": 1}, "status": "failed", "reason": "the worker died", "figures": {"value": 1.0}, "attempts": 3,
    }  # fmt: skip
    assert store.keep(KEY, {"a": 1}, result(2.0), 4)
    assert store.failure(KEY) is None
    assert store.done(KEY) is not None


def test_what_a_killed_process_left_is_no_result_and_is_swept(tmp_path: Path) -> None:
    store = Store(tmp_path)
    left = tmp_path / "runs" / f".{KEY[:32]}.123456.part"
    left.mkdir()
    (left / "figures.json").write_text("{}")
    assert store.done(KEY) is None
    store.sweep()
    assert left.is_dir(), "somebody may be writing it just now"
    os.utime(left, (0, 0))
    store.sweep()
    assert not left.exists()


def test_a_damaged_result_says_what_to_do(tmp_path: Path) -> None:
    store = Store(tmp_path)
    store.keep(KEY, {}, result(1.0), 1)
    (tmp_path / "runs" / KEY / "figures.json").write_text("{")
    with pytest.raises(BadInput, match="remove its folder"):
        store.done(KEY)
    with pytest.raises(BadInput, match="this is a file"):
        Store(tmp_path / "runs" / KEY / "figures.json")
