"""Hits against the beat: when a stick is lowest, in the simulated motion and in a replay, and when its drum sounds."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from scipy.interpolate import CubicSpline

from bunraku.arrays import Array
from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.geometry.rotations import matrix_of_quaternion
from bunraku.mechanics.integrators.driven.outputs import OutputTargets
from bunraku.mechanics.tree import compile_tree
from bunraku.motion import Mark
from bunraku.verification.flexible.replay import ChainReplay

BEAT_THRESHOLD = 0.020
"""A hit may be this much [s] before or after its beat."""

NEAR = 0.13
"""A stroke that is lowest farther from its beat than this [s] is not that beat's hit."""


@dataclass(frozen=True, eq=False)
class Hits:
    """The hits of a motion: ``names``, their ``beats`` (n,) [s], and when the stick was lowest, ``struck`` (n,) [s].

    ``struck`` is NaN where it was not lowest within `NEAR` of the beat. ``heights`` (n,) [m]: how high it was then.
    """

    names: tuple[str, ...]
    beats: Array
    struck: Array
    heights: Array

    @property
    def errors(self) -> Array:
        """How late each hit is (n,) [s], negative when early; infinite where there was none."""
        return np.where(np.isfinite(self.struck), self.struck - self.beats, np.inf)

    @property
    def worst(self) -> float:
        """The largest error [s], late or early."""
        return float(np.abs(self.errors).max(initial=0.0))

    @property
    def sentence(self) -> str:
        """The worst hit in words."""
        k = int(np.argmax(np.abs(self.errors)))
        return f"{self.names[k]} at {self.beats[k]:.3f} s is {1e3 * self.errors[k]:+.1f} ms off; {len(self.beats)} hits"


def find_hits(marks: Sequence[Mark], times: Array, heights: Mapping[str, Array]) -> Hits:
    """The hits of the marks that state a stroke and whose text names one of ``heights`` (n,) [m] at ``times`` (n,) [s].

    A hit is where the cubic spline through the heights is lowest within `NEAR` of the beat, unless that is at the end of the
    window: then the stick went down before or after, and there was none.
    """
    asked = [(mark.text, mark.stroke) for mark in marks if mark.stroke is not None and mark.text in heights]
    if not asked:
        raise BadInput(f"no mark with a stroke is called {' or '.join(map(repr, heights))}; there is no hit to judge")
    curves = {name: CubicSpline(times, column) for name, column in heights.items()}
    struck, lowest = np.full(len(asked), np.nan), np.full(len(asked), np.nan)
    for k, (name, beat) in enumerate(asked):
        curve = curves[name]
        turns = curve.derivative().roots(extrapolate=False)
        ends = np.clip([beat - NEAR, beat + NEAR], times[0], times[-1])
        inside = turns[(turns > ends[0]) & (turns < ends[1])]
        if not inside.size:
            continue
        best = inside[int(np.argmin(curve(inside)))]
        if curve(best) < curve(ends).min():
            struck[k], lowest[k] = best, curve(best)
    return Hits(tuple(name for name, _ in asked), np.array([beat for _, beat in asked]), struck, lowest)


def stick_tip(character: Character, frame: str) -> Array:
    """The far end (3,) [m], in the ``frame``, of the longest capsule of the frame's body: the tip of the stick it holds."""
    held = next((one for one in character.frames if one.name == frame), None)
    if held is None:
        raise BadInput(f"{character.name!r} has no frame {frame!r}; it has {', '.join(one.name for one in character.frames)}")
    body = next(one for one in character.bodies if one.name == held.body)
    sticks = [shape for shape in body.shapes if shape.kind == "capsule"]
    if not sticks:
        raise BadInput(f"the body {body.name!r} of {character.name!r} has no capsule; there is no stick to hit with")
    stick = max(sticks, key=lambda shape: shape.size[1])
    middle, axis = np.array(stick.pose.position), matrix_of_quaternion(np.array(stick.pose.quaternion))[:, 2]
    ends = [middle + side * stick.size[1] * axis for side in (1.0, -1.0)]
    tip = max(ends, key=lambda end: float(np.linalg.norm(end)))
    turned = matrix_of_quaternion(np.array(held.pose.quaternion))
    return np.asarray(turned.T @ (tip - np.array(held.pose.position)))


def tip_heights(character: Character, names: Sequence[str], seen: OutputTargets, frames: Mapping[str, str]) -> dict[str, Array]:
    """Heights (n,) [m] of the tips in a motion ``seen`` of the places ``names``; ``frames``: who holds the stick of which hit."""
    heights = {}
    for name, frame in frames.items():
        k = names.index(frame)
        heights[name] = _height(seen.positions[:, k], seen.rotations[:, k], stick_tip(character, frame))
    return heights


def tip_heights_in_replay(character: Character, replay: ChainReplay, frames: Mapping[str, str]) -> dict[str, Array]:
    """The same in MuJoCo: Richardson's limit of the two chains, as `ChainReplay.positions`."""
    coarse, fine = replay.runs
    ratio = coarse.links**2 / (fine.links**2 - coarse.links**2)
    heights = {}
    for name, frame in frames.items():
        k, tip = replay.frames.index(frame), stick_tip(character, frame)
        low, high = (_height(run.positions[:, k], run.rotations[:, k], tip) for run in (coarse, fine))
        heights[name] = np.asarray(high + ratio * (high - low))
    return heights


def drum_head(character: Character, body: str) -> float:
    """The height [m] of the highest top among the upright cylinders of a ``body`` that stands still: the head of a drum."""
    tree = compile_tree(character)
    base = tree.configuration(tree.home).position[tree.nodes[body]][2]
    drums = [shape for one in character.bodies if one.name == body for shape in one.shapes if shape.kind == "cylinder"]
    if not drums:
        raise BadInput(f"the body {body!r} of {character.name!r} has no cylinder; there is no drum to hit")
    return float(base) + max(shape.pose.position[2] + shape.size[1] for shape in drums)


def _height(positions: Array, rotations: Array, tip: Array) -> Array:
    return np.asarray(positions[:, 2] + rotations[:, 2, :] @ tip)
