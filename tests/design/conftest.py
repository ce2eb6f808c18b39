"""Solved variants that several tests of the design room look at, each solved once."""

from __future__ import annotations

from dataclasses import replace

import pytest

from bunraku.building.robot_design import built_in_design
from bunraku.design.sensitivity import sensitivity
from bunraku.design.study import gait_study
from bunraku.design.system import optimality_system
from bunraku.formats.registry import read_clip

CASES = {"swizzle": ("swizzlebot", "swizzle", 12), "slalom": ("agilebot", "slalom", 16), "crawl": ("walker", "crawl", 24)}


@pytest.fixture(scope="session")
def derived():
    """Sensitivity of a named case at the very optimum, made on demand."""
    known = {}

    def make(name):
        if name not in known:
            robot, clip, samples = CASES[name]
            study = gait_study(built_in_design(robot), read_clip(clip).gait, samples=samples)
            variant = study.solve(study.design.initial)
            assert variant.solution.status.good
            exact = optimality_system(variant.problem, variant.solution).polished(variant.problem, variant.solution)
            known[name] = sensitivity(study, replace(variant, solution=exact))
        return known[name]

    return make


@pytest.fixture(scope="session")
def tilted():
    """The tilted car with the heights of both wheel pairs, its rows only wished, and its best motion."""
    study = gait_study(built_in_design("tilted-car").only("F.tip z", "H.tip z"), read_clip("car-forward").gait).softened()
    return study, study.solve(study.design.initial)
