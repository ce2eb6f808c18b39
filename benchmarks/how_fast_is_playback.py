"""How fast is playback? What a frame costs the studio's process when a motion is played to a browser.

Everything is computed before (`stage.figure.motion`); playing indexes arrays and sends them. The studio's own server and layers
play to one websocket client, which reads in a process of its own as a browser would. Process CPU time over all frames (the caller,
viser's copies and comparisons, the event loop with serialization and socket) less that of the same server at rest for as long;
the least of three runs. Bars: a character of 40 parts 1 ms a frame, a skin of 14,000 vertices at 30 frames a second 2 ms.

Run: python benchmarks/how_fast_is_playback.py
"""

from __future__ import annotations

import argparse
import subprocess
import sys
import time
from collections.abc import Callable
from dataclasses import dataclass, replace

import numpy as np

from bunraku.formats.registry import read_character
from bunraku.motion import JointCurves
from bunraku.stage.figure.motion import DrawnMotion, drawn_curves
from bunraku.stage.figure.parts import Deforming

SECONDS, RUNS = 4.0, 3
CAMERA = {
    "type": "ViewerCameraMessage", "wxyz": [1.0, 0.0, 0.0, 0.0], "position": [3.0, 3.0, 3.0], "fov": 1.0, "near": 0.1, "far": 100.0,
    "look_at": [0.0, 0.0, 0.0], "up_direction": [0.0, 0.0, 1.0], "image_height": 400, "image_width": 600,
}  # fmt: skip


@dataclass(frozen=True)
class Case:
    """What is played at how many frames a second, how often at once (ghosts), and the bar [ms a frame], if there is one."""

    title: str
    motion: Callable[[], DrawnMotion]
    rate: float
    layers: int
    bar: float | None


def read(url: str) -> None:
    """The client: read until the server goes, then say how much arrived."""
    import msgspec
    import viser
    from websockets.exceptions import ConnectionClosed
    from websockets.sync.client import connect

    with connect(
        url.replace("http", "ws", 1).rstrip("/"),
        origin="/".join(url.split("/")[:3]),  # type: ignore[arg-type]
        subprotocols=[f"viser-v{viser.__version__}"],  # type: ignore[list-item]
        compression=None,
        max_size=None,
    ) as socket:
        socket.send(msgspec.msgpack.encode(CAMERA))
        print("open", flush=True)
        total = 0
        try:
            for message in socket:
                total += len(message)
        except ConnectionClosed:
            pass
    print(total, flush=True)


def waving(name: str, rate: float) -> DrawnMotion:
    """A character all of whose joints move all the time, for a second."""
    character = read_character(name)
    rng = np.random.default_rng(1)
    t = np.arange(round(rate) + 1)[:, None] / rate
    speed, phase = rng.uniform(3.0, 9.0, (2, 1, len(character.coordinates)))
    values = 0.3 * np.sin(speed * t + phase)
    return drawn_curves(character, JointCurves(character.coordinates, rate, values))


def doubled() -> DrawnMotion:
    """The monster with its skin twice: about 14,000 vertices."""
    motion = waving("monster", 30.0)
    assert motion.skin is not None
    points, faces = motion.skin.points, motion.skin.faces
    both = np.vstack([faces, faces + points.shape[1]]).astype(np.int32)
    return replace(motion, skin=Deforming("skin", np.concatenate([points, points], axis=1), both, motion.skin.color))


CASES = {
    "parts": Case("marionette, 41 parts and 6 strings", lambda: waving("marionette", 60.0), 60.0, 1, 1.0),
    "ghost": Case("the same with a ghost", lambda: waving("marionette", 60.0), 60.0, 2, None),
    "robot": Case("agilebot, 105 parts", lambda: waving("agilebot", 60.0), 60.0, 1, 1.0),
    "skin": Case("skin of 13,892 vertices, and 98 parts in it", doubled, 30.0, 1, 2.0),
    "monster": Case("the monster as it is, 6,946 vertices", lambda: waving("monster", 30.0), 30.0, 1, None),
}


def played(case: Case) -> tuple[float, float]:
    """CPU milliseconds a frame, and kilobytes a frame that the client read."""
    from bunraku.studio.page.layer import Layer
    from bunraku.studio.server.server import StudioServer

    motion = case.motion()
    server = StudioServer()
    layers = [Layer(server.viser, f"/layer{k}") for k in range(case.layers)]
    for layer in layers:
        layer.show(motion)
    command = [sys.executable, __file__, "--read", server.url]
    client = subprocess.Popen(command, stdout=subprocess.PIPE, text=True)
    assert client.stdout is not None
    assert client.stdout.readline().strip() == "open"
    time.sleep(1.0)
    frames, best = round(SECONDS * case.rate), np.inf
    for _ in range(RUNS):
        spent = []
        for moving in (False, True):
            began, start = time.process_time(), time.perf_counter()
            for k in range(frames):
                if moving:
                    with server.viser.atomic():
                        for layer in layers:
                            layer.move(motion.times[k % len(motion.times)])
                time.sleep(max(0.0, start + (k + 1) / case.rate - time.perf_counter()))
            spent.append(time.process_time() - began)
        best = min(best, 1e3 * (spent[1] - spent[0]) / frames)
    server.stop()
    total = int(client.communicate(timeout=30)[0])
    return best, total / (RUNS * frames) / 1e3


def main() -> int:
    """Play every case asked for; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else "")
    parser.add_argument("names", nargs="*", help=", ".join(CASES))
    parser.add_argument("--read", help=argparse.SUPPRESS)
    arguments = parser.parse_args()
    if arguments.read:
        read(arguments.read)
        return 0
    missed = []
    for name in arguments.names or CASES:
        case = CASES[name]
        spent, size = played(case)
        bar = "" if case.threshold is None else f", bar {case.threshold:g} ms"
        print(f"{name:8} {case.title:46} {case.rate:3.0f} fps: {spent:5.2f} ms CPU a frame{bar}; {size:6.1f} kB a frame")
        if case.threshold is not None and spent > case.threshold:
            missed.append(f"{name} {spent:.2f} ms")
    print("missed: " + ", ".join(missed) if missed else "all bars met")
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
