"""Drummer and boxer: the same robot of 80 cm and 13 motors on two rods as legs, with other hands."""

from __future__ import annotations

from collections.abc import Sequence
from math import radians

from bunraku.character import Body, Character, Joint, Pose
from flexible_assets.building import (
    BLACK,
    BLUE,
    DOWN,
    IVORY,
    RED,
    SKIN,
    SPRING_STEEL,
    STEEL,
    WOOD,
    Solid,
    body,
    fixed,
    frame_at,
    hinge,
    motor,
    rod,
    servo,
    turn,
)

LEG, STANCE, FOREARM = 0.45, 0.045, 0.1  # [m]; legs stand at y = +- STANCE
TRUNK = ("pelvis", "spine", "torso", "neck", "head")
ARM = ("shoulder_pitch", "shoulder_roll", "shoulder_yaw", "elbow")


def stick_hand(side: str) -> Body:
    """A fist with a drum stick that goes on from the forearm, a little bent down."""
    return body(
        f"{side}_fist",
        Solid("sphere", [0.017], 0.035, (0.0, 0.0, -0.012), color=SKIN, collides=True),
        Solid("capsule", [0.0035, 0.085], 0.012, (-0.012, 0.0, -0.075), turn("y", 12.0), WOOD),
    )


def glove(side: str) -> Body:
    """A boxing glove."""
    s = 1.0 if side == "left" else -1.0
    return body(
        f"{side}_fist",
        Solid("ellipsoid", [0.03, 0.028, 0.036], 0.085, (0.0, 0.0, -0.025), color=RED, collides=True),
        Solid("ellipsoid", [0.012, 0.01, 0.018], 0.01, (0.014, -0.024 * s, -0.014), color=RED),
        Solid("cylinder", [0.018, 0.008], 0.01, (0.0, 0.0, 0.006), color=IVORY),
    )


def _trunk() -> list[Body]:
    pelvis = body(
        "hips",
        Solid("box", [0.022, 0.06, 0.006], 0.08, (0.0, 0.0, 0.006), color=BLUE, collides=True),
        servo((0.0, 0.0, 0.03)),
    )
    waist = body("waist", servo((0.0, 0.0, 0.03), "x"), Solid("box", [0.012, 0.024, 0.006], 0.025, (0.0, 0.0, 0.006)))
    belly = body("belly", servo((0.0, 0.0, 0.022), "z"), Solid("box", [0.018, 0.026, 0.005], 0.025, (0.0, 0.0, 0.006)))
    chest = body(
        "chest",
        Solid("box", [0.01, 0.066, 0.045], 0.1, (0.024, 0.0, 0.055), color=BLUE, collides=True),
        Solid("box", [0.003, 0.066, 0.045], 0.05, (-0.024, 0.0, 0.055), color=BLUE),
        servo((0.0, 0.048, 0.085)),
        servo((0.0, -0.048, 0.085)),
        servo((0.0, 0.0, 0.105)),
    )
    neck = body("neck", servo((0.0, 0.0, 0.018), "z"), Solid("box", [0.012, 0.022, 0.004], 0.015, (0.0, 0.0, 0.0)))
    head = body(
        "skull",
        Solid("ellipsoid", [0.046, 0.038, 0.048], 0.11, (0.004, 0.0, 0.046), color=SKIN, collides=True),
        Solid("sphere", [0.006], 0.002, (0.046, 0.015, 0.054), color=BLACK),
        Solid("sphere", [0.006], 0.002, (0.046, -0.015, 0.054), color=BLACK),
        Solid("sphere", [0.008], 0.002, (0.052, 0.0, 0.042), color=SKIN),
        Solid("ellipsoid", [0.046, 0.04, 0.03], 0.014, (-0.006, 0.0, 0.07), color=BLACK),
    )
    return [pelvis, waist, belly, chest, neck, head]


def _arm(side: str, hand: Body) -> tuple[list[Body], list[Joint]]:
    s = 1.0 if side == "left" else -1.0
    cap = body(f"{side}_cap", servo((0.0, 0.024 * s, 0.0), "x"), Solid("box", [0.018, 0.008, 0.014], 0.018, (0.0, 0.006 * s, 0.0)))
    upper = body(f"{side}_upper", servo((0.0, 0.0, -0.03), "z"), Solid("box", [0.02, 0.016, 0.006], 0.015, (0.0, 0.0, -0.006)))
    arm = body(f"{side}_arm", servo((0.0, 0.0, -0.05)), Solid("box", [0.014, 0.01, 0.018], 0.02, (0.0, 0.0, -0.016), color=BLUE))
    fore = body(f"{side}_fore", Solid("box", [0.01, 0.019, 0.008], 0.015, (0.0, 0.0, -0.01), color=STEEL))
    out = (-30.0, 110.0) if s > 0 else (-110.0, 30.0)
    joints = [
        hinge(f"{side}_shoulder_pitch", "chest", cap.name, "y", (0.0, 0.082 * s, 0.085), -180.0, 70.0),
        hinge(f"{side}_shoulder_roll", cap.name, upper.name, "x", (0.0, 0.024 * s, 0.0), *out),
        hinge(f"{side}_shoulder_yaw", upper.name, arm.name, "z", (0.0, 0.0, -0.05), -90.0, 90.0),
        hinge(f"{side}_elbow", arm.name, fore.name, "y", (0.0, 0.0, -0.068), -150.0, 5.0),
        fixed(f"{side}_forearm", fore.name, hand.name, (0.0, 0.0, -0.018 - FOREARM)),
    ]
    return [cap, upper, arm, fore, hand], joints


def drums() -> list[Solid]:
    """Two drums on stands before the drummer."""
    made = []
    for s in (1.0, -1.0):
        made.append(Solid("cylinder", [0.075, 0.03], 0.4, (0.31, 0.085 * s, 0.355), color=RED))
        made.append(Solid("cylinder", [0.072, 0.002], 0.02, (0.31, 0.085 * s, 0.386), color=IVORY))
        made.append(Solid("cylinder", [0.006, 0.165], 0.2, (0.31, 0.085 * s, 0.16), color=STEEL))
        made.append(Solid("cylinder", [0.05, 0.004], 0.2, (0.31, 0.085 * s, -0.012), color=BLACK))
    return made


def full_body(name: str, hands: tuple[Body, Body], home: dict[str, float], scenery: Sequence[Solid] = ()) -> Character:
    """The robot with ``hands`` (left, right) and its pose at home in degrees; ``scenery`` stands on its stage."""
    trunk = _trunk()
    stage = body(
        "stage",
        Solid("box", [0.1, 0.14, 0.008], 3.0, (0.0, 0.0, -0.008), color=WOOD),
        Solid("box", [0.032, 0.016, 0.008], 0.1, (0.012, STANCE, 0.008), color=BLACK),
        Solid("box", [0.032, 0.016, 0.008], 0.1, (0.012, -STANCE, 0.008), color=BLACK),
        *scenery,
    )
    hip = body("right_hip", Solid("cylinder", [0.006, 0.004], 0.004, (0.0, 0.0, 0.0)))
    bodies = [stage, trunk[0], hip, *trunk[1:]]
    joints = [
        fixed("stage", "world", "stage", (0.0, 0.0, 0.016)),
        fixed("left_leg", "stage", "hips", (0.0, 0.0, LEG)),
        fixed("right_leg", "stage", "right_hip", (0.0, -STANCE, LEG)),
        hinge("pelvis", "hips", "waist", "y", (0.0, 0.0, 0.03), -40.0, 60.0),
        hinge("spine", "waist", "belly", "x", (0.0, 0.0, 0.03), -40.0, 40.0),
        hinge("torso", "belly", "chest", "z", (0.0, 0.0, 0.04), -70.0, 70.0),
        hinge("neck", "chest", "neck", "y", (0.0, 0.0, 0.115), -45.0, 50.0),
        hinge("head", "neck", "skull", "z", (0.0, 0.0, 0.03), -80.0, 80.0),
    ]
    parts = [
        rod("left_leg", "stage", "hips", LEG, 5.0, (0.0, STANCE, 0.0)),
        rod("right_leg", "stage", "right_hip", LEG, 5.0, (0.0, -STANCE, 0.0)),
    ]
    for side, hand in zip(("left", "right"), hands, strict=True):
        more, moving = _arm(side, hand)
        bodies += more
        joints += moving
        parts.append(rod(f"{side}_forearm", f"{side}_fore", hand.name, FOREARM, 4.0, (0.0, 0.0, -0.018), DOWN))
    driven = [*TRUNK, *(f"{side}_{part}" for side in ("left", "right") for part in ARM)]
    weld = Joint(name="right_hip", kind="fixed", parent="hips", child="right_hip", pose=Pose(position=(0.0, -STANCE, 0.0)))
    return Character(
        name=name,
        bodies=tuple(bodies),
        joints=tuple(joints),
        loops=(weld,),
        motors=tuple(motor(coordinate) for coordinate in driven),
        frames=(
            frame_at("head", trunk[-1]),
            frame_at("pelvis", trunk[0]),
            frame_at("left_hand", hands[0]),
            frame_at("right_hand", hands[1]),
        ),
        materials=(SPRING_STEEL,),
        flexibles=tuple(parts),
        groups={"trunk": TRUNK, **{f"{side}_arm": tuple(f"{side}_{part}" for part in ARM) for side in ("left", "right")}},
        home={coordinate: round(radians(value), 6) for coordinate, value in home.items() if value},
    )
