"""The animations of the full-body robot: drumming and boxing."""

from __future__ import annotations

from flexible_assets.full_body import ARM, TRUNK
from flexible_assets.timeline import Timeline

ARMS = {"left": 1.0, "right": -1.0}
REST = dict.fromkeys(TRUNK, 0.0)


def _both(pitch: float, roll: float, yaw: float, elbow: float) -> dict[str, float]:
    """A pose of both arms; roll and yaw are mirrored."""
    pose = {}
    for side, s in ARMS.items():
        pose |= dict(zip((f"{side}_{part}" for part in ARM), (pitch, roll * s, yaw * s, elbow), strict=True))
    return pose


DRUMMER_HOME = {**REST, **_both(-18.0, 10.0, -12.0, -78.0), "pelvis": 4.0, "neck": 6.0}
BOXER_HOME = {**REST, **_both(-36.0, 8.0, -20.0, -128.0), "pelvis": 5.0, "neck": 4.0}

BEAT = 0.58  # [s] between hits


def _hit(line: Timeline, side: str, time: float, power: float, reach: float = 0.0) -> None:
    """A stroke of one arm at ``time``: lifted before, struck down, a rebound after. ``reach`` [deg] turns the arm outwards."""
    s = ARMS[side]
    pitch, elbow, roll = (f"{side}_shoulder_pitch", f"{side}_elbow", f"{side}_shoulder_roll")
    line.at(time - 0.19, **{pitch: -18.0 - 16.0 * power, roll: (10.0 + reach) * s})
    line.at(time - 0.16, **{elbow: -78.0 - 26.0 * power})
    line.at(time, **{elbow: -66.0, pitch: -16.0, roll: (10.0 + reach) * s})
    line.at(time + 0.12, **{elbow: -78.0 - 5.0 * power, pitch: -18.0 - 2.0 * power})
    line.mark(f"{side} hit", time - 0.19, time + 0.12, time)


def drumming() -> Timeline:
    """A groove of alternate hits with a nodding body and glances to the sides, and a last hit with both hands."""
    line = Timeline("drumming", 10.0, DRUMMER_HOME)
    line.at(0.3, **DRUMMER_HOME)
    hits = [0.8 + BEAT * k for k in range(14)]
    for k, time in enumerate(hits):
        side = "right" if k % 2 == 0 else "left"
        accent = 1.0 if k % 4 == 0 else 0.7
        _hit(line, side, time, accent)
        if k == len(hits) - 1:
            _hit(line, "right", time, accent)
        s = ARMS[side]
        # the body goes down with the hit and up between; the head follows late
        line.at(time + 0.02, pelvis=4.0 + 5.0 * accent)
        line.at(time + 0.05, neck=6.0 + 6.0 * accent, torso=-5.0 * s * accent, spine=-2.0 * s)
        line.at(time + 0.31, pelvis=1.5)
        line.at(time + 0.35, neck=2.0)
        if k % 4 == 3:
            line.at(time + 0.3, head=14.0 * s)
    line.home(9.7)
    return line


def _guard(line: Timeline, time: float, side: str) -> None:
    line.at(time, **{name: BOXER_HOME[name] for name in (f"{side}_{part}" for part in ARM)})


def _punch(line: Timeline, side: str, start: float, twist: float, lean: float, height: float = -84.0) -> None:
    """A straight punch from the guard: wound up, out within 0.4 s, stopped within 0.05 s, held shortly, back in the guard."""
    s = ARMS[side]
    arm = [f"{side}_{part}" for part in ARM]
    _guard(line, start, side)
    line.at(start + 0.09, **dict(zip(arm, (-28.0, 10.0 * s, -20.0 * s, -130.0), strict=True)))
    line.at(start + 0.45, **dict(zip(arm, (height + 6.0, 3.0 * s, -9.0 * s, -27.0), strict=True)))
    line.at(start + 0.5, **dict(zip(arm, (height, 2.0 * s, -8.0 * s, -18.0), strict=True)))
    line.hold(start + 0.6, *arm)
    line.at(start + 1.04, **{name: BOXER_HOME[name] for name in arm})
    line.hold(start, "torso", "pelvis")
    line.at(start + 0.12, torso=5.0 * s)
    line.at(start + 0.47, torso=-twist * s, pelvis=5.0 + lean)
    line.hold(start + 0.58, "torso", "pelvis")
    line.at(start + 0.95, torso=0.0, pelvis=5.0)
    line.mark(f"{side} punch", start, start + 1.04, start + 0.5)


DODGE, HELD, DEPTH = 2.4, 0.65, -5.0  # start and time until it comes back [s], lean of the pelvis [deg]


def boxing() -> Timeline:
    """A jab and a cross, a dodge back and a jab, a slip to each side, a block, a cross and a last jab."""
    line = Timeline("boxing", 9.75, BOXER_HOME)
    _punch(line, "left", 0.3, 14.0, 2.0)
    _punch(line, "right", 1.3, 22.0, 3.0)
    # dodge back, quick, and come again
    line.hold(DODGE, "pelvis", "neck")
    line.at(DODGE + 0.28, pelvis=DEPTH, neck=10.0)
    line.hold(DODGE + HELD, "pelvis", "neck")
    line.at(DODGE + HELD + 0.33, pelvis=5.0, neck=3.0)
    line.mark("dodge", DODGE, DODGE + HELD + 0.33, DODGE + 0.28)
    _punch(line, "left", 3.4, 16.0, 2.5)
    # slip right, slip left
    line.hold(4.4, "spine", "head")
    line.at(4.7, spine=12.0, head=6.0)
    line.hold(4.9, "spine", "head")
    line.at(5.25, spine=-12.0, head=-6.0)
    line.hold(5.5, "spine", "head")
    line.at(5.8, spine=0.0, head=0.0)
    line.mark("slip right", 4.4, 4.9, 4.7)
    line.mark("slip left", 4.9, 5.5, 5.25)
    # block: both gloves up before the face
    _guard(line, 5.7, "left")
    _guard(line, 5.7, "right")
    line.hold(5.7, "pelvis")
    for side, s in ARMS.items():
        line.at(5.95, **{f"{side}_shoulder_pitch": -55.0, f"{side}_shoulder_yaw": -30.0 * s, f"{side}_elbow": -132.0})
        line.hold(6.3, f"{side}_shoulder_pitch", f"{side}_shoulder_yaw", f"{side}_elbow")
    line.at(5.95, pelvis=7.0)
    line.hold(6.3, "pelvis")
    line.at(6.6, pelvis=5.0)
    line.mark("block", 5.7, 6.3, 5.95)
    _guard(line, 6.6, "left")
    _punch(line, "right", 6.62, 22.0, 3.0)
    _punch(line, "left", 7.7, 14.0, 2.5)
    line.home(9.2)
    return line
