"""The other systems, simulated: a module sees their name, and what only they have is a stand-in."""

from __future__ import annotations

import ctypes
import sys
from collections import deque
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest


class NamedOtherwise:
    """``sys``, but for the name of the platform."""

    def __init__(self, platform: str) -> None:
        self.platform = platform

    def __getattr__(self, name: str) -> Any:
        return getattr(sys, name)


class OtherSystem:
    """Lets modules of ours believe that they run on another system, for the time of a test."""

    def __init__(self, patch: pytest.MonkeyPatch) -> None:
        self._patch = patch

    def windows(self, *modules: ModuleType) -> SimpleNamespace:
        """Windows; returns its ``msvcrt``: ``keys`` that wait, and the ``locked`` bytes of handles."""
        console = SimpleNamespace(keys=deque(), locked=[], LK_LOCK=1, LK_UNLCK=0)
        console.kbhit = lambda: bool(console.keys)
        console.getwch = lambda: console.keys.popleft()
        self._patch.setitem(sys.modules, "msvcrt", console)
        self._named("win32", modules)
        return console

    def macos(self, *modules: ModuleType) -> None:
        """MacOS."""
        self._named("darwin", modules)

    def library(self, **functions: Any) -> None:
        """What ``kernel32`` of Windows does; calls of other functions of it are answered with 1."""

        class Function:
            def __init__(self, name: str) -> None:
                self.act = functions.get(name, lambda *_: 1)

            def __call__(self, *arguments: Any) -> Any:
                return self.act(*arguments)

        class Library:
            def __init__(self, name: str, use_last_error: bool) -> None:
                self.functions: dict[str, Function] = {}

            def __getattr__(self, name: str) -> Function:
                return self.functions.setdefault(name, Function(name))

        self._patch.setattr(ctypes, "WinDLL", Library, raising=False)
        self._patch.setattr(ctypes, "get_last_error", functions.get("last_error", lambda: 0), raising=False)

    def _named(self, name: str, modules: tuple[ModuleType, ...]) -> None:
        for module in modules:
            self._patch.setattr(module, "sys", NamedOtherwise(name))


@pytest.fixture
def other(monkeypatch: pytest.MonkeyPatch) -> OtherSystem:
    return OtherSystem(monkeypatch)
