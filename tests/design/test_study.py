"""Variants: edits within what can be built, home poses that stand, motions that are only wished."""

import numpy as np
import pytest

from bunraku.building.robot_design import built_in_design
from bunraku.design.study import gait_study, levelled
from bunraku.errors import BadInput
from bunraku.formats.registry import read_clip
from bunraku.mechanics.centroidal.kinematics import contact_points
from bunraku.mechanics.centroidal.model import centroidal_model


def test_what_begins_at_rest_stands_on_the_ground():
    design = built_in_design("agilebot")
    character = design.character(design.edited(**{"F.tip z": -0.045, "H.tip radius": 0.033}))
    uneven = centroidal_model(character)
    assert np.abs(contact_points(uneven, uneven.home)[:, 2]).max() > 5e-3
    level = centroidal_model(levelled(character))
    assert np.abs(contact_points(level, level.home)[:, 2]).max() < 1e-12
    assert np.array_equal(level.home[6:], uneven.home[6:])


def test_edits_are_checked():
    study = gait_study(built_in_design("swizzlebot"), read_clip("swizzle").gait)
    assert study.edited(study.design.initial, {"F.tip_z": -0.03})[study.index("F.tip z")] == -0.03
    with pytest.raises(BadInput, match=r"no parameter 'nose'.*F\.hip x.*H\.tip radius"):
        study.edited(study.design.initial, {"nose": 0.1})
    for value in (0.3, float("nan")):
        with pytest.raises(BadInput, match=r"cannot be built; -0\.02 to 0\.02 can"):
            study.edited(study.design.initial, {"F.tip y": value})


def test_a_car_that_cannot_drive_says_what_is_in_the_way(tilted):
    study, variant = tilted
    from dataclasses import replace

    hard = replace(study, soft=False).solve(study.design.initial)
    assert not hard.solution.status.good
    assert hard.worst[0] == "slip [m]"
    assert variant.solution.status.good  # and what comes nearest is found
    assert np.degrees(variant.plan.q[:, 4]).max() == pytest.approx(np.degrees(np.arctan(8.787e-3 / 0.2)), abs=0.02)
