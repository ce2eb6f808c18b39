"""Rods as chains of rigid links in MuJoCo: against closed forms of beams, the elastica, and the study's figures."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from _chains import chain_frequencies, limit
from scipy.integrate import solve_bvp

from bunraku.character import Body, Character, ElasticMaterial, FlexiblePart, Frame, Joint, Motor, PartInterface, PartShape, Pose
from bunraku.errors import BadInput
from bunraku.formats.poses import as_pose, of_pose
from bunraku.geometry.poses import compose
from bunraku.verification.flexible.beam_section import beam_section
from bunraku.verification.flexible.model import ChainModel, chain_model
from bunraku.verification.flexible.rest import find_chain_rest

mujoco = pytest.importorskip("mujoco")

LENGTH, DIAMETER, TIP, INERTIA = 0.7, 0.004, 0.1, 7.84e-6
STEEL = ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=7.4e-4)
EI, LINE = 200e9 * np.pi * DIAMETER**4 / 64.0, 7850.0 * np.pi * DIAMETER**2 / 4.0
HALF = 2.0**-0.5
UP, DOWN, LEVEL = Pose(), Pose(quaternion=(0, 1, 0, 0)), Pose(quaternion=(HALF, 0, HALF, 0))
ROD = PartShape(kind="rod", length=LENGTH, diameter=DIAMETER)


def rod_on_a_motor(pose: Pose = UP, shape: PartShape = ROD, tip: Body | None = None, **part: Any) -> Character:
    """A hub that a motor turns about the vertical, with a beam that stands on it at ``pose`` and carries a body."""
    length = shape.length if shape.size is None else shape.size[2]
    far = np.array([0.0, 0.0, 0.0 if part.get("base_patch") == "end" else length])
    carried = tip or Body(name="tip", mass=TIP, inertia=(INERTIA,) * 3 + (0.0,) * 3)
    where = as_pose(compose(of_pose(pose), (np.eye(3), far)))
    return Character(
        name="rod",
        bodies=(Body(name="hub"), carried),
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="hub"),
            Joint(name="end", kind="fixed", parent="hub", child="tip", pose=where),
        ),
        motors=(Motor(name="motor", coordinate="turn"),),
        materials=(STEEL,),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=shape,
                base="hub",
                pose=pose,
                children=part.pop("children", (PartInterface(body="tip", patch=part.pop("patch", "end")),)),
                **part,
            ),
        ),
    )


def at_rest(character: Character, links: int, frame: str = "tip", **options: Any) -> tuple[ChainModel, np.ndarray, np.ndarray]:

    foreign = chain_model(character, links=links, frames=(frame,), **options)
    qpos, status = find_chain_rest(foreign, np.zeros(len(foreign.driven)))
    assert status.good
    data = mujoco.MjData(foreign.model)
    data.qpos[:] = qpos
    mujoco.mj_kinematics(foreign.model, data)
    return foreign, qpos, foreign.positions(data)[0]


def elastica() -> tuple[float, float]:
    """Sag and shortening [m] of the level rod, th down: EI th'' = -(P + w (L - s)) cos th, th(0) = 0, th'(L) = 0."""

    def slopes(s: np.ndarray, y: np.ndarray) -> np.ndarray:
        load = 9.81 * (TIP + LINE * (LENGTH - s))
        return np.vstack([y[1], -load * np.cos(y[0]) / EI, np.cos(y[0]), np.sin(y[0])])

    grid = np.linspace(0.0, LENGTH, 50)
    ends = solve_bvp(slopes, lambda a, b: np.array([a[0], b[1], a[2], a[3]]), grid, np.zeros((4, 50)), tol=1e-9).y[:, -1]
    return float(ends[3]), float(LENGTH - ends[2])


def test_a_level_rod_sags_as_the_elastica() -> None:
    tips = [at_rest(rod_on_a_motor(LEVEL), links)[2] for links in (10, 20)]
    sag, shorter = elastica()
    found = limit(*tips)
    assert -found[2] == pytest.approx(sag, abs=2e-8)
    assert LENGTH - found[0] == pytest.approx(shorter, abs=2e-8)
    assert abs(found[1]) < 1e-12
    # the study's 55.64 mm are of tetrahedra, 0.3 to 0.4 % too stiff
    assert -found[2] == pytest.approx(0.05564, rel=4e-3)


@pytest.mark.parametrize(("pose", "expected"), [(UP, 2.0834), (DOWN, 2.2864)])
def test_gravity_softens_the_upright_and_stiffens_the_hanging_chain(pose: Pose, expected: float) -> None:
    found = []
    for links in (8, 16, 32):
        foreign, qpos, _ = at_rest(rod_on_a_motor(pose), links)
        found.append(chain_frequencies(foreign, qpos, 2))
        assert found[-1][1] == pytest.approx(found[-1][0], rel=1e-6)
    assert limit(found[1], found[2])[0] == pytest.approx(expected, rel=1e-4)
    assert (found[0][0] - found[1][0]) / (found[1][0] - found[2][0]) == pytest.approx(4.0, rel=0.02)


def test_a_rod_twists_at_its_own_frequency() -> None:
    GJ, line = 200e9 / 2.6 * np.pi * DIAMETER**4 / 32.0, 7850.0 * np.pi * DIAMETER**4 / 32.0
    expected = np.sqrt(GJ / LENGTH / (INERTIA + line * LENGTH / 3.0)) / (2.0 * np.pi)
    foreign, qpos, _ = at_rest(rod_on_a_motor(UP), 20)
    every = chain_frequencies(foreign, qpos, 12)
    assert every[np.abs(every - expected).argmin()] == pytest.approx(expected, rel=1e-3)
    bare, qpos, _ = at_rest(rod_on_a_motor(UP), 20, torsion=False)
    assert np.abs(chain_frequencies(bare, qpos, 12) - expected).min() > 1.0


@pytest.mark.parametrize("plane", [0, 1])
def test_a_strip_and_a_tube_bend_as_beams(plane: int) -> None:
    nothing = Body(name="tip", mass=1e-9, inertia=(1e-12,) * 3 + (0.0,) * 3)
    for shape, second, area in (
        (PartShape(kind="box", size=(0.006, 0.002, 0.3)), (0.006 * 0.002**3 / 12, 0.002 * 0.006**3 / 12), 12e-6),
        (
            PartShape(kind="tube", length=0.3, diameter=0.006, wall=0.001),
            (np.pi / 64 * (0.006**4 - 0.004**4),) * 2,
            np.pi / 4 * (0.006**2 - 0.004**2),
        ),
    ):
        expected = sorted(1.875104**2 / (2 * np.pi) * np.sqrt(200e9 * one / (7850.0 * area * 0.3**4)) for one in second)
        found = []
        for links in (10, 20):
            foreign, qpos, _ = at_rest(rod_on_a_motor(LEVEL, shape, nothing), links)
            foreign.model.opt.gravity[:] = 0.0
            found.append(chain_frequencies(foreign, 0.0 * qpos, 6))
        best = limit(*found)
        assert np.abs(best - expected[plane]).min() < 2e-3 * expected[plane]
        assert best[0] == pytest.approx(expected[0], rel=2e-3)


def test_the_torsion_constant_of_a_rectangle() -> None:
    def section(x: float, y: float) -> float:
        return beam_section(rod_on_a_motor(UP, PartShape(kind="box", size=(x, y, 1.0))).flexibles[0]).torsion

    assert section(0.01, 0.01) == pytest.approx(0.140577e-8, rel=1e-5)
    assert section(0.02, 0.01) == pytest.approx(2 * 0.228682e-8, rel=1e-5)
    assert section(0.01, 0.02) == section(0.02, 0.01)


def test_bending_both_ways_and_twisting_is_of_second_order() -> None:
    """A body beside the axis of a slanting strip bends and twists it; turns in a fixed order would converge as 1/n."""
    beside = Body(name="tip", mass=0.3, center_of_mass=(0.05, 0.03, 0.0), inertia=(1e-5,) * 3 + (0.0,) * 3)
    slanting = Pose(quaternion=(np.cos(0.5), 0.3**0.5 * np.sin(0.5), 0.5**0.5 * np.sin(0.5), 0.2**0.5 * np.sin(0.5)))
    strip = rod_on_a_motor(slanting, PartShape(kind="box", size=(0.005, 0.004, 0.7)), beside)
    strip = strip.changed(frames=(Frame(name="far off", body="tip", pose=Pose(position=(0.3, 0.3, 0.0))),))
    a, b, c = (at_rest(strip, links, "far off")[2] for links in (8, 16, 32))
    assert np.linalg.norm(a - b) > 1e-4
    assert np.linalg.norm((a - b) - 4.0 * (b - c)) < 0.04 * np.linalg.norm(a - b)


def test_a_rod_held_at_its_far_end_is_the_same_rod() -> None:
    backwards = Pose(position=(LENGTH, 0.0, 0.0), quaternion=(HALF, 0, -HALF, 0))
    turned = at_rest(rod_on_a_motor(backwards, base_patch="end", patch="start"), 10)[2]
    assert turned == pytest.approx(at_rest(rod_on_a_motor(LEVEL), 10)[2], abs=1e-10)


def test_two_legs_in_a_loop_sway_as_guided_beams() -> None:
    """Upright legs clamped below and to a pelvis above: k = 12 EI / L^3 - 6 P / (5 L) a leg, 13/35 of its mass moves along."""
    L, m = 0.25, 2.0
    places = (-0.1, 0.1)
    legs = tuple(
        FlexiblePart(
            name=f"leg{i}",
            material="steel",
            shape=PartShape(kind="rod", length=L, diameter=DIAMETER),
            base="ground",
            pose=Pose(position=(x, 0, 0)),
            children=(PartInterface(body=body),),
        )
        for i, (x, body) in enumerate(zip(places, ("pelvis", "ankle"), strict=True))
    )
    character = Character(
        name="legs",
        bodies=(
            Body(name="ground"),
            Body(name="pelvis", mass=m, center_of_mass=(0.1, 0, 0), inertia=(0.02,) * 3 + (0,) * 3),
            Body(name="ankle"),
        ),
        joints=(
            Joint(name="stand", kind="fixed", parent="world", child="ground"),
            Joint(name="left", kind="fixed", parent="ground", child="pelvis", pose=Pose(position=(-0.1, 0, L))),
            Joint(name="right", kind="fixed", parent="ground", child="ankle", pose=Pose(position=(0.1, 0, L))),
        ),
        loops=(Joint(name="close", kind="fixed", parent="pelvis", child="ankle", pose=Pose(position=(0.2, 0, 0))),),
        materials=(STEEL,),
        flexibles=legs,
    )
    found = []
    for links in (10, 20):
        foreign = chain_model(character, links=links, frames=("pelvis",))
        qpos, status = find_chain_rest(foreign, np.zeros(0))
        assert status.good
        found.append(chain_frequencies(foreign, qpos, 4))
    own, load = LINE * L, 9.81 * (0.5 * m + 0.5 * LINE * L)
    k = 2.0 * (12.0 * EI / L**3 - 1.2 * load / L)
    expected = np.sqrt(k / (m + 2.0 * 13.0 / 35.0 * own)) / (2.0 * np.pi)
    best = limit(*found)
    assert best[np.abs(best - expected).argmin()] == pytest.approx(expected, rel=1e-3)


@pytest.mark.parametrize(
    ("shape", "part", "words"),
    [
        (PartShape(kind="plate", outline=((0, 0), (0.1, 0), (0, 0.7)), thickness=0.002), {}, "'rod' is a plate, no slender beam"),
        (PartShape(kind="box", size=(0.1, 0.01, 0.5)), {}, "5.0 times as long as thick"),
        (ROD, {"patch": "side"}, "held at side, start"),
    ],
)
def test_what_is_no_beam_is_refused_by_name(shape: PartShape, part: dict[str, Any], words: str) -> None:
    character = rod_on_a_motor(UP, ROD, **part)
    named = character.flexibles[0].changed(shape=shape)
    with pytest.raises(BadInput, match=words) as caught:
        chain_model(character.changed(flexibles=(named,)), links=10, frames=("tip",))
    assert "'rod'" in str(caught.value)
    assert "\n" not in str(caught.value)


def test_the_step_is_stable_for_the_fastest_bending() -> None:
    """Without damping a short rod of many links needs a shorter step than the one asked for; with it, h < 2 beta is enough."""
    short = PartShape(kind="rod", length=0.2, diameter=DIAMETER)
    damped = rod_on_a_motor(UP, short)
    free = damped.changed(materials=(STEEL.changed(strain_damping=0.0),))
    assert chain_model(damped, links=20, frames=("tip",)).timestep == 1e-4
    foreign = chain_model(free, links=20, frames=("tip",), torsion=False)
    fastest = 2.0 * np.pi * chain_frequencies(foreign, np.zeros(foreign.model.nq), 40)[-1]
    assert 0.5 < foreign.timestep * fastest < 2.0
