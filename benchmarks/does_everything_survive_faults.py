"""Does everything survive faults? Kills and refusals at random file operations, damaged caches, busy cores, floods of strangers.

Each fault is a run of its own, in a process forked from one that has everything loaded: `perform` (with checkpoints, of a capture
too), `batch`, `studio`, `calibrate`, `play` and `export`, of a head that nods. At the n-th file operation below the run's folder, n
drawn among as many as a whole run has, the process is killed in the middle of what it writes, or the operation is refused as by a
full, a read-only, a forbidden or a broken disk (`_faults.py`). Then the same command is given again, and nothing refuses.

    lost           what was there before, or was said to be kept, is gone; or the run given again does not end as a whole one does
    half-written   under the name of an output stands what is neither the old file nor the whole new one; or an error leaves strays
    tracebacks     a traceback, exit 70, an error that is no single line; or a process that does not end

Caches are damaged by flipped bits, cuts and other content: the answer is the same, with one line more at most. Beside busy
neighbours `play` ends in a sentence. While strangers flood the port of `perform --stream --port`, who has the token is answered.

Run: python benchmarks/does_everything_survive_faults.py [--faults 2000] [--seed 7] [--only perform]; exit 1 if there is any.
Needs fork; elsewhere it ends with 77.
"""

from __future__ import annotations

import argparse
import contextlib
import io
import json
import os
import random
import secrets
import select
import shutil
import signal
import socket
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from _faults import KILL, KINDS, Count, Faults, injected
from _nodder import CHARACTER

CLIP = "bunraku: clip/1\nname: yes\nrate_hz: 50\njoints:\n  keys_deg: {nod: [[0.0, 0], [0.1, 5], [0.2, 0], [0.3, 5], [0.4, 0]]}\n"
PLAN = """bunraku: batch/1
characters: [nodder.character.yaml]
clips: [yes.clip.yaml]
performers: [speech]
vary:
  - {option: intensity, values: [0.5, 1.0]}
"""
ROD = """bunraku: character/1
name: rod
bodies:
  - {name: hub, mass_kg: 0.1, inertia_kg_m2: [1.0e-4, 1.0e-4, 1.0e-4, 0, 0, 0]}
  - {name: tip, mass_kg: 0.1, inertia_kg_m2: [1.0e-4, 1.0e-4, 1.0e-4, 0, 0, 0]}
joints:
  - {name: turn, kind: hinge, parent: world, child: hub, axis: [0, 1, 0]}
  - {name: rod, kind: fixed, parent: hub, child: tip, pose: {position_m: [0, 0, 0.2]}}
motors:
  - {name: turn, coordinate: turn, stall_torque_n_m: 1}
materials:
  - {name: steel, young_pa: 2.0e+11, density_kg_m3: 7850, strain_damping_s: 0.001}
flexibles:
  - name: rod
    material: steel
    modes: 1
    shape: {kind: rod, length_m: 0.2, diameter_m: 0.004, cell_m: 0.02}
    base: hub
    children: [{body: tip}]
"""
FORMS = ("csv", "json", "mcap", "gltf")
NOT_MEASURED = 77
PATIENCE = 60.0
"""Time [s] after which a run hangs."""
SHARES = {
    "perform": 6,
    "capture": 1,
    "export": 3,
    "calibrate": 3,
    "play": 2,
    "batch": 3,
    "studio": 3,
    "cache": 4,
    "busy": 0.2,
    "flood": 0.3,
}
"""How many of the faults each scene gets, in proportion."""


@dataclass
class Ended:
    """How a process ended: its exit code (negative: the signal), and what it said."""

    code: int
    said: str


@dataclass
class Tally:
    """What was injected, and what it did, by kind; with a sentence for everything that was wrong."""

    injected: Counter[str] = field(default_factory=Counter)
    wrong: dict[str, list[str]] = field(default_factory=lambda: {"lost": [], "half-written": [], "tracebacks": []})

    def add(self, what: str, sentence: str) -> None:
        self.wrong[what].append(sentence)


def forked(act: Callable[[], int], patience: float = PATIENCE) -> Ended:
    """Do something in a process of its own."""
    with tempfile.TemporaryFile() as said:
        pid = os.fork()
        if not pid:
            code = 99
            try:
                for handle in (1, 2):
                    os.dup2(said.fileno(), handle)
                code = act()
            except BaseException:
                import traceback

                traceback.print_exc()
            finally:
                sys.stdout.flush()
                sys.stderr.flush()
                os._exit(code)
        end = time.monotonic() + patience
        while True:
            done, status = os.waitpid(pid, os.WNOHANG)
            if done:
                break
            if time.monotonic() > end:
                os.kill(pid, signal.SIGKILL)
                os.waitpid(pid, 0)
                return Ended(99, "it hangs")
            time.sleep(0.002)
        said.seek(0)
        return Ended(os.waitstatus_to_exitcode(status), said.read().decode(errors="replace"))


def command(*words: str) -> int:
    """A command of Bunraku in this process."""
    from bunraku.cli.main import _run

    return _run([*words])


def files(folder: Path) -> dict[str, bytes]:
    """All files below a folder by name."""
    return {str(path.relative_to(folder)): path.read_bytes() for path in sorted(folder.rglob("*")) if path.is_file()}


# -- the scenes --


@dataclass(frozen=True)
class Scene:
    """A run: what is done in its folder, and done again after a fault; ``outputs`` must be whole, ``before`` is there at first."""

    name: str
    act: Callable[[], int]
    outputs: Callable[[str], bool]
    before: Callable[[Path], None] = lambda folder: None
    again: Callable[[], int] | None = None
    same: bool = True
    check: Callable[[Path, Path], str] = lambda folder, whole: ""


def perform() -> int:
    return command("perform", "nodder.character.yaml", "yes.clip.yaml", "-o", "out.performance.npz", "--resume")


def capture() -> int:
    return command("perform", "nao", "wave.bvh", "-o", "out.performance.npz", "--once", "--resume")


def export() -> int:
    return max(command("export", "nod.performance.npz", "-f", form) for form in FORMS)


def calibrate() -> int:
    code = 0 if Path("x.device.yaml").exists() else command("calibrate", "x.device.yaml", "--from", "nodder.character.yaml")
    return code or max(command("calibrate", "x.device.yaml", "--set", f"rate_hz={rate}") for rate in (40, 60))


def play() -> int:
    return command("play", "nod.performance.npz", "--log", "sent.csv", "--clock", "monotonic")


class Here:
    """Workers of a batch that work in this process."""

    threads, page = 1, ""

    def __init__(self) -> None:
        self._jobs: list[dict[str, Any]] = []

    def connect(self) -> Here:
        return self

    def send(self, job: dict[str, Any]) -> None:
        self._jobs.append(job)

    def answer(self, seconds: float) -> Any:
        from bunraku.batch.cluster import Answer
        from bunraku.batch.working import carry_out

        job = self._jobs.pop(0)
        return Answer(job["key"], carry_out(job))

    def overdue(self, seconds: float) -> list[str]:
        return []

    def close(self) -> None:
        self._jobs.clear()


def batch() -> int:
    from bunraku.batch.batch import run_batch
    from bunraku.batch.plan import read_plan
    from bunraku.errors import BunrakuError

    try:
        return run_batch(read_plan(Path("nods.batch.yaml")), Path("out"), Here(), plots=False).exit_code
    except BunrakuError as error:
        print(f"bunraku: {error}", file=sys.stderr)
        return error.exit_code


def done_again(folder: Path, before: dict[str, int]) -> str:
    """Whether a run of a batch that was done was done again."""
    again = [name for name, inode in before.items() if (folder / name).stat().st_ino != inode]
    return f"done again: {again[0]}" if again else ""


def studio() -> int:
    """Edits of a project, each noted when it was said to be kept; saved on the way."""
    from bunraku.errors import BunrakuError
    from bunraku.studio.session import Session

    try:
        session = Session(Path("project"))
        known = 0
        for step in range(8):
            value = 20.0 + step
            session.do("option.set", name="acceleration", value=value)
            told = [one for one in session.messages.all if one.kind == "error"]
            if len(told) == known:
                with open("../acknowledged", "a", encoding="utf-8") as file:
                    file.write(f"{value}\n")
            known = len(told)
            if step % 3 == 2:
                session.save()
        session.close()
        return 0
    except BunrakuError as error:
        print(f"bunraku: {error}", file=sys.stderr)
        return error.exit_code


def reopened() -> int:
    from bunraku.studio.session import Session

    session = Session(Path("project"))
    print(json.dumps(dict(session.document.options).get("acceleration", 0.0)))
    session.close()
    return 0


def scenes(folder: Path) -> dict[str, Scene]:
    """The scenes with faults at file operations; what they read lies in ``folder``."""

    def bring(*names: str) -> Callable[[Path], None]:
        return lambda work: [shutil.copy(folder / name, work / name) for name in names] and None

    robot = ("nodder.character.yaml", "yes.clip.yaml")

    def project(work: Path) -> None:
        shutil.copytree(folder / "project", work / "project")

    return {
        "perform": Scene("perform", perform, lambda name: name.startswith("out.") and name.endswith(".npz"), bring(*robot)),
        "capture": Scene("capture", capture, lambda name: name.startswith("out.") and name.endswith(".npz"), bring("wave.bvh")),
        "export": Scene("export", export, lambda name: name.startswith("nod."), bring("nod.performance.npz")),
        "calibrate": Scene("calibrate", calibrate, lambda name: False, bring(*robot)),
        "play": Scene("play", play, lambda name: False, bring("nod.performance.npz"), same=False),
        "batch": Scene(
            "batch",
            batch,
            lambda name: name.startswith("out/runs/k") or (name.startswith("out/runs/") and not name.startswith("out/runs/.")),
            bring(*robot, "nods.batch.yaml"),
        ),
        "studio": Scene("studio", studio, lambda name: False, project, again=reopened, same=False),
    }


TIMED = ("timing.json", "timings.csv", "sent.csv")
"""Files that hold times, which no two runs share."""


def whole_files(found: dict[str, bytes]) -> dict[str, bytes]:
    return {name: content for name, content in found.items() if Path(name).name not in TIMED}


@dataclass
class Whole:
    """A run of a scene without a fault: how many operations it has, how it ends, what it writes."""

    count: int
    ended: Ended
    files: dict[str, bytes]


def run_in(folder: Path, act: Callable[[], int], kind: str = KILL, at: int = 0) -> tuple[Ended, Count]:
    """A run in a folder, with a fault."""
    count = Count()

    def work() -> int:
        os.chdir(folder / "work")
        tempfile.tempdir = str(folder / "temporary")
        os.environ["BUNRAKU_CACHE"] = str(folder / "work" / "cache")
        with injected(Faults(folder / "work", kind, at, count)):
            return act()

    return forked(work), count


def made(scene: Scene, folder: Path) -> Path:
    """A folder for a run, with what it reads."""
    for name in ("work", "temporary"):
        (folder / name).mkdir(parents=True)
    scene.before(folder / "work")
    return folder


def whole_run(scene: Scene, folder: Path) -> Whole:
    """Without a fault."""
    made(scene, folder)
    ended, count = run_in(folder, scene.act)
    if ended.code not in (0, 1):
        raise SystemExit(f"{scene.name} does not even end well without a fault: {ended.code}\n{ended.said}")
    found = whole_files(files(folder / "work"))
    shutil.rmtree(folder)
    return Whole(count.values[0], ended, found)


def said_well(ended: Ended) -> str:
    """What is wrong with how a process ended that was not killed; empty if nothing."""
    if ended.code in (70, 99) or "Traceback" in ended.said or ended.code < 0:
        return f"exit {ended.code}: {' | '.join(ended.said.strip().splitlines()[-4:])}"
    lines = [line for line in ended.said.splitlines() if line.startswith("bunraku: ")]
    return f"exit {ended.code} without a sentence: {ended.said[-200:]!r}" if ended.code == 2 and not lines else ""


def faulted(scene: Scene, whole: Whole, folder: Path, kind: str, at: int, tally: Tally) -> None:
    """One run with a fault, and the same again without."""
    made(scene, folder)
    work = folder / "work"
    first = files(work)
    ended, count = run_in(folder, scene.act, kind, at)
    if not count.values[1]:
        shutil.rmtree(folder)
        return
    tally.injected[f"{scene.name}: {kind}"] += 1
    where = f"{scene.name}, {kind} at {at} of {whole.count}"
    wrong = "" if kind == KILL and ended.code == -signal.SIGKILL else said_well(ended)
    if wrong:
        tally.add("tracebacks", f"{where}: {wrong}")
    found = files(work)
    for name, content in first.items():
        if name not in found:
            tally.add("lost", f"{where}: {name} is gone")
        elif content != found[name] and scene.name not in ("studio", "calibrate"):
            tally.add("lost", f"{where}: {name} is another one")
    for name, content in whole_files(found).items():
        if scene.outputs(name) and content != whole.files.get(name):
            tally.add("half-written", f"{where}: {name}")
        if kind in ("full", "broken") and name.endswith(".part"):
            tally.add("half-written", f"{where}: {name} is left behind")
    inodes = {
        name: (work / name).stat().st_ino
        for name in found
        if scene.name == "batch" and name.endswith("figures.json") and "/." not in name
    }
    after, _ = run_in(folder, scene.again or scene.act)
    wrong = said_well(after)
    if wrong or (scene.again is None and after.code != whole.ended.code):
        tally.add("lost", f"{where}: given again, {wrong or after.said[-300:]!r}")
    elif scene.again is not None:
        kept = (folder / "acknowledged").read_text().split() if (folder / "acknowledged").exists() else ["0"]
        if float(after.said.strip().splitlines()[-1]) < float(kept[-1]):
            tally.add("lost", f"{where}: the step to {kept[-1]} was kept, {after.said.strip()} came back")
    else:
        again = whole_files(files(work))
        other = [name for name, content in whole.files.items() if again.get(name) != content]
        if scene.same and other:
            tally.add("lost", f"{where}: given again, {other[0]} is another one")
        if inodes and (twice := done_again(work, inodes)):
            tally.add("lost", f"{where}: {twice}")
    shutil.rmtree(folder)


# -- caches, busy cores, strangers --


def damaged_cache(data: bytes, rng: random.Random) -> bytes:
    """A file with a bit flipped, cut, emptied, or with a piece of itself elsewhere."""
    place = rng.randrange(len(data))
    match rng.randrange(6):
        case 0:
            return data[:place]
        case 1:
            return rng.randbytes(rng.randrange(3) * 40)
        case 2:
            other = rng.randrange(len(data))
            return data[:place] + data[other : other + 64] + data[place + 64 :]
    return data[:place] + bytes([data[place] ^ 1 << rng.randrange(8)]) + data[place + 1 :]


def cache_scene(folder: Path, source: Path, rng: random.Random, tally: Tally, faults: int) -> None:
    """Parts of a rod that bends are read from a damaged cache: the same answer, in one line more at most."""
    folder.mkdir()

    def ask() -> int:
        os.environ["BUNRAKU_CACHE"] = str(folder / "cache")
        return command("inspect", str(source), "--json")

    first = forked(ask)
    kept = files(folder / "cache")
    if first.code or not kept:
        raise SystemExit(f"nothing is cached: {first}")
    for number in range(faults):
        name = rng.choice(sorted(kept))
        bad = damaged_cache(kept[name], rng)
        if bad == kept[name]:
            continue
        (folder / "cache" / name).write_bytes(bad)
        ended = forked(ask)
        tally.injected["cache: damaged"] += 1
        lines = [line for line in ended.said.splitlines() if line not in first.said.splitlines()]
        if ended.code or "Traceback" in ended.said:
            tally.add("tracebacks", f"cache {number}: {ended.said[-300:]}")
        elif len(lines) > 1 or [line for line in first.said.splitlines() if line not in ended.said.splitlines()]:
            tally.add("lost", f"cache {number}: another answer: {lines}")
        elif files(folder / "cache") != kept:
            tally.add("half-written", f"cache {number}: {name} was not made again")
    shutil.rmtree(folder)


def busy_scene(folder: Path, source: Path, tally: Tally, faults: int) -> None:
    """`play` on a simulated machine beside neighbours that take all cores."""
    folder.mkdir()
    neighbours = []
    for _ in range(2 * (os.cpu_count() or 1)):
        pid = os.fork()
        while not pid:
            pass
        neighbours.append(pid)
    try:
        for _ in range(faults):
            ended = forked(lambda: command("play", str(source), "--live", "dynamixel", "--simulate", "--clock", "monotonic"))
            tally.injected["play: busy cores"] += 1
            if ended.code not in (0, 1) or "Traceback" in ended.said:
                tally.add("tracebacks", f"play beside busy neighbours: exit {ended.code}: {ended.said[-300:]}")
    finally:
        for pid in neighbours:
            os.kill(pid, signal.SIGKILL)
            os.waitpid(pid, 0)
    shutil.rmtree(folder)


def flood_scene(rng: random.Random, tally: Tally, rounds: int) -> None:
    """Strangers open, cut and flood connections to a stream's port while its owner sends frames and is answered."""
    from websockets.sync.client import connect

    if not rounds:
        return
    token, (heard, said) = secrets.token_urlsafe(24), os.pipe()
    pid = os.fork()
    if not pid:
        os.dup2(said, 2)
        os._exit(command("perform", "nao", "--stream", "--port", str(_free_port()), "--token", token))
    os.close(said)
    lines = os.fdopen(heard, "r", encoding="utf-8", errors="replace")
    first = lines.readline()
    address = next((word for word in first.split() if word.startswith("ws://")), "")
    if not address:
        raise SystemExit(f"the stream does not begin: {first}")
    port = int(address.rpartition(":")[2].partition("/")[0])
    try:
        for number in range(rounds):
            strangers = [socket.create_connection(("127.0.0.1", port)) for _ in range(rng.randrange(5, 60))]
            for one in strangers:
                with contextlib.suppress(OSError):
                    one.sendall(rng.choice((b"", b"GET / HTTP/1.1\r\n", rng.randbytes(3000), b"GET /?token=x HTTP/1.1\r\n\r\n")))
            tally.injected["stream: flood"] += 1
            try:
                with connect(address, open_timeout=20, close_timeout=1) as owner:
                    owner.send(json.dumps([0.0] * 25))
                    json.loads(owner.recv(timeout=20))
            except Exception as error:
                tally.add("lost", f"flood {number}: the owner is not answered ({type(error).__name__}: {error})")
            for one in strangers:
                one.close()
    finally:
        os.kill(pid, signal.SIGINT)
        _, status = os.waitpid(pid, 0)
        text = lines.read() if select.select([lines], [], [], 1.0)[0] else ""
        if "Traceback" in text or os.waitstatus_to_exitcode(status) not in (0, 130):
            tally.add("tracebacks", f"flood: exit {os.waitstatus_to_exitcode(status)}: {text[-400:]}")


def _free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


# -- all of it --


def prepare(folder: Path) -> None:
    """What the runs read; everything is loaded on the way, so that forked processes need not."""
    from bunraku.studio.document import EMPTY
    from bunraku.studio.project import Project
    from bunraku.studio.session import Session

    os.chdir(folder)
    os.environ["BUNRAKU_CACHE"] = str(folder / "cache")
    for name, text in (
        ("nodder.character.yaml", CHARACTER),
        ("yes.clip.yaml", CLIP),
        ("nods.batch.yaml", PLAN),
        ("rod.character.yaml", ROD),
    ):
        (folder / name).write_text(text)
    (folder / "wave.bvh").write_text(waving())
    with contextlib.redirect_stderr(io.StringIO()), contextlib.redirect_stdout(io.StringIO()):
        assert perform() in (0, 1)
        shutil.copy("out.performance.npz", "nod.performance.npz")
        assert capture() in (0, 1, 3)
        assert batch() in (0, 1)
        assert export() == calibrate() == play() == 0
        assert command("play", "nod.performance.npz", "--live", "dynamixel", "--simulate", "--clock", "monotonic") == 0
    Project(folder / "project").save(EMPTY.changed(performer="speech"))
    Session(folder / "project").close()


def waving() -> str:
    """A BVH file of a torso that waves an arm for half a second."""
    bones = (("Hips", 0, "0 90 0"), ("Spine", 1, "0 20 0"), ("Head", 2, "0 35 0"))
    arms = [(f"{side}{part}", 2 + k, f"{sign * length} 0 0") for side, sign in (("Left", 1), ("Right", -1))
            for k, (part, length) in enumerate((("Arm", 18), ("ForeArm", 28), ("Hand", 25)))]  # fmt: skip
    lines, open_bones = ["HIERARCHY"], 0
    for name, depth, offset in (*bones, *arms):
        while open_bones > depth:
            lines.append("}")
            open_bones -= 1
        channels = (
            "6 Xposition Yposition Zposition Zrotation Yrotation Xrotation" if not depth else "3 Zrotation Yrotation Xrotation"
        )
        lines += [f"{'JOINT' if depth else 'ROOT'} {name}", "{", f"OFFSET {offset}", f"CHANNELS {channels}"]
        open_bones += 1
        if name in ("Head", "LeftHand", "RightHand"):
            lines += ["End Site", "{", "OFFSET 0 10 0", "}"]
    lines += ["}"] * open_bones
    frames = [" ".join(["0 90 0"] + ["0 0 0"] * 3 + [f"{-45 + 3 * k} -20 0"] + ["0 0 0"] * 5) for k in range(15)]
    return "\n".join([*lines, "MOTION", f"Frames: {len(frames)}", "Frame Time: 0.0333333", *frames, ""])


def main() -> int:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--faults", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    parser.add_argument("--only", default="", help="one scene")
    asked = parser.parse_args()
    if not hasattr(os, "fork"):
        print("this forks, which cannot be done here")
        return NOT_MEASURED
    rng, tally, began = random.Random(asked.seed), Tally(), time.monotonic()
    shares = {name: share for name, share in SHARES.items() if asked.only in ("", name)}
    counts = {name: round(asked.faults * share / sum(shares.values())) for name, share in shares.items()}
    with tempfile.TemporaryDirectory(prefix="bunraku-faults-") as name:
        folder = Path(name)
        (folder / "sources").mkdir()
        prepare(folder / "sources")
        for key, scene in scenes(folder / "sources").items():
            if not counts.get(key):
                continue
            start = time.monotonic()
            whole = whole_run(scene, folder / "whole")
            done = sum(tally.injected.values())
            while sum(tally.injected.values()) - done < counts[key]:
                faulted(scene, whole, folder / "run", rng.choice((KILL, KILL, *KINDS)), rng.randint(1, whole.count), tally)
            print(
                f"{key:10} {counts[key]:5d} faults, {whole.count} file operations a run, {time.monotonic() - start:.0f} s",
                flush=True,
            )
        cache_scene(folder / "run", folder / "sources" / "rod.character.yaml", rng, tally, counts.get("cache", 0)) if counts.get(
            "cache"
        ) else None
        busy_scene(folder / "run", folder / "sources" / "nod.performance.npz", tally, counts.get("busy", 0))
        flood_scene(rng, tally, counts.get("flood", 0))
        os.chdir("/")
    print("\ninjected")
    for kind, number in sorted(tally.injected.items()):
        print(f"  {kind:24} {number:5d}")
    total = sum(tally.injected.values())
    print(
        f"{total} faults in {time.monotonic() - began:.0f} s; "
        + ", ".join(f"{len(found)} {what}" for what, found in tally.wrong.items())
    )
    for what, found in tally.wrong.items():
        for sentence in found[:20]:
            print(f"  {what}: {sentence}")
    return 1 if any(tally.wrong.values()) else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
