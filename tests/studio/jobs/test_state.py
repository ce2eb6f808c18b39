"""The history of a job is bounded and keeps its order, its beginning and its end."""

from __future__ import annotations

from bunraku.studio.jobs.state import MOST_HISTORY, JobState, with_event


def test_a_long_history_is_thinned_not_cut():
    state = JobState(1, "perform")
    for k in range(3 * MOST_HISTORY):
        state = with_event(
            state, {"stage": "solve", "fraction": 2.0, "history": [[float(k), {"energy": 1.0 / (k + 1), "odd": None}]]}
        )
    times = [seconds for seconds, _ in state.history]
    assert len(times) <= MOST_HISTORY
    assert times == sorted(set(times))
    assert times[0] == 0.0
    assert times[-1] == 3.0 * MOST_HISTORY - 1.0
    assert len([t for t in times if t < MOST_HISTORY]) > 50
    assert state.history[-1][1] == {"energy": 1.0 / (3 * MOST_HISTORY)}
    assert state.fraction == 1.0


def test_an_event_without_fraction_says_so():
    state = with_event(JobState(1, "verify", fraction=0.5), {"stage": "replay", "message": "a", "fraction": None})
    assert (state.stage, state.fraction, state.message, state.status) == ("replay", None, "a", "running")
