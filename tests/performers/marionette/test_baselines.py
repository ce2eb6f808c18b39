"""The quasi-static baseline: rest that is rest, forces that balance, the slow limit, and what happens when it is too fast."""

from __future__ import annotations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.dynamics.points import Points
from bunraku.mechanics.systems.marionette import hang, resting_tensions
from bunraku.performers.marionette.baselines import best_quasi_static, low_passed
from bunraku.performers.marionette.static_poses import StaticWeights, _Frame, equilibrium_residual, follow_statically

FRAMES = ("l_hand", "r_hand", "l_knee", "r_knee", "head")
WEIGHTS = np.full(len(FRAMES), 100.0)
RATE = 100.0


class Puppet:
    """The marionette as it hangs, and wishes for it."""

    def __init__(self) -> None:
        self.character = read_character("marionette")
        rest = hang(self.character).require()
        self.tensions = np.array(list(rest.tensions.values()))
        self.system, self.q = rest.system, rest.q
        self.points = Points(self.system, FRAMES)

    def swinging(self, seconds: float, *, slowness: float = 1.0, rate: float = RATE, hertz: float = 1.0) -> np.ndarray:
        """Arms and legs swing at ``hertz`` and the trunk sways, all ``slowness`` times slower, blended in over the first 1.2 s."""
        t = np.arange(round(seconds * slowness * rate) + 1) / (rate * slowness)
        b = np.clip(t / 1.2, 0.0, 1.0)
        b = b**3 * (10.0 - 15.0 * b + 6.0 * b * b)
        wave = np.sin(2.0 * np.pi * hertz * t)
        wish = np.tile(self.q, (len(t), 1))
        for name, curve in {
            "l_shoulder.y": -0.6 + 0.5 * wave,
            "r_shoulder.y": -0.6 - 0.5 * wave,
            "l_hip.y": -0.3 + 0.3 * wave,
            "r_hip.y": -0.3 - 0.3 * wave,
            "l_knee": 0.3 - 0.3 * wave,
            "r_knee": 0.3 + 0.3 * wave,
            "base.ty": 0.04 * np.sin(np.pi * hertz * t),
            "base.tz": 0.02 * wave,
        }.items():
            wish[:, self.system.index(name)] += b * curve
        return wish

    def off(self, q: np.ndarray, p: np.ndarray) -> np.ndarray:
        """Distance (m, points) of the points between two motions."""
        return np.linalg.norm(self.points.positions(q) - self.points.positions(p), axis=2)


@pytest.fixture(scope="module")
def puppet() -> Puppet:
    return Puppet()


@pytest.fixture(scope="module")
def poses(puppet):
    wish = puppet.swinging(4.0, rate=12.5)
    return wish, follow_statically(puppet.character, puppet.system, wish, puppet.points, WEIGHTS, puppet.q)


def test_wished_to_stay_it_stays(puppet) -> None:
    """The hanging pose is the solution of the wish to hang; kinematic columns of the wish count for nothing."""
    wish = np.tile(puppet.q, (4, 1))
    wish[:, puppet.system.kinematic] = 7.0
    found = follow_statically(puppet.character, puppet.system, wish, puppet.points, WEIGHTS, puppet.q)
    assert np.abs(found.q - puppet.q).max() < 1e-8
    wish[:, puppet.system.kinematic] = np.nan
    played = best_quasi_static(
        puppet.character,
        puppet.system,
        np.tile(wish[0], (31, 1)),
        puppet.points,
        WEIGHTS,
        rate=RATE,
        cutoffs=(1.0,),
        q_start=puppet.q,
    )
    assert played.finished
    assert np.abs(played.q - puppet.q).max() < 1e-7
    assert played.rms < 1e-7
    np.testing.assert_allclose(played.tensions, np.tile(puppet.tensions, (30, 1)), rtol=1e-5)
    assert played.unstable == 0.0


def test_every_pose_is_rest_on_strings_that_fit(puppet, poses) -> None:
    """The same residual by the system's own parts, not by what the solver reports of itself."""
    wish, found = poses
    d, zero = puppet.system.dynamic, np.zeros(puppet.system.nq)
    for q, lam in zip(found.q, found.multipliers, strict=True):
        force = puppet.system.lagrangian_derivatives(q, zero).q + puppet.system.constraint_jacobian(q).T @ lam
        assert np.abs(force[d]).max() <= 1e-6
        assert np.abs(puppet.system.constraint_values(q)).max() <= 1e-8
    assert found.residual.max() <= 1e-6
    assert np.sqrt(np.mean(puppet.off(found.q, wish) ** 2)) < 1e-3


def test_the_strings_carry_the_weight_in_every_pose(puppet, poses) -> None:
    """Tensions along the strings' lines, drawn by kinematics alone, sum to the weight and to nothing sideways."""
    _, found = poses
    weight = 9.81 * sum(body.mass for body in puppet.character.bodies)
    hooks = Points(puppet.system, [string.hook for string in puppet.character.strings]).positions(found.q)
    ends = Points(puppet.system, [string.carriage for string in puppet.character.strings]).positions(found.q)
    lines = (ends - hooks) / np.linalg.norm(ends - hooks, axis=2, keepdims=True)
    pull = np.array([resting_tensions(puppet.system, q, lam) for q, lam in zip(found.q, found.multipliers, strict=True)])
    np.testing.assert_allclose(np.einsum("ms,msa->ma", pull, lines), np.tile([0.0, 0.0, weight], (len(pull), 1)), atol=1e-6)
    assert all(string.point == (0.0, 0.0, 0.0) for string in puppet.character.strings)


def test_a_pose_is_a_minimum_among_poses_at_rest(puppet, poses) -> None:
    """Nothing lowers the cost along directions that keep the equations: the gradient is in the range of their Jacobian."""
    wish, found = poses
    s = puppet.system
    frame = _frame(puppet)
    for i in (9, 20, 33):
        q, lam, before = found.q[i], found.multipliers[i], found.q[i - 1, s.kinematic]
        target, joints = puppet.points.positions(wish[i : i + 1]).ravel(), wish[i, s.dynamic]
        gradient = np.concatenate([frame.slopes(q).T @ frame.remainder(q, before, target, joints), np.zeros(s.nc)])
        A = frame.equations(q, lam)
        free = np.linalg.svd(A)[2][len(A) :]
        assert np.linalg.norm(free @ gradient) < 0.01 * np.linalg.norm(gradient)


def test_derivatives_of_the_frame_are_exact(puppet, poses) -> None:
    """Central differences of the residuals and the equations in a random direction."""
    s, frame = puppet.system, _frame(puppet)
    q, lam = poses[1].q[25], poses[1].multipliers[25]
    rng, h = np.random.default_rng(3), 1e-5
    a, b = rng.standard_normal(s.nq), rng.standard_normal(s.nc)
    target, joints, before = np.zeros(15), np.zeros(s.nd), np.zeros(s.nk)
    ahead, behind = (frame.remainder(q + e * a, before, target, joints) for e in (h, -h))
    np.testing.assert_allclose(frame.slopes(q) @ a, (ahead - behind) / (2 * h), atol=1e-6)
    ahead, behind = (equilibrium_residual(s, q + e * a, lam + e * b) for e in (h, -h))
    np.testing.assert_allclose(frame.equations(q, lam) @ np.concatenate([a, b]), (ahead - behind) / (2 * h), atol=1e-6)


def test_offsets_are_from_hook_to_carriage(puppet, poses) -> None:
    q = poses[1].q[17]
    hooks = Points(puppet.system, [string.hook for string in puppet.character.strings]).positions(q[None])[0]
    ends = Points(puppet.system, [string.carriage for string in puppet.character.strings]).positions(q[None])[0]
    np.testing.assert_allclose(_frame(puppet).offsets(q), (ends - hooks)[:, :2].ravel(), atol=1e-12)


def test_slow_enough_it_is_followed(puppet) -> None:
    """The slower the wish, the closer the puppet keeps to its poses at rest; within a millimetre when 16 times slower."""
    apart = []
    for slowness in (1.0, 4.0, 16.0):
        wish = puppet.swinging(2.4, slowness=slowness, rate=50.0)
        played = best_quasi_static(
            puppet.character, puppet.system, wish, puppet.points, WEIGHTS, rate=50.0, cutoffs=(np.inf,), q_start=puppet.q
        )
        assert played.finished
        assert played.residual <= 1e-6
        apart.append(float(np.sqrt(np.mean(puppet.off(played.q, played.static_q) ** 2))))
    assert apart[2] < 0.001
    assert apart[0] > 2.0 * apart[1] > 4.0 * apart[2]


def test_the_low_pass_is_the_one_described() -> None:
    """Begins at rest at the start; half of a wave at the cut-off passes, in phase; what is still stays still."""
    t = np.arange(4001) / RATE
    wave = np.sin(2.0 * np.pi * t)[:, None]
    out = low_passed(wave + 0.3, RATE, 1.0, np.array([0.2]))
    assert out[0, 0] == pytest.approx(0.2, abs=1e-12)
    np.testing.assert_allclose(out[1500:2500] - 0.3, 0.5 * wave[1500:2500], atol=1e-3)
    slow = np.sin(0.2 * np.pi * t)[:, None]
    np.testing.assert_allclose(low_passed(slow, RATE, 2.0, np.zeros(1))[1500:2500], slow[1500:2500], atol=1e-4)
    still = np.full((50, 2), 0.7)
    np.testing.assert_allclose(low_passed(still, RATE, 0.5, np.array([0.7, 0.7])), still, atol=1e-12)


def test_the_low_passed_motion_begins_at_rest() -> None:
    """A motion that begins at speed and away from the start: the first step shrinks as the square of its length."""
    first = []
    for rate in (100.0, 200.0, 400.0):
        k = np.sin(2.0 * np.pi * np.arange(round(4.0 * rate)) / rate)[:, None] + 0.3
        out = low_passed(k, rate, 1.0, np.array([0.2]))
        first.append(abs(out[1, 0] - out[0, 0]))
    assert first[0] / first[1] == pytest.approx(4.0, abs=0.2)
    assert first[1] / first[2] == pytest.approx(4.0, abs=0.1)


def test_the_best_of_the_cutoffs_is_taken(puppet) -> None:
    wish = puppet.swinging(2.4)
    common = {"rate": RATE, "q_start": puppet.q}
    each = {
        c: best_quasi_static(puppet.character, puppet.system, wish, puppet.points, WEIGHTS, cutoffs=(c,), **common)
        for c in (0.5, 2.0)
    }
    assert len({round(one.rms, 4) for one in each.values()}) == 2
    best = best_quasi_static(puppet.character, puppet.system, wish, puppet.points, WEIGHTS, cutoffs=(2.0, 0.5), **common)
    assert best.finished
    assert best.rms == min(one.rms for one in each.values())
    np.testing.assert_array_equal(best.q, each[best.cutoff].q)
    assert best.rms == pytest.approx(np.sqrt(np.mean(puppet.off(best.q, wish) ** 2)), rel=1e-12)
    np.testing.assert_array_equal(best.q[:, puppet.system.kinematic], best.k)
    assert best.least_tension == best.tensions.min()


def test_what_cannot_be_simulated_is_held_and_said(puppet) -> None:
    """A head wished to fly up by a metre and back in a tenth of a second, unfiltered."""
    wish = np.tile(puppet.q, (81, 1))
    wish[40:46, puppet.system.index("base.tz")] += 1.0
    wish[46:, puppet.system.index("l_shoulder.y")] -= 2.5
    played = best_quasi_static(
        puppet.character, puppet.system, wish, puppet.points, WEIGHTS, rate=RATE, cutoffs=(np.inf,), q_start=puppet.q
    )
    assert not played.finished
    assert 0 < played.steps < 80
    assert np.isfinite(played.q).all()
    assert np.ptp(played.q[played.steps :], axis=0).max() == 0.0
    assert np.isnan(played.tensions[played.steps :]).all()
    assert played.least_tension == np.nanmin(played.tensions)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"wish": np.zeros((5, 22))}, "wish has shape"),
        ({"wish": np.full((5, 40), np.nan)}, "not finite"),
        ({"weights": -WEIGHTS}, "weights must not be negative"),
        ({"weights": np.ones(3)}, "weights has shape"),
        ({"rate": 0.0}, "rate is 0"),
        ({"cutoffs": (60.0,)}, "cut-offs are"),
        ({"q_start": np.zeros(4)}, "q_start has shape"),
    ],
)
def test_what_does_not_fit_is_refused(puppet, change, words) -> None:
    given = {"wish": np.zeros((5, 40)), "weights": WEIGHTS, "rate": RATE, "cutoffs": (1.0,), "q_start": puppet.q} | change
    with pytest.raises(BadInput, match=words):
        best_quasi_static(puppet.character, puppet.system, points=puppet.points, **given)


def _frame(puppet: Puppet) -> _Frame:
    return _Frame(puppet.character, puppet.system, puppet.points, np.repeat(WEIGHTS, 3), StaticWeights(), puppet.q)
