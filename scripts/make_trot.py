"""Make the monster's trot: a trot as it looks, not as it weighs, with a leap too high for the time it takes.

Joint curves by inverse kinematics. The body goes evenly, diagonal pairs of feet stand in turn, and between two stances all are in
the air for a while, in which the body rises by more than gravity lets it fall again in that time. Horses drawn from pictures trot
like that; physics must repair it.

python scripts/make_trot.py        # writes monster-trot and monster-trot-quick into src/bunraku/assets/clips
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character, write_clip
from bunraku.gait.feet import feet_of
from bunraku.gait.patterns import named_swings
from bunraku.mechanics.centroidal.kinematics import kinematics
from bunraku.mechanics.centroidal.model import CentroidalModel, centroidal_model
from bunraku.mechanics.measures.statics import GRAVITY
from bunraku.motion import Clip, Gait, JointCurves, Swing

OUT = Path(__file__).resolve().parents[1] / "src" / "bunraku" / "assets" / "clips"
MISSED = 1e-4
"""How far [m] inverse kinematics may miss a foot."""

GOES = (0.05, 0.9)
"""Shares of a swing between which a foot goes forward: up before, down after."""

RAMP = 1.5
"""Steps in which a trot sets off, and in which it stops."""


@dataclass(frozen=True)
class Trot:
    """A trot from rest to rest: ``speed`` [m/s], ``stance`` and ``flight`` [s] of a step, ``steps``, ``rest`` [s] at each end.

    ``leap`` [m] the body rises in a flight, ``height`` [m] feet are lifted, ``drop`` [m] the body goes below home, ``samples`` of
    the plan that is to be made from it.
    """

    speed: float = 0.45
    stance: float = 0.20
    flight: float = 0.06
    steps: int = 8
    rest: float = 0.25
    leap: float = 0.015
    height: float = 0.03
    drop: float = 0.022
    samples: int = 0

    def __post_init__(self) -> None:
        if self.steps < 2 or min(self.speed, self.stance, self.flight, self.rest, self.height) <= 0.0 or self.leap < 0.0:
            raise BadInput(f"a trot of {self} arrived; it needs two steps or more, and times, speed and heights above zero")

    @property
    def duration(self) -> float:
        """Whole time [s]: no flight after the last step."""
        return 2.0 * self.rest + self.steps * (self.stance + self.flight) - self.flight

    @property
    def distance(self) -> float:
        """The way [m] from start to end."""
        return float(self.way(np.array([self.duration]))[0])

    def way(self, t: Array) -> Array:
        """How far [m] the body has come at times ``t`` [s]: it sets off and stops within `RAMP` steps, evenly in between."""
        ramp = min(RAMP * (self.stance + self.flight), 0.5 * (self.duration - 2.0 * self.rest))

        def begun(u: Array) -> Array:
            v = np.clip(u / ramp, 0.0, 1.0)
            return np.asarray(ramp * (v**3 - 0.5 * v**4) + np.maximum(u - ramp, 0.0))

        return np.asarray(self.speed * (begun(t - self.rest) - begun(t - (self.duration - self.rest - ramp))))

    def swing(self, k: int) -> tuple[float, float]:
        """Lift-off and touch-down [s] of the pair of feet that makes step k."""
        each = self.stance + self.flight
        start = self.rest + max(k * each - self.flight, 0.0)
        return start, self.rest + (k + 1) * each - (self.flight if k == self.steps - 1 else 0.0)

    def flights(self) -> list[tuple[float, float]]:
        """The times [s] at which all feet are in the air."""
        return [(self.swing(k + 1)[0], self.swing(k)[1]) for k in range(self.steps - 1)]


def flight_needed(leap: float) -> float:
    """The time [s] in which gravity lets a body rise by ``leap`` [m] and fall back: 2 sqrt(2 leap / g)."""
    return float(2.0 * np.sqrt(2.0 * leap / GRAVITY))


def trot_gait(character: Character, trot: Trot) -> Gait:
    """The footfalls of a trot: diagonal pairs in turn, with flights between."""
    pairs = _pairs(character)
    names = [tip.name for tip in character.end_effectors]
    swings = []
    for k in range(trot.steps):
        start, end = (t / trot.duration for t in trot.swing(k))
        swings += [Swing(names[j], start, end) for j in pairs[k % 2]]
    return Gait(
        trot.duration, "custom", False, distance=(trot.distance, 0.0), turn=0.0, swings=tuple(swings),
        swing_height=trot.height, samples=trot.samples,
    )  # fmt: skip


def trot_curves(character: Character, trot: Trot, rate: float = 50.0) -> JointCurves:
    """The trot's coordinates, base and joints, at ``rate`` [Hz]: feet on their footholds or above, soles level."""
    model = centroidal_model(character)
    t = np.arange(round(trot.duration * rate) + 1) / rate
    low = np.clip(np.minimum(t, trot.duration - t) / trot.rest, 0.0, 1.0)
    z = model.home[2] - trot.drop * low * low * (3.0 - 2.0 * low)
    for start, end in trot.flights():
        u = np.clip((t - start) / (end - start), 0.0, 1.0)
        z += 4.0 * trot.leap * u * (1.0 - u)
    feet = _footholds(model, _pairs(character), trot, t)
    values = np.tile(model.home, (len(t), 1))
    values[:, 0] += trot.way(t)
    values[:, 2] = z
    for i in range(len(t)):
        values[i, 6:] = _joints(model, values[i, :6], values[max(i - 1, 0), 6:], feet[i])
    return JointCurves(tuple(model.names), rate, values)


def _pairs(character: Character) -> tuple[list[int], list[int]]:
    """The end effectors of the two diagonals, in the order of a trot."""
    swings = named_swings(feet_of(character), "trot", character.name)
    first = min(start for _, start, _ in swings)
    return [j for j, start, _ in swings if start == first], [j for j, start, _ in swings if start != first]


def _footholds(model: CentroidalModel, pairs: tuple[list[int], list[int]], trot: Trot, t: Array) -> Array:
    """Places (n, n_e, 3) of the soles: under home's place in the middle of each stance, over smoothly in each swing."""
    home = kinematics(model, model.home[None]).contact[0]
    feet = np.tile(home, (len(t), 1, 1))
    last = trot.duration - trot.rest
    for p, pair in enumerate(pairs):
        swings = [trot.swing(k) for k in range(p, trot.steps, 2)]
        x = 0.0
        for n, (start, end) in enumerate(swings):
            final = n == len(swings) - 1
            until = last if final else swings[n + 1][0]
            at = trot.distance if final else float(trot.way(np.array([0.5 * (end + until)]))[0])
            u = np.clip((t - start) / (end - start), 0.0, 1.0)
            w = np.clip((u - GOES[0]) / (GOES[1] - GOES[0]), 0.0, 1.0)
            feet[:, pair, 0] += ((at - x) * w**3 * (10.0 - 15.0 * w + 6.0 * w * w))[:, None]
            feet[:, pair, 2] += (16.0 * trot.height * u**2 * (1.0 - u) ** 2)[:, None]
            x = at
    return feet


def _joints(model: CentroidalModel, base: Array, start: Array, places: Array) -> Array:
    """Joint angles that put the soles at ``places`` (n_e, 3), level, close to ``start``; BadInput where a leg is too short."""
    low, high = model.middle[6:] - model.half[6:], model.middle[6:] + model.half[6:]

    def residuals(joints: Array) -> Array:
        seen = kinematics(model, np.concatenate([base, joints])[None])
        R = seen.arrays.R[0]
        up = np.array([(R[node] @ axis)[:2] for node, axis in zip(model.tips.node, model.tips.axis, strict=True)])
        return np.concatenate([10.0 * (seen.contact[0] - places).ravel(), up.ravel(), 1e-4 * (joints - start)])

    posture = least_squares(residuals, np.clip(start, low + 1e-6, high - 1e-6), bounds=(low, high), xtol=1e-10)
    missed = float(np.abs(kinematics(model, np.concatenate([base, posture.x])[None]).contact[0] - places).max())
    if missed > MISSED:
        raise BadInput(f"a leg misses its foothold by {missed:.2g} m; trot slower, with shorter stances or a lower body")
    return posture.x


TROT = Trot(flight=0.04, leap=0.010, height=0.016, drop=0.015, samples=120)
TROTS = {"monster-trot": TROT, "monster-trot-quick": replace(TROT, speed=0.3, steps=2, samples=48)}


def main() -> None:
    """Write the clips."""
    monster = read_character("monster")
    for name, trot in TROTS.items():
        drawn = trot_curves(monster, trot)
        curves = JointCurves(drawn.names, drawn.rate, np.round(drawn.values, 6) + 0.0)
        source = (
            f"a trot at {trot.speed:g} m/s drawn by scripts/make_trot.py: the body rises {1e3 * trot.leap:.0f} mm in flights of "
            f"{1e3 * trot.flight:.0f} ms, for which gravity would need {1e3 * flight_needed(trot.leap):.0f} ms"
        )
        write_clip(OUT / f"{name}.clip.yaml", Clip(name, joints=curves, gait=trot_gait(monster, trot), source=source))


if __name__ == "__main__":
    main()
