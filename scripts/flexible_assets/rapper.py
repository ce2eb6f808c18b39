"""The rapper: an arm of two printed, compliant plates whose elbow is driven from the shoulder through a four-bar.

Links of the four-bar: upper arm plate and forearm plate (compliant), crank and coupler (rigid). Joints: the hinge of the elbow
motor, the hinge of the elbow, a universal joint between crank and coupler and a ball between coupler and forearm: one freedom is
left, 3 x 6 - 5 - 5 - 4 - 3 = 1.
Crank and lever are parallel and equally long, so that the rigid forearm turns as much as the crank.
"""

from __future__ import annotations

from math import cos, radians, sin

from bunraku.character import Character, ElasticMaterial, FlexiblePart, Joint, PartHole, PartInterface, PartShape, Pose
from flexible_assets.building import BLACK, RED, SKIN, STEEL, Solid, body, fixed, frame_at, hinge, motor, motor_pair, servo, turn

DIGITAL_ABS = ElasticMaterial(
    name="digital-abs",
    young=2.0e9,
    poisson=0.38,
    density=1175.0,
    strain_damping=2.5e-3,
    source="figures usual for Digital ABS: flexural modulus 1.7-2.2 GPa, 1.17-1.18 g/cm3; Poisson's ratio and damping of ABS",
)
UPPER, FORE, CRANK, TILT = 0.3, 0.27, 0.045, 30.0  # lengths between axes [m]; of crank and lever, and their angle above the forearm
THICK, HALF = 0.008, 0.014
HOME_ELBOW = -70.0
FLAT = turn("x", 90.0)  # a plate upright in the plane of the arm: its y up, its thickness to the right


def lever() -> tuple[float, float]:
    """Where the coupler takes hold, in the plane of the arm, from the axis of crank or elbow."""
    return (round(CRANK * cos(radians(TILT)), 6), round(CRANK * sin(radians(TILT)), 6))


def plate(
    name: str, base: str, outline: tuple[tuple[float, float], ...], holes: dict[str, tuple[float, float, float]], **carried: str
) -> FlexiblePart:
    """A printed plate in the plane of the arm; ``holes`` by name (x, y, radius), the first is fixed to ``base``."""
    return FlexiblePart(
        name=name,
        material=DIGITAL_ABS.name,
        shape=PartShape(
            kind="plate",
            outline=outline,
            thickness=THICK,
            holes=tuple(PartHole(name=hole, center=at[:2], radius=at[2]) for hole, at in holes.items()),
        ),
        base=base,
        pose=Pose(position=(0.0, THICK / 2.0, 0.0), quaternion=FLAT),
        base_patch=next(iter(holes)),
        children=tuple(PartInterface(body=of, patch=patch) for patch, of in carried.items()),
    )


def rapper() -> Character:
    """The arm on its pole: three motors at the shoulder, one for the elbow."""
    x, y = lever()
    pole = body(
        "pole",
        Solid("cylinder", [0.012, 0.29], 0.8, (0.0, 0.0, 0.29), color=STEEL),
        Solid("cylinder", [0.12, 0.006], 1.0, (0.0, 0.0, 0.006), color=BLACK),
        servo((0.0, 0.0, 0.595), "z"),
    )
    turret = body(
        "turret", servo((0.0, 0.03, 0.03)), servo((0.0, -0.03, 0.03)), Solid("box", [0.016, 0.02, 0.003], 0.02, (0.0, 0.0, 0.004))
    )
    yoke = body("yoke", servo((0.03, 0.0, 0.0), "x"), Solid("box", [0.006, 0.022, 0.012], 0.02, (0.006, 0.0, 0.0)))
    bracket = body(
        "bracket",
        servo((0.0, 0.03, 0.0)),
        Solid("box", [0.012, 0.02, 0.012], 0.02, (-0.016, 0.012, 0.0)),
        Solid("cylinder", [0.006, 0.012], 0.005, (0.0, 0.0, 0.0), turn("x", 90.0)),
    )
    crank = body("crank", Solid("capsule", [0.005, CRANK / 2.0], 0.008, (x / 2.0, 0.0, y / 2.0), turn("y", 90.0 - TILT), RED))
    coupler = body("coupler", Solid("capsule", [0.003, UPPER / 2.0], 0.018, (UPPER / 2.0, 0.0, 0.0), turn("y", 90.0), STEEL))
    block = body("elbow_block", Solid("cylinder", [0.006, 0.014], 0.02, (0.0, 0.0, 0.0), turn("x", 90.0), BLACK))
    axle = body("axle", Solid("cylinder", [0.005, 0.018], 0.01, (0.0, 0.0, 0.0), turn("x", 90.0)))
    pin = body("pin", Solid("sphere", [0.006], 0.004, color=STEEL))
    hand = body(
        "palm",
        Solid("cylinder", [0.005, 0.012], 0.01, (0.0, 0.0, 0.0), turn("x", 90.0)),
        Solid("ellipsoid", [0.04, 0.014, 0.03], 0.07, (0.045, 0.0, 0.0), color=SKIN, collides=True),
        Solid("capsule", [0.007, 0.022], 0.015, (0.085, 0.0, 0.016), turn("y", 70.0), SKIN),
        Solid("capsule", [0.007, 0.018], 0.015, (0.06, 0.0, 0.035), turn("y", 20.0), SKIN),
    )
    h, u, f = HALF, UPPER, FORE
    upper = plate(
        "upper_arm",
        "bracket",
        ((-h, -h), (u + h, -h), (u + h, h), (-h, h)),
        {"shoulder": (0.0, 0.0, 0.007), "elbow": (u, 0.0, 0.007)},
        elbow="elbow_block",
    )
    fore = plate(
        "forearm",
        "axle",
        ((-h, -h), (f + h, -h), (f + h, h), (x + 0.025, h), (x + 0.012, y + 0.012), (x - 0.014, y + 0.012), (-h, h)),
        {"elbow": (0.0, 0.0, 0.007), "lever": (x, y, 0.0045), "wrist": (f, 0.0, 0.007)},
        lever="pin",
        wrist="palm",
    )
    joints = (
        fixed("pole", "world", "pole"),
        hinge("yaw", "pole", "turret", "z", (0.0, 0.0, 0.615), -120.0, 120.0),
        hinge("pitch", "turret", "yoke", "y", (0.0, 0.0, 0.03), -80.0, 80.0),
        hinge("roll", "yoke", "bracket", "x", (0.08, 0.0, 0.0), -100.0, 100.0),
        hinge("crank", "bracket", "crank", "y", (0.0, 0.0, 0.0), -112.0, -8.0),
        Joint(
            name="coupler",
            kind="universal",
            parent="crank",
            child="coupler",
            axis=(0.0, 1.0, 0.0),
            second_axis=(0.0, 0.0, 1.0),
            pose=Pose(position=(x, 0.0, y)),
        ),
        fixed("upper_arm", "bracket", "elbow_block", (u, 0.0, 0.0)),
        Joint(name="elbow", kind="hinge", parent="elbow_block", child="axle", axis=(0.0, 1.0, 0.0)),
        fixed("lever", "axle", "pin", (x, 0.0, y)),
        fixed("forearm", "axle", "palm", (f, 0.0, 0.0)),
    )
    turn_home = round(radians(HOME_ELBOW), 6)
    return Character(
        name="rapper",
        bodies=(pole, turret, yoke, bracket, crank, coupler, block, axle, pin, hand),
        joints=joints,
        loops=(Joint(name="coupler_end", kind="ball", parent="coupler", child="pin", pose=Pose(position=(u, 0.0, 0.0))),),
        motors=(motor("yaw"), motor_pair("pitch"), motor("roll"), motor("crank")),
        frames=(frame_at("elbow", block), frame_at("hand", hand)),
        materials=(DIGITAL_ABS,),
        flexibles=(upper, fore),
        home={"pitch": round(radians(25.0), 6), "crank": turn_home, "elbow": turn_home, "coupler.1": -turn_home},
    )
