"""Is the reduced model right? Every flexible character, reduced, against all nodes of its parts.

Both models follow the character's clip at steps of 0.5 ms: the one-rod's whole, of the others the fastest second and a half,
eased in from rest (``--exhaustive``: whole clips). Shapes of the reduced model come from the parts alone (modes, derivatives), from
no motion. Printed for each: RMS of the vibration (distance of the tracked frames from where they would rest), RMS and peak of the
difference of the models, its share of the vibration (bar 0.5 % one-rod, 2 % the others), steps a second of thread CPU of both and
the ratio (bar 500).

With ``--principal``, principal shapes of a full simulation too (Fig. 6 of Hoshyari et al. 2019), on the motion they were made from
and on another: the one-rod's from a swing tried on its clip and the other way, the boxer's tried on the drummer and the other way.

``--coarser 5`` gives the full-order model cells five times longer that bend, twist and weigh as the fine ones do, to see errors at
a fraction of the time; principal shapes need 1, and the ratio of speeds is judged at 1 only.
Full simulations are kept on disk, by what they were made from.

Run: python benchmarks/is_the_reduced_model_right.py [NAME ...] [--exhaustive] [--seconds 1.5] [--principal] [--coarser 5]
"""

from __future__ import annotations

import argparse
import sys
import time
from dataclasses import dataclass, replace
from functools import cache
from pathlib import Path

import numpy as np

import bunraku.mechanics.full_order as full_order
from _frames import predict_frames, rest_frames
from _principal import base_frame, mass_pca
from bunraku.formats.registry import read_character, read_clip
from bunraku.mechanics.cache import content_key, load_result, save_result
from bunraku.mechanics.elastic.reduction.basis import Workbench
from bunraku.mechanics.elastic.reduction.reduce import reduce_to
from bunraku.mechanics.flexible.prediction import motor_nodes
from bunraku.mechanics.flexible.system import FlexibleCharacterSystem, flexible_system
from bunraku.mechanics.full_order.from_character import full_model

CLIPS = {
    "one-rod": "tick",
    "two-rods": "tilt",
    "dancer": "dance",
    "bartender": "serve",
    "rapper": "rap",
    "drummer": "drumming",
    "boxer": "boxing",
}
DT, EVERY, EASE = 5e-4, 10, 0.1
RATIO_THRESHOLD, PRINCIPAL = 500.0, 15
PAIRS = (("tick", "tick"), ("swing", "tick"), ("tick", "swing"), ("drummer", "drummer"), ("boxer", "drummer"), ("drummer", "boxer"))


@dataclass(frozen=True)
class Full:
    """Positions (n, frames, 3) [m] of the full-order model, steps a second, and displacements (n, 3 nodes) of parts by name."""

    positions: np.ndarray
    rate: float
    snapshots: dict[str, np.ndarray]


@cache
def code() -> str:
    """The sources that a full simulation depends on."""
    folder = Path(full_order.__path__[0])
    return content_key(*[path.read_text() for place in (folder, folder.parent / "elastic") for path in sorted(place.glob("*.py"))])


def stretch(model: FlexibleCharacterSystem, clip: str, seconds: float) -> np.ndarray:
    """The motors' node values over the fastest ``seconds`` of a clip, eased in from rest; the whole clip if that is as long."""
    curves = read_clip(clip).joints
    K = motor_nodes(model, curves, DT)
    steps = round(seconds / DT)
    if steps >= len(K) - 1:
        return K
    effort = np.cumsum(np.concatenate([[0.0], np.sum(np.diff(K, 2, axis=0) ** 2, axis=1)]))
    begin = int(np.argmax(effort[steps:] - effort[: len(effort) - steps]))
    part = K[begin : begin + steps + 1]
    s = np.clip(np.arange(steps + 1) * DT / EASE, 0.0, 1.0)
    return np.ascontiguousarray(part[0] + (part - part[0]) * (s**3 * (10.0 - 15.0 * s + 6.0 * s**2))[:, None])


def simulated(name: str, model: FlexibleCharacterSystem, K: np.ndarray, method: str, coarser: float, keep: bool) -> Full:
    """The full-order model along node values, from the disk if it was done before."""
    character = model.character
    names = [model.system.names[i] for i in model.system.kinematic]
    frames = tuple(frame.name for frame in character.frames)
    pieces = tuple(part.name for part in character.flexibles) if keep else ()
    values = np.ascontiguousarray(K[:, [names.index(motor) for motor in character.driven]])
    key = content_key(code(), repr(character), values, frames, pieces, method, coarser, EVERY)
    kept = load_result("full-run", key)
    if kept is None:
        begin = time.time()
        motion = full_model(character, coarser=coarser).simulate(values, DT, method=method, every=EVERY, snapshots=pieces)
        if not motion.status.good:
            raise SystemExit(f"{name}: the full-order model ended: {motion.note}")
        print(f"# {name}: {motion.effort}, {time.time() - begin:.0f} s of wall", file=sys.stderr)
        kept = {"positions": motion.tracked(frames), "rate": np.array([motion.effort.steps_per_second])}
        kept |= {f"at {piece}": u.reshape(len(u), -1).astype(np.float32) for piece, u in motion.snapshots.items()}
        save_result("full-run", key, kept)
    found = {piece: np.asarray(kept[f"at {piece}"], dtype=np.float64) for piece in pieces}
    return Full(np.asarray(kept["positions"]), float(np.asarray(kept["rate"])[0]), found)


def rms(errors: np.ndarray) -> float:
    """Root of the mean squared length (..., 3)."""
    return float(np.sqrt(np.mean(np.sum(errors**2, axis=-1))))


def compared(name: str, model: FlexibleCharacterSystem, K: np.ndarray, full: Full, what: str) -> tuple[float, float]:
    """Prints a row; returns the share of the vibration by which the models differ, and how many times faster the reduced one is."""
    frames = tuple(frame.name for frame in model.character.frames)
    found = predict_frames(model, frames, K, DT, every=EVERY)
    times = []
    for _ in range(3):
        begin = time.thread_time()
        predict_frames(model, frames, K, DT, every=len(K) - 1)
        times.append(time.thread_time() - begin)
    rate = (len(K) - 1) / min(times)
    vibration = rms(found.positions - rest_frames(model, frames, K, DT, every=EVERY).positions)
    off = found.positions - full.positions
    share = rms(off) / vibration
    shapes = "+".join(str(part.reduction.segment.r) for part in model.parts.values())
    print(
        f"{name:10s} {what:22s} {shapes:>14s} {(len(K) - 1) * DT:6.2f} {1e3 * vibration:8.2f} {1e3 * rms(off):8.4f} "
        f"{1e3 * np.linalg.norm(off, axis=-1).max():8.4f} {100 * share:7.3f} {rate:8.0f} {full.rate:7.2f} {rate / full.rate:7.0f}",
        flush=True,
    )
    return share, rate / full.rate


def on_principal(model: FlexibleCharacterSystem, snapshots: dict[str, np.ndarray]) -> FlexibleCharacterSystem:
    """The same character on principal shapes of displacements of its parts."""
    parts = {}
    for name, part in model.parts.items():
        made = part.whole
        bench = Workbench(made.solid, made.base, made.children, part.carried)
        given = base_frame(made.solid, made.base, snapshots[name])
        parts[name] = replace(part, reduction=reduce_to(bench, mass_pca(bench, given, PRINCIPAL)))
    return flexible_system(model.character, reductions=parts)


def swing(steps: int) -> np.ndarray:
    """Another motion for the one-rod: it swings up at 0.7 and 1.9 Hz."""
    t = DT * np.arange(steps + 1)
    rise = np.clip(t / 0.3, 0.0, 1.0)
    rise = rise**3 * (10.0 - 15.0 * rise + 6.0 * rise**2)
    return (rise * (0.3 * np.sin(2.0 * np.pi * 0.7 * t) + 0.06 * np.sin(2.0 * np.pi * 1.9 * t)))[:, None]


def principal(seconds: float, method: str) -> None:
    """Rows for principal shapes on the motion they were made from and on another."""
    runs = {}
    for name in ("drummer", "boxer"):
        model = flexible_system(read_character(name))
        K = stretch(model, CLIPS[name], seconds)
        runs[name] = (model, K, simulated(name, model, K, method, 1.0, keep=True))
    model = flexible_system(read_character("one-rod"))
    for name, K in (("tick", stretch(model, "tick", 60.0)), ("swing", swing(round(2.0 / DT)))):
        runs[name] = (model, K, simulated("one-rod", model, K, method, 1.0, keep=True))
    for source, target in PAIRS:
        model, K, full = runs[target]
        compared(model.character.name, on_principal(model, runs[source][2].snapshots), K, full, f"{source}'s on {target}")


def main() -> int:
    """Prints the tables; 1 when a bar is missed."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("names", nargs="*", default=list(CLIPS), metavar="NAME")
    parser.add_argument("--exhaustive", action="store_true")
    parser.add_argument("--seconds", type=float, default=1.5)
    parser.add_argument("--coarser", type=float, default=1.0)
    parser.add_argument("--method", default="generalized-alpha")
    parser.add_argument("--principal", action="store_true", help="principal shapes too")
    given = parser.parse_args()
    print(f"{'':10s} {'shapes':22s} {'how many':>14s} {'s':>6s} {'vib. mm':>8s} {'rms mm':>8s} {'peak mm':>8s}", end="")
    print(f" {'share %':>7s} {'reduced':>8s} {'full':>7s} {'ratio':>7s}")
    missed = []
    for name in given.names:
        model = flexible_system(read_character(name))
        K = stretch(model, CLIPS[name], 60.0 if given.exhaustive or (name == "one-rod" and given.seconds >= 1.5) else given.seconds)
        keep = given.principal and given.coarser == 1.0 and name in ("one-rod", "drummer", "boxer")
        share, ratio = compared(name, model, K, simulated(name, model, K, given.method, given.coarser, keep), "modes, derivatives")
        bar = 0.005 if name == "one-rod" else 0.02
        missed += [f"{name}: {100 * share:.2f} % (bar {100 * bar:g})"] if not share <= bar else []
        missed += (
            [f"{name}: {ratio:.0f} times faster (bar {RATIO_THRESHOLD:g})"]
            if given.coarser == 1.0 and not ratio >= RATIO_THRESHOLD
            else []
        )
    if given.principal:
        principal(60.0 if given.exhaustive else given.seconds, given.method)
    print(f"missed: {'; '.join(missed) or 'none'}")
    return 1 if missed else 0


EXHAUSTIVE = True  # takes many minutes: `bunraku bench` asks it with --exhaustive, or by name

if __name__ == "__main__":
    sys.exit(main())
