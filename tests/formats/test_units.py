"""Units in keys: the table against closed forms, reading, writing, and what errors say."""

from __future__ import annotations

from math import pi

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from bunraku.character import Body, Character, Coupling, DependentRange, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput
from bunraku.formats.units import FAMILIES, accepted_units, build, from_si, si_suffix
from bunraku.formats.yaml_file import dump_yaml, read_yaml
from bunraku.geometry.euler import roll_pitch_yaw_matrix
from bunraku.geometry.rotations import matrix_of_quaternion

MOTOR = {"name": "m", "coordinate": "j"}


@pytest.mark.parametrize(
    ("key", "value", "field", "si"),
    [
        ("velocity_rpm", 60.0, "velocity", 2 * pi),
        ("velocity_deg_s", 180.0, "velocity", pi),
        ("velocity_mm_s", 250.0, "velocity", 0.25),
        ("acceleration_deg_s2", 360.0, "acceleration", 2 * pi),
        ("jerk_deg_s3", 90.0, "jerk", pi / 2),
        ("stall_torque_kg_cm", 10.0, "stall_torque", 0.980665),  # 10 kgf x 1 cm x 9.80665 m/s2
        ("stall_torque_oz_in", 16.0, "stall_torque", 0.45359237 * 9.80665 * 0.0254),  # a pound-force on an inch
        ("stall_torque_n_mm", 1500.0, "stall_torque", 1.5),
        ("continuous_torque_n", 3.0, "continuous_torque", 3.0),
        ("delay_ms", 40.0, "delay", 0.04),
        ("rate_khz", 1.0, "rate", 1000.0),
        ("range_deg", [-90.0, 45.0], "range", (-pi / 2, pi / 4)),
        ("range_mm", [-5.0, 20.0], "range", (-0.005, 0.02)),
        ("stiffness_n_m_per_deg", pi, "stiffness", 180.0),
        ("damping_n_m_s_per_rad", 0.5, "damping", 0.5),
        ("resolution_deg", 0.29, "resolution", 0.29 * pi / 180),
    ],
)
def test_each_unit_equals_its_closed_form(key: str, value: object, field: str, si: object) -> None:
    motor = build(Motor, MOTOR | {key: value}, file="f")
    assert getattr(motor, field) == pytest.approx(si, rel=1e-14)


def test_mass_inertia_and_length() -> None:
    body = build(
        Body, {"name": "b", "mass_g": 250, "center_of_mass_in": [1, 0, 0], "inertia_g_cm2": [1e7, 0, 0, 0, 0, 0]}, file="f"
    )
    assert body.mass == pytest.approx(0.25)
    assert body.center_of_mass[0] == pytest.approx(0.0254)
    assert body.inertia[0] == pytest.approx(1.0)  # 1e7 g cm2 = 1 kg m2


def test_every_quantity_has_one_si_unit_first_in_each_family() -> None:
    for quantity, families in FAMILIES.items():
        for units in families.values():
            assert [factor for factor in units.values() if factor == 1.0] == [1.0], quantity
            assert next(iter(units.values())) == 1.0, quantity
        assert len(accepted_units(quantity)) == sum(len(units) for units in families.values()), f"{quantity}: one suffix, two units"
    assert (si_suffix("rate"), si_suffix("rate", linear=True), si_suffix("mass", linear=True)) == ("rad_s", "m_s", "kg")


@given(st.lists(st.floats(-180, 180), min_size=3, max_size=3))
@settings(max_examples=50, deadline=None)
def test_roll_pitch_yaw_is_the_rotation_of_urdf(rpy: list[float]) -> None:
    pose = build(Pose, {"rpy_deg": rpy}, file="f")
    np.testing.assert_allclose(matrix_of_quaternion(pose.quaternion), roll_pitch_yaw_matrix(np.deg2rad(rpy)), atol=1e-14)


def _character(values: list[float]) -> Character:
    a, b, c = values
    return Character(
        name="c",
        bodies=(
            Body(name="base", mass=a),
            Body(name="arm", shapes=(Shape(kind="sphere", size=(b,), pose=Pose(position=(a, b, c))),)), Body(name="tip"),
        ),
        joints=(
            Joint(name="root", kind="free", parent="world", child="base", ranges=((-a, a), None, None, (-b, b), None, (0.0, c))),
            Joint(name="lift", kind="slide", parent="base", child="arm", range=(-a, a), friction=b, armature=c),
            Joint(name="turn", kind="hinge", parent="arm", child="tip", range=(-c, c), damping=b, armature=a),
        ),
        motors=(
            Motor(name="m1", coordinate="lift", velocity=a, stall_torque=b, stiffness=c),
            Motor(name="m2", coordinate="turn", velocity=c, acceleration=a, jerk=b, damping=a),
        ),
        couplings=(Coupling(driver="turn", follower="root.tx", ratio=2.0, offset=b),),
        dependent_ranges=(DependentRange(coordinate="turn", on="lift", knots=((-a, -b, b), (a, -c, c))),),
        home={"lift": a, "turn": -b},
    )  # fmt: skip


@given(st.lists(st.floats(1e-9, 1e9), min_size=3, max_size=3))
@settings(max_examples=60, deadline=None)
def test_writing_and_reading_gives_back_every_bit(values: list[float]) -> None:
    character = _character(values)
    file = read_yaml(dump_yaml("character", from_si(character)), file="f", kind="character")
    assert build(Character, file.data, file="f", lines=file.lines) == character


def test_written_units_follow_the_kind_of_the_coordinate() -> None:
    written = from_si(_character([1.0, 2.0, 3.0]))
    assert written["joints"][0]["ranges_m"] == [[-1.0, 1.0], None, None, None, None, None]
    assert written["joints"][0]["ranges_rad"] == [None, None, None, [-2.0, 2.0], None, [0.0, 3.0]]
    assert {"range_m", "friction_n", "armature_kg"} <= set(written["joints"][1])
    assert {"velocity_m_s", "stall_torque_n", "stiffness_n_per_m"} <= set(written["motors"][0])
    assert {"velocity_rad_s", "acceleration_rad_s2", "jerk_rad_s3", "damping_n_m_s_per_rad"} <= set(written["motors"][1])
    assert written["home_m"] == {"lift": 1.0}
    assert written["home_rad"] == {"turn": -2.0}
    assert written["couplings"] == [{"driver": "turn", "follower": "root.tx", "ratio": 2.0, "offset_m": 2.0}]
    assert "second_axis" not in written["joints"][0], "defaults are left out"


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"velocity": 5.0}, ("velocity", "velocity_rad_s", "velocity_rpm")),
        ({"velocty_rpm": 5.0}, ("velocty_rpm", "did you mean", "velocity_rpm")),
        ({"velocity_rpm": "fast"}, ("velocity_rpm", "number")),
        ({"velocity_rpm": True}, ("velocity_rpm", "number")),
        ({"velocity_rpm": -5.0}, ("velocity_rpm", "greater than 0")),
        ({"velocity_rpm": 10**400}, ("velocity_rpm", "too large")),
        ({"velocity_rpm": 5.0, "velocity_rad_s": 1.0}, ("velocity_rad_s", "keep one")),
        ({"range_deg": [1, 2, 3]}, ("range_deg",)),
    ],
)
def test_errors_name_file_place_and_what_is_accepted(change: dict[str, object], said: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        build(Motor, MOTOR | change, file="robot.yaml", place="motors[3]")
    assert caught.value.file == "robot.yaml"
    assert str(caught.value).startswith("robot.yaml, motors[3]")
    for part in said:
        assert part in str(caught.value)


def test_a_hinge_is_not_limited_in_metres() -> None:
    joint = {"name": "j", "kind": "hinge", "parent": "world", "child": "b"}
    assert build(Joint, joint | {"range_deg": [0, 180]}, file="f").range == (0.0, pi)
    with pytest.raises(BadInput, match="wrong unit for a hinge"):
        build(Joint, joint | {"range_m": [0, 1]}, file="f")
    with pytest.raises(BadInput, match="wrong unit for a slide"):
        build(Joint, joint | {"kind": "slide", "range_deg": [0, 1]}, file="f")


def test_the_line_of_a_mistake_deep_inside_is_named() -> None:
    text = b"bunraku: character/1\nname: c\nbodies:\n- name: b\n  shapes:\n  - kind: box\n    size_mm: [1, 2, x]\njoints: []\n"
    file = read_yaml(text, file="c.yaml", kind="character")
    with pytest.raises(BadInput) as caught:
        build(Character, file.data, file="c.yaml", lines=file.lines)
    assert caught.value.place == "line 7, bodies[0].shapes[0].size_mm[2]"
