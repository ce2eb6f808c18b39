"""MuJoCo factorizes models above 60 coordinates in sparse form: there it must say what the dense form says.

Of our replays only flexible parts as chains of links are so large: drummer and boxer with 12 links to a rod have 157 coordinates.
They touch nothing, so a chain that falls on a floor stands for contacts. Puppets on strings (marionette 22) and characters on the
ground (walker 14) stay below, and with them in dense form.
"""

import numpy as np
import pytest

from bunraku.formats.registry import read_character
from bunraku.verification.flexible.model import chain_model

mujoco = pytest.importorskip("mujoco")

STEPS = 200
LINKS = 66
VERSION = f"MuJoCo {mujoco.__version__}"


def _end(model, jacobian) -> tuple[np.ndarray, int]:
    """Where the model is after `STEPS` steps from a gentle push, and the most contacts on the way."""
    model.opt.jacobian = jacobian
    data, contacts = mujoco.MjData(model), 0
    data.qvel[:] = 1e-2 * np.random.default_rng(0).standard_normal(model.nv)
    for _ in range(STEPS):
        mujoco.mj_step(model, data)
        contacts = max(contacts, data.ncon)
    return data.qpos.copy(), contacts


@pytest.mark.parametrize("name", ["drummer", "boxer"])
def test_sparse_and_dense_factors_agree_on_chains_of_rods(name: str) -> None:
    character = read_character(name)
    model = chain_model(character, links=12, frames=[character.bodies[-1].name]).model
    assert model.nv > 60
    dense, sparse = (_end(model, kind)[0] for kind in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE))
    assert np.abs(dense).max() > 1e-5, f"it does not move ({VERSION})"
    assert np.abs(dense - sparse).max() < 1e-10, VERSION


def test_sparse_and_dense_factors_agree_on_a_chain_that_falls_on_a_floor() -> None:
    link = '<body pos="0.03 0 0"><joint axis="{}" damping="1e-4"/><geom type="capsule" fromto="0 0 0 0.03 0 0" size="0.008"/>'
    links = "".join(link.format("0 1 0" if k % 2 else "0 0 1") for k in range(LINKS)) + "</body>" * LINKS
    model = mujoco.MjModel.from_xml_string(
        '<mujoco><option timestep="5e-4"/><worldbody><geom type="plane" size="5 5 1"/><body pos="0 0 0.012"><freejoint/>'
        f'<geom type="capsule" fromto="0 0 0 0.03 0 0" size="0.008"/>{links}</body></worldbody></mujoco>'
    )
    assert model.nv == LINKS + 6 > 60
    (dense, most), (sparse, _) = (_end(model, kind) for kind in (mujoco.mjtJacobian.mjJAC_DENSE, mujoco.mjtJacobian.mjJAC_SPARSE))
    assert most > 20, f"it lies on the floor ({VERSION})"
    assert np.abs(dense - sparse).max() < 1e-10, VERSION
