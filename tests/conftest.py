"""Shared fixtures: the real data beside the repository, when it is there; a cache of results of its own for every run."""

from __future__ import annotations

import importlib
import os
import sys
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest
from hypothesis import settings

settings.register_profile("same", derandomize=True, deadline=None)
settings.register_profile("new", deadline=None)
settings.load_profile(os.environ.get("BUNRAKU_EXAMPLES", "same"))
"""What passed passes again: `make test` draws the same examples every time, `make check-all` new ones."""

for _name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS", "MKL_NUM_THREADS"):
    os.environ.setdefault(_name, "1")  # before NumPy is loaded: two processes of tests on two cores have no use for four threads

SHARED = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared"))


@pytest.fixture(scope="session", autouse=True)
def own_cache(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """Reductions and replays are kept for one run of the tests, by all its processes, never in the user's folder."""
    if "BUNRAKU_CACHE" in os.environ:
        yield
        return
    folder = tmp_path_factory.getbasetemp()
    folder = folder.parent if "PYTEST_XDIST_WORKER" in os.environ else folder
    os.environ["BUNRAKU_CACHE"] = str(folder / "bunraku-cache")
    yield
    del os.environ["BUNRAKU_CACHE"]


@pytest.fixture(scope="session")
def data() -> Path:
    """Folder of real recordings; the test is skipped when it is not there."""
    if not (SHARED / "data").is_dir():
        pytest.skip("real data not beside the repository")
    return SHARED / "data"


@pytest.fixture(scope="session")
def golden() -> Path:
    """Folder of golden results; the test is skipped when it is not there."""
    if not (SHARED / "golden").is_dir():
        pytest.skip("golden data not beside the repository")
    return SHARED / "golden"


@pytest.fixture(scope="session")
def casadi_locomotion() -> ModuleType:
    """The oracle of motion planning in CasADi (tests/oracles); the test is skipped where CasADi is not installed."""
    pytest.importorskip("casadi")
    folder = str(Path(__file__).resolve().parent / "oracles")
    if folder not in sys.path:
        sys.path.insert(0, folder)
    return importlib.import_module("casadi_locomotion")
