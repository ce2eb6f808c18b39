"""The folds of the creatures' skins: fine enough for the joint to be as stiff as on a finer mesh."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from make_creatures import CREATURES

from _tubes import mesh_error
from bunraku.building.creatures.skins import FOLD, RUBBER, SOFT, SkinPlan
from bunraku.geometry.shells.fold_region import FoldRegion, fold_profile
from bunraku.geometry.tet_mesh import quadratic
from bunraku.mechanics.coupled.tubes.mesh import mitres, swept_wall
from bunraku.mechanics.elastic.material import Material

RADIUS, SPARE = 0.042, 0.012


def _error(plan: SkinPlan) -> float:
    """How much too stiff the fold of a plan is on a round limb, clamped a little outside of it; a share."""
    shape = (plan.fold_length, plan.teeth, plan.depth, plan.wall, plan.around, plan.profile)
    s, cut = fold_profile(FoldRegion((0.0, 0.0, 0.0), (0.0, 0.0, 1.0), *shape, flank_rows=plan.flank_rows, bare=plan.bare))
    s = np.concatenate([[s[0] - SPARE], s, [s[-1] + SPARE]])
    cut = np.concatenate([[0.0], cut, [0.0]])
    outer = np.column_stack([RADIUS - cut, s])
    wall = plan.wall * mitres(outer)
    mesh = quadratic(swept_wall(outer - 0.5 * wall, wall, plan.around))
    found = mesh_error(mesh, Material(young=FOLD.young, poisson=FOLD.poisson, density=FOLD.density), (0.01,))
    return float(found.relative[0])


def test_a_joint_is_as_stiff_as_on_a_mesh_refined_once():
    assert 0.0 < _error(CREATURES["beetle"].fine) < 0.15


def test_one_row_a_flank_is_not_enough():
    plan = CREATURES["beetle"].fine
    assert _error(replace(plan, flank_rows=1, bare=False)) > 0.15


def test_folds_are_the_softest_part():
    assert FOLD.young < SOFT.young < RUBBER.young
    assert pytest.approx(0.15 * RUBBER.young) == SOFT.young
