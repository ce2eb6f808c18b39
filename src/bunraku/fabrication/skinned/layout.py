"""How a skinned character is made up: its limbs, its torso, and where everything stands at home, in millimetres."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np

from bunraku.arrays import Array
from bunraku.building.character_geometry import home_frames
from bunraku.character import Character, Joint, SkinMesh
from bunraku.errors import BadInput
from bunraku.fabrication.shaping import MM


@dataclass(frozen=True)
class DrivenHinge:
    """A driven hinge at home: ``place`` (3,) [mm], unit ``axis`` (3,) in the world, and its motor's ``model`` and range [rad]."""

    name: str
    parent: str
    child: str
    place: Array
    axis: Array
    model: str
    reach: tuple[float, float]


@dataclass(frozen=True)
class SkinnedLimb:
    """A chain of bodies that ends in one sole: ``hinges`` from the torso down, ``sole`` (3,) [mm] the middle of its underside."""

    name: str
    hinges: tuple[DrivenHinge, ...]
    sole: Array
    radius: float

    @property
    def bodies(self) -> tuple[str, ...]:
        """Its bodies, from the torso down."""
        return tuple(hinge.child for hinge in self.hinges)


@dataclass(frozen=True)
class Layout:
    """A skinned character and its mesh, sorted: bodies above two soles or more, or above none, belong to the torso."""

    character: Character
    mesh: SkinMesh

    @cached_property
    def hinges(self) -> tuple[DrivenHinge, ...]:
        """All driven hinges, in the order of the joints."""
        frames = home_frames(self.character)
        motors = {motor.coordinate: motor for motor in self.character.motors}
        driven = []
        for joint in self.character.joints:
            if joint.kind == "hinge":
                if joint.name not in motors:
                    raise BadInput(f"no motor drives the hinge {joint.name!r}; a skinned character is made of servos and links")
                R, p = frames[joint.child]
                home = self.character.home.get(joint.name, 0.0)
                limits = motors[joint.name].range or joint.range or (home - 1.0, home + 1.0)
                reach = (limits[0] - home, limits[1] - home)
                axis = R @ np.array(joint.axes[0].direction)
                model = motors[joint.name].model
                driven.append(DrivenHinge(joint.name, joint.parent, joint.child, MM * p, axis, model, reach))
        return tuple(driven)

    @cached_property
    def limbs(self) -> tuple[SkinnedLimb, ...]:
        """One for every sole, in the order of the end effectors."""
        above = {joint.child: joint for joint in self.character.joints}
        hinge_of = {hinge.child: hinge for hinge in self.hinges}
        chains = [self._chain(tip.body, above) for tip in self.character.end_effectors]
        frames = home_frames(self.character)
        limbs = []
        for tip, chain in zip(self.character.end_effectors, chains, strict=True):
            own = [body for body in chain if sum(body in other for other in chains) == 1]
            if not own or any(body not in hinge_of for body in own):
                raise BadInput(f"the sole {tip.name!r} is not at the end of a limb of driven hinges; such a skin cannot be parted")
            R, p = frames[tip.body]
            place = MM * (p + R @ np.array(tip.center))
            limbs.append(SkinnedLimb(tip.name, tuple(hinge_of[body] for body in reversed(own)), place, MM * tip.radius))
        return tuple(limbs)

    @staticmethod
    def _chain(body: str, above: dict[str, Joint]) -> list[str]:
        chain = [body]
        while chain[-1] in above and above[chain[-1]].parent in above:
            chain.append(above[chain[-1]].parent)
        return chain

    @cached_property
    def torso(self) -> tuple[str, ...]:
        """The bodies of the torso, in the order of the character's."""
        limbs = {body for limb in self.limbs for body in limb.bodies}
        return tuple(body.name for body in self.character.bodies if body.name not in limbs)

    @cached_property
    def glue(self) -> dict[str, Array]:
        """The glue nodes (k, 3) [mm] of every body that has some."""
        mesh = self.mesh
        owned = {body: mesh.glue_node[mesh.glue_body == number] for number, body in enumerate(mesh.bodies)}
        return {body: MM * mesh.nodes[mine] for body, mine in owned.items() if len(mine)}

    def children(self, body: str) -> tuple[DrivenHinge, ...]:
        """The hinges whose parent is ``body``."""
        return tuple(hinge for hinge in self.hinges if hinge.parent == body)

    def above(self, body: str) -> DrivenHinge | None:
        """The hinge that carries ``body``; None for the one on the free joint."""
        return next((hinge for hinge in self.hinges if hinge.child == body), None)
