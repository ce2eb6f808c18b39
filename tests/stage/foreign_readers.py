"""Readers of every export format that share no code with the writers: the standard library, mcap's and pygltflib's own readers.

Each takes the bytes, the performance (for what a file does not say: calibrations given, joints of nodes) and a folder to work in,
and returns by (channel, kind) what a player would do: times [s], values in the channel's unit, one count of the resolution.
"""

from __future__ import annotations

import csv
import io
import json
import math
import re
import shutil
import struct
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest

STUB = Path(__file__).parent / "arduino_stub"
EXACT = 0.0
FLOAT32 = 2e-6
"""Angles out of quaternions of 32 bits [rad], and places of some metres [m]."""
SERVO = {"position_min": 500, "position_max": 2500, "neutral_deg": 150.0, "range_deg": 300.0}


def options(name: str, performance) -> dict:
    """What a user says to the exporter: calibrations for servos that turn 300 degrees."""
    servo = dict(SERVO)
    if name in ("blender-servo", "blender-servo-h", "blender-servo-bin", "arduino-sketch"):
        told = [channel.name for channel in performance.channels if channel.kind == "position"]
        return {"servos": dict.fromkeys(told, servo)}
    return {}


def channels_told(performance) -> list[str]:
    return [channel.name for channel in performance.channels if channel.kind == "position"]


def angle(position: np.ndarray) -> np.ndarray:
    """The joint angle [rad] of a servo position, by the add-on's formula turned around."""
    share = (np.asarray(position, dtype=float) - SERVO["position_min"]) / (SERVO["position_max"] - SERVO["position_min"])
    return np.radians(SERVO["neutral_deg"] - share * SERVO["range_deg"])


COUNT = math.radians(SERVO["range_deg"]) / (SERVO["position_max"] - SERVO["position_min"])


def read_csv(data: bytes, performance, folder):
    text = data.decode()
    kinds = dict(re.findall(r"^# (.*): (position|velocity|torque|length) \[", text, re.MULTILINE))
    header, *rows = csv.reader(io.StringIO("\n".join(line for line in text.splitlines() if not line.startswith("#"))))
    table = np.array(rows, dtype=float)
    return {
        (name.removesuffix(f".{kinds[name]}") if kinds[name] in ("velocity", "torque") else name, kinds[name]): (
            table[:, 0],
            table[:, 1 + j],
            EXACT,
        )
        for j, name in enumerate(header[1:])
    }


def read_json(data: bytes, performance, folder):
    return {
        (c["name"], c["kind"]): (np.arange(len(c["values"])) / c["rate_hz"], np.array(c["values"]), EXACT)
        for c in json.loads(data)["channels"]
    }


def read_servo_json(data: bytes, performance, folder):
    content = json.loads(data)
    times = np.arange(content["frames"]) / content["fps"]
    names = channels_told(performance)
    return {(names[int(one)], "position"): (times, angle(row), COUNT) for one, row in content["positions"].items()}


def read_servo_commands(data: bytes, performance, fps: float):
    frames, at = [{}], 0
    while at < len(data):
        if data[at] == 0x0A:
            frames.append({})
            at += 1
            continue
        start, number, position, end = struct.unpack_from(">BBHB", data, at)
        assert (start, end) == (0x3C, 0x3E), f"byte {at}"
        frames[-1][number] = position
        at += 5
    assert frames.pop() == {}
    times, names = np.arange(len(frames)) / fps, channels_told(performance)
    return {(names[one], "position"): (times, angle([frame[one] for frame in frames]), COUNT) for one in frames[0]}


def read_servo_header(data: bytes, performance, folder):
    text = data.decode()
    number = {key: int(value) for key, value in re.findall(r"const (?:byte|int) (\w+) = (\d+);", text)}
    body = bytes(int(one, 16) for one in re.findall(r"0x([0-9a-f]{2})", text))
    assert len(body) == number["LENGTH"]
    found = read_servo_commands(body, performance, number["FPS"])
    assert all(len(times) == number["FRAMES"] for times, _, _ in found.values())
    return found


def read_servo_binary(data: bytes, performance, folder):
    return read_servo_commands(data, performance, performance.rate)


def read_ros(data: bytes, performance, folder):
    content = json.loads(data)
    assert set(content) == {"header", "joint_names", "points"}
    points = content["points"]
    times = np.array([point["time_from_start"]["sec"] + 1e-9 * point["time_from_start"]["nanosec"] for point in points])
    kinds = {c.name: c.kind for c in performance.channels if c.kind != "torque"}
    fields = {"position": "positions", "length": "positions", "velocity": "velocities"}
    return {
        (name, kinds[name]): (times, np.array([point[fields[kinds[name]]][j] for point in points]), EXACT)
        for j, name in enumerate(content["joint_names"])
    }


SIZES = {"int32": ("<i", 4), "uint32": ("<I", 4), "uint8": ("<B", 1), "float64": ("<d", 8)}


class Cdr:
    """A decoder of CDR that follows the text of a message definition."""

    def __init__(self, definition: str) -> None:
        first, *rest = re.split(r"^=+\n", definition, flags=re.MULTILINE)
        self.types = {"": self._fields(first)}
        for part in rest:
            head, body = part.split("\n", 1)
            self.types[head.removeprefix("MSG: ")] = self._fields(body)

    @staticmethod
    def _fields(text: str) -> list[tuple[str, str]]:
        return [tuple(line.split("#")[0].split()) for line in text.splitlines() if line.split("#")[0].strip()]

    def decode(self, data: bytes) -> dict:
        assert data[:4] == b"\x00\x01\x00\x00", "little-endian CDR"
        self.data, self.at = data[4:], 0
        value = self._value("")
        assert self.at == len(self.data), "bytes are left over"
        return value

    def _value(self, kind: str):
        if kind in self.types:
            return {name: self._value(one) for one, name in self.types[kind]}
        if kind.endswith("[]"):
            count = self._value("uint32")
            if kind == "uint8[]":
                self.at += count
                return self.data[self.at - count : self.at]
            return [self._value(kind[:-2]) for _ in range(count)]
        if kind == "string":
            size = self._value("uint32")
            self.at += size
            assert self.data[self.at - 1] == 0
            return self.data[self.at - size : self.at - 1].decode()
        form, size = SIZES[kind]
        self.at += -self.at % size
        value = struct.unpack_from(form, self.data, self.at)[0]
        self.at += size
        return value


def mcap_messages(data: bytes) -> dict[str, list[tuple[int, dict]]]:
    """(log time [ns], decoded message) by topic, by the reader of the mcap library."""
    from mcap.reader import make_reader

    found: dict[str, list[tuple[int, dict]]] = {}
    for schema, channel, message in make_reader(io.BytesIO(data), validate_crcs=True).iter_messages():
        assert (channel.message_encoding, schema.encoding) == ("cdr", "ros2msg")
        found.setdefault(channel.topic, []).append((message.log_time, Cdr(schema.data.decode()).decode(message.data)))
    return found


def read_mcap(data: bytes, performance, folder):
    states = mcap_messages(data)["/joint_states"]
    times = np.array([one["header"]["stamp"]["sec"] + 1e-9 * one["header"]["stamp"]["nanosec"] for _, one in states])
    np.testing.assert_allclose(times, [time * 1e-9 for time, _ in states], rtol=0, atol=1e-9)
    fields = {"position": "position", "length": "position", "velocity": "velocity", "torque": "effort"}
    return {
        (c.name, c.kind): (times, np.array([one[fields[c.kind]][one["name"].index(c.name)] for _, one in states]), EXACT)
        for c in performance.channels
    }


NAOQI = """import json, sys
CALLS = []
class ALProxy:
    def __init__(self, name, ip, port):
        self._name, self.post = name, self
        CALLS.append(["ALProxy", name, ip, port])
    def __getattr__(self, what):
        def call(*words):
            CALLS.append([self._name + "." + what, *words])
            with open("calls.json", "w") as file:
                json.dump(CALLS, file)
        return call
"""


def naoqi_calls(data: bytes, folder: Path, *words: str) -> list:
    """What the script calls, run on its own with a naoqi that writes down what it is told."""
    (folder / "naoqi.py").write_text(NAOQI)
    (folder / "play.py").write_bytes(data)
    subprocess.run([sys.executable, "-I", "-c", _ALONE, *words], cwd=folder, check=True, capture_output=True)
    return json.loads((folder / "calls.json").read_text())


_ALONE = """import runpy, sys
sys.path.insert(0, ".")
sys.argv[0] = "play.py"
runpy.run_path("play.py", run_name="__main__")
assert not any(name.startswith(("bunraku", "numpy")) for name in sys.modules)
"""


def read_naoqi(data: bytes, performance, folder):
    moves = [call for call in naoqi_calls(data, folder) if call[0] == "ALMotion.angleInterpolation"]
    (_, names, first, _, absolute), (_, again, lists, times, also) = moves
    assert names == again
    assert absolute is also is True
    return {(name, "position"): (np.array([0.0, *times[j]]), np.array([first[j], *lists[j]]), 1e-6) for j, name in enumerate(names)}


def read_gltf(data: bytes, performance, folder):
    """Joint angles out of the nodes that pygltflib reads: turns about the axes of hinges, ways along those of slides."""
    from pygltflib import GLTF2

    gltf = GLTF2.load_from_bytes(data)
    blob = gltf.binary_blob()

    def numbers(index: int) -> np.ndarray:
        accessor = gltf.accessors[index]
        view = gltf.bufferViews[accessor.bufferView]
        width = {"SCALAR": 1, "VEC3": 3, "VEC4": 4}[accessor.type]
        assert accessor.componentType == 5126
        return np.frombuffer(blob, "<f4", accessor.count * width, view.byteOffset).astype(float).reshape(-1, width)

    animation = gltf.animations[0]
    tracks, times = {}, None
    for channel in animation.channels:
        sampler = animation.samplers[channel.sampler]
        assert sampler.interpolation == "LINEAR"
        tracks[channel.target.node, channel.target.path] = numbers(sampler.output)
        times = numbers(sampler.input)[:, 0]
    nodes = {node.name: index for index, node in enumerate(gltf.nodes)}
    n = len(times)

    def local(name: str) -> tuple[np.ndarray, np.ndarray]:
        """Rotation (n, 3, 3) and place (n, 3) of a node in its parent, in axes z up and x forward."""
        index = nodes[name]
        q = tracks.get((index, "rotation"), np.tile(gltf.nodes[index].rotation, (n, 1)))
        p = tracks.get((index, "translation"), np.tile(gltf.nodes[index].translation, (n, 1)))
        x, y, z, w = (q / np.linalg.norm(q, axis=1, keepdims=True)).T
        x, y, z = z, x, y  # our x is its z, our y its x, our z its y
        R = np.array(
            [
                [1 - 2 * (y * y + z * z), 2 * (x * y - w * z), 2 * (x * z + w * y)],
                [2 * (x * y + w * z), 1 - 2 * (x * x + z * z), 2 * (y * z - w * x)],
                [2 * (x * z - w * y), 2 * (y * z + w * x), 1 - 2 * (x * x + y * y)],
            ]
        ).transpose(2, 0, 1)
        return R, p[:, [2, 0, 1]]

    found = {}
    who = performance.character
    told = {c.name for c in performance.channels if c.kind == "position"}
    for joint in who.joints:
        if joint.kind not in ("hinge", "slide") or joint.name not in told:
            continue
        R, p = local(joint.child)
        fixed, axis = rotation(joint.pose.quaternion), np.array(joint.axis) / np.linalg.norm(joint.axis)
        if joint.kind == "slide":
            values = (p - np.array(joint.pose.position)) @ fixed @ axis
        else:
            values = turned(np.einsum("ji,njk->nik", fixed, R), axis)
        found[joint.name, "position"] = (times, values, FLOAT32)
    for carriage in who.carriages:
        p = local(carriage.name)[1]
        for j, name in enumerate(carriage.coordinates):
            found[name, "position"] = (times, p[:, j], FLOAT32)
    for c in (animation.extras or {}).get("channels", ()):
        found[c["name"], c["kind"]] = (np.arange(len(c["values"])) / c["rate_hz"], np.array(c["values"]), EXACT)
    return found


def rotation(wxyz) -> np.ndarray:
    w, x, y, z = np.array(wxyz) / np.linalg.norm(wxyz)
    K = np.array([[0, -z, y], [z, 0, -x], [-y, x, 0]])
    return np.eye(3) + 2 * w * K + 2 * K @ K


def turned(R: np.ndarray, axis: np.ndarray) -> np.ndarray:
    """The angle (n,) of rotations (n, 3, 3) about one axis, whole turns counted on."""
    side = np.cross(axis, np.eye(3)[int(np.argmin(np.abs(axis)))])
    side /= np.linalg.norm(side)
    up = np.cross(axis, side)
    image = R @ side
    np.testing.assert_allclose(R @ axis, np.tile(axis, (len(R), 1)), atol=1e-6)
    return np.unwrap(np.arctan2(image @ up, image @ side))


def art_packets(data: bytes) -> list[tuple[float, bytes]]:
    """(time [s], Art-Net packet) out of a pcap file, heads and checksums checked."""
    magic, major, minor, _, _, _, link = struct.unpack_from("<IHHiIII", data)
    assert (magic, major, minor, link) == (0xA1B2C3D4, 2, 4, 1)
    at, found = 24, []
    while at < len(data):
        seconds, microseconds, kept, whole = struct.unpack_from("<IIII", data, at)
        frame = data[at + 16 : at + 16 + kept]
        assert kept == whole == len(frame)
        at += 16 + kept
        assert frame[12:14] == b"\x08\x00"
        ip, udp = frame[14:34], frame[34:]
        assert (ip[0], ip[9], ip[12:16], ip[16:20]) == (0x45, 17, b"\x7f\0\0\1", b"\x7f\0\0\1")
        assert int.from_bytes(ip[2:4], "big") == len(ip) + len(udp)
        assert struct.unpack(">HHH", udp[:6]) == (6454, 6454, len(udp))
        for words in (ip, ip[12:20] + bytes((0, 17)) + len(udp).to_bytes(2, "big") + udp):
            total = sum(int.from_bytes(words[i : i + 2].ljust(2, b"\0"), "big") for i in range(0, len(words), 2))
            assert total % 0xFFFF == 0, "ones' complement sum"
        found.append((seconds + 1e-6 * microseconds, udp[8:]))
    return found


def read_artnet(data: bytes, performance, folder):
    universes: dict[int, list[tuple[float, bytes]]] = {}
    for time, packet in art_packets(data):
        assert packet[:8] == b"Art-Net\0"
        if packet[8:10] == b"\x00\x52":
            continue
        assert packet[8:10] == b"\x00\x50"
        assert packet[10:12] == b"\x00\x0e"
        assert packet[13] == 0
        universe, size = packet[14] + 256 * packet[15], 256 * packet[16] + packet[17]
        assert size == len(packet) - 18 <= 512
        assert size % 2 == 0
        lines = universes.setdefault(universe, [])
        assert packet[12] == len(lines) % 255 + 1
        lines.append((time, packet[18:]))
    found = {}
    for place, channel in enumerate(c for c in performance.channels if c.kind != "torque"):
        lines = universes[place // 256]
        at = 2 * (place % 256)
        raw = np.array([256 * data[at] + data[at + 1] for _, data in lines])
        low, high = limits(performance.character, channel)
        values = low + raw / 65535.0 * (high - low)
        found[channel.name, channel.kind] = (np.array([time for time, _ in lines]), values, (high - low) / 65535.0)
    return found


def limits(who, channel) -> tuple[float, float]:
    """The range of a channel as the guide says: its motor's and joint's limits, the carriage's, the winch's, one turn."""
    for carriage in who.carriages:
        for name, span in zip(carriage.coordinates, (carriage.x_range, carriage.y_range), strict=True):
            if name == channel.name:
                return span
        for string in who.strings:
            if string.carriage == carriage.name and string.coordinate == channel.name:
                return carriage.winch_range
    motor = next((one for one in who.motors if one.coordinate == channel.name), None)
    if motor is None:
        return -math.pi, math.pi
    if channel.kind == "velocity":
        return -motor.velocity, motor.velocity
    spans = [axis.range for axis in who.axes if axis.name == channel.name] + [motor.range]
    for coupling in who.couplings:
        span = next(axis.range for axis in who.axes if axis.name == coupling.follower)
        if coupling.driver == channel.name and span is not None:
            spans.append(tuple(sorted((end - coupling.offset) / coupling.ratio for end in span)))
    spans = [span for span in spans if span is not None]
    return (max(a for a, _ in spans), min(b for _, b in spans)) if spans else (-math.pi, math.pi)


def read_arduino(data: bytes, performance, folder):
    """The numbers of the header; that a compiler reads the same is held by test_arduino."""
    text = data.decode()
    lists = [re.sub(r"\s", "", one).split(",") for one in re.findall(r"int16_t \w+\[FRAMES\] PROGMEM = \{([^}]*)\}", text)]
    rate = float(re.search(r"RATE_HZ = ([\d.e+-]+)f;", text)[1])
    floats = {
        key: [float(one.strip().rstrip("f")) for one in row.split(",")]
        for key, row in re.findall(r"float (\w+)\[CHANNELS\] = \{([^}]*)\}", text)
    }
    told = [c for c in performance.channels if c.kind in ("position", "length")]
    assert len(lists) == len(told)
    return {
        (c.name, c.kind): (
            np.arange(len(row)) / rate,
            floats["OFFSET"][j] + floats["SCALE"][j] * np.array(row, dtype=float),
            floats["SCALE"][j],
        )
        for j, (c, row) in enumerate(zip(told, lists, strict=True))
    }


def read_sketch(data: bytes, performance, folder):
    """The pulses that the sketch makes when it is compiled and run, at the times it makes them."""
    if shutil.which("g++") is None:
        pytest.skip("NO G++: THE ARDUINO SKETCH IS NOT TESTED HERE; install g++")
    (folder / "sketch.ino").write_bytes(data)
    player = str(folder / "player")
    subprocess.run(
        ["g++", "-std=c++11", "-Wall", "-Wextra", "-Werror", f"-I{folder}", f"-I{STUB}", str(STUB / "player.cpp"), "-o", player],
        check=True,
        capture_output=True,
    )
    end = round(1e6 * (performance.duration + 2.0))
    said = subprocess.run([player, "0", "20", "0", str(end)], check=True, capture_output=True, text=True).stdout
    begun, rows = None, {}
    for word, *told in map(str.split, said.splitlines()):
        if word == "start":
            begun = int(told[0])
        elif word == "pulse" and begun is not None:
            rows.setdefault(int(told[0]), []).append((1e-6 * (int(told[2]) - begun), int(told[1])))
    names, found = channels_told(performance), {}
    for pin, pulses in rows.items():
        times, positions = np.array(pulses).T
        found[names[pin - 2], "position"] = (times - 0.5 * 20e-6, angle(positions), COUNT)
    return found


READERS = {
    "csv": read_csv,
    "json": read_json,
    "blender-servo": read_servo_json,
    "blender-servo-h": read_servo_header,
    "blender-servo-bin": read_servo_binary,
    "ros": read_ros,
    "mcap": read_mcap,
    "naoqi": read_naoqi,
    "gltf": read_gltf,
    "artnet": read_artnet,
    "arduino": read_arduino,
    "arduino-sketch": read_sketch,
}

KINDS = ("position", "velocity", "torque", "length")
TAKES = {
    "csv": KINDS,
    "json": KINDS,
    "blender-servo": ("position",),
    "blender-servo-h": ("position",),
    "blender-servo-bin": ("position",),
    "ros": KINDS,
    "mcap": KINDS,
    "naoqi": ("position",),
    "gltf": KINDS,
    "artnet": ("position", "velocity", "length"),
    "arduino": ("position", "length"),
    "arduino-sketch": ("position",),
}
"""What the guide's table says of each format."""
