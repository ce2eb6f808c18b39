"""What tests of benchmarks' parts share."""

from __future__ import annotations

import importlib
from pathlib import Path
from types import ModuleType

import pytest


@pytest.fixture(scope="module")
def benchmark_part():
    """Imports a module of the benchmarks by its name."""

    def load(name: str) -> ModuleType:
        with pytest.MonkeyPatch.context() as patch:
            patch.syspath_prepend(str(Path(__file__).parents[3] / "benchmarks"))
            return importlib.import_module(name)

    return load
