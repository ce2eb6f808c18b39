"""The stool whole and reduced."""

import pytest

from bunraku.mechanics.coupled.reduced.model import reduced_model
from bunraku.mechanics.coupled.skinned import skinned_model


@pytest.fixture(scope="session")
def whole(stool):
    return skinned_model(stool)


@pytest.fixture(scope="session")
def model(whole):
    return reduced_model(whole)
