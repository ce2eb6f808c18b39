"""Fits of the closed-form rod of conftest."""

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.mechanics.identification.alignment import view_planes
from bunraku.mechanics.identification.fit import _Problem, fit_material
from bunraku.mechanics.identification.model import ReleasedMarker
from bunraku.mechanics.identification.record import MarkerRecord
from bunraku.optimization.solution import Status

STEEL, BETA, DELAY = 200e9, 7.4e-4, 0.018


def test_intervals_cover_the_truth_from_whatever_start(rod, camera):
    """Ten records, each with another assumed modulus, from a twentieth to twenty times the true one."""
    inside = np.zeros(3)
    for seed, assumed in enumerate(np.geomspace(0.05, 20.0, 10)):
        found = fit_material(camera(seed), rod(assumed))
        assert found.status is Status.CONVERGED
        assert found.young.value == pytest.approx(STEEL, rel=1e-3)
        assert found.damping.value == pytest.approx(BETA, rel=0.05)
        assert found.delay.value == pytest.approx(DELAY, abs=5e-4)
        assert found.noise == pytest.approx(5e-4, rel=0.12)
        inside += [found.young.covers(STEEL), found.damping.covers(BETA), found.delay.covers(DELAY)]
    assert (inside >= 8).all()


@pytest.mark.parametrize("options", [{"space": True}, {"pixels": 1500.0}, {"rate": 30.0}, {"seconds": 2.6}, {"delay": 0.11}])
def test_capture_in_space_pixels_slow_cameras_short_records_and_long_delays(rod, camera, options):
    found = fit_material(camera(31, **options), rod(1.3))
    assert found.young.value == pytest.approx(STEEL, rel=2e-3)
    assert found.damping.value == pytest.approx(BETA, rel=0.1)
    assert found.delay.value == pytest.approx(options.get("delay", DELAY), abs=1e-3)
    assert found.alignment.scale == pytest.approx(options.get("pixels", 1.0), rel=1e-2)
    assert found.noise == pytest.approx(5e-4, rel=0.15)
    assert not found.warnings


def test_without_noise_the_answer_is_exact(rod, camera):
    found = fit_material(camera(2, noise=0.0), rod(0.8))
    assert found.young.value == pytest.approx(STEEL, rel=2e-5)
    assert found.damping.value == pytest.approx(BETA, rel=2e-3)
    assert found.delay.value == pytest.approx(DELAY, abs=2e-5)


def test_derivatives_of_the_prediction(rod):
    model, p, t = rod(1.0), np.array([0.05, 8e-4, 0.02]), np.arange(1.0, 3.0, 0.11)
    D = model.differentiate(p, t, 2e-3)
    assert D.shape == (len(t), 3, 3)
    size = np.array([1.0, 1e-3, 1.0])

    def curve(y):
        return model.predict(p + y * size, t, 2e-3).ravel()

    J = D.reshape(-1, 3) * size
    h = 1e-5
    for i in range(3):
        up, down = np.zeros(3), np.zeros(3)
        up[i], down[i] = h, -h
        np.testing.assert_allclose((curve(up) - curve(down)) / (2 * h), J[:, i], atol=2e-4 * np.abs(J[:, i]).max())


def test_a_short_or_still_record_is_said_not_to_tell(rod, camera):
    short = fit_material(camera(4, seconds=1.0, noise=2e-3), rod())
    assert any("damping is not identifiable" in warning for warning in short.warnings)
    assert any("cycles of free vibration" in warning for warning in short.warnings)
    assert short.damping.covers(BETA)
    late = fit_material(camera(5, t0=2.7, noise=8e-3), rod())
    assert any("delay is not identifiable" in warning for warning in late.warnings)
    assert late.delay.covers(DELAY)


def test_a_model_that_misses_something_widens_its_intervals(rod, camera):
    clean = camera(6)
    wander = 2e-3 * np.sin(2 * np.pi * 0.7 * clean.times)[:, None] * [1.0, 0.5]
    found = fit_material(MarkerRecord(clean.times, clean.points + wander), rod())
    assert any("correlated" in warning for warning in found.warnings)
    assert found.young.half_width > 4 * fit_material(clean, rod()).young.half_width
    assert found.young.covers(STEEL)


def test_a_record_ahead_of_its_command_is_said(rod, camera):
    late = camera(7)
    found = fit_material(MarkerRecord(late.times - 0.05, late.points), rod())
    assert found.delay.value == pytest.approx(DELAY - 0.05, abs=5e-4)
    assert any("before its command" in warning for warning in found.warnings)


def test_no_vibration_no_fit(rod, camera):
    still = camera(8)
    rigid = MarkerRecord(still.times, 5e-4 * np.random.default_rng(0).normal(size=still.points.shape))
    with pytest.raises(BadInput, match="no vibration stands out"):
        fit_material(rigid, rod())


def test_a_part_that_always_collapses_is_bad_input(rod, camera):
    model = rod()
    model.simulate = lambda scale, beta, dt: np.full((10, 3), np.nan)
    with pytest.raises(BadInput, match="collapses in simulation"):
        fit_material(camera(9), model)


def test_confidence_must_be_a_probability(rod, camera):
    with pytest.raises(BadInput, match="confidence"):
        fit_material(camera(9), rod(), confidence=1.0)
    wide = fit_material(camera(9), rod(), confidence=0.99).young.half_width
    assert wide / fit_material(camera(9), rod(), confidence=0.95).young.half_width == pytest.approx(2.587 / 1.965, rel=1e-2)


def test_a_part_found_vibrating_without_a_command():
    """A pendulum of one mode, w^2 = E/E0 (2 pi 3)^2, on an arc: what is left of its motion gives E and damping."""

    def arc(scale, beta, size, speed, dt):
        t, w = dt * np.arange(int(3.0 / dt) + 3), 6 * np.pi * np.sqrt(scale)
        s = 0.5 * beta * w**2
        v = np.sqrt(w**2 - s**2)
        y = np.exp(-s * t) * (size * np.cos(v * t) + (speed + s * size) / v * np.sin(v * t))
        return np.column_stack([y, 0 * y, np.sqrt(0.25 - y**2)])

    t = np.arange(0.0, 3.0, 1 / 60)
    rng = np.random.default_rng(0)
    truth = np.column_stack([np.interp(t, 1e-4 * np.arange(30003), column) for column in arc(1.44, 6e-4, 0.04, -0.5, 1e-4).T])
    a = 2.0
    points = truth[:, [0, 2]] @ np.array([[np.cos(a), np.sin(a)], [-np.sin(a), np.cos(a)]]) + 5e-4 * rng.normal(size=(len(t), 2))
    found = fit_material(MarkerRecord(t + 7.0, points), ReleasedMarker(arc, 3e9, 7.0, 7.0 + t[-1]))
    assert found.delay is None
    assert found.young.value == pytest.approx(1.44 * 3e9, rel=1e-3)
    assert found.young.covers(1.44 * 3e9)
    assert found.damping.value == pytest.approx(6e-4, rel=0.05)
    assert found.noise == pytest.approx(5e-4, rel=0.1)


def test_derivatives_leave_out_what_the_camera_could_compensate(rod, camera):
    """At the truth, without noise, the residual's own differences (the camera fitted anew each time) are the projected Jacobian."""
    record, model = camera(10, noise=0.0), rod()
    p, dt = np.array([0.0, BETA, DELAY]), 1e-3
    view = view_planes(model.predict(p, record.times, dt), 2)[0]
    views = [view, np.diag([1.0, -1.0]) @ view]
    slopes = model.differentiate(p, record.times, dt)
    problems = [_Problem(record, model, dt, one, np.array([1.0, BETA, 1.0]), slopes) for one in views]
    problem = min(problems, key=lambda one: float(np.abs(one.residual(p / one.size)).max()))
    y = p / problem.size
    J = problem.jacobian(y)
    for i, h in enumerate((1e-5, 1e-4, 1e-5)):
        step = h * np.eye(3)[i]
        difference = (problem.residual(y + step) - problem.residual(y - step)) / (2 * h)
        np.testing.assert_allclose(J[:, i], difference, atol=2e-3 * np.abs(difference).max())
