"""The motion of the show: counting with the head, then strokes that end on the beat, some faster than the motors can go."""

from __future__ import annotations

from flexible_assets.full_body_clips import ARMS, DRUMMER_HOME
from flexible_assets.timeline import Timeline

from show.score import BEAT, COUNT, COUNT_FROM, DURATION, START, Hit, hits

LIFTED, DOWN, REBOUND = (-36.0, -106.0), (-16.0, -63.0), (-21.0, -84.0)
"""Shoulder pitch and elbow [deg] at the top of a full stroke, on the drum, and after the rebound."""

RISE, FALL, BACK = 0.21, 0.13, 0.12  # [s] the stick is at the top until FALL before the beat; it has rebounded BACK after it


def motion() -> Timeline:
    """A count of four, two bars of drumming that become denser, and a last hit with both hands."""
    line = Timeline("full-show", DURATION, DRUMMER_HOME)
    line.at(0.2, **DRUMMER_HOME)
    for k in range(len(COUNT)):  # the head nods on every word, the body answers half as much
        at = COUNT_FROM + k * BEAT
        line.at(at - 0.24, neck=3.0, pelvis=3.0)
        line.at(at, neck=13.0, pelvis=5.5)
    for hit in hits():
        _stroke(line, hit)
    times = [hit.time for hit in hits()]
    for hit in hits()[:-1]:  # the body goes down once for both hands
        off = abs((hit.time - START) / BEAT % 1.0 - 0.5) < 0.25
        follows = any(abs(time - hit.time - 0.5 * BEAT) < 0.01 for time in times)
        if not off:
            _body(line, hit, stays=follows)
    line.home(DURATION - 0.4)
    return line


def _stroke(line: Timeline, hit: Hit) -> None:
    """One arm: lifted, held a moment, struck down to the drum on the beat, back up."""
    pitch, elbow = f"{hit.side}_shoulder_pitch", f"{hit.side}_elbow"
    top = [low + hit.power * (high - low) for low, high in zip(REBOUND, LIFTED, strict=True)]
    line.at(hit.time - RISE, **{pitch: top[0], elbow: top[1]})
    line.at(hit.time - FALL, **{elbow: top[1]})
    line.at(hit.time, **{pitch: DOWN[0], elbow: DOWN[1]})
    line.at(hit.time + BACK, **{pitch: REBOUND[0], elbow: REBOUND[1]})
    line.mark(f"{hit.side} hit", hit.time - RISE, hit.time + BACK, hit.time)


def _body(line: Timeline, hit: Hit, *, stays: bool) -> None:
    """The body goes down with hits on a beat and turns to the hand that hits; the head follows.

    Between beats it rises, unless it ``stays`` down for a hit there: the arms alone would not reach the drum.
    """
    s, low = ARMS[hit.side], 4.0 + 4.0 * hit.power
    line.at(hit.time, pelvis=low, neck=6.0 + 6.0 * hit.power)
    line.at(hit.time + 0.03, torso=-4.0 * s * hit.power, spine=-2.0 * s)
    line.at(hit.time + 0.28, pelvis=low if stays else 2.0, neck=6.0 if stays else 3.0)
    if hit.power == 1.0:
        line.at(hit.time + 0.25, head=14.0 * s)
