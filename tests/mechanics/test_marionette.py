"""A puppet on its strings: the weight in the tensions, what shorter strings do, rest that stays rest, limits of the carriages."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.character import Body, Carriage, Character, Frame, Joint, Pose, String
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.system import System
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.carriages import CarriageLimits
from bunraku.mechanics.systems.character_system import character_home
from bunraku.mechanics.systems.marionette import Hanging, hang, marionette_system, tensions
from bunraku.mechanics.systems.strings import home_lengths, with_carriages
from bunraku.optimization.solution import Status

GRAVITY = 9.81


@pytest.fixture(scope="module")
def puppet() -> Character:
    return read_character("marionette")


@pytest.fixture(scope="module")
def resting(puppet) -> Hanging:
    return hang(puppet)


def ball(mass: float = 2.0, **strings: object) -> Character:
    """A weight on two strings from carriages 1.2 m apart at 2 m."""
    carriages = (Carriage(name="a", home=(-0.6, 0.0, 2.0)), Carriage(name="b", home=(0.6, 0.0, 2.0)))
    hung = (
        String(name="one", carriage="a", hook="top", point=(0.0, 0.0, 0.1)),
        String(name="two", carriage="b", hook="top", point=(0.0, 0.0, 0.1)),
    )
    return Character(
        name="ball",
        bodies=(Body(name="ball", mass=mass, inertia=(0.01, 0.01, 0.01, 0.0, 0.0, 0.0)),),
        joints=(Joint(name="base", kind="free", parent="world", child="ball", damping=0.3),),
        frames=(Frame(name="top", body="ball", pose=Pose(position=(0.0, 0.0, 0.05))),),
        carriages=carriages,
        strings=hung,
        home={"base.tz": 1.05},
    ).changed(**strings)


def pulls(character: Character, at: Hanging) -> np.ndarray:
    """Forces (strings, 3) [N] of the strings on the puppet, from their tensions and directions, by our kinematics alone."""
    configuration = at.system.tree.configuration(at.system.tree_configuration(at.q))
    rows = []
    for string in character.strings:
        R, p = configuration.pose(string.hook)
        line = configuration.pose(string.carriage)[1] - p - R @ np.array(string.point)
        rows.append(at.tensions[string.name] * line / np.linalg.norm(line))
    return np.array(rows)


def hook(system: System, q: np.ndarray, name: str) -> np.ndarray:
    return system.tree.configuration(system.tree_configuration(q)).pose(name)[1]


def test_a_weight_on_two_strings_in_closed_form() -> None:
    """Strings of 1 m from points 1.2 m apart: 0.8 m below the carriages, tension m g / 1.6 each."""
    character = ball()
    assert home_lengths(character) == pytest.approx([1.0, 1.0], abs=1e-15)
    longer = ball(strings=(character.strings[0].changed(length=1.3), character.strings[1]))
    assert home_lengths(longer) == pytest.approx([1.3, 1.0], abs=1e-15)
    at = hang(character).require()
    assert at.status is Status.CONVERGED
    assert list(at.tensions.values()) == pytest.approx([2.0 * GRAVITY / 1.6] * 2, rel=1e-9)
    lower = hang(character, at.system, prescribed={"one.length": 1.3, "two.length": 1.3})
    depth = np.sqrt(1.3**2 - 0.6**2)
    assert hook(lower.system, lower.q, "top")[2] + 0.1 == pytest.approx(2.0 - depth, abs=1e-9)
    assert list(lower.tensions.values()) == pytest.approx([2.0 * GRAVITY * 1.3 / (2.0 * depth)] * 2, rel=1e-9)


def test_carriages_are_slides_that_move_no_mass() -> None:
    character = with_carriages(ball())
    assert character.coordinates[6:] == ("a.x", "a.y", "b.x", "b.y")
    system = marionette_system(ball())
    assert (system.nd, system.nk, system.nc) == (6, 6, 2)
    q = character_home(ball(), system)
    q[system.index("a.x")], q[system.index("a.y")] = 0.25, -0.4
    np.testing.assert_allclose(hook(system, q, "a"), [0.25, -0.4, 2.0], atol=1e-15)


def test_damping_is_that_of_the_joints_unless_told() -> None:
    v = np.ones(12)
    for given, expected in ((None, [-0.3] * 6), (0.7, [-0.7] * 6), ({"base.tx": 0.5}, [-0.5, 0, 0, 0, 0, 0]), (0.0, [0.0] * 6)):
        system = marionette_system(ball(), damping=given)
        q = character_home(ball(), system)
        np.testing.assert_allclose(system.force(q, v, [])[system.dynamic], expected, atol=1e-15)
    for bad in (-1.0, {"base.tx": np.nan}):
        with pytest.raises(BadInput, match="damping"):
            marionette_system(ball(), damping=bad)


def test_the_puppet_has_22_dynamic_and_18_kinematic_coordinates_on_6_strings(puppet, resting) -> None:
    system = resting.system
    assert (system.nd, system.nk, system.nc, system.nu) == (22, 18, 6, 0)
    assert tuple(system.names[i] for i in system.kinematic) == puppet.prescribed
    assert tuple(system.names[i] for i in system.dynamic) == puppet.coordinates


def test_the_strings_carry_the_weight(puppet, resting) -> None:
    weight = GRAVITY * sum(body.mass for body in puppet.bodies)
    np.testing.assert_allclose(pulls(puppet, resting).sum(axis=0), [0.0, 0.0, weight], atol=1e-8)
    assert resting.equilibrium.force_residual < 1e-9
    assert resting.equilibrium.violation < 1e-10
    assert resting.equilibrium.stable
    assert min(resting.tensions.values()) > 0.5


def test_tensions_scale_with_gravity(puppet, resting) -> None:
    moon = hang(puppet, marionette_system(puppet, gravity=(0.0, 0.0, -GRAVITY / 6.0)))
    np.testing.assert_allclose(6.0 * np.array(list(moon.tensions.values())), list(resting.tensions.values()), rtol=1e-7)
    np.testing.assert_allclose(moon.q, resting.q, atol=1e-7)


@pytest.mark.parametrize(("string", "frame"), [("l_hand_string", "l_wrist_hook"), ("r_knee_string", "r_knee_hook")])
def test_a_shorter_string_lifts_its_hook(puppet, resting, string, frame) -> None:
    system, name = resting.system, f"{string}.length"
    for change in (0.01, -0.01):
        at = hang(puppet, system, q=resting.q, prescribed={name: resting.q[system.index(name)] - change}).require()
        lift = hook(system, at.q, frame)[2] - hook(system, resting.q, frame)[2]
        assert lift == pytest.approx(change, abs=0.001)
        other = frame.replace("l_", "r_") if frame.startswith("l_") else frame.replace("r_", "l_")
        assert abs(hook(system, at.q, other)[2] - hook(system, resting.q, other)[2]) < 0.001


def test_carriages_moved_together_carry_the_puppet_along(puppet, resting) -> None:
    moved = {c.coordinates[0]: c.home[0] + 0.07 for c in puppet.carriages} | {
        c.coordinates[1]: c.home[1] - 0.11 for c in puppet.carriages
    }
    at = hang(puppet, resting.system, prescribed=moved).require()
    for frame in ("head", "l_hand", "r_foot"):
        shift = hook(at.system, at.q, frame) - hook(at.system, resting.q, frame)
        np.testing.assert_allclose(shift, [0.07, -0.11, 0.0], atol=1e-8)
    np.testing.assert_allclose(list(at.tensions.values()), list(resting.tensions.values()), rtol=1e-7)


def test_at_rest_it_stays_and_every_step_carries_the_weight(resting) -> None:
    system, q = resting.system, resting.q
    integrator = VariationalIntegrator(system, 0.01)
    start = integrator.initial(q, q)
    run = integrator.rollout(q, start.p, np.zeros((200, 0)), np.tile(q[system.kinematic], (200, 1)))
    assert (run.steps, run.status) == (200, Status.CONVERGED)
    assert np.abs(run.q - q).max() < 1e-9
    assert max(np.abs(system.constraint_values(at)).max() for at in run.q) <= 1e-10
    np.testing.assert_allclose(tensions(system, run), np.tile(list(resting.tensions.values()), (200, 1)), rtol=1e-6)


def test_tension_of_a_lift_is_weight_and_inertia() -> None:
    """A weight on one vertical string, wound up with acceleration a: T = m (g + a) at every step after the first."""
    single = Character(
        name="bob",
        bodies=(Body(name="bob", mass=0.5),),
        joints=(Joint(name="rail", kind="slide", parent="world", child="bob"),),
        carriages=(Carriage(name="c", home=(0.0, 0.0, 2.0)),),
        strings=(String(name="s", carriage="c", hook="bob"),),
    )
    system, dt, a = marionette_system(single), 0.01, 3.0
    length = 2.0 - 0.5 * a * (dt * np.arange(51)) ** 2
    integrator = VariationalIntegrator(system, dt)
    q = character_home(single, system)
    run = integrator.rollout(
        q, integrator.initial(q, q).p, np.zeros((50, 0)), np.column_stack([0 * length, 0 * length, length])[1:]
    )
    found = tensions(system, run)
    np.testing.assert_allclose(found[1:, 0], 0.5 * (GRAVITY + a), rtol=1e-8)
    np.testing.assert_allclose(found[0, 0], 0.5 * (GRAVITY + a / 2), rtol=1e-8)


@pytest.mark.parametrize("string", ["l_hand_string", "r_knee_string", "l_shoulder_string"])
def test_a_string_too_short_to_hang_is_named(puppet, resting, string) -> None:
    at = hang(puppet, resting.system, prescribed={f"{string}.length": 0.5})
    assert at.status is Status.INFEASIBLE
    with pytest.raises(BadInput, match=rf"too short: {string} \(0.5 m, .* missing\)"):
        at.require()


def test_slack_strings_are_named(puppet, resting) -> None:
    at = hang(puppet, resting.system, prescribed={"l_knee_string.length": 1.45, "r_knee_string.length": 1.45})
    assert at.status is Status.INFEASIBLE
    assert at.tensions["l_knee_string"] < 0.0
    with pytest.raises(BadInput, match=r"slack at rest: l_knee_string \(-.* N\), r_knee_string"):
        at.require()
    least = min(resting.tensions.values())
    assert hang(puppet, resting.system, slack_below=least - 1e-6).status is Status.CONVERGED
    assert "hand_string" in hang(puppet, resting.system, slack_below=least + 0.01).problem


def test_what_cannot_be_hung_is_said(puppet, resting) -> None:
    with pytest.raises(BadInput, match="has no strings"):
        marionette_system(ball(carriages=(), strings=()))
    for wrong in ({"l_elbow": 0.1}, {"l_hand_string.length": -1.0}, {"l_hand_string.length": np.nan}):
        with pytest.raises(BadInput, match=next(iter(wrong))):
            hang(puppet, resting.system, prescribed=wrong)
    with pytest.raises(BadInput, match="finite"):
        hang(puppet, resting.system, q=np.full(resting.system.nq, np.nan))


def limited() -> CarriageLimits:
    first = Carriage(
        name="a",
        home=(-0.6, 0.0, 2.0),
        x_range=(-0.7, 0.7),
        velocity=0.5,
        acceleration=5.0,
        separation=0.05,
        winch_range=(0.5, 1.5),
        winch_velocity=0.2,
        winch_acceleration=2.0,
    )
    return CarriageLimits.of(ball(carriages=(first, Carriage(name="b", home=(0.6, 0.0, 2.0), separation=0.1))))


def test_carriage_limits_as_arrays() -> None:
    limits = limited()
    inf = np.inf
    np.testing.assert_array_equal(limits.lower, [-0.7, -inf, -inf, -inf, 0.5, 0.0])
    np.testing.assert_array_equal(limits.upper, [0.7, inf, inf, inf, 1.5, inf])
    np.testing.assert_array_equal(limits.speed, [0.5, inf])
    np.testing.assert_array_equal(limits.winch_acceleration, [2.0, inf])
    np.testing.assert_array_equal(limits.separation, [0.1])


def test_a_circle_and_a_ramp_are_measured_as_they_are() -> None:
    """A carriage on a circle of radius r at w: speed r w, acceleration r w²; its winch at a constant rate."""
    r, w, dt = 0.1, 2.0, 1e-3
    t = dt * np.arange(1001)
    k = np.column_stack([r * np.cos(w * t), r * np.sin(w * t), 0 * t + 0.3, 0 * t, 1.0 + 0.15 * t, 0 * t + 1.0])
    motion = limited().motion(k, dt, before=(0.0, r * w, 0.0, 0.0, 0.15, 0.0))
    np.testing.assert_allclose(motion.speed[:, 0], r * w, rtol=1e-6)
    np.testing.assert_allclose(motion.acceleration[1:, 0], r * w * w, rtol=1e-5)
    np.testing.assert_allclose(motion.winch_speed[:, 0], 0.15, rtol=1e-9)
    assert motion.winch_acceleration.max() < 1e-8
    assert motion.gap.min() == pytest.approx(0.2, abs=1e-6)
    assert limited().excess(k, dt, before=(0.0, r * w, 0.0, 0.0, 0.15, 0.0)).kept
    assert limited().excess(k, dt).acceleration == pytest.approx(r * w / dt - 5.0, rel=1e-3)


@pytest.mark.parametrize(
    ("column", "curve", "field", "amount", "words"),
    [
        (0, lambda t: -0.6 - 0.15 * t * t, "range", 0.05, "range of a.x"),
        (1, lambda t: 0.35 * t * t, "speed", 0.2, "speed of a"),
        (1, lambda t: 0.04 * np.cos(12.0 * t) - 0.04, "acceleration", 0.76, "acceleration of a"),
        (4, lambda t: 1.0 + 0.15 * t * t, "winch_speed", 0.1, "winch speed of one"),
        (4, lambda t: 1.0 - 0.014 * np.cos(13.0 * t), "winch_acceleration", 0.366, "winch acceleration of one"),
        (2, lambda t: -0.45 - 0.08 * t * t, "separation", 0.03, "separation of a and b"),
    ],
)
def test_what_exceeds_a_limit_is_measured_and_named(column, curve, field, amount, words) -> None:
    t = 1e-3 * np.arange(1001)
    k = np.tile([-0.6, 0.0, 0.6, 0.0, 1.0, 1.0], (len(t), 1))
    k[:, column] = curve(t)
    excess = limited().excess(k, 1e-3)
    assert getattr(excess, field) == pytest.approx(amount, abs=0.002)
    assert excess.worst == words
    others = {"range", "speed", "acceleration", "winch_speed", "winch_acceleration", "separation"} - {field}
    assert all(getattr(excess, other) == 0.0 for other in others)


def test_a_motion_of_the_wrong_shape_is_refused() -> None:
    for bad in (np.zeros((5, 4)), np.zeros((1, 6)), np.full((5, 6), np.nan)):
        with pytest.raises(BadInput, match="motion"):
            limited().motion(bad, 0.01)
    with pytest.raises(BadInput, match="before"):
        limited().motion(np.zeros((5, 6)), 0.01, before=np.zeros(5))
    with pytest.raises(BadInput, match="dt"):
        limited().motion(np.zeros((5, 6)), 0.0)
