"""A performance of a skinned character as a plan over the ground: bodies that carry their skin as if rigid, springs in the joints.

MuJoCo has no skin here. The mass of the skin is in the bodies it is glued to; how it resists the joints, `joint_stiffness`, is a
spring at each motor's joint about home (the stiffness between two different joints is a few hundredths of that and left out), with
the damping beta K of its rubber. So the planned torques, which bend the skin too, are what the servos of the replay need.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np

from bunraku.character import Character
from bunraku.errors import BadInput
from bunraku.formats.registry import read_character
from bunraku.mechanics.coupled.known_skins import skin_of
from bunraku.mechanics.coupled.share import skin_share, with_skin_mass
from bunraku.mechanics.coupled.skinned import SkinnedModel, skinned_model
from bunraku.mechanics.coupled.stiffness import joint_stiffness
from bunraku.motion import Performance
from bunraku.verification.ground.plan import GroundPlan, ground_plan


def model_of(character: Character) -> SkinnedModel:
    """The compiled model of a performance's character; the skin of a built-in one is read again where it is not known."""
    try:
        skin_of(character)
    except BadInput as error:
        try:
            read_character(character.name)
        except BadInput:
            raise error from None
    return skinned_model(character)


def skin_plan(performance: Performance, model: SkinnedModel | None = None) -> GroundPlan:
    """The plan of a skinned character's performance.

    The base is raised so that the lowest sole of the first sample stands on the ground: rubber gives way under the weight, the
    discs that stand for soles do not.
    """
    model = model_of(performance.character) if model is None else model
    laden = with_skin_mass(model, skin_share(model))
    plan = ground_plan(replace(performance, character=laden))
    stiffness = np.diag(joint_stiffness(model))[model.driven]
    up = np.array([0.0, 0.0, -float(plan.clearance[0].min())])
    q = plan.q.copy()
    q[:, plan.tree.names.index(f"{_base(laden)}.tz")] += up[2]
    return replace(
        plan,
        q=q,
        position=plan.position + up,
        com=plan.com + up,
        tip_center=plan.tip_center + up,
        springs=np.column_stack([stiffness, model.damping * stiffness]),
    )


def _base(character: Character) -> str:
    return next(joint.name for joint in character.joints if joint.kind == "free")
