"""Is the reduced skin right, and how much faster is it than the whole one?

    python benchmarks/is_the_reduced_skin_right.py [CHARACTER ...] [--frames N] [--servos] [--floor] [--json]

A slow crawl (5 s, 45 mm, two cycles) is planned once and followed frame by frame twice, with every node of the
skin and with the skin reduced, each settled on its own soles, by the same controller with its usual weights. Rows: nodes and
reduced coordinates; seconds to reduce the skin (nearly none when it was made before) and to plan; the largest distance of the
centres of mass and of the centre of each sole over the frames; milliseconds of thread CPU a frame of both, as followed (contact and
torques included) and of the step alone, and their ratios; a rehearsal: seconds to plan and to follow on the reduced skin, over the
seconds that the walk lasts, with frames of 5 and of 10 ms, and how far the latter are from the former. No skin touches itself.

``--servos``: the planned angles given to PD servos instead, whole skin and reduced. ``--floor``: the whole skin against itself with
rubber a thousandth stiffer, which says how well the walk is determined. ``--frames`` compares only the first N frames.
"""

from __future__ import annotations

import argparse
import json
import time

import numpy as np

from bunraku.character import PATCHES
from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.drive import servo_step
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.reduced.frames import ReducedFrames
from bunraku.mechanics.coupled.reduced.model import reduced_model
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.motion import Clip, Gait
from bunraku.performers.skin.alternate import Puppet, settle
from bunraku.performers.skin.rehearsal import LightPuppet, settle_light
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.tracking import motor_limits, track
from bunraku.performers.skin.wanted import wanted_tracks

H = 0.005
WALK = Gait(5.0, pattern="crawl", periodic=False, cycles=2, distance=(0.045, 0.0), turn=0.0, swing_height=0.014)
PLAN = SpacetimeWeights(torque=1e-2, smooth=0.5, feet=5000.0, level=1e3, follow=30.0)
GAINS = 20.0, 0.2


def planned(puppet):
    """The walk as planned, and seconds."""
    clock = time.thread_time()
    tracks = wanted_tracks(puppet.laden, Clip(name="walk", gait=WALK), WALK)
    plan = plan_spacetime(puppet.laden, WALK, tracks, SkinEffect(stiffness=puppet.stiffness), weights=PLAN, margin=0.005)
    return plan, time.thread_time() - clock


def followed(frames, start, walk, count):
    """Follow the first ``count`` frames of a walk from a settled ``start``; seconds."""
    state, record = start
    clock = time.thread_time()
    wished = walk.q[1 : 1 + count].copy()
    wished[:, 2] += state.q[2] - frames.model.home[2]
    span = slice(1, 1 + count)
    found = track(
        frames, state, wished, walk.touching[span].astype(bool), torques=walk.torque[span][:, frames.model.driven],
        forces=walk.force[span], start=record,
    )  # fmt: skip
    return found, time.thread_time() - clock


def driven(frames, start, walk, count):
    """Centres of mass (count, 3) and patches (count, P, 3) under servos told the planned angles."""
    model, (state, record) = frames.model, start
    mu = np.repeat([tip.friction for tip in model.character.end_effectors], PATCHES)
    com, patches, F = [], [], record.F
    for told in walk.q[1 : 1 + count][:, model.driven]:
        frame = frames.linearize(state)
        step = servo_step(frame, model.driven, told, state.q, GAINS, motor_limits(model, state.v), H, mu, F)
        F = step.F
        state = frames.advance(state, frame, step.tau, F.ravel())
        com.append(model.center_of_mass(state.q, state.x))
        patches.append((model.patches @ state.x.ravel()).reshape(-1, 3))
    return np.array(com), np.array(patches)


def apart(one, other):
    """Largest distances [mm] of centres of mass, and of the centre of each sole; of (com, patches) each."""
    n = min(len(one[0]), len(other[0]))
    soles = [patches[:n].reshape(n, -1, PATCHES, 3).mean(axis=2) for _, patches in (one, other)]
    com = np.linalg.norm(one[0][:n] - other[0][:n], axis=1).max()
    return 1e3 * float(com), (1e3 * np.linalg.norm(soles[0] - soles[1], axis=2).max(axis=0)).round(3).tolist()


def times(found):
    """Median milliseconds of a frame, and of its step without contact."""
    whole = np.array([record.seconds for record in found.records])
    return 1e3 * float(np.median(whole)), 1e3 * float(np.median(whole - [record.contact_seconds for record in found.records]))


def stiffer(whole):
    """The whole skin with rubber a thousandth stiffer."""
    other = skinned_model(whole.character)
    for lame in other.solid.lame:
        lame *= 1.001
    return other


def measure(name, frames, servos, floor):
    """The row of a character."""
    whole = skinned_model(read_character(name))
    clock = time.thread_time()
    model = reduced_model(whole)
    reduce_s = time.thread_time() - clock
    light, heavy = LightPuppet(model, H), Puppet(whole, H)
    plan, plan_s = planned(light)
    walk, coarse = plan.frames(H), plan.frames(2.0 * H)
    count = min(frames or len(walk.q), len(walk.q) - 1)
    start, start_full = settle_light(light), settle(heavy)
    few, follow_s = followed(ReducedFrames(model, H), start, walk, len(walk.q) - 1)
    fewer, coarse_s = followed(ReducedFrames(model, 2.0 * H), start, coarse, len(coarse.q) - 1)
    full, _ = followed(CoupledFrames(whole, H), start_full, walk, count)
    (com, soles), (com_2h, soles_2h) = apart(_seen(few), _seen(full)), apart((few.com[::2], few.patches[::2]), _seen(fewer))
    (frame, step), (frame_full, step_full) = times(few), times(full)
    joints = np.degrees(np.abs(few.q[: len(full.q)] - full.q)[:, 6:].max())
    row = {
        "character": name, "nodes": len(whole.mesh.nodes), "coordinates": len(model.reduction.stiff), "frames": len(full.records),
        "reduce_s": reduce_s, "plan_s": plan_s, "com_mm": com, "soles_mm": soles, "joints_deg": float(joints),
        "frame_ms": frame, "full_frame_ms": frame_full, "ratio": frame_full / frame, "step_ms": step, "full_step_ms": step_full,
        "step_ratio": step_full / step, "follow_s": follow_s, "rehearsal": (plan_s + follow_s) / WALK.duration,
        "rehearsal_10ms": (plan_s + coarse_s) / WALK.duration, "com_10ms_mm": com_2h, "soles_10ms_mm": soles_2h,
    }  # fmt: skip
    if servos:
        both = driven(ReducedFrames(model, H), start, walk, count), driven(CoupledFrames(whole, H), start_full, walk, count)
        row["servo_com_mm"], row["servo_soles_mm"] = apart(*both)
    if floor:
        other = stiffer(whole)
        again, _ = followed(CoupledFrames(other, H), settle(Puppet(other, H)), walk, count)
        row["floor_com_mm"], row["floor_soles_mm"] = apart(_seen(full), _seen(again))
    return row


def _seen(found):
    return found.com, found.patches


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("character", nargs="*", default=["beetle-quick"])
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--servos", action="store_true")
    parser.add_argument("--floor", action="store_true")
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure(name, given.frames, given.servos, given.floor) for name in given.character]
    if given.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(row.pop("character"))
        for name, value in row.items():
            print(f"  {name:24} {value:.3f}" if isinstance(value, float) else f"  {name:24} {value}")


if __name__ == "__main__":
    main()
