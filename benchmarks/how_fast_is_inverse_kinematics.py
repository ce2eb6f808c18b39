"""How fast is inverse kinematics, how near does it come, and how fast does it ask the motors to be?

    python benchmarks/how_fast_is_inverse_kinematics.py [--json]

One process, thread CPU time, compilation not counted. First table: whole CMU recordings (beside the repository, or under
BUNRAKU_SHARED) on the built-in characters, as captured and within the motors' speed: time a frame of the solver alone, distances
of hands and head in the character's scale, largest joint speed over its motor's limit, and how many steps exceed it at 100 and
at 25 Hz. Second: the whole NAO, legs too (25 motors, 26 joints), every frame iterated to convergence within ranges and speeds.
Against it mink, if it is installed: one differential step a frame, without limits, towards the poses of the same bodies at
our solution.
"""

from __future__ import annotations

import argparse
import json
import os
import sys
import time
from pathlib import Path

import numpy as np

from bunraku.formats.bvh import read_bvh
from bunraku.formats.registry import read_character
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import MotionLimits
from bunraku.retargeting.calibration import calibrate
from bunraku.retargeting.guess import guess_rig
from bunraku.retargeting.inverse_kinematics import solve_motion
from bunraku.retargeting.retarget import retarget
from bunraku.retargeting.skeleton import bone_motion, dropped_first
from bunraku.retargeting.wishes import make_wishes

SHARED = Path(os.environ.get("BUNRAKU_SHARED", Path(__file__).resolve().parents[2] / "shared"))
CLIPS = ("18_08", "18_11", "18_15", "79_06", "02_05")
PARTS = ("left arm end", "right arm end", "head")


def read(name):
    return read_bvh((SHARED / "data" / f"cmu_{name}.bvh").read_bytes(), file=name)


def stated(character, clip, rate, moving):
    """The targets of a clip on a character, all given coordinates moving."""
    rig = guess_rig(clip.skeleton, character).rig
    motion = bone_motion(dropped_first(clip.skeleton), rig.bones)
    offsets = calibrate(clip.skeleton, rig, motion, True)
    return make_wishes(motion.resampled(rate), rig, offsets, compile_tree(character), moving)


def seconds(call, repeats=3):
    call()
    times = []
    for _ in range(repeats):
        start = time.thread_time()
        call()
        times.append(time.thread_time() - start)
    return min(times)


def recordings(who):
    character = read_character(who)
    limits = MotionLimits.of(character)
    rows = []
    for name in CLIPS:
        clip = read(name)
        for mode, factor in (("as captured", 3.0), ("within speed", 1.0)):
            found = retarget(clip, character, speed_factor=factor)
            curves = found.clip.joints
            at_25 = retarget(clip, character, speed_factor=factor, rate=25.0).report
            moving = tuple(n for n in character.driven if n not in found.report.held)
            wishes = stated(character, clip, curves.rate, moving)
            chosen = limits.chosen(moving)
            step = factor * chosen.velocity / curves.rate

            def solve(wishes=wishes, chosen=chosen, step=step):
                return solve_motion(wishes.targets, wishes.places, wishes.turns, limits=chosen, rate=wishes.rate, step=step)

            rows.append(
                {
                    "character": who,
                    "clip": name,
                    "mode": mode,
                    "frames": len(curves.values),
                    "us_a_frame": 1e6 * seconds(solve) / len(curves.values),
                    "worst_rms_reachable_cm": 100 * max(found.report.target(p).rms_reachable for p in PARTS),
                    "worst_rms_all_cm": 100 * max(found.report.target(p).rms for p in PARTS),
                    "unreachable_share": max(found.report.target(p).unreachable for p in PARTS),
                    "speed_ratio": found.report.speed_ratio,
                    "fastest": found.report.fastest_joint,
                    "too_fast_100_hz": found.report.too_fast,
                    "speed_ratio_25_hz": at_25.speed_ratio,
                    "too_fast_25_hz": at_25.too_fast,
                    "status": found.report.status.value,
                }
            )
    return rows


def against_mink(frames=300):
    """All 26 joints of the NAO: our time a frame, and mink's one differential step a frame on the same targets."""
    nao, clip = read_character("nao"), read("18_11")
    tree, limits = compile_tree(nao), MotionLimits.of(nao)
    wishes = stated(nao, clip, 100.0, nao.driven)
    places, turns = wishes.places[:frames], wishes.turns[:frames]

    def solve():
        return solve_motion(wishes.targets, places, turns, limits=limits, rate=100.0, step=limits.velocity / 100.0)

    row = {"joints": sum(not name.startswith("base") for name in tree.names), "targets": len(wishes.targets.targets)}
    row["us_a_frame"] = 1e6 * seconds(solve) / frames
    row["hz"] = 1e6 / row["us_a_frame"]
    try:
        import mink
        import mujoco

        from bunraku.formats.mjcf_write import write_mjcf
    except ImportError:
        return row | {"mink": "not installed"}
    joints = tuple(joint.changed(kind="fixed") if joint.kind == "free" else joint for joint in nao.joints)
    home = {name: value for name, value in nao.home.items() if not name.startswith("base")}
    written = write_mjcf(nao.changed(couplings=(), joints=joints, home=home))
    text = written[0] if isinstance(written, tuple) else written
    model = mujoco.MjModel.from_xml_string(text.decode() if isinstance(text, bytes) else text)
    configuration = mink.Configuration(model)
    q = solve().q
    poses = tree.poses(q)
    tasks = []
    for target in wishes.targets.targets:
        body = next((f.body for f in nao.frames if f.name == target.frame), target.frame)
        tasks.append(
            (tree.nodes[body], mink.FrameTask(body, "body", target.position_weight, target.rotation_weight, lm_damping=1e-3))
        )
    start = time.thread_time()
    for k in range(frames):
        for node, task in tasks:
            matrix = np.eye(4)
            matrix[:3, :3], matrix[:3, 3] = poses[0][k, node], poses[1][k, node]
            task.set_target(mink.SE3.from_matrix(matrix))
        velocity = mink.solve_ik(configuration, [task for _, task in tasks], 0.01, "daqp", damping=1e-3)
        configuration.integrate_inplace(velocity, 0.01)
    row["mink_us_a_step"] = 1e6 * (time.thread_time() - start) / frames
    row["mink_step_over_our_frame"] = row["mink_us_a_step"] / row["us_a_frame"]
    return row


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--json", action="store_true")
    arguments = parser.parse_args()
    if not (SHARED / "data").is_dir():
        print("the CMU recordings are not beside the repository; set BUNRAKU_SHARED to the folder that holds data/")
        return 77
    rows = recordings("nao") + recordings("humanoid")
    whole = against_mink()
    slow = max(r["us_a_frame"] for r in rows) > 1e4
    far = max(r["worst_rms_reachable_cm"] for r in rows) > 2.0
    if arguments.json:
        print(json.dumps({"recordings": rows, "whole_body": whole}, indent=1))
        return 1 if slow or far else 0
    print("character  clip   mode          us/frame  reachable cm  all cm  not reachable  speed ratio  too fast 100/25 Hz  status")
    for r in rows:
        print(
            f"{r['character']:<10} {r['clip']:<6} {r['mode']:<13} {r['us_a_frame']:8.0f}  {r['worst_rms_reachable_cm']:12.2f}  "
            f"{r['worst_rms_all_cm']:6.2f}  {100 * r['unreachable_share']:11.0f} %  {r['speed_ratio']:5.2f} / "
            f"{r['speed_ratio_25_hz']:4.2f} {r['too_fast_100_hz']:8d} / {r['too_fast_25_hz']:<8d} {r['status']}"
        )
    print(", ".join(f"{key} {value:.4g}" if isinstance(value, float) else f"{key} {value}" for key, value in whole.items()))
    print(f"at least 100 frames a second: {'NO' if slow else 'yes'}; within 2 cm where reachable: {'NO' if far else 'yes'}")
    return 1 if slow or far else 0


if __name__ == "__main__":
    sys.exit(main())
