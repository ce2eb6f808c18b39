"""From a character with flexible parts to a system: beams in closed form, what is shared and kept, a part with two children."""

from __future__ import annotations

import numpy as np
import pytest
import scipy.linalg

from bunraku.character import Body, Character, FlexiblePart, Joint, PartInterface, PartShape, Pose
from bunraku.errors import BadInput
from bunraku.mechanics.cache import load_result, save_result
from bunraku.mechanics.dynamics.equilibrium import find_equilibrium
from bunraku.mechanics.dynamics.poses import find_pose
from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.flexible.deflection import deflection_ratio, deflection_verdict
from bunraku.mechanics.flexible.system import flexible_system
from bunraku.mechanics.tree import rotation_of

STIFFNESS = 200e9 * np.pi * 0.004**4 / 64


def frequencies(system, q, multipliers=()):
    """Of small vibrations of the dynamic coordinates about rest at q [Hz]."""
    L, d = system.lagrangian_derivatives(q, np.zeros(system.nq)), system.dynamic
    K = -L.qq - system.constraint_curvature(q, multipliers)
    Z = scipy.linalg.null_space(system.constraint_jacobian(q)[:, d]) if system.nc else np.eye(len(d))
    squares = scipy.linalg.eigh(Z.T @ K[np.ix_(d, d)] @ Z, Z.T @ L.vv[np.ix_(d, d)] @ Z, eigvals_only=True)
    return np.sqrt(squares) / (2 * np.pi)


def test_a_rod_on_a_motor_is_a_beam(one_rod) -> None:
    """Rayleigh's frequency with 33/140 of the rod's mass is within 0.1 % of the exact one; the mesh adds up to 0.2 %."""
    model = flexible_system(one_rod(cell=0.0035), gravity=(0.0, 0.0, 0.0))
    assert model.system.names == ("shoulder", *(f"rod.{a}" for a in range(model.system.nd)))
    assert model.system.nk == 1
    mass = 0.1 + 33 / 140 * 7850 * np.pi * 0.002**2 * 0.5
    beam = np.sqrt(3 * STIFFNESS / (0.5**3 * mass)) / (2 * np.pi)
    found = frequencies(model.system, model.home)[:2]
    assert found == pytest.approx([beam, beam], rel=4e-3)
    assert model.parts["rod"].frequency == pytest.approx(found[0], rel=1e-6)


def test_a_rod_sags_as_a_beam_and_the_ratio_says_how_far(one_rod) -> None:
    """A light push: tip weight P and own weight w give P L^3 / 3 EI + w L^4 / 8 EI."""
    model = flexible_system(one_rod(cell=0.0035), gravity=(0.0, 0.0, -0.1))
    q = model.home.copy()
    q[model.motors] = np.pi / 2
    rest = find_equilibrium(model.system, q)
    assert rest.status.good
    _, p = find_pose(model.system, rest.q, "tip")
    sag = 0.1 * 0.1 * 0.5**3 / (3 * STIFFNESS) + 0.1 * 7850 * np.pi * 0.002**2 * 0.5**4 / (8 * STIFFNESS)
    assert -p[2] == pytest.approx(sag, rel=5e-3)
    assert deflection_ratio(model, rest.q[None])["rod"] == pytest.approx(sag / 0.5, rel=5e-3)


@pytest.mark.parametrize(
    ("ratio", "verdict"), [(0.1, "fine"), (0.25, "fine"), (0.26, "warn"), (0.41, "refuse"), (np.nan, "refuse")]
)
def test_large_deflections_are_doubted_and_refused(ratio, verdict) -> None:
    found, line = deflection_verdict({"a": 0.01, "rod": ratio} if ratio == ratio else {"rod": ratio})
    assert found == verdict
    assert line.startswith("rod ")


def turned(turn, x):
    y = rotation_of(Pose(quaternion=turn)) @ [x, 0.0, 0.0015]
    return float(y[0]), float(y[1]), float(y[2])


def two_pans(turn=(1.0, 0.0, 0.0, 0.0)) -> Character:
    """A plate held at a hole in its middle, with a body at a hole on each side, its frame turned anyhow."""
    shape = PartShape(
        kind="plate",
        outline=((-0.1, -0.01), (0.1, -0.01), (0.1, 0.01), (-0.1, 0.01)),
        thickness=0.003,
        holes=tuple({"name": name, "center": (x, 0.0), "radius": 0.004} for name, x in (("l", -0.085), ("m", 0.0), ("r", 0.085))),
        cell=0.012,
    )
    part = FlexiblePart(
        name="beam",
        material="plastic",
        shape=shape,
        base="world",
        pose=Pose(quaternion=turn),
        base_patch="m",
        children=(PartInterface(body="left", patch="l"), PartInterface(body="right", patch="r")),
    )
    bodies = tuple(Body(name=name, mass=mass, inertia=(1e-6,) * 3 + (0.0,) * 3) for name, mass in (("left", 0.1), ("right", 0.2)))
    joints = tuple(
        Joint(name=name, kind="fixed", parent="world", child=name, pose=Pose(position=turned(turn, x)))
        for name, x in (("left", -0.085), ("right", 0.085))
    )
    material = {"name": "plastic", "young": 2e9, "poisson": 0.35, "density": 1240.0}
    return Character(name="scales", bodies=bodies, joints=joints, materials=(material,), flexibles=(part,))


def test_a_part_with_two_children_bends_as_the_full_solid() -> None:
    """Scales under a weak gravity, their frame turned: both ends sink as the linear solid of all nodes says."""
    half = float(np.sqrt(0.5))
    R = np.array([[0.0, -1.0, 0.0], [1.0, 0.0, 0.0], [0.0, 0.0, 1.0]])
    model = flexible_system(two_pans((half, 0.0, 0.0, half)), gravity=(0.0, 0.0, -0.1))
    rest = find_equilibrium(model.system, model.home)
    assert rest.status.good
    made = model.parts["beam"].whole
    bench = Workbench(made.solid, made.base, made.children)
    still = np.zeros(made.solid.size)
    load = made.solid.weight((0.0, 0.0, -0.1))
    for face, mass in zip(made.children, (0.1, 0.2), strict=True):
        load = load + face.load(still, force=(0.0, 0.0, -0.1 * mass))
    u = bench.factor.solve(load)
    for name, face in zip(("left", "right"), made.children, strict=True):
        moved = find_pose(model.system, rest.q, name)[1] - find_pose(model.system, model.home, name)[1]
        np.testing.assert_allclose(moved, R @ (face.position(u) - face.centroid), atol=2e-7)
        assert -moved[2] > 2e-5
        assert deflection_ratio(model, rest.q[None])["beam"] >= 0.99 * -moved[2] / 0.085


def test_parts_alike_are_reduced_once_and_come_from_the_disk_then(legs, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    from bunraku.mechanics.flexible import reduced_parts

    count = []
    reduce = reduced_parts.choose_reduction
    monkeypatch.setattr(reduced_parts, "choose_reduction", lambda *args, **more: count.append(1) or reduce(*args, **more))
    character = legs(cell=0.03)
    middle = character.changed(
        bodies=tuple(body.changed(center_of_mass=(0.0, 0.0, 0.0), inertia=(1e-3,) * 3 + (0.0,) * 3) for body in character.bodies),
        joints=tuple(
            joint.changed(pose=Pose(position=(0.0, 0.0, 0.25))) if joint.name != "waist" else joint for joint in character.joints
        ),
        loops=tuple(loop.changed(pose=Pose()) for loop in character.loops),
        flexibles=tuple(part.changed(pose=Pose()) for part in character.flexibles),
    )
    first = flexible_system(middle)
    assert len(count) == 1
    again = flexible_system(middle)
    assert len(count) == 1
    assert [part.cached for part in again.parts.values()] == [True, True]
    q = np.random.default_rng(0).normal(size=first.system.nq) * 1e-3
    for a, b in zip(
        first.system.lagrangian_derivatives(q, q).__dict__.values(),
        again.system.lagrangian_derivatives(q, q).__dict__.values(),
        strict=True,
    ):
        np.testing.assert_array_equal(a, b)
    flexible_system(middle.changed(bodies=tuple(body.changed(mass=body.mass * 1.01) for body in middle.bodies)))
    assert len(count) == 2


def test_a_marionette_cannot_bend(one_rod) -> None:
    carriage = {"name": "c", "home": (0.0, 0.0, 2.0)}
    character = one_rod().changed(carriages=(carriage,), strings=({"name": "s", "carriage": "c", "hook": "tip"},))
    with pytest.raises(BadInput, match="strings and flexible parts"):
        flexible_system(character)


def test_the_basis_can_be_chosen_against_the_whole_solid(legs) -> None:
    """A note says what was tried and met; the choice is kept on disk, apart from a basis that was asked for; stated modes win."""
    character = legs(cell=0.05)
    parts = character.flexibles
    character = character.changed(flexibles=(parts[0], parts[1].changed(modes=1)))
    model = flexible_system(character, modes="auto")
    left, right = model.parts["left-leg"].reduction, model.parts["right-leg"].reduction
    assert "against the whole solid" in left.note
    assert [label.split()[0] for label in right.labels].count("bending") == 2
    again = flexible_system(character, modes="auto")
    assert again.parts["left-leg"].cached
    assert again.parts["left-leg"].reduction.note == left.note
    assert "chosen against the whole solids" in again.note
    asked = flexible_system(character, modes={"left-leg": 2}).parts["left-leg"].reduction
    assert "against" not in asked.note
    assert asked.errors is None
    assert [label.split()[0] for label in asked.labels].count("bending") == 4


def test_a_broken_file_is_computed_anew(one_rod, monkeypatch, tmp_path) -> None:
    monkeypatch.setenv("BUNRAKU_CACHE", str(tmp_path))
    character = one_rod(cell=0.06)
    good = flexible_system(character)
    (path,) = tmp_path.iterdir()
    whole = path.read_bytes()
    kind, key = path.name.split(".")[0].split("-")
    found = load_result(kind, key)
    assert found is not None
    save_result(kind, key, {name: array for name, array in found.items() if name != "L1"})
    fewer = path.read_bytes()
    assert len(fewer) < len(whole)
    for data in (b"", whole[: len(whole) // 2], b"not a zip file", fewer):
        path.write_bytes(data)
        again = flexible_system(character)
        assert not again.parts["rod"].cached
        assert again.parts["rod"].frequency == pytest.approx(good.parts["rod"].frequency, rel=1e-9)
        assert flexible_system(character).parts["rod"].cached
