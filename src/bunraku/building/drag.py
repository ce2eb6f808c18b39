"""Other floors and bearings: a character with another rolling resistance at its wheels."""

from __future__ import annotations

from bunraku.character import Character


def with_rolling_resistance(character: Character, drag: float) -> Character:
    """The character with the drag c [N·s/m] at every passive wheel, and the damping c r² [N·m·s/rad] of its axle with it."""
    spinning = {tip.body: tip for tip in character.end_effectors if tip.kind == "passive"}
    tips = tuple(tip.changed(rolling_resistance=drag) if tip.kind == "passive" else tip for tip in character.end_effectors)
    joints = tuple(
        joint.changed(damping=drag * spinning[joint.child].radius ** 2) if joint.child in spinning else joint
        for joint in character.joints
    )
    return character.changed(end_effectors=tips, joints=joints)
