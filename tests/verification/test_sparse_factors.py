"""MuJoCo factorizes models above 60 coordinates in sparse form: on our own large models it must say what the dense form says."""

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.verification.flexible_model import flexible_model

mujoco = pytest.importorskip("mujoco")

STEPS = 200


@pytest.mark.parametrize("name", ["drummer", "boxer"])
def test_sparse_and_dense_factors_agree_on_chains_of_rods(name: str) -> None:
    character = read_character(name)
    model = flexible_model(character, links=12, frames=[character.bodies[-1].name]).model
    assert model.nv > 60
    ends = []
    for kind in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE):
        model.opt.jacobian = kind
        data = mujoco.MjData(model)
        data.qvel[:] = 1e-2 * np.random.default_rng(0).standard_normal(model.nv)
        mujoco.mj_step(model, data, STEPS)
        ends.append(data.qpos.copy())
    assert np.abs(ends[0]).max() > 1e-5, "it moves"
    assert np.abs(ends[0] - ends[1]).max() < 1e-10
