"""A path through the motion graph of gaits as one performance."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from bunraku.character import Character
from bunraku.motion import Certificate, Check, Clip, Gait, Performance
from bunraku.optimization.monitor import SILENT, Monitor
from bunraku.optimization.solution import Status
from bunraku.optimization.threads import one_thread
from bunraku.performers.locomotion.certificate import RESIDUAL, certify_locomotion, torque_use
from bunraku.performers.locomotion.motion_graph import GaitGraph, build_gait_graph
from bunraku.performers.locomotion.played import Played, play_track
from bunraku.performers.locomotion.track import Track

JUMP = 1e-6
"""The largest difference of poses [rad, m] and of velocities [per s] where plans meet."""


@one_thread
def perform_path(
    character: Character,
    gaits: Mapping[str, Gait],
    *,
    edges: int = 20,
    seed: int = 0,
    monitor: Monitor = SILENT,
) -> Performance:
    """Plan the graph of ``gaits`` and perform a random path of so many ``edges`` from the first gait; ``seed`` chooses it."""
    graph = build_gait_graph(character, gaits, monitor=monitor)
    return played_path(graph, graph.graph.wander(next(iter(gaits)), edges, seed))


def played_path(graph: GaitGraph, path: Sequence[str], *, rate: float = 200.0) -> Performance:
    """Perform a path through a graph that is planned: one row of samples, played as one."""
    character, track = graph.character, graph.track(path)
    played = play_track(character, track, rate)
    uncertified = replace(played.uncertified(), options={"path": list(path), "rate": rate})
    certificate = _certificate(graph, path, track, played)
    inputs = {"character": character, "gaits": dict(graph.gaits)}
    return uncertified.signed(certificate, "locomotion", character, Clip(" ".join(path)), inputs)


def _certificate(graph: GaitGraph, path: Sequence[str], track: Track, played: Played) -> Certificate:
    pose, speed = graph.jump(path)
    worst = [max(plan.problem.violations(plan.solution.z).items(), key=lambda one: one[1]) for plan in graph.plans]
    kind, residual = max(worst, key=lambda one: one[1])
    use, where = torque_use(graph.character, played)
    checks = [
        Check("largest residual", residual, kind.partition("[")[2].rstrip("]"), RESIDUAL, note=kind),
        Check("largest jump of a pose", pose, "rad or m", JUMP),
        Check("largest jump of a velocity", speed, "rad/s or m/s", JUMP),
        Check("peak torque", use, "of the torque-speed line", 1.0, note=where),
    ]
    moved = played.com[-1] - played.com[0]
    swinging = [plan for plan in graph.cycles.values() if not plan.problem.contacts.all()]
    figures = {
        "iterations": float(sum(plan.solution.iterations for plan in graph.plans)),
        "variables": float(sum(plan.problem.size for plan in graph.plans)),
        "samples": float(len(track.samples)),
        "max_residual": residual,
        "edges": float(len(path) - 1),
        "jump": max(pose, speed),
        "period_s": min(plan.cycle * graph.step for plan in swinging or graph.cycles.values()),
        "friction": float(min(plan.problem.friction.min() for plan in graph.plans)),
        "distance_m": float(np.hypot(moved[0], moved[1])),
        "turn_deg": float(np.rad2deg(track.q[-1 - track.margin, 3] - track.q[track.margin, 3])),
        "torque_utilisation": use,
    }
    good = residual <= RESIDUAL and max(pose, speed) <= JUMP
    status = Status.CONVERGED if good else Status.STALLED
    return certify_locomotion(graph.character, played, status, checks, (), figures)
