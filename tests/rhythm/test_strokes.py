import numpy as np
import pytest
from scipy.interpolate import PchipInterpolator

from bunraku.errors import BadInput
from bunraku.motion import JointCurves, Mark
from bunraku.rhythm.strokes import gesture_peaks, stroke_lags, strokes

RATE = 100.0
HITS = [0.913, 2.371, 3.902]


def gestures(late=0.0, order=1):
    """Prepare in 0.4 s, strike in 0.25 s, hold for 0.4 s, retract: hits at HITS, on two joints; a third rests."""
    t = np.arange(0.0, 6.0, 1.0 / RATE)
    keys = [(-1.0, 0.0), (0.0, 0.0)]
    for hit in HITS:
        keys += [(hit - 0.65, 0.0), (hit - 0.25, -0.3), (hit, 0.8), (hit + 0.4, 0.8), (hit + 0.75, 0.0)]
    keys.append((7.0, 0.0))
    curve = PchipInterpolator(*np.array(keys).T)(t - late)
    values = np.column_stack([curve, -0.4 * curve, np.zeros_like(t)])
    return JointCurves(("a", "b", "c")[::order], RATE, values[:, ::order])


def words(stated=True):
    return [Mark(f"w{i}", hit - 0.1, hit + 0.2, hit + 0.02 if stated else None) for i, hit in enumerate(HITS)]


@pytest.mark.parametrize("stated", [True, False])
def test_strokes_hit_where_the_gesture_arrives(stated):
    assert strokes(gestures(), words(stated)) == pytest.approx(HITS, abs=0.006)


def test_a_word_at_rest_has_no_stroke():
    assert strokes(gestures(), [Mark("quiet", 5.4, 5.6)]) == (None,)
    still = JointCurves(("a",), RATE, np.zeros((300, 1)))
    assert strokes(still, words()) == (None, None, None)


@pytest.mark.parametrize("late", [-0.06, 0.0, 0.0137, 0.12])
def test_lags_of_strokes_are_those_of_the_motion(late):
    found = stroke_lags(gestures(), gestures(late, order=-1), words())
    assert [stroke.lag for stroke in found] == pytest.approx([late] * 3, abs=1.5e-3)
    assert [stroke.against_word for stroke in found] == pytest.approx([late - 0.02] * 3, abs=8e-3)


def test_one_late_gesture_is_late_alone():
    wish, t = gestures(), np.arange(0.0, 6.0, 1.0 / RATE)
    warp = t - 0.09 * ((t > 1.7) & (t < 3.15))
    values = np.column_stack([np.interp(warp, t, column) for column in wish.values.T])
    found = stroke_lags(wish, JointCurves(wish.names, RATE, values), words())
    assert [stroke.lag for stroke in found] == pytest.approx([0.0, 0.09, 0.0], abs=2e-3)


def test_only_words_that_state_a_stroke_count_when_any_does():
    marks = [*words(), Mark("between", 1.2, 1.5)]
    assert [stroke.word.text for stroke in stroke_lags(gestures(), gestures(), marks)] == ["w0", "w1", "w2"]


def test_other_rates_and_other_joints_are_refused():
    wish = gestures()
    with pytest.raises(BadInput, match="resample"):
        stroke_lags(wish, JointCurves(wish.names, 50.0, wish.values), words())
    with pytest.raises(BadInput, match="share no joint"):
        stroke_lags(wish, JointCurves(("x", "y", "z"), RATE, wish.values), words())


def test_peaks_of_a_sine_stand_at_odd_quarters_of_its_period():
    t = np.arange(0.0, 4.0, 1.0 / RATE)
    curves = JointCurves(("a", "still"), RATE, np.column_stack([0.4 * np.sin(2 * np.pi * t), 0.001 * t]))
    peaks = gesture_peaks(curves)
    assert set(peaks) == {"a"}
    np.testing.assert_allclose(peaks["a"], np.arange(0.25, 4.0, 0.5), atol=0.5 / RATE)


def test_ripples_are_no_peaks():
    t = np.arange(0.0, 1.0, 1.0 / RATE)
    curves = JointCurves(("a",), RATE, (np.sin(2 * np.pi * t) + 0.02 * np.sin(2 * np.pi * 20 * t))[:, None])
    assert len(gesture_peaks(curves)["a"]) == 2
