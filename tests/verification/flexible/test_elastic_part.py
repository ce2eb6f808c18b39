"""Parts of any shape by scikit-fem: against closed forms of beams, the definition of interfaces, and chains in MuJoCo."""

from __future__ import annotations

import builtins
from typing import Any

import numpy as np
import pytest
from _chains import chain_frequencies, limit
from scipy.linalg import eigh

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Frame, Joint, Motor, PartInterface, PartShape, Pose
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.geometry.meshing.shapes import box
from bunraku.mechanics.elastic.grip import Grip
from bunraku.mechanics.elastic.part import part_solid
from bunraku.verification.flexible.elastic_part import Elasticity, elastic_part
from bunraku.verification.flexible.part_model import PartsModel, parts_model
from bunraku.verification.flexible.part_replay import _differences, find_parts_rest, play_path
from bunraku.verification.flexible.replay import chain_models, play_chains
from bunraku.verification.flexible.rest import find_chain_rest

mujoco = pytest.importorskip("mujoco")
pytest.importorskip("skfem")

HALF = 2.0**-0.5
LENGTH, WIDE, THIN = 0.4, 0.02, 0.004
ABS = ElasticMaterial(name="abs", young=2e9, poisson=0.38, density=1175.0, strain_damping=1e-4)
STRIP = PartShape(kind="box", size=(THIN, WIDE, LENGTH))


def plate_on_a_motor(pose: Pose, turn: tuple[float, float, float] = (0.0, 0.0, 1.0)) -> Character:
    """A strip of ABS on a hub that a motor turns, with 50 g at its end, off the axis."""
    tip = Body(name="tip", mass=0.05, center_of_mass=(0.0, 0.01, 0.0), inertia=(2e-6,) * 3 + (0.0,) * 3)
    far = np.array([0.0, 0.0, LENGTH])
    w, x, y, z = pose.quaternion
    R = np.array([[1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                  [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                  [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)]])  # fmt: skip
    end = Pose(position=tuple(float(value) for value in R @ far), quaternion=pose.quaternion)
    return Character(
        name="plate",
        bodies=(Body(name="hub", mass=0.2, inertia=(1e-4,) * 3 + (0.0,) * 3), tip),
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="hub", axis=turn),
            Joint(name="end", kind="fixed", parent="hub", child="tip", pose=end),
        ),
        motors=(Motor(name="motor", coordinate="turn"),),
        frames=(Frame(name="nose", body="tip", pose=Pose(position=(0.0, 0.05, 0.02))),),
        materials=(ABS,),
        flexibles=(
            FlexiblePart(name="strip", material="abs", shape=STRIP, base="hub", pose=pose, children=(PartInterface(body="tip"),)),
        ),
    )


UP, DOWN, LEVEL = Pose(), Pose(quaternion=(0, 1, 0, 0)), Pose(quaternion=(HALF, 0, HALF, 0))


def frequencies(model: PartsModel, count: int) -> np.ndarray:
    """The lowest (count,) [Hz] about the rest under gravity."""
    data = mujoco.MjData(model.bodies.model)
    q, good, _ = find_parts_rest(model, data, np.zeros(1))
    assert good
    K = _differences(model, data, q, np.zeros(0))[0]
    M = model.matrices(data, q)[0][np.ix_(model.free, model.free)]
    return np.sqrt(eigh(0.5 * (K + K.T), M, eigvals_only=True)[:count]) / (2.0 * np.pi)


def test_a_cantilever_swings_as_the_closed_form() -> None:
    """First bending both ways within 0.5 %, where linear tetrahedra are off by 40 % and more; the mass is the mesh's own."""
    mesh = box((THIN, WIDE, LENGTH), (1, 2, 20))
    part = elastic_part(mesh, Elasticity(2e9, 0.38, 1175.0, 0.0), "start", [("end", (np.eye(3), np.array([0.0, 0.0, LENGTH])))])
    M = np.einsum("abii->ab", part.second[1:, 1:])
    found = np.sqrt(eigh(part.stiffness, M, eigvals_only=True)) / (2.0 * np.pi)
    closed = 1.875104**2 / (2 * np.pi) * np.sqrt(2e9 / 12.0 / 1175.0) / LENGTH**2 * np.array([THIN, WIDE])
    assert found[0] == pytest.approx(closed[0], rel=5e-3)
    assert np.abs(found - closed[1]).min() < 1e-2 * closed[1]
    assert part.mass == pytest.approx(1175.0 * THIN * WIDE * LENGTH, rel=1e-12)
    assert part.first[0] == pytest.approx([0.0, 0.0, part.mass * LENGTH / 2.0], abs=1e-12)
    # bent by a force across at its end, pulled by 1 N: 6/5 of the squared deflection over the length is what it shortens by, twice
    bent = np.linalg.inv(part.stiffness[:6, :6])[0]
    y = np.concatenate([bent / bent[0], np.zeros(part.size - 6)])
    assert y @ part.geometric[2] @ y == pytest.approx(1.2 / LENGTH, rel=1e-2)


def test_interfaces_are_those_that_the_theory_defines() -> None:
    """Compliances of a plate with holes equal those of our own interfaces and stiffness, which scikit-fem's does not use."""
    character = read_character("rapper")
    part = character.flexibles[1]
    own = part_solid(character, part)
    poses = [("lever", (np.eye(3), own.children[0].centroid)), ("wrist", (np.eye(3), own.children[1].centroid))]
    material = next(one for one in character.materials if one.name == part.material)
    stated = Elasticity(material.young, material.poisson, material.density, 0.0)
    found = np.linalg.inv(elastic_part(own.solid.mesh, stated, part.base_patch, poses).stiffness[:12, :12])
    loads = np.zeros((12, own.solid.size))
    for k, end in enumerate(own.children):
        rows = end.jacobian(np.zeros(own.solid.size))
        loads[6 * k : 6 * k + 6, end.unknowns] = np.vstack([rows[3:], rows[:3]])
    answers = Grip(own.solid, own.base).factorize(own.solid.stiffness()).solve(np.ascontiguousarray(loads.T))
    np.testing.assert_allclose(found, loads @ answers, rtol=1e-4, atol=1e-6 * np.abs(found).max())


@pytest.mark.parametrize("pose", [UP, DOWN, LEVEL])
def test_weight_softens_and_stiffens_as_in_a_chain(pose: Pose) -> None:
    """Standing, hanging and level: 3.37, 4.33 and 3.9 Hz; chains of links, which are exact beams, say the same within 1 %."""
    character = plate_on_a_motor(pose)
    found = frequencies(parts_model(character, frames=("tip",)), 3)
    chains = []
    for foreign in chain_models(character, frames=("tip",), links=(10, 20), timestep=1e-4):
        qpos, status = find_chain_rest(foreign, np.zeros(1))
        assert status.good
        chains.append(chain_frequencies(foreign, qpos, 3))
    assert found == pytest.approx(limit(*chains), rel=1.5e-2)


def test_a_turning_plate_moves_as_a_chain() -> None:
    """20 degrees forward in 0.25 s: it bends, shortens and twists by the weight beside it; within 3 % of how far it swings."""
    character, times = plate_on_a_motor(UP, (0.0, 1.0, 0.0)).changed(materials=(ABS.changed(young=1e10),)), np.arange(81) / 100.0

    def path(t: np.ndarray) -> tuple[np.ndarray, np.ndarray, np.ndarray]:
        s = np.clip((t - 0.05) / 0.25, 0.0, 1.0)[:, None]
        turn = np.radians(20.0)
        rate, second = 30 * s**2 - 60 * s**3 + 30 * s**4, 60 * s - 180 * s**2 + 120 * s**3
        return turn * (10 * s**3 - 15 * s**4 + 6 * s**5), turn * rate / 0.25, turn * second / 0.25**2

    model = parts_model(character, frames=("tip", "nose"))
    found, gap, lost = play_path(model, times, path)
    assert (gap, lost) == (0.0, "")
    chains = chain_models(character, frames=("tip", "nose"), links=(8, 16), timestep=1e-4)
    replay = play_chains(chains, lambda t: path(t)[0], frames=("tip", "nose"), times=times)
    turned = path(times)[0][:, 0]
    along = LENGTH * np.column_stack([np.sin(turned), 0.0 * turned, np.cos(turned)])
    swing = np.linalg.norm(replay.positions[:, 0] - along, axis=1).max()
    assert swing > 0.02
    assert replay.deviation(found).max() < 0.03 * swing


def test_what_cannot_be_judged_is_said_in_words(monkeypatch: pytest.MonkeyPatch) -> None:
    character = plate_on_a_motor(UP)
    known = builtins.__import__

    def absent(name: str, *rest: Any, **more: Any) -> Any:
        if name.split(".")[0] == "skfem":
            raise ImportError("no module named skfem")
        return known(name, *rest, **more)

    monkeypatch.setattr(builtins, "__import__", absent)
    with pytest.raises(BadInput, match="'strip' is not judged by scikit-fem: it is not installed; `pip install scikit-fem`"):
        parts_model(character, frames=("tip",))
