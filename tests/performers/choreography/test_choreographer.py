import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.integrators.variational import VariationalIntegrator
from bunraku.mechanics.systems.marionette import hang, marionette_system, tensions
from bunraku.motion import Choreography, Clip, Mode
from bunraku.optimization.monitor import Monitor
from bunraku.optimization.solution import Status
from bunraku.performers.choreography.choreographer import Choreographer


@pytest.fixture(scope="module")
def show():
    return Choreographer().choreograph(read_character("marionette"), read_clip("marionette-show"))


def test_optimized_times_cost_a_fifth_less_than_equal_spacing(show):
    assert show.status is Status.CONVERGED
    assert show.equal.times == pytest.approx((3.5, 7.0))
    assert show.saving >= 0.2
    assert np.linalg.eigvalsh(show.solution.hessian).min() > 0.0
    assert np.abs(show.solution.gradient).max() < 1e-2


def test_the_show_keeps_its_promises_in_an_open_loop_replay_of_its_carriages(show):
    """The carriages' motion alone gives the same motion: velocities continuous, strings taut, limits kept."""
    character, best = read_character("marionette"), show.best
    system = marionette_system(character)
    rest = hang(character, system)
    integrator = VariationalIntegrator(system, 0.01)
    start = integrator.initial(rest.q, rest.q)
    played = integrator.rollout(start.q, start.p, np.zeros((len(best.q) - 1, 0)), best.carriages[1:])
    assert played.status.good
    assert np.abs(played.q[:, system.dynamic] - best.q).max() < 1e-4
    assert tensions(system, played).min() >= 0.1
    v = np.diff(best.carriages, axis=0) / 0.01
    jumps = np.abs(np.diff(np.vstack([np.zeros(v.shape[1]), v]), axis=0))
    assert jumps.max() <= 10.0 * 0.01
    assert best.velocity_jump == pytest.approx(jumps.max(), rel=1e-6)
    assert best.excess.kept, best.excess


def test_the_score_is_the_weighted_distance_to_the_accents(show):
    """Recomputed here from the puppet's motion alone."""
    clip = show.clip
    t, total = clip.joints.times, 0.0
    for accent in clip.modes.accents:
        curves = clip.modes.primitive(accent.primitive).curves
        at = np.array([np.interp(clip.modes.moment(accent), curves.times, curves.column(name)) for name in accent.coordinates])
        window = np.exp(-0.5 * ((t - accent.time) / accent.width) ** 2) / (accent.width * np.sqrt(2 * np.pi))
        for name, value in zip(accent.coordinates, at, strict=True):
            metres = 25.0 if name.startswith("base.t") else 1.0
            total += 0.5 * 0.01 * metres * float(window @ (clip.joints.column(name) - value) ** 2)
    assert show.best.score == pytest.approx(total, rel=1e-6)


def test_the_clip_holds_times_and_wish(show):
    clip = show.clip
    assert clip.tracks == ("joints", "modes")
    assert clip.modes.switching_times == show.best.times
    assert clip.joints.duration == pytest.approx(10.5)
    np.testing.assert_allclose(clip.joints.values[0], clip.joints.values[-1], atol=0.02)


class Impatient(Monitor):
    """Asks to stop at once."""

    def report(self, event):
        pass

    @property
    def cancelled(self):
        return True


def test_cancelling_keeps_the_best_so_far_and_wishes_without_modes_are_refused():
    character = read_character("marionette")
    show = read_clip("marionette-show")
    two = Choreography(2.0, show.modes.primitives, (Mode("puppet-walk", 0.0), Mode("puppet-bow", 0.8)))
    short = show.changed(modes=two)
    stopped = Choreographer(dt=0.02).choreograph(character, short, monitor=Impatient())
    assert stopped.status in (Status.CANCELLED, Status.CONVERGED)
    assert stopped.best.cost <= stopped.equal.cost
    with pytest.raises(BadInput, match="has no modes"):
        Choreographer().choreograph(character, Clip("empty"))
    with pytest.raises(BadInput, match="do not fit"):
        Choreographer(least=1.5, dt=0.02).choreograph(character, short)


@pytest.mark.parametrize(
    ("options", "words"),
    [
        ({"max_iterations": -3}, "-3 iterations are asked for; give 0 or more"),
        ({"least": -1.0}, r"at least -1\.0 s; give 0 s or more"),
        ({"least": float("nan")}, "at least nan s"),
        ({"fade": 0.001}, r"the fade lasts 0\.001 s and a step 0\.01 s"),
        ({"dt": 0.0}, "a step 0.0 s"),
        ({"tolerance": -1e-3}, "the tolerance is -0.001"),
    ],
)
def test_options_that_mean_nothing_are_refused_by_what_is_wrong_with_them(options, words):
    with pytest.raises(BadInput, match=words):
        Choreographer(**options)
