"""Can a damaged or hostile file crash a reader, hang it, or eat the memory?

Every reader gets thousands of mutated inputs (cut, flipped, spliced, repeated, with absurd numbers). Each must end as a result
or as a BunrakuError that names the file and the place, within a time limit, in bounded memory: peak memory may grow by so many MB
over what reading the sound seeds takes (the last two columns). Prints a table; exit code 1 if any did not.

    python benchmarks/can_a_file_crash_a_reader.py --count 130000
"""

from __future__ import annotations

import argparse
import base64
import collections
import functools
import importlib
import importlib.util
import json
import random
import re
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.errors import BunrakuError

NUMBER = re.compile(rb"-?[0-9]+(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")
ABSURD = [
    b"1e400",
    b"-1e400",
    b"nan",
    b"inf",
    b".inf",
    b".nan",
    b"-1",
    b"0",
    b"99999999999999999999",
    b"1" * 5000,
    b"1e-320",
    b"0x10",
    b"4294967295",
    b"-2147483648",
    b"1e15",
    b"3.7e5",
    b"",
    b"null",
    b"[]",
    b"{}",
    b"true",
    b"'",
    b"1.2.3",
    b"1_000",
    b"\xd9\xa3",
]
MOST_GROWTH = {
    **dict.fromkeys(("BVH", "CSV", "character YAML", "URDF", "MJCF", "glTF", "WAV", "performance", "performance head"), 32),
    "clip YAML": 200,
}
"""Largest growth of peak memory [MB] while a reader is fed; inputs hold at most 2 MB.

Measured on 130000 inputs: 1 to 5, and 75 for clips, whose few keys may state a long duration at a high rate.
"""

TOKENS = [
    b"{",
    b"}",
    b"[",
    b"]",
    b",",
    b":",
    b"\n",
    b"\r",
    b"\t",
    b"\x00",
    b"\xff\xfe",
    b"&a ",
    b"*a",
    b"!!python/object:os.system ",
    b"---\n",
    b"<<: *a\n",
    b'<!DOCTYPE x [<!ENTITY a "b">]>',
    b"&lol;",
    b"<include file='../../x'/>",
    b"OFFSET",
    b"CHANNELS 3",
    b"MOTION",
    b"End Site",
    b"RIFF",
    b"data",
    b"\xef\xbb\xbf",
    b"#",
    b";",
    b"%",
    b"? ",
    b"| \n",
    b"<![CDATA[",
    b"</",
    b'"',
    b"../../etc/passwd",
    b"null",
    b"deg",
]


def bvh_seed() -> bytes:
    joint = "JOINT {0} {{ OFFSET 0 {1} 0.5\n CHANNELS 3 Zrotation Xrotation Yrotation\n"
    head = "HIERARCHY\nROOT Hips\r\n{\n OFFSET 0 0 0\n CHANNELS 6 Xposition Yposition Zposition Zrotation Yrotation Xrotation \n"
    body = joint.format("Spine", 40) + joint.format("Head", 30) + "End Site { OFFSET 0 20 0 } } } "
    rows = "\n".join(" ".join(f"{0.7 * row + 1.3 * column:.4f}" for column in range(12)) for row in range(6))
    return (head + body + "JOINT Dummy { OFFSET 0 0 0 CHANNELS 0 } }\nMOTION\nFrames:\t6\nFrame Time: .0083333\n" + rows).encode()


def gltf_seed() -> bytes:
    times = np.arange(4, dtype="<f4") / 4
    turns = np.array([[0, 0, np.sin(a), np.cos(a)] for a in times], dtype="<f4")
    moves = np.arange(36, dtype="<f4").reshape(12, 3) / 10
    parts = [times.tobytes(), turns.tobytes(), moves.tobytes()]
    starts = np.cumsum([0, *map(len, parts)]).tolist()
    blob = b"".join(parts)
    document = {
        "asset": {"version": "2.0"},
        "buffers": [{"byteLength": len(blob), "uri": "data:application/octet-stream;base64," + base64.b64encode(blob).decode()}],
        "bufferViews": [{"buffer": 0, "byteOffset": starts[i], "byteLength": len(part)} for i, part in enumerate(parts)],
        "accessors": [
            {"bufferView": 0, "componentType": 5126, "count": 4, "type": "SCALAR"},
            {"bufferView": 1, "componentType": 5126, "count": 4, "type": "VEC4"},
            {"bufferView": 2, "componentType": 5126, "count": 12, "type": "VEC3"},
        ],
        "nodes": [
            {"name": "hips", "children": [1], "translation": [0, 1, 0]},
            {"name": "spine", "scale": [2, 2, 2], "children": [2]},
            {},
        ],
        "skins": [{"joints": [0, 1]}],
        "animations": [
            {
                "samplers": [{"input": 0, "output": 1}, {"input": 0, "output": 2, "interpolation": "CUBICSPLINE"}],
                "channels": [
                    {"sampler": 0, "target": {"node": 1, "path": "rotation"}},
                    {"sampler": 1, "target": {"node": 0, "path": "translation"}},
                ],
            }
        ],
    }
    return json.dumps(document).encode()


def glb_seed() -> bytes:
    document = json.loads(gltf_seed())
    blob = base64.b64decode(document["buffers"][0].pop("uri").split(",")[1])
    text = json.dumps(document).encode()
    text += b" " * (-len(text) % 4)
    body = struct.pack("<I4s", len(text), b"JSON") + text + struct.pack("<I4s", len(blob), b"BIN\x00") + blob
    return b"glTF" + struct.pack("<II", 2, 12 + len(body)) + body


def wav_seed(kind: int, bits: int, channels: int) -> bytes:
    width = bits // 8
    samples = bytes(range(24 * width * channels % 256)) * 3
    samples = samples[: len(samples) // (width * channels) * width * channels]
    if kind == 3:
        samples = np.linspace(-1, 1, 24 * channels).astype(f"<f{width}").tobytes()
    head = struct.pack("<HHIIHH", kind, channels, 16000, 16000 * width * channels, width * channels, bits)
    chunks = b"fmt " + struct.pack("<I", len(head)) + head + b"LIST" + struct.pack("<I", 3) + b"abc\x00"
    chunks += b"data" + struct.pack("<I", len(samples)) + samples
    return b"RIFF" + struct.pack("<I", 4 + len(chunks)) + b"WAVE" + chunks


CSV_SEED = b"# rate_hz: 100\ntime_s,HeadYaw_deg,HeadPitch,Slide_mm\n" + b"".join(
    b"%.2f,%d,%.3f,1e-3\n" % (i / 100, i, i * 0.1) for i in range(8)
)
CSV_GERMAN = b"t;HeadYaw\r\n0,00;1,5\r\n0,04;1,6\r\n0,08;1,75\r\n"
CLIP_SEED = b"""bunraku: clip/1
name: no-problem
mood: positive
rate_hz: 50
joints:
  keys_deg: {LShoulderPitch: [[0.0, 80], [0.6, 20], [1.0, 40]], HeadYaw: [[0.5, 3]]}
  keys_m: {Slide: [[0, 0.1], [1.2, 0.2]]}
  interpolation: monotone
  duration_s: 1.5
words: [{text: No, start_s: 0.12, end_s: 0.4, stroke_s: 0.3}, &a {text: "problem", start_ms: 450, end_ms: 900}]
phrases: [{text: No problem, start_s: 0.1, end_s: 0.9}]
held: [legs]
source: made for this
"""
CLIP_FILES = b"""bunraku: clip/1
name: a
skeleton: {file: take.bvh, metres_per_unit: 0.056}
audio: {file: voice.wav}
joints: {file: c.csv}
"""
CHARACTER_SEED = b"""bunraku: character/1
name: arm
bodies:
  - {name: base, mass_kg: 1.5, inertia_kg_m2: [0.01, 0.01, 0.01, 0, 0, 0]}
  - name: upper
    mass_g: 250
    center_of_mass_mm: [0, 0, 50]
    shapes:
      - {kind: capsule, size_mm: [20, 50], pose: {position_m: [0, 0, 0.05], rpy_deg: [0, 90, 0]}}
joints:
  - {name: root, kind: free, parent: world, child: base}
  - {name: j, kind: hinge, parent: base, child: upper, axis: [0, 1, 0], range_deg: [-90, 90], damping_n_m_s_per_rad: 0.1}
motors:
  - {name: m, coordinate: j, velocity_rpm: 60, stall_torque_kg_cm: 12, delay_ms: 20, rate_hz: 100}
frames: [{name: hand, body: upper, pose: {position_m: [0, 0, 0.1]}}]
feet: [{name: sole, body: base, points_m: [[0.1, 0, 0], [-0.1, 0.1, 0], [-0.1, -0.1, 0]]}]
groups: {arm: [j]}
home_deg: {j: 10}
"""
URDF_SEED = b"""<?xml version="1.0"?>
<robot name="two">
  <link name="base"><inertial><mass value="1.0"/><origin xyz="0 0 0.1" rpy="0 0 0"/>
    <inertia ixx="0.1" ixy="0" ixz="0" iyy="0.1" iyz="0" izz="0.1"/></inertial></link>
  <link name="upper">
    <collision><origin xyz="0 0 0.1" rpy="0 1.57 0"/><geometry><cylinder radius="0.02" length="0.2"/></geometry></collision>
    <visual><geometry><mesh filename="package://a/b.stl" scale="1 1 1"/></geometry></visual></link>
  <link name="lower"><inertial><mass value="0.3"/>
    <inertia ixx="0.01" ixy="0" ixz="0" iyy="0.01" iyz="0" izz="0.01"/></inertial></link>
  <joint name="shoulder" type="revolute"><parent link="base"/><child link="upper"/>
    <origin xyz="0 0.1 0.2" rpy="0.1 0 0"/><axis xyz="0 1 0"/>
    <limit lower="-1.5" upper="1.5" effort="2.0" velocity="6.0"/><dynamics damping="0.1" friction="0.0"/></joint>
  <joint name="elbow" type="prismatic"><parent link="upper"/><child link="lower"/><axis xyz="1 0 0"/>
    <limit lower="0" upper="0.1" effort="5" velocity="0.5"/><mimic joint="shoulder" multiplier="0.1" offset="0"/></joint>
</robot>
"""
MJCF_SEED = b"""<mujoco model="two"><compiler angle="degree" autolimits="true"/>
  <default><joint damping="0.1"/><default class="a"><geom size="0.02 0.1" type="capsule" density="500"/></default></default>
  <worldbody><geom type="plane" size="1 1 1"/>
    <body name="base" pos="0 0 0.5" euler="0 0 30"><freejoint name="root"/><geom class="a"/>
      <body name="upper" pos="0 0.1 0.2" quat="1 0 0.1 0"><joint name="j" type="hinge" axis="0 1 0" range="-90 90"/>
        <geom type="capsule" fromto="0 0 0 0 0 0.2" size="0.02"/><site name="hand" pos="0 0 0.2"/>
        <body name="tip" pos="0 0 0.2"><joint type="ball" name="b"/>
          <inertial pos="0 0 0" mass="0.1" diaginertia="1e-3 1e-3 1e-3"/></body></body></body>
  </worldbody>
  <actuator><position name="m" joint="j" kp="10" ctrlrange="-1 1"/></actuator>
  <equality><joint joint1="j" joint2="j" polycoef="0 1 0 0 0"/></equality>
</mujoco>
"""


@functools.cache
def performance_seed() -> bytes:
    """A small performance file."""
    from bunraku.character import Character
    from bunraku.formats.performance_npz import write_performance_npz
    from bunraku.formats.provenance import provenance
    from bunraku.formats.units import build
    from bunraku.formats.yaml_file import read_yaml
    from bunraku.motion import Audio, Certificate, Channel, Check, JointCurves, Mark, Performance
    from bunraku.optimization.solution import Status

    character = build(Character, read_yaml(CHARACTER_SEED, file="seed", kind="character").data, file="seed")
    curves = JointCurves(("j",), 100.0, np.linspace(0, 1, 9)[:, None])
    return write_performance_npz(
        Performance(
            character, "clip", (Channel("j", "position", "rad", 100.0, np.linspace(0, 1, 9)),), curves, curves,
            Certificate(Status.CONVERGED, (Check("velocity", 0.0, "rad/s", 1e-9),), ("note",), {"lag_ms": 0.0}),
            provenance("speech", {"character": character}), Audio(np.zeros(5), 8000.0), (Mark("no", 0.0, 0.1),),
        )
    )  # fmt: skip


def read_header(data: bytes, *, file: str, folder: Path | None = None) -> Any:
    """A performance file whose header is ``data`` and whose arrays are sound, so that mutations get past the checksums."""
    from bunraku.formats.archive import pack, unpack
    from bunraku.formats.performance_npz import read_performance_npz

    arrays = unpack(performance_seed(), file="seed") | {"header": np.frombuffer(data, np.uint8)}
    return read_performance_npz(pack(arrays), file=file, folder=folder)


def header_seed() -> bytes:
    from bunraku.formats.archive import unpack

    return unpack(performance_seed(), file="seed")["header"].tobytes()


def readers() -> dict[str, tuple[Callable[..., Any], list[bytes]]]:
    """Name -> (reader, seeds); a reader whose module is not there is left out."""
    table: dict[str, tuple[str, list[bytes]]] = {
        "BVH": ("bvh:read_bvh", [bvh_seed()]),
        "CSV": ("csv_curves:read_csv", [CSV_SEED, CSV_GERMAN]),
        "clip YAML": ("clip_yaml:read_clip_yaml", [CLIP_SEED, CLIP_FILES]),
        "character YAML": ("character_yaml:read_character_yaml", [CHARACTER_SEED]),
        "URDF": ("urdf_read:read_urdf", [URDF_SEED]),
        "MJCF": ("mjcf_read:read_mjcf", [MJCF_SEED]),
        "glTF": ("gltf:read_gltf", [gltf_seed(), glb_seed()]),
        "WAV": ("wav:read_wav", [wav_seed(1, 16, 1), wav_seed(1, 24, 2), wav_seed(3, 32, 1)]),
        "performance": ("performance_npz:read_performance_npz", [performance_seed()]),
    }
    found: dict[str, tuple[Callable[..., Any], list[bytes]]] = {}
    for name, (target, seeds) in table.items():
        module, _, function = target.partition(":")
        if importlib.util.find_spec(f"bunraku.formats.{module}") is not None:
            found[name] = (getattr(importlib.import_module(f"bunraku.formats.{module}"), function), seeds)
    found["performance head"] = (read_header, [header_seed()])
    return found


def fill(folder: Path) -> None:
    """Write the files that a seed refers to."""
    (folder / "take.bvh").write_bytes(bvh_seed())
    (folder / "voice.wav").write_bytes(wav_seed(1, 16, 1))
    (folder / "c.csv").write_bytes(CSV_SEED)


def mutated(rng: random.Random, seeds: list[bytes]) -> bytes:
    """One to four mutations of a seed."""
    data = rng.choice(seeds)
    for _ in range(rng.choice((1, 1, 1, 2, 4))):
        if not data:
            return data
        i, j = sorted((rng.randrange(len(data) + 1), rng.randrange(len(data) + 1)))
        match rng.randrange(16):
            case 0:
                data = data[:i]
            case 1 | 2:
                flipped = bytearray(data)
                for _ in range(rng.choice((1, 1, 3, 20))):
                    flipped[rng.randrange(len(flipped))] ^= 1 << rng.randrange(8)
                data = bytes(flipped)
            case 3:
                other = rng.choice(seeds)
                k, m = sorted((rng.randrange(len(other) + 1), rng.randrange(len(other) + 1)))
                data = data[:i] + other[k:m] + data[j:]
            case 4:
                data = data[: min(i, j)] + data[min(i + 40, j) :]
            case 5:
                data = data[:j] + data[i:j][:2000] * rng.choice((1, 2, 30)) + data[j:]
            case 6 | 7 | 8:
                spots = list(NUMBER.finditer(data))
                if spots:
                    spot = rng.choice(spots)
                    data = data[: spot.start()] + rng.choice(ABSURD) + data[spot.end() :]
            case 9:
                data = data[:i] + rng.choice(TOKENS) + data[i:]
            case 10 | 11 | 12 | 13:
                spots = list(NUMBER.finditer(data))
                if spots:
                    spot = rng.choice(spots)
                    number = rng.choice((rng.randrange(-3, 300), rng.uniform(-5.0, 5.0), 10.0 ** rng.uniform(-9.0, 9.0)))
                    data = data[: spot.start()] + str(number).encode() + data[spot.end() :]
            case 14:
                lines = data.split(b"\n")
                a, b = rng.randrange(len(lines)), rng.randrange(len(lines))
                lines[a], lines[b] = lines[b], lines[a]
                data = b"\n".join(lines)
            case _:
                data = (
                    data[:i]
                    + rng.choice((b"[", b"{a: ", b"<a>", b"{", b"- ", b"JOINT a {", b" ")) * rng.choice((5, 300, 20_000))
                    + data[i:]
                )
    return data[:2_000_000]


class TooSlow(BaseException):
    """The time limit of one input passed; no reader may catch it."""


def judged(reader: Callable[..., Any], data: bytes, folder: Path) -> str:
    """The outcome: result, refused, or what went wrong."""
    try:
        reader(data, file="input", folder=folder)
    except BunrakuError as error:
        if getattr(error, "file", None) is None or getattr(error, "place", None) is None:
            return f"an error without file or place: {error}"
        if "\n" in str(error) or len(str(error)) > 2000:
            return f"a message that is not one readable line: {str(error)[:200]}"
        return "refused"
    except TooSlow:
        return "too slow"
    except BaseException as error:
        return "crashed: " + "".join(traceback.format_exception(error))[-1500:]
    return "result"


def alarm(*_: object) -> None:
    raise TooSlow


def peak_megabytes() -> float:
    """The largest memory this process has held; the system counts it in KiB, on macOS in bytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * (1 if sys.platform == "darwin" else 1024) / 1e6


def feed(name: str, count: int, seed: int, limit_s: float, keep: Path | None) -> int:
    """Feed ``count`` inputs to one reader, print its row of the table; the number of failures."""
    reader, seeds = readers()[name]
    signal.signal(signal.SIGALRM, alarm)
    failures = 0
    scratch = tempfile.TemporaryDirectory()
    folder = Path(scratch.name)
    fill(folder)
    for original in seeds:
        outcome = judged(reader, original, folder)
        if outcome != "result":
            print(f"{name}: a seed itself is not read: {outcome}")
            failures += 1
    before = peak_megabytes()
    rng = random.Random(f"{seed} {name}")
    outcomes: collections.Counter[str] = collections.Counter()
    slowest, start = 0.0, time.perf_counter()
    for number in range(count):
        data = mutated(rng, seeds)
        began = time.thread_time()
        signal.setitimer(signal.ITIMER_REAL, limit_s)
        outcome = judged(reader, data, folder)
        signal.setitimer(signal.ITIMER_REAL, 0.0)
        slowest = max(slowest, time.thread_time() - began)
        outcomes[outcome] += 1
        if outcome not in ("result", "refused"):
            failures += 1
            print(f"\n{name}, input {number} ({len(data)} bytes): {outcome}")
            if keep is not None:
                (keep / f"{name.replace(' ', '-')}-{number}").write_bytes(data)
    grown = peak_megabytes() - before
    bad = count - outcomes["result"] - outcomes["refused"]
    speed = count / (time.perf_counter() - start)
    print(
        f"{name:18s}{count:9d}{outcomes['result']:9d}{outcomes['refused']:9d}{bad:8d}{slowest:8.2f} s{speed:10.0f}"
        f"{grown:9.0f}{MOST_GROWTH[name]:9d}",
        flush=True,
    )
    if grown > MOST_GROWTH[name]:
        print(f"{name}: memory grew by {grown:.0f} MB; at most {MOST_GROWTH[name]} MB are allowed")
        failures += 1
    scratch.cleanup()
    return failures


def run(count: int, seed: int, limit_s: float, keep: Path | None) -> int:
    """Feed ``count`` inputs in all, each reader in a process of its own so that its memory is its own; how many readers failed."""
    names = list(readers())
    columns = (
        ("inputs", 9),
        ("results", 9),
        ("refused", 9),
        ("failed", 8),
        ("slowest", 10),
        ("inputs/s", 10),
        ("MB", 9),
        ("MB bar", 9),
    )
    print(f"{'reader':18s}" + "".join(f"{title:>{width}s}" for title, width in columns), flush=True)
    share = -(-count // len(names))
    more = ["--keep", str(keep)] if keep is not None else []
    command = [sys.executable, __file__, "--count", str(share), "--seed", str(seed), "--limit", str(limit_s), *more, "--reader"]
    return sum(subprocess.run([*command, name], check=False).returncode != 0 for name in names)


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--count", type=int, default=130_000, help="inputs in all, shared among the readers")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--reader", default=None, help="only this one")
    parser.add_argument("--limit", type=float, default=10.0, help="seconds that one input may take")
    parser.add_argument("--keep", type=Path, default=None, help="folder for inputs that failed")
    options = parser.parse_args()
    if options.reader is not None:
        sys.exit(1 if feed(options.reader, options.count, options.seed, options.limit, options.keep) else 0)
    bad = run(options.count, options.seed, options.limit, options.keep)
    good = "every input ended as a result or as an error with file and place, in bounded memory"
    print(good if bad == 0 else f"{bad} readers did not keep their thresholds")
    sys.exit(1 if bad else 0)
