"""Replay of motor positions with rods as chains in MuJoCo, against the reduced model and exact kinematics."""

from __future__ import annotations

import numpy as np
import pytest
from scipy.interpolate import CubicSpline

from _frames import predict_frames
from bunraku.character import (
    Body,
    Character,
    Coupling,
    ElasticMaterial,
    FlexiblePart,
    Frame,
    Joint,
    Motor,
    PartInterface,
    PartShape,
    Pose,
)
from bunraku.errors import BadInput
from bunraku.mechanics.elastic.coarse_part import end_compliances
from bunraku.mechanics.elastic.part import part_solid
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.solution import Status
from bunraku.verification.flexible.replay import ChainReplay, chain_models, play_chains

STEEL = ElasticMaterial(name="steel", young=200e9, poisson=0.3, density=7850.0, strain_damping=7.4e-4)
HALF = 2.0**-0.5
SMALL = (7.84e-6,) * 3 + (0.0,) * 3


def level_rod() -> Character:
    """A level steel rod of 0.7 m and 4 mm with 0.1 kg at its tip, turned about the vertical."""
    along = (HALF, 0.0, HALF, 0.0)
    return Character(
        name="level rod",
        bodies=(Body(name="hub"), Body(name="tip", mass=0.1, inertia=SMALL)),
        joints=(
            Joint(name="turn", kind="hinge", parent="world", child="hub"),
            Joint(name="end", kind="fixed", parent="hub", child="tip", pose=Pose(position=(0.7, 0, 0), quaternion=along)),
        ),
        motors=(Motor(name="motor", coordinate="turn"),),
        frames=(Frame(name="on the hub", body="hub", pose=Pose(position=(0.1, 0.0, 0.2))),),
        materials=(STEEL,),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=PartShape(kind="rod", length=0.7, diameter=0.004),
                base="hub",
                pose=Pose(quaternion=along),
                children=(PartInterface(body="tip"),),
            ),
        ),
    )


def replay_flexible(character, motors, *, frames, times=None, links=(10, 20), timestep=1e-4, **options) -> ChainReplay:
    """Both chains built and played."""
    models = chain_models(character, frames=frames, links=links, timestep=timestep, **options)
    return play_chains(models, motors, frames=frames, times=times)


def sweep(t: np.ndarray) -> np.ndarray:
    """20 degrees in half a second."""
    s = np.clip(t / 0.5, 0.0, 1.0)
    return np.radians(20.0) * (s**3 * (10.0 - 15.0 * s + 6.0 * s**2))[:, None]


def rms(errors: np.ndarray) -> float:
    return float(np.sqrt(np.mean(np.sum(errors**2, axis=-1))))


def test_the_reduced_model_is_the_limit_of_chains() -> None:
    """The 3-D sweep of the study: 0.1 mm RMS for a beam as stiff as the mesh; the mesh alone is worth a millimetre or two."""
    character = level_rod()
    model = flexible_system(character, modes=2)  # all products of strains: the chosen basis drops some, and is 0.15 mm off here
    dt, times = 5e-4, np.arange(401) * 5e-3
    path = predict_frames(model, ("tip",), sweep(dt * np.arange(4001)), dt, every=10)
    mesh = part_solid(character, character.flexibles[0])
    stiffer = 0.7**3 / 3.0 / (200e9 * np.pi * 0.004**4 / 64.0) / end_compliances(mesh)[0]
    lighter = mesh.solid.total_mass / (7850.0 * np.pi * 0.002**2 * 0.7)
    assert 1.0 < stiffer < 1.005
    assert 0.998 < lighter < 1.0
    alike = STEEL.changed(young=stiffer * STEEL.young, density=lighter * STEEL.density)
    replay = replay_flexible(character.changed(materials=(alike,)), sweep, frames=("tip",), times=times)
    assert not replay.lost
    found = replay.figures(prediction=path.positions)
    assert np.ptp(replay.positions[:, 0, 1]) > 0.3
    assert found["chain_from_prediction_rms_m"] < 1e-4
    assert found["chain_from_prediction_peak_m"] < 3e-4
    assert 1e-4 < found["chains_apart_rms_m"] < 6e-4
    assert np.linalg.norm(replay.positions[0, 0] - path.positions[0, 0]) < 5e-5


def test_positions_converge_with_the_square_of_the_links() -> None:
    times = np.arange(121) * 5e-3
    a = replay_flexible(level_rod(), sweep, frames=("tip",), times=times, links=(6, 12), torsion=False)
    b = replay_flexible(level_rod(), sweep, frames=("tip",), times=times, links=(12, 24), torsion=False)
    p6, p12, p24 = a.runs[0].positions, a.runs[1].positions, b.runs[1].positions
    assert rms(p6 - p12) > 1e-4
    assert rms((p6 - p12) - 4.0 * (p12 - p24)) < 0.03 * rms(p6 - p12)
    assert rms(a.positions - b.positions) < 0.01 * rms(p6 - p12)


def test_motors_are_where_they_are_told_and_halving_the_step_changes_little() -> None:
    times = np.arange(101) * 5e-3
    motors = CubicSpline(times, sweep(times))
    runs = [
        replay_flexible(
            level_rod(), motors, frames=("on the hub", "tip"), times=times, links=(4, 8), timestep=h, torsion=False
        ).positions
        for h in (1e-4, 5e-5)
    ]
    angle = sweep(times)[:, 0]
    c, s = np.cos(angle), np.sin(angle)
    assert runs[0][:, 0] == pytest.approx(np.column_stack([0.1 * c, 0.1 * s, np.full(101, 0.2)]), abs=1e-12)
    assert rms(runs[0][:, 1] - runs[1][:, 1]) < 5e-6


def test_a_motor_on_a_rod_pushes_back() -> None:
    """A flywheel on top of an upright rod, spun about the bending axis by a motor: I a = k th bends the rod to and fro.

    Slow against the rod: the tip turns by the moment -I a L / EI and moves by -I a L^2 / (2 EI).
    """
    disk, L = 0.005, 0.3
    character = Character(
        name="flywheel",
        bodies=(
            Body(name="mount", mass=1e-3, inertia=(1e-7,) * 3 + (0,) * 3),
            Body(name="wheel", mass=1e-3, inertia=(0.6 * disk, disk, 0.6 * disk, 0, 0, 0)),
            Body(name="twin", mass=1e-6, inertia=(1e-9,) * 3 + (0,) * 3),
        ),
        joints=(
            Joint(name="top", kind="fixed", parent="world", child="mount", pose=Pose(position=(0, 0, L))),
            Joint(name="spin", kind="hinge", parent="mount", child="wheel", axis=(0, 1, 0)),
            Joint(name="copy", kind="hinge", parent="mount", child="twin", axis=(0, 0, 1)),
        ),
        motors=(Motor(name="spin", coordinate="spin"),),
        couplings=(Coupling(driver="spin", follower="copy", ratio=2.0),),
        frames=(Frame(name="beside", body="twin", pose=Pose(position=(0.01, 0, 0))),),
        materials=(STEEL,),
        flexibles=(
            FlexiblePart(
                name="rod",
                material="steel",
                shape=PartShape(kind="rod", length=L, diameter=0.004),
                base="world",
                children=(PartInterface(body="mount"),),
            ),
        ),
    )
    duration, turn = 2.0, 4.0
    times = np.arange(201) * 0.01

    def spin(t: np.ndarray) -> np.ndarray:
        s = t / duration
        return (turn * s**4 * (35.0 - 84.0 * s + 70.0 * s**2 - 20.0 * s**3))[:, None]

    s = times / duration
    a = turn * (420.0 * s**2 - 1680.0 * s**3 + 2100.0 * s**4 - 840.0 * s**5) / duration**2
    EI = 200e9 * np.pi * 0.004**4 / 64.0
    replay = replay_flexible(character, spin, frames=("mount", "beside"), times=times, links=(4, 8), timestep=2e-4)
    expected = -disk * a * L**2 / (2.0 * EI)
    assert np.abs(expected).max() > 5e-4
    assert replay.positions[:, 0, 0] == pytest.approx(expected, abs=0.05 * np.abs(expected).max())
    reach = replay.positions[:, 1] - replay.positions[:, 0]
    assert reach[:, 1] == pytest.approx(0.01 * np.sin(2.0 * spin(times)[:, 0]), abs=2e-5)


def test_a_performance_is_replayed_like_its_motor_positions() -> None:
    character, times = level_rod(), np.arange(21) * 0.01
    values = sweep(times)
    curves = JointCurves(character.driven, 100.0, values)
    performance = Performance(
        character,
        "sweep",
        (Channel("turn", "position", "rad", 100.0, values[:, 0]),),
        curves,
        curves,
        Certificate(Status.CONVERGED, (), (), {}),
        Provenance("test", {}, {}, {}),
    )
    found = replay_flexible(character, performance, frames=("tip",), links=(2, 4))
    same = replay_flexible(character, CubicSpline(times, values), frames=("tip",), times=times, links=(2, 4))
    assert np.array_equal(found.positions, same.positions)
    figures = found.figures(target=same.positions + np.array([0.0, 3e-3, 4e-3]))
    assert figures["chain_from_target_peak_m"] == pytest.approx(5e-3)
    assert figures["chain_from_target_rms_m"] == pytest.approx(5e-3)


def test_what_cannot_be_replayed_or_compared_says_so() -> None:
    times = np.arange(11) * 5e-3
    replay = replay_flexible(level_rod(), sweep, frames=("tip",), times=times, links=(2, 4))
    with pytest.raises(BadInput, match="shape"):
        replay.deviation(np.zeros((11, 2, 3)))
    for bad, words in (
        ({"links": (20, 10)}, "rising"),
        ({"times": times**2}, "evenly"),
        ({"timestep": 0.1}, "at most"),
        ({"frames": ("nose",)}, "no frame or body 'nose'"),
    ):
        with pytest.raises(BadInput, match=words):
            replay_flexible(level_rod(), sweep, **{"frames": ("tip",), "times": times, "links": (2, 4), **bad})
