"""The replay against physics that is known: a stated delay, a torque-speed line, a figure that leans too far, a servo's sag."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from bunraku.character import Body, Character, Foot, Joint, Motor, Pose, Shape
from bunraku.errors import BadInput
from bunraku.motion import Certificate, Channel, JointCurves, Performance, Provenance
from bunraku.optimization.monitor import SILENT, Event, Monitor
from bunraku.optimization.solution import Status
from bunraku.verification.foreign import without_log_file
from bunraku.verification.rigid.judge import _tracking_checks
from bunraku.verification.rigid.replay import RigidReplay, model_for, play

RATE = 100.0


def replay(performance: Performance, *, timestep: float = 0.001, monitor: Monitor = SILENT) -> RigidReplay:
    with without_log_file():
        return play(performance, model_for(performance, timestep), monitor=monitor)


def performance_of(character: Character, values: np.ndarray) -> Performance:
    names = character.driven
    curves = JointCurves(names, RATE, values)
    channels = tuple(Channel(name, "position", "rad", RATE, values[:, j]) for j, name in enumerate(names))
    nothing = Certificate(Status.CONVERGED, ())
    return Performance(character, "test", channels, curves, curves, nothing, Provenance("none", {}, {}, {}))


def arm(**motor: float) -> Character:
    """A light rod of 0.2 m on a wall, swinging about y; hanging straight down at zero."""
    return Character(
        name="arm",
        bodies=(Body(name="rod", mass=0.1, center_of_mass=(0, 0, -0.1), inertia=(4e-4, 4e-4, 1e-5, 0, 0, 0)),),
        joints=(Joint(name="swing", kind="hinge", parent="world", child="rod", axis=(0, 1, 0)),),
        motors=(Motor(name="servo", coordinate="swing", rate=RATE, **motor),),
    )


def tower(stance: float = 0.1) -> Character:
    """A foot of half length ``stance`` carrying a heavy head on a stem that leans about y: 2 kg at 0.5 m."""
    foot = Shape(kind="box", size=(stance, 0.1, 0.01))
    head = Shape(kind="sphere", size=(0.05,), pose=Pose(position=(0, 0, 0.5)))
    corners = tuple((x, y, -0.01) for x in (-stance, stance) for y in (-0.1, 0.1))
    return Character(
        name="tower",
        bodies=(
            Body(name="sole", mass=0.5, inertia=(2e-3, 2e-3, 3e-3, 0, 0, 0), shapes=(foot,)),
            Body(name="head", mass=2.0, center_of_mass=(0, 0, 0.5), inertia=(2e-3, 2e-3, 2e-3, 0, 0, 0), shapes=(head,)),
        ),
        joints=(
            Joint(name="base", kind="free", parent="world", child="sole"),
            Joint(name="lean", kind="hinge", parent="sole", child="head", axis=(0, 1, 0)),
        ),
        motors=(Motor(name="waist", coordinate="lean", stall_torque=30.0, no_load_speed=6.0, continuous_torque=10.0, rate=RATE),),
        feet=(Foot(name="sole", body="sole", points=corners),),
        home={"base.tz": 0.3},
    )


def lean_to(angle: float, seconds: float = 3.0) -> np.ndarray:
    t = np.arange(int(seconds * RATE) + 1) / RATE
    u = np.clip(t / 2.0, 0, 1)
    return (angle * (10 * u**3 - 15 * u**4 + 6 * u**5))[:, None]


def sine(amplitude: float, frequency: float, seconds: float = 3.0) -> np.ndarray:
    t = np.arange(int(seconds * RATE) + 1) / RATE
    return (amplitude * np.sin(2 * np.pi * frequency * t) * np.minimum(1, 2 * t))[:, None]


@pytest.mark.parametrize("delay", [0.0, 0.05, 0.12])
def test_the_delay_measured_is_the_delay_stated(delay: float) -> None:
    result = replay(performance_of(arm(delay=delay, stall_torque=2.0, stiffness=40.0), sine(0.4, 1.0)))
    # going straight from one command to the next, a servo is a period behind
    late = np.arange(0.0, 0.2, 1e-3)
    told, done = sine(0.4, 1.0)[:, 0], result.coordinates.values[:, 0]
    times = np.arange(len(told)) / RATE
    apart = [np.var(np.interp(times + d, result.times, done) - told) for d in late]
    assert late[int(np.argmin(apart))] == pytest.approx(delay + 1.0 / RATE, abs=0.002)
    assert result.tracking_rms[0] < 0.005
    assert not result.fell


def test_torque_stays_on_the_torque_speed_line() -> None:
    character = arm(stall_torque=0.25, no_load_speed=3.0, stiffness=40.0)
    result = replay(performance_of(character, sine(1.2, 1.0)))
    assert result.saturation[0] > 0.2, "this motion asks for more than the motor has"
    assert result.peak_torque[0] <= 0.25 + 1e-12
    angle = result.coordinates.values[:, 0]
    speed = np.gradient(angle, 1 / RATE)
    driving = result.torques[:, 0] * np.sign(speed)
    # the speed of a sample is a central difference, so the line is met within what speed changes in a period
    allowed = 0.25 * np.clip(1 - np.abs(speed) / 3.0, 0, 1)
    assert (driving <= allowed + 0.05).all()
    strong = replay(performance_of(arm(stall_torque=5.0, no_load_speed=30.0, stiffness=40.0), sine(1.2, 1.0)))
    assert strong.saturation[0] == 0.0
    assert strong.tracking_rms[0] < 0.1 * result.tracking_rms[0]


def test_a_held_arm_sags_by_its_weight_over_the_stiffness() -> None:
    values = np.full((301, 1), 1.0)
    result = replay(performance_of(arm(stiffness=4.0, stall_torque=3.0), values))
    sag = 1.0 - result.coordinates.values[-1, 0]
    weight = 0.1 * 9.81 * 0.1 * np.sin(1.0 - sag)
    assert sag == pytest.approx(weight / 4.0, rel=1e-4)
    assert result.torques[-1, 0] == pytest.approx(weight, rel=1e-4)
    assert result.peak_torque[0] == pytest.approx(weight, rel=0.2)


def test_a_tower_that_stays_over_its_foot_stands() -> None:
    result = replay(performance_of(tower(), lean_to(0.1)))
    assert not result.fell, result.reason
    assert result.foot_slip < 0.002
    assert result.tilt_max < 0.02
    assert result.complete


def test_a_top_heavy_tower_that_leans_beyond_its_foot_falls() -> None:
    # the centre of mass is 2 / 2.5 of the head's shift: 0.4 sin(0.5) = 0.19 m, beyond the edge at 0.1 m
    result = replay(performance_of(tower(), lean_to(0.5)))
    assert result.fell
    assert "leans" in result.reason
    assert result.tilt_max > 0.3
    # with a foot twice as long it stands, so it is the foot that decides
    assert not replay(performance_of(tower(0.25), lean_to(0.5))).fell


def test_the_edge_of_falling_is_where_the_margin_vanishes() -> None:
    # 0.4 sin(a) = 0.1 at a = 0.2527: the replay and the certificate's polygon agree on which side is safe
    assert not replay(performance_of(tower(), lean_to(0.22))).fell
    assert replay(performance_of(tower(), lean_to(0.28))).fell


def test_the_same_input_gives_the_same_bytes() -> None:
    one, two = (replay(performance_of(tower(), lean_to(0.1, 0.5))) for _ in range(2))
    assert one.coordinates.values.tobytes() == two.coordinates.values.tobytes()
    assert one.figures == two.figures


class _Impatient(Monitor):
    def __init__(self) -> None:
        self.heard = 0

    def report(self, event: Event) -> None:
        self.heard += 1

    @property
    def cancelled(self) -> bool:
        return self.heard >= 2


def test_a_cancelled_replay_returns_what_it_has() -> None:
    result: RigidReplay = replay(performance_of(tower(), lean_to(0.1, 5.0)), monitor=_Impatient())
    assert not result.complete
    assert len(result.coordinates.values) == 2 * RATE


def test_a_floating_character_without_feet_is_refused() -> None:
    with pytest.raises(BadInput, match="feet"):
        replay(performance_of(tower().changed(feet=()), lean_to(0.0, 0.1)))
    with pytest.raises(BadInput, match="time step"):
        replay(performance_of(tower(), lean_to(0.0, 0.1)), timestep=0.5)


def test_a_simulation_that_goes_wrong_is_said_and_leaves_no_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    # MuJoCo drops commands this large without stopping
    result = replay(performance_of(arm(stiffness=1e14, damping=1e-3), sine(0.4, 1.0)))
    assert result.fell
    assert "unstable" in result.reason
    assert list(tmp_path.iterdir()) == []


def test_one_motor_among_many_that_is_lost_breaks_a_promise() -> None:
    """Of nine arms one has a motor that cannot lift it: 0.19 rad off is 0.06 rad RMS over all when the rest keep still."""
    lifted, count = 0.6, 9
    one = arm(stiffness=50.0, damping=1.0)
    many = Character(
        name="many",
        bodies=tuple(one.bodies[0].changed(name=f"rod{i}") for i in range(count)),
        joints=tuple(one.joints[0].changed(name=f"swing{i}", child=f"rod{i}") for i in range(count)),
        motors=tuple(
            one.motors[0].changed(name=f"servo{i}", coordinate=f"swing{i}", stall_torque=2.0 if i else 0.03, no_load_speed=50.0)
            for i in range(count)
        ),
    )
    values = np.zeros((200, count))
    values[:, 0] = np.minimum(np.linspace(0.0, 2.0 * lifted, 200), lifted)
    checks = {check.name: check for check in _tracking_checks(replay(performance_of(many, values)))}
    assert checks["tracking rms of the worst motor"].broken
    assert checks["tracking rms of the worst motor"].note == "servo0"
    assert checks["tracking rms"].value == pytest.approx(checks["tracking rms of the worst motor"].value / 3.0, rel=0.05)
