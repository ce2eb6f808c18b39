"""Closed loops: servos that sag, and an arm on a string that is brought to rest by its gains through the player."""

from __future__ import annotations

import numpy as np
import pytest
from tests.stage.player.conftest import Memory, Scripted, device_of, performance_of, waving

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.character_system import character_home, character_system
from bunraku.motion import Certificate, Channel, Feedback, JointCurves, Performance, Provenance
from bunraku.optimization.control.lqr import time_varying_lqr
from bunraku.optimization.solution import Status
from bunraku.stage.devices.device import Device
from bunraku.stage.devices.reported import sensor_ids
from bunraku.stage.player.clock import MonotonicClock
from bunraku.stage.player.closing import Following, StateFeedback
from bunraku.stage.player.described import described_device, with_sensors
from bunraku.stage.player.outputs import outputs_of
from bunraku.stage.player.player import Player
from bunraku.stage.player.program import Show
from bunraku.stage.servos import ServoCalibration

RATE, STEPS = 100.0, 150
pytestmark = pytest.mark.usefixtures("punctual")


@pytest.mark.parametrize("gain", [0.0, 0.5, 0.9])
def test_a_servo_that_sags_comes_closer_by_one_plus_the_gain(gain: float) -> None:
    sag = 40.0  # counts: 3.5 degrees, less than the bound

    def sagging(sent: list) -> np.ndarray:
        return (sent[-1] if sent else np.full(3, 2048.0)) - np.array([sag, 0.0, 0.0])

    still = performance_of(np.zeros((100, 3)))
    driver = Memory(sagging)
    player = Player(Show(still), device_of(posture_gain=gain, posture_deg=10.0))
    with Scripted() as cues:
        player.run(driver, MonotonicClock(), cues)
    error = player.outputs.values(sagging(driver.sent))[0]
    assert error == pytest.approx(-sag * player.outputs.resolution[0] / (1.0 + gain), abs=1.5 * player.outputs.resolution[0])


def test_the_correction_is_bounded() -> None:
    show = performance_of(waving())
    device = device_of(posture_gain=0.9, posture_deg=2.0)
    outputs = outputs_of([show], device)
    following = Following(outputs, device)
    following.begin(np.zeros(3))
    assert following.measured(np.array([0.3, -0.3, 0.001])) == -1
    out = np.zeros(3)
    following.correct(np.zeros(3), out)
    np.testing.assert_allclose(out, [-np.radians(2.0), np.radians(2.0), -0.0009], atol=1e-12)
    assert following.measured(np.array([0.0, -0.4, 0.0])) == 1, "beyond 20 degrees"
    assert following.measured(np.array([0.0, 0.0, np.inf])) == 2


def hanging() -> tuple[Performance, VariationalIntegrator]:
    """The puppet's arm at rest for a while, with gains that bring it back there."""
    who = read_character("puppet-arm")
    system = character_system(who)
    integrator = VariationalIntegrator(system, 1.0 / RATE)
    home = character_home(who, system)
    for _ in range(4000):  # find rest: let it swing, and take the speed out of it
        home = integrator.step(home, np.zeros(system.nd), k2=home[system.kinematic]).q2
    k2 = np.tile(home[system.kinematic], (STEPS, 1))
    rest = integrator.initial(home, home)
    plan = integrator.rollout(rest.q, rest.p, np.zeros((STEPS, 0)), k2)
    line = integrator.linearize(plan)
    nx = system.nq + system.nd
    weights = np.diag(np.concatenate([np.full(system.nq, 10.0), np.full(system.nd, 10.0)]))
    gains = time_varying_lqr(line.A, line.B, weights, 100.0 * np.eye(system.nk))
    names = tuple(system.names)
    kinematic = tuple(names[i] for i in system.kinematic)
    states, moved = np.hstack([plan.q, plan.p]), tuple(names[i] for i in system.dynamic)
    feedback = Feedback(RATE, names, moved, kinematic, states, k2, gains.K.reshape(STEPS, -1, nx))
    order = who.coordinates + who.prescribed
    motion = JointCurves(order, RATE, plan.q[:, [names.index(n) for n in order]])
    channels = tuple(
        Channel(n, "length" if n.endswith("length") else "position", "m", RATE, np.append(k2[:, j], k2[-1, j]))
        for j, n in enumerate(kinematic)
    )
    wish = JointCurves(("elbow",), RATE, motion.column("elbow")[:, None])
    certificate, source = Certificate(Status.CONVERGED, ()), Provenance("test", {}, {}, {})
    return Performance(who, "hang", channels, wish, motion, certificate, source, feedback=feedback), integrator


@pytest.fixture(scope="module")
def arm() -> tuple[Performance, VariationalIntegrator]:
    return hanging()


def device_with_sensors(show: Performance) -> Device:
    turn = ServoCalibration(position_min=0, position_max=32_000, neutral_deg=90.0, range_deg=180.0, reverse=True)
    sensors = dict.fromkeys(show.character.coordinates, turn)
    return described_device([show], "dry-run", rate=RATE).changed(sensors=sensors, following_mm=1000.0)


class Arm(Memory):
    """The arm itself: a command moves its carriage and winch within a period, and it swings; encoders report every angle."""

    def __init__(self, player: Player, integrator: VariationalIntegrator, push: float) -> None:
        super().__init__()
        self._player, self._integrator = player, integrator
        show = player.show.main
        assert show.feedback is not None
        system = integrator.system
        self.q = show.feedback.states[0, : system.nq].copy()
        self.p = show.feedback.states[0, system.nq :].copy()
        self.p[-1] += push
        self.names = list(system.names)
        self.path: list[np.ndarray] = []

    def send(self, counts: np.ndarray) -> None:
        super().send(counts)
        told = dict(zip(self._player.outputs.names, self._player.outputs.values(counts), strict=True))
        k2 = [told[self.names[i]] for i in self._integrator.system.kinematic]
        step = self._integrator.step(self.q, self.p, k2=k2)
        assert step.status.good
        self.q, self.p = step.q2, step.p2
        self.path.append(self.q)

    def measure(self) -> np.ndarray:
        outputs, sensors = self._player.outputs, self._player.device.sensors
        places = np.array([self.q[self.names.index(n)] for n in outputs.names])
        angles = [one.at_zero + one.per_radian * self.q[self.names.index(n)] for n, one in sensors.items()]
        return np.concatenate([outputs.zero + outputs.slope * places, np.rint(angles)])


def swing(show: Performance, integrator: VariationalIntegrator, device: Device) -> tuple[float, Player, Arm]:
    """RMS angle [rad] from rest, from 0.3 s after a push at the elbow on."""
    player = Player(Show(show), device)
    machine = Arm(player, integrator, push=2e-3)
    with Scripted() as cues:
        record = player.run(machine, MonotonicClock(), cues)
    assert not record.stopped, record.ended
    assert show.feedback is not None
    elbow = machine.names.index("elbow")
    away = np.abs(np.array(machine.path)[:, elbow] - show.feedback.states[0, elbow])
    return float(np.sqrt(np.mean(away[30:] ** 2))), player, machine


def ideal(show: Performance, integrator: VariationalIntegrator) -> float:
    """The same RMS angle with the exact state, straight from the equations."""
    feedback, system = show.feedback, integrator.system
    assert feedback is not None
    q, p = feedback.states[0, : system.nq], feedback.states[0, system.nq :].copy()
    p[-1] += 2e-3
    elbow, path = list(system.names).index("elbow"), []
    for node in range(feedback.steps):
        step = integrator.step(q, p, k2=feedback.command(node, np.concatenate([q, p])))
        q, p = step.q2, step.p2
        path.append(q[elbow])
    path.append(path[-1])
    return float(np.sqrt(np.mean((np.array(path) - feedback.states[0, elbow])[30:] ** 2)))


def test_gains_bring_the_arm_to_rest_when_the_device_reports_what_they_need(arm) -> None:
    show, integrator = arm
    closed, player, machine = swing(show, integrator, device_with_sensors(show))
    assert player.notes == []
    free, player, _ = swing(show, integrator, described_device([show], "dry-run", rate=RATE))
    assert any("need" in note and "which the device does not report" in note for note in player.notes)
    assert free > 0.01
    assert closed < 0.6 * free
    assert closed == pytest.approx(ideal(show, integrator), rel=0.03), "as good as with exact states and unrounded commands"
    values = player.outputs.values(machine.counts)
    planar = [player.outputs.names.index(n) for n in ("carriage.x", "carriage.y")]
    assert np.hypot(*np.diff(values[:, planar], axis=0).T).max() <= 1.0 / RATE + 1e-4


def test_described_sensors_are_all_that_the_gains_need(arm) -> None:
    show, integrator = arm
    device = with_sensors(described_device([show], "dry-run"), show).changed(following_mm=1000.0)
    assert show.feedback is not None
    assert {*device.servos, *device.sensors} == set(show.feedback.coordinates)
    ids = (*device.ids, *sensor_ids(device))
    assert len(set(ids)) == len(ids)
    closed, player, _ = swing(show, integrator, device)
    assert player.notes == []
    assert closed == pytest.approx(ideal(show, integrator), rel=0.1), "encoders of 4096 counts a turn"
    with pytest.raises(BadInput, match="has no gains"):
        with_sensors(device, show.changed(feedback=None))
    with pytest.raises(BadInput, match="the maestro driver cannot report sensors; dynamixel, serial and websocket can"):
        with_sensors(described_device([show], "maestro"), show)


def test_sensors_that_fall_silent_leave_the_plan_and_are_told_of(arm) -> None:
    show, integrator = arm
    player = Player(Show(show), device_with_sensors(show))
    machine = Arm(player, integrator, push=0.0)
    whole = machine.measure
    machine.measure = lambda: whole()[:3] if len(machine.sent) > 40 else whole()  # type: ignore[method-assign]
    with Scripted() as cues:
        record = player.run(machine, MonotonicClock(), cues)
    assert not record.stopped
    assert any(note.startswith(f"{STEPS - 41} commands went without feedback") for note in record.notes), record.notes
    np.testing.assert_array_equal(machine.counts[-1], player.outputs.counts(show.commands(player.outputs.names)[-1]))


@pytest.mark.parametrize(("silent", "said"), [(-1, []), (60, ["1 command went without feedback"])])
def test_the_ends_of_loops_lack_no_feedback_and_a_single_gap_is_told(arm, silent: int, said: list) -> None:
    show, integrator = arm
    player = Player(Show(show, loops=3), device_with_sensors(show))
    machine = Arm(player, integrator, push=0.0)
    whole = machine.measure
    machine.measure = lambda: whole()[:3] if len(machine.sent) == silent else whole()  # type: ignore[method-assign]
    with Scripted() as cues:
        record = player.run(machine, MonotonicClock(), cues)
    assert record.played == ("hang",) * 3
    assert [note.split(":")[0] for note in record.notes] == said


def test_momenta_from_two_places_are_those_of_the_integrator(arm) -> None:
    show, integrator = arm
    device = device_with_sensors(show)
    outputs = outputs_of([show], device)
    closed, why = StateFeedback.of(show, outputs, device)
    assert closed is not None, why
    system, feedback = integrator.system, show.feedback
    assert feedback is not None
    q, p = feedback.states[0, : system.nq].copy(), feedback.states[0, system.nq :] + 1e-3
    reported = [*outputs.names, *device.sensors]
    out = np.zeros(3)
    for node in range(3):
        measured = np.array([q[list(system.names).index(n)] for n in reported])
        assert closed.correct(node, measured, out)
        if node:
            expected = feedback.command(node, np.concatenate([q, p]))
            np.testing.assert_allclose(out, [expected[feedback.inputs.index(n)] for n in outputs.names], atol=1e-9)
        step = integrator.step(q, p, k2=feedback.commands[node])
        q, p = step.q2, step.p2
    measured[0] = np.nan
    assert not closed.correct(3, measured, out)


def test_why_gains_stay_unused_is_said(arm) -> None:
    show, _ = arm
    device = device_with_sensors(show).changed(rate_hz=50.0)
    found, why = StateFeedback.of(show, outputs_of([show], device), device)
    assert found is None
    assert why == "its gains are for 100 Hz, the device runs at 50 Hz; set rate_hz"


def test_a_sensor_that_cannot_measure_its_coordinate_is_refused_before_anything_moves(arm, monkeypatch) -> None:
    show, _ = arm
    monkeypatch.setattr(Performance, "unit_of", lambda self, name: "m" if name == "elbow" else "rad")
    with pytest.raises(BadInput, match="channel 'elbow' is in m, which its servo cannot take; give its servo span_m"):
        Player(Show(show), device_with_sensors(show))
