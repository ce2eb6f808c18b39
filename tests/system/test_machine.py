"""Processor, priority, folders, console and serial lines of the three systems."""

from __future__ import annotations

import io
import os
import platform
import socket
import sys
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest
from tests.system.conftest import OtherSystem

from bunraku.mechanics.cache import cache_folder
from bunraku.system import console, folders, ports, priority, processor, serial_line


def test_cores_that_may_be_used(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "cpu_count", lambda: 8)
    monkeypatch.setattr(os, "sched_getaffinity", lambda _: {0, 3}, raising=False)
    if sys.platform == "linux":
        assert processor.cores() == 2
    monkeypatch.delattr(os, "sched_getaffinity")
    other.macos(processor)
    assert processor.cores() == 8
    monkeypatch.setattr(os, "cpu_count", lambda: None)
    assert processor.cores() == 1


def test_the_processor_has_a_name(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    assert processor.processor_name()
    monkeypatch.setattr(platform, "machine", lambda: "arm64")
    other.macos(processor)
    assert processor.processor_name() == "arm64"
    monkeypatch.setenv("PROCESSOR_IDENTIFIER", "Intel64 Family 6 Model 154")
    other.windows(processor)
    assert processor.processor_name() == "Intel64 Family 6 Model 154"


def test_a_place_before_others_on_windows_is_given_back(other: OtherSystem) -> None:
    now = [0]

    def put(thread: int, place: int) -> int:
        now.append(place)
        return 1

    other.windows(priority)
    other.library(GetThreadPriority=lambda _: now[-1], SetThreadPriority=put)
    with priority.before_others() as first:
        assert first
        assert now[-1] > 0
    assert now[-1] == 0
    assert len(now) == 3


def test_without_a_place_before_others_the_loop_runs(other: OtherSystem) -> None:
    other.macos(priority)
    with priority.before_others() as first:
        assert not first


def test_caches_lie_where_each_system_keeps_them(other: OtherSystem, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    for name in ("BUNRAKU_CACHE", "LOCALAPPDATA", "XDG_CACHE_HOME"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setattr(Path, "home", lambda: tmp_path)
    assert cache_folder() == tmp_path / ".cache" / "bunraku"
    other.macos(folders)
    assert cache_folder() == tmp_path / "Library" / "Caches" / "bunraku"
    other.windows(folders)
    assert cache_folder() == tmp_path / "AppData" / "Local" / "bunraku"
    monkeypatch.setenv("LOCALAPPDATA", r"D:\Users\Zoë\AppData")
    assert str(folders.user_cache()) == r"D:\Users\Zoë\AppData"


@pytest.mark.parametrize("encoding", ["cp1252", "ascii", "cp437"])
def test_no_sign_ends_the_program(encoding: str, monkeypatch: pytest.MonkeyPatch) -> None:
    out = io.BytesIO()
    monkeypatch.setattr(sys, "stdout", io.TextIOWrapper(out, encoding=encoding, errors="strict"))
    console.forgive_signs()
    print("at most ≤ 5 °, 人形浄瑠璃", flush=True)
    assert rb"\u2264" in out.getvalue() or "≤".encode(encoding, "ignore") in out.getvalue()
    assert rb"\u4eba\u5f62" in out.getvalue()


def test_a_stream_that_is_none_of_the_usual_is_left_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "stdout", None)
    console.forgive_signs()


def test_a_line_of_windows_that_is_full_takes_nothing(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    serial: Any = pytest.importorskip("serial")

    def full(data: bytes) -> int:
        raise serial.SerialTimeoutException("Write timeout")

    other.windows(serial_line)
    assert serial_line.write_some(SimpleNamespace(write=full), b"abc", 0.02, 0.002) == 0
    assert serial_line.write_some(SimpleNamespace(write=len), b"abc", 0.02, 0.002) == 3


def test_a_port_in_use_is_shared_on_no_system(other: OtherSystem, monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[int] = []
    stand_in: Any = SimpleNamespace(setsockopt=lambda level, option, value: asked.append(option))
    monkeypatch.setattr(socket, "SO_EXCLUSIVEADDRUSE", -5, raising=False)
    ports.claim_port(stand_in)
    other.windows(ports)
    ports.claim_port(stand_in)
    assert asked == [socket.SO_REUSEADDR, -5]
