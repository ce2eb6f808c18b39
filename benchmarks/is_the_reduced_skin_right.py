"""Is the reduced skin right, and how much faster is it than the whole one?

    python benchmarks/is_the_reduced_skin_right.py [CHARACTER ...] [--frames N] [--json]

A walk of 5 s (40 mm, each foot lifted once, 10 mm) is planned once and followed frame by frame twice, with every node of the skin
and with the skin reduced, from the same standing state and with the same weights. Rows: nodes and reduced coordinates; seconds to
reduce the skin (nearly none when it was made before) and to plan; the largest distance of the centres of mass and of the soles'
centres over the frames; the same between two reduced skins of which one is a hundredth stiffer in its folds, which says how well
the motion itself is determined; milliseconds of thread CPU a frame of both, as followed (contact and torques included) and of the
step alone, and their ratios; seconds to follow the 5 s on the reduced skin. ``--frames`` compares only the first N frames.
"""

from __future__ import annotations

import argparse
import json
import time
from dataclasses import replace

import numpy as np

from bunraku.character import PATCHES
from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.frame import CoupledFrames
from bunraku.mechanics.coupled.reduced.frames import ReducedFrames
from bunraku.mechanics.coupled.reduced.model import reduced_model
from bunraku.mechanics.coupled.share import with_skin_mass
from bunraku.mechanics.coupled.skinned import skinned_model
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.motion import Clip, Gait
from bunraku.performers.skin.spacetime.effect import SkinEffect
from bunraku.performers.skin.spacetime.solve import plan_spacetime
from bunraku.performers.skin.spacetime.weights import SpacetimeWeights
from bunraku.performers.skin.tracking import track
from bunraku.performers.skin.wanted import wanted_tracks
from bunraku.performers.skin.wishes import FrameWeights

H = 0.005
WALK = Gait(5.0, pattern="crawl", periodic=False, cycles=1, distance=(0.04, 0.0), turn=0.0, swing_height=0.01)
PLAN = SpacetimeWeights(torque=1e-2, smooth=0.5, feet=5000.0, level=1e3, follow=30.0)
FRAMES = FrameWeights(support=10.0, orientation=1.0)


def planned(whole, share):
    """The walk at the frames: poses, which soles stand, torques, forces; seconds."""
    clock = time.thread_time()
    laden = with_skin_mass(whole, share)
    tracks = wanted_tracks(laden, Clip(name="walk", gait=WALK), WALK)
    plan = plan_spacetime(laden, WALK, tracks, SkinEffect(stiffness=joint_stiffness(whole)), weights=PLAN, margin=0.005)
    return plan.frames(H), time.thread_time() - clock


def standing(model):
    """The reduced character at rest on its soles, and the last frame."""
    feet = np.ones((40, len(model.character.end_effectors)), dtype=bool)
    found = track(ReducedFrames(model, 0.02), model.rest(), np.tile(model.home, (40, 1)), feet)
    state = found.state
    still = {name: np.zeros_like(getattr(state, name)) for name in ("v", "w", "r")}
    return replace(state, **still), found.records[-1]


def followed(frames, state, record, walk, count):
    """Follow the first ``count`` frames of a walk."""
    wished = walk.q[1 : 1 + count].copy()
    wished[:, 2] += state.q[2] - frames.model.home[2]
    span = slice(1, 1 + count)
    return track(
        frames, state, wished, walk.touching[span].astype(bool), torques=walk.torque[span][:, frames.model.driven],
        forces=walk.force[span], start=record, weights=FRAMES,
    )  # fmt: skip


def apart(one, other):
    """Largest distances [mm] of centres of mass and of soles' centres."""
    soles = [found.patches.reshape(len(found.q), -1, PATCHES, 3).mean(axis=2) for found in (one, other)]
    com = np.linalg.norm(one.com - other.com, axis=1).max()
    return 1e3 * float(com), 1e3 * float(np.linalg.norm(soles[0] - soles[1], axis=2).max())


def stiffer(model):
    """The same with folds that resist a hundredth more."""
    cubics = model.reduction.cubics.copy()
    cubics[..., 0] *= 1.01
    return replace(model, reduction=replace(model.reduction, cubics=cubics))


def times(found):
    """Median milliseconds of a frame, and of its step without contact."""
    whole = np.array([record.seconds for record in found.records])
    return 1e3 * float(np.median(whole)), 1e3 * float(np.median(whole - [record.contact_seconds for record in found.records]))


def measure(name, frames):
    """The row of a character."""
    whole = skinned_model(read_character(name))
    clock = time.thread_time()
    model = reduced_model(whole)
    reduce_s = time.thread_time() - clock
    walk, plan_s = planned(whole, model.full_share)
    count = min(frames or len(walk.q), len(walk.q) - 1)
    state, record = standing(model)
    clock = time.thread_time()
    reduced = followed(ReducedFrames(model, H), state, record, walk, len(walk.q) - 1)
    follow_s = time.thread_time() - clock
    other = followed(ReducedFrames(stiffer(model), H), state, record, walk, count)
    full = followed(CoupledFrames(whole, H), model.expanded(state), record, walk, count)
    short = replace(reduced, q=reduced.q[: count + 1], com=reduced.com[: count + 1], patches=reduced.patches[: count + 1])
    (com, soles), (com_self, soles_self) = apart(short, full), apart(short, other)
    (frame, step), (frame_full, step_full) = times(reduced), times(full)
    return {
        "character": name, "nodes": len(whole.mesh.nodes), "coordinates": len(model.reduction.stiff), "frames": count,
        "reduce_s": reduce_s, "plan_s": plan_s, "com_mm": com, "soles_mm": soles, "com_one_percent_mm": com_self,
        "soles_one_percent_mm": soles_self, "joints_deg": float(np.degrees(np.abs(short.q - full.q)[:, 6:].max())),
        "frame_ms": frame, "full_frame_ms": frame_full, "ratio": frame_full / frame, "step_ms": step, "full_step_ms": step_full,
        "step_ratio": step_full / step, "follow_s": follow_s,
    }  # fmt: skip


def main() -> None:
    """Measure and print."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("character", nargs="*", default=["beetle-quick"])
    parser.add_argument("--frames", type=int, default=0)
    parser.add_argument("--json", action="store_true")
    given = parser.parse_args()
    rows = [measure(name, given.frames) for name in given.character]
    if given.json:
        print(json.dumps(rows))
        return
    for row in rows:
        print(row.pop("character"))
        for name, value in row.items():
            print(f"  {name:24} {value:.3f}" if isinstance(value, float) else f"  {name:24} {value}")


if __name__ == "__main__":
    main()
