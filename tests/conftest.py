"""Shared fixtures: the real data beside the repository, when it is there."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

SHARED = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared"))


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
