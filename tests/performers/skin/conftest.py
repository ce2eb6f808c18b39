"""The small skinned quadruped of the tests of coupled mechanics, for the tests of its performer."""

import importlib.util
from pathlib import Path

import pytest

_PLACE = Path(__file__).parents[2] / "mechanics" / "coupled" / "conftest.py"
_SPEC = importlib.util.spec_from_file_location("stool_conftest", _PLACE)
_MODULE = importlib.util.module_from_spec(_SPEC)
_SPEC.loader.exec_module(_MODULE)

stool = _MODULE.stool


@pytest.fixture(scope="session")
def puppet(stool):
    from bunraku.mechanics.coupled.skinned import skinned_model
    from bunraku.performers.skin.alternate import SkinnedPuppet

    return SkinnedPuppet(skinned_model(stool))
