"""One rod, two rods, the dancer and the bartender."""

from __future__ import annotations

from math import pi, radians

from bunraku.character import Character
from flexible_assets.building import (
    BLACK,
    BLUE,
    BRASS,
    DOWN,
    GLASS,
    RED,
    SPRING_STEEL,
    STEEL,
    WATER,
    WOOD,
    Solid,
    body,
    fixed,
    frame_at,
    hinge,
    motor,
    rod,
    servo,
    strong_motor,
    turn,
)

BRASS_DENSITY = 8500.0


def brass_ball(mass: float) -> Solid:
    """A ball of brass."""
    return Solid("sphere", [round((mass / BRASS_DENSITY * 0.75 / pi) ** (1.0 / 3.0), 5)], mass, color=BRASS, collides=True)


def one_rod() -> Character:
    """A vertical rod of 0.7 m on a motor, 0.1 kg at its tip."""
    tip = body("tip", Solid("sphere", [0.014], 0.1, color=BRASS, collides=True))
    hub = body("hub", Solid("cylinder", [0.012, 0.02], 0.03, quaternion=turn("x", 90.0)))
    return Character(
        name="one-rod",
        bodies=(
            body("stand", servo((0.0, 0.0, -0.012)), Solid("box", [0.05, 0.05, 0.01], 0.5, (0.0, 0.0, -0.05), color=WOOD)),
            hub,
            tip,
        ),
        joints=(
            fixed("stand", "world", "stand", (0.0, 0.0, 0.06)),
            hinge("shoulder", "stand", "hub", "y", (0.0, 0.0, 0.0), -60.0, 60.0),
            fixed("rod", "hub", "tip", (0.0, 0.0, 0.7)),
        ),
        motors=(motor("shoulder"),),
        frames=(frame_at("tip", tip),),
        materials=(SPRING_STEEL,),
        flexibles=(rod("rod", "hub", "tip", 0.7, 4.0),),
    )


def two_rods() -> Character:
    """A rod of 0.3 m on the ground, a motor on it, a second rod of 0.3 m with 0.2 kg at its tip."""
    housing = body("housing", servo(), Solid("box", [0.012, 0.012, 0.004], 0.008, (0.0, 0.0, -0.018)))
    tip = body("tip", brass_ball(0.2))
    horn = body("horn", Solid("cylinder", [0.01, 0.02], 0.01, quaternion=turn("x", 90.0)))
    return Character(
        name="two-rods",
        bodies=(body("stand", Solid("box", [0.06, 0.06, 0.01], 0.6, (0.0, 0.0, -0.01), color=WOOD)), housing, horn, tip),
        joints=(
            fixed("stand", "world", "stand", (0.0, 0.0, 0.02)),
            fixed("lower_rod", "stand", "housing", (0.0, 0.0, 0.3)),
            hinge("elbow", "housing", "horn", "y", (0.0, 0.0, 0.0), -120.0, 120.0),
            fixed("upper_rod", "horn", "tip", (0.0, 0.0, 0.3)),
        ),
        motors=(motor("elbow"),),
        frames=(frame_at("motor", housing), frame_at("tip", tip)),
        materials=(SPRING_STEEL,),
        flexibles=(rod("lower_rod", "stand", "housing", 0.3, 4.0), rod("upper_rod", "horn", "tip", 0.3, 4.0)),
    )


def dancer() -> Character:
    """A body rod of 25 cm, a clavicle with two motors a side, arm rods of 30 cm, hands of brass."""
    clavicle = body(
        "collar",
        servo((0.0, 0.045, 0.0)),
        servo((0.0, -0.045, 0.0)),
        Solid("box", [0.012, 0.07, 0.004], 0.046, (0.0, 0.0, 0.019), color=RED, collides=True),
    )
    stand = body(
        "stand",
        Solid("cylinder", [0.015, 0.07], 0.3, (0.0, 0.0, 0.08), color=STEEL),
        Solid("cylinder", [0.08, 0.005], 0.7, (0.0, 0.0, 0.005), color=WOOD),
    )
    bodies, joints, motors, parts = [stand, clavicle], [fixed("stand", "world", "stand")], [], []
    joints.append(fixed("body_rod", "stand", "collar", (0.0, 0.0, 0.4)))
    parts.append(rod("body_rod", "stand", "collar", 0.25, 4.0, (0.0, 0.0, 0.15)))
    frames = [frame_at("clavicle", clavicle)]
    for side, s in (("left", 1.0), ("right", -1.0)):
        yoke = body(
            f"{side}_yoke", servo((0.0, 0.022 * s, 0.0), "x"), Solid("box", [0.004, 0.02, 0.016], 0.012, (0.0, 0.022 * s, 0.0))
        )
        root = body(f"{side}_root", Solid("box", [0.019, 0.012, 0.008], 0.015, (0.0, 0.0, -0.022)))
        hand = body(f"{side}_ball", brass_ball(0.2))
        bodies += [yoke, root, hand]
        out = (-30.0, 130.0) if s > 0 else (-130.0, 30.0)
        joints += [
            hinge(f"{side}_pitch", "collar", yoke.name, "y", (0.0, 0.075 * s, 0.0), -150.0, 60.0),
            hinge(f"{side}_roll", yoke.name, root.name, "x", (0.0, 0.022 * s, 0.0), *out),
            fixed(f"{side}_arm", root.name, hand.name, (0.0, 0.0, -0.33)),
        ]
        motors += [motor(f"{side}_pitch"), motor(f"{side}_roll")]
        parts.append(rod(f"{side}_arm", root.name, hand.name, 0.3, 4.0, (0.0, 0.0, -0.03), DOWN))
        frames.append(frame_at(f"{side}_hand", hand))
    return Character(
        name="dancer",
        bodies=tuple(bodies),
        joints=tuple(joints),
        motors=tuple(motors),
        frames=tuple(frames),
        materials=(SPRING_STEEL,),
        flexibles=tuple(parts),
        groups={"left_arm": ("left_pitch", "left_roll"), "right_arm": ("right_pitch", "right_roll")},
        home={"left_roll": 0.139626, "right_roll": -0.139626},
    )


# the bartender: base to shoulder axis, shoulder to elbow axis, elbow to wrist axis [m]
SHOULDER_HEIGHT, UPPER, FORE = 0.15, 0.22, 0.2


def bartender(home: dict[str, float]) -> Character:
    """A robot arm of four motors and two rods that holds a glass of water upright; its pose at home in degrees."""
    stand = body("stand", Solid("cylinder", [0.05, 0.045], 1.5, (0.0, 0.0, 0.045), color=WOOD), servo((0.0, 0.0, 0.1), "z"))
    turret = body("turret", servo((0.0, 0.0, 0.03)), Solid("box", [0.02, 0.02, 0.003], 0.02, (0.0, 0.0, 0.003)))
    root = body("root", Solid("box", [0.008, 0.019, 0.008], 0.015, (0.0, 0.0, 0.006)))
    elbow = body("elbow_block", servo(), Solid("box", [0.01, 0.01, 0.003], 0.01, (0.0, 0.0, -0.017), color=BLUE))
    fore = body("fore", Solid("box", [0.008, 0.019, 0.008], 0.015, (0.0, 0.0, 0.006)))
    wrist = body("wrist", servo(), Solid("box", [0.01, 0.01, 0.003], 0.01, (0.0, 0.0, -0.017), color=BLUE))
    glass = body(
        "tumbler",
        Solid("box", [0.012, 0.019, 0.004], 0.02, (0.01, 0.0, 0.0), color=STEEL),
        Solid("cylinder", [0.033, 0.05], 0.03, (0.055, 0.0, 0.026), color=GLASS, collides=True),
        Solid("cylinder", [0.033, 0.003], 0.02, (0.055, 0.0, -0.021), color=BLACK),
        Solid("cylinder", [0.031, 0.0435], 0.26, (0.055, 0.0, 0.0255), color=WATER),
    )
    nod = (-120.0, 120.0)
    return Character(
        name="bartender",
        bodies=(stand, turret, root, elbow, fore, wrist, glass),
        joints=(
            fixed("stand", "world", "stand"),
            hinge("yaw", "stand", "turret", "z", (0.0, 0.0, 0.12), -150.0, 150.0),
            hinge("shoulder", "turret", "root", "y", (0.0, 0.0, 0.03), *nod),
            fixed("upper_arm", "root", "elbow_block", (0.0, 0.0, UPPER)),
            hinge("elbow", "elbow_block", "fore", "y", (0.0, 0.0, 0.0), -10.0, 150.0),
            fixed("forearm", "fore", "wrist", (0.0, 0.0, FORE)),
            hinge("wrist", "wrist", "tumbler", "y", (0.0, 0.0, 0.0), -150.0, 150.0),
        ),
        motors=(motor("yaw"), strong_motor("shoulder"), motor("elbow"), motor("wrist")),
        frames=(frame_at("elbow", elbow), frame_at("glass", glass)),
        materials=(SPRING_STEEL,),
        flexibles=(
            rod("upper_arm", "root", "elbow_block", 0.2, 4.0, (0.0, 0.0, 0.01)),
            rod("forearm", "fore", "wrist", 0.18, 4.0, (0.0, 0.0, 0.01)),
        ),
        home={coordinate: round(radians(value), 6) for coordinate, value in home.items()},
    )
