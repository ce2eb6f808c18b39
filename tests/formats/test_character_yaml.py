"""Characters as YAML: exact round trips, errors with line and field, and the limits overlay."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Character, Joint, Motor, Pose
from bunraku.errors import BadInput
from bunraku.formats.character_yaml import read_character_yaml, write_character_yaml
from bunraku.formats.overlay import MotorChange, apply_overlay
from bunraku.formats.registry import read_character
from bunraku.formats.urdf_read import read_urdf
from bunraku.mechanics.tree import compile_tree

LEG = b"""<robot name="leg">
  <link name="hip"/><link name="thigh"/><link name="shin"/><link name="toe"/>
  <joint name="pitch" type="revolute"><parent link="hip"/><child link="thigh"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="4"/></joint>
  <joint name="knee" type="revolute"><parent link="thigh"/><child link="shin"/><origin xyz="0 0 -0.3"/><axis xyz="0 1 0"/>
    <limit lower="0" upper="2" effort="5" velocity="4"/></joint>
  <joint name="toe" type="revolute"><parent link="shin"/><child link="toe"/><origin xyz="0 0 -0.2"/><axis xyz="0 1 0"/>
    <limit lower="-1" upper="1" effort="5" velocity="4"/></joint>
</robot>"""
OVERLAY = b"""bunraku: overlay/1
name: my_leg
base: free
motors:
- match: "*"
  acceleration_deg_s2: 360
  stiffness_n_m_per_rad: 30
- match: knee
  velocity_deg_s: 90
  range_deg: [10, 90]
couplings:
- {driver: knee, follower: toe, ratio: -0.5}
dependent_ranges:
- {coordinate: pitch, on: knee, knots_deg: [[0, -30, 30], [90, -10, 20]]}
frames:
- {name: sole, body: toe, pose: {position_mm: [0, 0, -50]}}
feet:
- {name: foot, body: toe, points_cm: [[5, 0, -5], [-3, 0, -5]]}
groups: {leg: [pitch, knee]}
home_deg: {pitch: -30, knee: 60}
may_touch: [[hip, shin]]
source: measured by hand
"""


@pytest.fixture
def leg() -> Character:
    return read_urdf(LEG, file="leg.urdf")[0]


@pytest.mark.parametrize("name", ["nao", "humanoid", "marionette"])
def test_round_trip_of_the_built_in_characters_is_exact(name: str) -> None:
    character = read_character(name)
    text = write_character_yaml(character)
    assert read_character_yaml(text.encode(), file="x.yaml") == character
    assert write_character_yaml(read_character_yaml(text.encode(), file="x.yaml")) == text
    assert text.startswith("bunraku: character/1\n")


def test_round_trip_of_arbitrary_numbers_and_joints_is_exact() -> None:
    rng = np.random.default_rng(9)
    kinds = ("fixed", "hinge", "slide", "universal", "ball", "planar", "free")
    bodies, joints = [], []
    for i, kind in enumerate(kinds * 4):
        inertia = tuple(rng.normal(size=6) * 10.0 ** rng.integers(-8, 3))
        bodies.append(Body(name=f"b{i}", mass=float(rng.exponential()), center_of_mass=tuple(rng.normal(size=3)), inertia=inertia))
        pose = Pose(position=tuple(rng.normal(size=3)), quaternion=tuple(rng.normal(size=4)))
        limits = tuple(sorted(rng.normal(size=2))) if kind in ("hinge", "slide") else None
        joints.append(Joint(name=f"j{i}", kind=kind, parent=f"b{i - 1}" if i else "world", child=f"b{i}", pose=pose, range=limits))
    joints[6] = joints[6].changed(ranges=((-1.0, 1.0), None, None, (-0.1, 0.2), None, None))
    character = Character(name="random", bodies=tuple(bodies), joints=tuple(joints), home={"j1": 0.1, "j2": 0.2, "j6.tz": 1 / 3})
    assert read_character_yaml(write_character_yaml(character).encode(), file="x.yaml") == character


STRINGS = """bunraku: character/1
name: x
bodies: [{name: a, mass_kg: 1}]
joints: [{name: j, kind: slide, parent: world, child: a}]
carriages:
- {name: c, home_cm: [0, 5, 200], x_range_mm: [-100, 100], velocity_cm_s: 50, acceleration_m_s2: 3, winch_velocity_mm_s: 200}
strings:
- {name: s, carriage: c, hook: a, point_mm: [0, 0, 20], length_cm: 150}
"""


def test_strings_and_carriages_with_their_units() -> None:
    character = read_character_yaml(STRINGS.encode(), file="x.yaml")
    carriage, string = character.carriages[0], character.strings[0]
    assert carriage.home == pytest.approx((0.0, 0.05, 2.0))
    assert carriage.x_range == pytest.approx((-0.1, 0.1))
    assert (carriage.velocity, carriage.acceleration, carriage.winch_velocity) == pytest.approx((0.5, 3.0, 0.2))
    assert (carriage.y_range, carriage.winch_acceleration, carriage.separation) == (None, None, 0.0)
    assert (string.point, string.length) == (pytest.approx((0.0, 0.0, 0.02)), 1.5)
    text = write_character_yaml(character)
    assert "velocity_m_s: 0.5" in text
    assert "rad" not in text
    assert read_character_yaml(text.encode(), file="x.yaml") == character
    for old, new, words in (
        ("velocity_cm_s: 50", "velocity_deg_s: 50", ("line 6", "carriages[0].velocity_deg_s", "velocity_m_s")),
        ("hook: a", "hook: b", ("'s' is hooked to 'b'",)),
        ("length_cm: 150", "length_cm: -1", ("line 8", "strings[0].length_cm", "greater than 0")),
    ):
        with pytest.raises(BadInput) as caught:
            read_character_yaml(STRINGS.replace(old, new, 1).encode(), file="x.yaml")
        for word in words:
            assert word in str(caught.value)


PAIR = """bunraku: character/1
name: x
bodies:
- {name: a}
- {name: head}
joints:
- {name: j, kind: hinge, parent: world, child: a}
"""
NECK = f"{PAIR}- {{name: neck, kind: hinge, parent: a, child: head}}\n"


def test_an_overlay_hangs_a_character_on_strings(leg: Character) -> None:
    sections = STRINGS[STRINGS.index("carriages:") :].replace("hook: a", "hook: shin")
    hung = apply_overlay(leg, b"bunraku: overlay/1\n" + sections.encode(), file="o")
    assert hung.prescribed == ("c.x", "c.y", "s.length")
    assert hung.coordinates == leg.coordinates


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("bunraku: character/1\nname: x\nbodies:\n- name: a\n  mass_kg: heavy\n", ("line 5", "bodies[0].mass_kg", "number")),
        ("bunraku: character/1\nname: x\nbodies:\n- name: a\n  mass: 2\n", ("line 5", "no unit", "mass_kg")),
        ("bunraku: character/1\nname: x\nbodies:\n- {name: a}\njoints: []\n", ("'a' hangs on no joint",)),
        (
            "bunraku: character/1\nname: x\nbodies:\n- {name: a}\njoints:\n- {name: j, kind: hing, parent: world, child: a}\n",
            ("line 6", "joints[0].kind"),
        ),
        (
            f"{PAIR}- {{name: neck, kind: hinge, parent: a, child: haed}}\n",
            ("line 8, joints[1].child:", "joint 'neck' names the body 'haed'", "known: a, head"),
        ),
        (
            f"{PAIR}- name: neck\n  kind: hinge\n  parent: a\n  child: head\nmotors:\n- name: m\n  coordinate: nekc\n",
            ("line 14, motors[0].coordinate:", "'nekc'"),
        ),
        (f"{NECK}home_deg:\n  j: 1\n  nekc: 2\n", ("line 11, home_deg.nekc:", "home names the coordinate 'nekc'")),
        (f"{NECK}groups:\n  all:\n  - neck\n  - nekc\n", ("line 12, groups.all[1]:", "group 'all'")),
        (f"{NECK}frames:\n- {{name: f, body: haed}}\n", ("line 10, frames[0].body:", "'f' is fixed to 'haed'")),
        (f"{NECK}- {{name: neck, kind: hinge, parent: a, child: head}}\n", ("line 9, joints[2].name:", "share the name 'neck'")),
        (f"{NECK}end_effectors:\n- {{name: e, kind: ball, body: haed, radius_m: 1}}\n", ("line 10, end_effectors[0].body:",)),
        (
            f"{PAIR}- {{name: neck, kind: hinge, parent: a, child: head, range_deg: [40, -30]}}\n",
            ("line 8, joints[1]", "range [40, -30] deg ([0.6981, -0.5236] rad) is empty"),
        ),
        (
            f"{PAIR}- {{name: neck, kind: slide, parent: a, child: head, range_m: [0.2, 0.1]}}\n",
            ("line 8, joints[1]", "range [0.2, 0.1] m is empty"),
        ),
        (
            f"{PAIR}- {{name: neck, kind: planar, parent: a, child: head, ranges_rad: [null, null, [1, 0]]}}\n",
            ("line 8, joints[1]", "[1, 0] rad) is empty"),
        ),
        ("bunraku: clip/1\n", ("line 1", "character file is needed")),
        ("name: x\n", ("line 1", "bunraku: character/1")),
        ("bunraku: character/9\n", ("character/9", "newer")),
    ],
)
def test_what_is_wrong_is_said_with_file_line_and_field(text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        read_character_yaml(text.encode(), file="bad.character.yaml")
    for word in ("bad.character.yaml", *words):
        assert word in str(caught.value)


def test_overlay_adds_what_a_urdf_cannot_say(leg: Character) -> None:
    robot = apply_overlay(leg, OVERLAY, file="leg.overlay.yaml")
    assert robot.name == "my_leg"
    assert robot.driven == ("pitch", "knee")
    pitch, knee = robot.motor_of("pitch"), robot.motor_of("knee")
    assert pitch.acceleration == pytest.approx(2 * np.pi)
    assert (pitch.velocity, pitch.stall_torque, pitch.stiffness) == (4.0, 5.0, 30.0)
    assert knee.velocity == pytest.approx(np.pi / 2)
    assert knee.range == pytest.approx(np.deg2rad([10, 90]))
    assert robot.couplings[0].follower == "toe"
    assert robot.groups == {"leg": ("pitch", "knee")}
    assert robot.source == "URDF leg.urdf; measured by hand"
    assert robot.joints[0].kind == "free"
    tree = compile_tree(robot)
    at = tree.configuration(tree.home)
    assert tree.home[tree.index("toe")] == pytest.approx(-np.pi / 6)
    node = tree.nodes["toe"]
    heights = [(at.position[node] + at.rotation[node] @ np.array(point))[2] for point in robot.feet[0].points]
    assert min(heights) == pytest.approx(0.0, abs=1e-15)


def test_an_overlay_can_change_every_field_of_a_motor_within_its_bounds() -> None:
    for name, field in Motor.model_fields.items():
        if name in ("name", "coordinate"):
            assert name not in MotorChange.model_fields
            continue
        changed = MotorChange.model_fields[name]
        assert (changed.annotation, changed.metadata, changed.default) == (field.annotation, field.metadata, field.default)
        assert changed.json_schema_extra == field.json_schema_extra
    with pytest.raises(BadInput, match="less than or equal to 1"):
        MotorChange(match="*", torque_fraction=1.5)


def test_overlay_height_of_free_and_fixed_bases(leg: Character) -> None:
    free = apply_overlay(leg, b"bunraku: overlay/1\nbase: free\nbase_height_cm: 70\n", file="o")
    assert compile_tree(free).configuration(compile_tree(free).home).pose("hip")[1][2] == pytest.approx(0.7)
    fixed = apply_overlay(free, b"bunraku: overlay/1\nbase: fixed\nbase_height_m: 0.6\n", file="o")
    assert fixed.coordinates == leg.coordinates
    assert compile_tree(fixed).configuration(np.zeros(3)).pose("hip")[1][2] == pytest.approx(0.6)
    bare = apply_overlay(leg, b"bunraku: overlay/1\ndrop_motors: ['*']\nmotors: [{match: toe, velocity_rad_s: 1}]\n", file="o")
    assert bare.driven == ("toe",)


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("motors:\n- {match: knie, velocity_deg_s: 90}\n", ("line 3", "motors[0].match", "did you mean knee")),
        ("motors:\n- {match: knee, velocity: 90}\n", ("line 3", "velocity_deg_s")),
        ("motors:\n- {match: knee, range_deg: [90, 10]}\n", ("line 3", "motors[0]", "empty")),
        ("drop_motors: [wheel]\n", ("line 2", "'wheel' matches no motor")),
        ("feet: [{name: f, body: nose, points_m: [[0, 0, 0]]}]\n", ("'nose', which is no body",)),
        ("couplings: [{driver: knee, follower: ellbow}]\n", ("'ellbow'",)),
        ("base: hanging\n", ("line 2", "base")),
    ],
)
def test_a_wrong_overlay_is_refused_with_its_line(leg: Character, text: str, words: tuple[str, ...]) -> None:
    with pytest.raises(BadInput) as caught:
        apply_overlay(leg, b"bunraku: overlay/1\n" + text.encode(), file="leg.overlay.yaml")
    for word in ("leg.overlay.yaml", *words):
        assert word in str(caught.value)
