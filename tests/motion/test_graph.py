from itertools import pairwise, permutations

import numpy as np
import pytest

from bunraku.errors import BadInput
from bunraku.motion import JointCurves
from bunraku.motion.graph import Edge, MotionGraph, blend, transition_costs


def motion(function, duration=0.5, rate=100.0):
    t = np.arange(round(duration * rate) + 1) / rate
    return JointCurves(("a", "b"), rate, np.column_stack([function(t), -2.0 * function(t)]))


def points(count, rng):
    return {f"m{i}": motion(lambda t, c=c: c + 0.0 * t) for i, c in enumerate(rng.standard_normal(count))}


@pytest.mark.parametrize("seed", range(8))
def test_cheapest_paths_are_those_of_an_exhaustive_search(seed):
    rng = np.random.default_rng(seed)
    motions = points(6, rng)
    names = list(motions)
    edges = [Edge(a, b, float(rng.uniform(0.0, 1.0)), 0.2) for a in names for b in names if a != b and rng.uniform() < 0.45]
    graph, costs = MotionGraph(motions, edges), {(e.source, e.target): e.cost for e in edges}
    for a in names:
        for b in names:
            if a == b:
                assert graph.cheapest(a, b) == (a,)
                continue
            between = [name for name in names if name not in (a, b)]
            ways = [(a, *mid, b) for size in range(5) for mid in permutations(between, size)]
            sums = [sum(costs[step] for step in pairwise(w)) for w in ways if set(pairwise(w)) <= set(costs)]
            if sums:
                assert graph.cost(graph.cheapest(a, b)) == pytest.approx(min(sums), rel=1e-12)
            else:
                with pytest.raises(BadInput, match=f"from '{a}' to '{b}'"):
                    graph.cheapest(a, b)


def test_blends_continue_place_velocity_and_acceleration():
    rng = np.random.default_rng(1)
    before, after, T = rng.standard_normal((3, 4)), rng.standard_normal((3, 4)), 0.37
    fine = np.array([0.0, 1e-4, 2e-4, 3e-4, 4e-4, 5e-4])
    powers = np.vander(fine, increasing=True)
    for end, times, sign in ((before, fine, 1.0), (after, T - fine, -1.0)):
        c = np.linalg.solve(powers, blend(before, after, T, times))
        np.testing.assert_allclose(c[0], end[0], atol=1e-12)
        np.testing.assert_allclose(sign * c[1], end[1], atol=1e-9)
        np.testing.assert_allclose(2.0 * c[2], end[2], atol=1e-4)


def test_played_polynomials_are_c1_to_rounding_at_every_joint():
    """Motions that are quintics: their end velocities are exact, so the played whole is C1 to 1e-9 on both sides of each joint."""
    one = motion(lambda t: 0.3 + 0.5 * t - t**2 + 2.0 * t**5)
    two = motion(lambda t: -0.2 - 0.7 * t + 3.0 * t**3)
    graph = MotionGraph({"one": one, "two": two}, [Edge("one", "two", 1.0, 0.4), Edge("two", "one", 1.0, 0.3)])
    whole = graph.play(("one", "two", "one"))
    assert len(whole.values) == 3 * 51 + 39 + 29
    powers = np.vander(np.arange(6.0), increasing=True)

    def velocity(rows, sign):
        return sign * np.linalg.solve(powers, rows)[1] * 100.0

    for joint in (50, 90, 140, 170):
        left, right = whole.values[joint - 5 : joint + 1][::-1], whole.values[joint : joint + 6]
        np.testing.assert_allclose(velocity(left, -1.0), velocity(right, 1.0), atol=1e-9)


def test_distances_between_ends_are_those_of_the_formula_and_build_the_graph():
    still, moving = motion(lambda t: 0.0 * t), motion(lambda t: 1.0 + 2.0 * t)
    costs = transition_costs([still, moving], velocity_weight=0.1)
    s5 = np.sqrt(5.0)
    np.testing.assert_allclose(costs, [[0.0, s5 * np.sqrt(1.0 + 0.04)], [s5 * np.sqrt(4.0 + 0.04), s5]], atol=1e-9)
    graph = MotionGraph.built({"still": still, "moving": moving}, greatest_cost=3.0, speed=4.0)
    assert {(e.source, e.target) for e in graph.edges} == {("still", "still"), ("still", "moving"), ("moving", "moving")}
    assert graph.edge("still", "moving").duration == pytest.approx(0.5)
    assert graph.edge("still", "still").duration == pytest.approx(0.2)
    with pytest.raises(BadInput, match="'still' cannot follow 'moving'; after 'moving' may come moving"):
        graph.play(("moving", "still"))


def test_a_path_fills_what_may_not_follow_directly():
    motions = points(4, np.random.default_rng(0))
    edges = [Edge("m0", "m1", 1.0, 0.2), Edge("m1", "m2", 1.0, 0.2), Edge("m0", "m3", 5.0, 0.2), Edge("m3", "m2", 0.1, 0.2)]
    graph = MotionGraph(motions, [*edges, Edge("m2", "m2", 0.0, 0.2)])
    assert graph.path(["m0", "m2", "m2"]) == ("m0", "m1", "m2", "m2")
    for bad, words in (
        (lambda: graph.path(["m2", "m0"]), "from 'm2' to 'm0'"),
        (lambda: graph.path(["m0", "m0"]), "'m0' cannot follow itself"),
        (lambda: graph.cost([]), "empty path"),
        (lambda: graph.edge("m0", "walk"), "no motion 'walk'"),
        (lambda: Edge("a", "b", float("nan"), 1.0), "costs nan"),
        (lambda: MotionGraph(motions, [edges[0], edges[0]]), "two transitions"),
        (lambda: MotionGraph({}), "without motions"),
        (lambda: MotionGraph(motions | {"x": motion(lambda t: t, rate=50.0)}), "another rate"),
    ):
        with pytest.raises(BadInput, match=words):
            bad()


def test_planned_transitions_are_played_as_they_are_and_the_base_goes_on():
    """A quarter circle as a motion and a straight as its transition: four times around closes the circle with rounded corners."""
    names, rate = ("x", "y", "yaw", "knee"), 10.0
    s = np.linspace(0.0, 0.5 * np.pi, 9)
    arc = JointCurves(names, rate, np.column_stack([np.sin(s), 1.0 - np.cos(s), s, 0.0 * s]))
    u = np.linspace(0.0, 1.0, 6)
    straight = JointCurves(names, rate, np.column_stack([5.0 + 2.0 * u, 3.0 + 0.0 * u, 0.0 * u, np.sin(np.pi * u)]))
    graph = MotionGraph({"arc": arc}, [Edge("arc", "arc", 1.0, 0.5, straight)], base=("x", "y", "yaw"))
    whole = graph.play(("arc",) * 4).values
    assert len(whole) == 4 * 9 + 3 * 4
    np.testing.assert_allclose(whole[-1], [0.0 - 2.0, 0.0, 2.0 * np.pi, 0.0], atol=1e-12)  # the fourth straight is missing
    np.testing.assert_allclose(whole[8:14, 3], np.sin(np.pi * u), atol=1e-12)
    np.testing.assert_allclose(whole[9:14, 0], 1.0, atol=1e-12)
    with pytest.raises(BadInput, match="needs a curve of its own"):
        MotionGraph({"arc": arc}, [Edge("arc", "arc", 1.0, 0.5)], base=("x", "y", "yaw"))
    with pytest.raises(BadInput, match="other coordinates"):
        MotionGraph({"arc": arc}, [Edge("arc", "arc", 1.0, 0.5, motion(lambda t: t))])


def test_a_random_path_takes_every_edge_as_often():
    motions = points(3, np.random.default_rng(0))
    edges = [Edge(a, b, 1.0, 0.2) for a, b in permutations(motions, 2)]
    graph = MotionGraph(motions, edges)
    path = graph.wander("m0", 3000, seed=4)
    assert path[0] == "m0"
    assert path == graph.wander("m0", 3000, seed=4)
    counts = [sum(step == (e.source, e.target) for step in pairwise(path)) for e in edges]
    assert sum(counts) == 3000
    np.testing.assert_allclose(counts, 500, atol=100)
    with pytest.raises(BadInput, match="nothing may come"):
        MotionGraph(motions, edges[:1]).wander("m0", 2)
