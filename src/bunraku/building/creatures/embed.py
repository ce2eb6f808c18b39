"""A template put into its place: joints on the curves of the legs, links between them, the torso round the hips."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.building.creatures.mechanism import LEGS, TORSO, CreatureHinge, JointPlan, Mechanism, Sole, Strut, Template
from bunraku.errors import BadInput

_UP = np.array([0.0, 0.0, 1.0])


@dataclass(frozen=True)
class LegCurve:
    """The middle line of a leg from inside the torso to the middle of the sole: ``points`` (n, 3) [m].

    ``joints`` are fractions of its length that take the place of the template's, one a joint.
    """

    name: str
    points: Array
    joints: tuple[float, ...] | None = None

    def length(self) -> float:
        """Length of the curve [m]."""
        return float(np.linalg.norm(np.diff(self.points, axis=0), axis=1).sum())

    def at(self, fraction: float) -> Array:
        """The point (3,) at a fraction of the length."""
        arc = np.concatenate([[0.0], np.cumsum(np.linalg.norm(np.diff(self.points, axis=0), axis=1))])
        return np.array([np.interp(fraction * arc[-1], arc, self.points[:, k]) for k in range(3)])

    def direction(self, fraction: float, span: float) -> Array:
        """Unit direction of the limb at a fraction: of the chord from ``span`` [m] before to ``span`` after, downward."""
        step = span / self.length()
        chord = self.at(min(fraction + step, 1.0)) - self.at(max(fraction - step, 0.0))
        return chord / np.linalg.norm(chord)


@dataclass(frozen=True)
class CreatureSizes:
    """Sizes of a creature's mechanism [m].

    ``limb_radius`` of the skin's outside, ``sole_radius``; ``torso`` (center (3,), size (3,)): the box of the torso's bracing;
    ``bays`` (center, size): those of controller and battery, in the half of the torso their centre is in; ``fold_length`` of a fold
    along the limb; ``skin`` its thickness; ``strut`` the radius of the struts; ``spine`` the place of the torso's joint.
    """

    limb_radius: float
    sole_radius: float
    torso: tuple[Array, Array]
    bays: tuple[tuple[Array, Array], ...]
    fold_length: float = 0.04
    skin: float = 0.004
    strut: float = 0.007
    spine: Array | None = None


def embed(name: str, template: Template, legs: Sequence[LegCurve], measures: CreatureSizes) -> Mechanism:
    """The mechanism of a creature: each joint of the template at its fraction of the leg's curve.

    The global scale is the mean length of the curves over the template's; the links turn and stretch so that their ends lie on the
    curves. Legs come in the order LF, RF, LH, RH.
    """
    if tuple(leg.name for leg in legs) != LEGS:
        raise BadInput(f"the legs are {[leg.name for leg in legs]}; a template needs {', '.join(LEGS)} in this order")
    scale = float(np.mean([leg.length() for leg in legs])) / template.leg_length
    origin, size = measures.torso
    hinges: list[CreatureHinge] = []
    links: list[Strut] = []
    soles: list[Sole] = []
    hulls: list[tuple[str, Array, Array]] = [(TORSO, origin, size)]
    if template.spine is not None:
        plan = template.spine
        place = origin if measures.spine is None else measures.spine
        front = np.array([1.0, 0.0, 0.0])
        hinges.append(
            CreatureHinge(plan.name, TORSO, f"{plan.name}_link", place, _UP, front, plan.servo, TORSO, plan.reach, 0.0, -front)
        )
        hulls = _halves(f"{plan.name}_link", origin, size, place, measures.fold_length)
    for leg in legs:
        parent = TORSO if leg.name[1] == "F" or template.spine is None else f"{template.spine.name}_link"
        hinges += _hinges(leg, template.joints, parent, measures)
        links += _links(leg, template.joints, parent, measures)
        soles.append(Sole(leg.name, f"{leg.name}.{template.joints[-1].name}_link", leg.at(1.0), measures.sole_radius))
    split = None if template.spine is None else hinges[0]
    bays = tuple(
        (TORSO if split is None or center[0] > split.place[0] else split.child, center, size) for center, size in measures.bays
    )
    return Mechanism(name, origin, tuple(hinges), tuple(links), tuple(soles), bays, tuple(hulls), scale)


def _halves(hind: str, origin: Array, size: Array, spine: Array, fold: float) -> list[tuple[str, Array, Array]]:
    """The bracing of a torso that turns in the middle: two boxes with the fold between them."""
    front, back = origin[0] + size[0] / 2.0, origin[0] - size[0] / 2.0
    fore, aft = spine[0] + fold / 2.0, spine[0] - fold / 2.0
    boxes = []
    for body, low, high in ((TORSO, fore, front), (hind, back, aft)):
        boxes.append((body, np.array([(low + high) / 2.0, origin[1], origin[2]]), np.array([high - low, size[1], size[2]])))
    return boxes


def _fractions(leg: LegCurve, joints: Sequence[JointPlan]) -> tuple[float, ...]:
    if leg.joints is None:
        return tuple(plan.at for plan in joints)
    if len(leg.joints) != len(joints):
        raise BadInput(f"leg {leg.name} gives {len(leg.joints)} places for {len(joints)} joints")
    return leg.joints


def _hinges(leg: LegCurve, joints: Sequence[JointPlan], parent: str, measures: CreatureSizes) -> list[CreatureHinge]:
    outward = leg.at(1.0) - leg.at(0.0)
    outward[2] = 0.0
    if np.linalg.norm(outward) < 1e-9:
        outward = np.array([0.0, 1.0 if leg.name[0] == "L" else -1.0, 0.0])
    tangent = np.cross(outward / np.linalg.norm(outward), _UP)
    axes = {"x": np.array([1.0, 0.0, 0.0]), "y": np.array([0.0, 1.0, 0.0]), "z": _UP, "tangent": tangent}
    hinges = []
    for plan, s in zip(joints, _fractions(leg, joints), strict=True):
        axis = axes[plan.turn]
        limb = leg.direction(s, 0.5 * measures.fold_length)
        step = 0.5 * measures.fold_length / leg.length() * (1.0 if plan.outward else -1.0)
        lean = leg.at(min(max(s + step, 0.0), 1.0)) - leg.at(s)
        child = f"{leg.name}.{plan.name}_link"
        hinges.append(
            CreatureHinge(
                f"{leg.name}.{plan.name}",
                parent,
                child,
                leg.at(s),
                axis,
                _across(lean - (lean @ axis) * axis),
                plan.servo,
                child if plan.outward else parent,
                plan.reach,
                plan.shift,
                limb if plan.fold else None,
            )
        )
        parent = child
    return hinges


def _links(leg: LegCurve, joints: Sequence[JointPlan], parent: str, measures: CreatureSizes) -> list[Strut]:
    """Struts from joint to joint, and the tubes under the skin between two folds that brace it; a plate over the sole."""
    s = (0.0, *_fractions(leg, joints), 1.0)
    bodies = (parent, *(f"{leg.name}.{plan.name}_link" for plan in joints))
    half, inner = 0.5 * measures.fold_length / leg.length(), measures.limb_radius - measures.skin - 0.001
    struts = []
    for k, body in enumerate(bodies):
        start, end = leg.at(s[k]), leg.at(s[k + 1])
        foot = k == len(joints)
        if foot:
            end = end + np.array([0.0, 0.0, 2.0 * measures.skin + 0.004])
        struts.append(Strut(body, start, end, measures.strut))
        if k >= 1 and (joints[k - 1].fold or foot):
            low, high = s[k] + half, (1.0 if foot else s[k + 1] - half)
            top, bottom = leg.at(low), (end if foot else leg.at(high))
            if high > low and np.linalg.norm(bottom - top) > 0.002:
                struts.append(Strut(body, top, bottom, inner, 0.0018))
        if foot:
            struts.append(Strut(body, end, end - np.array([0.0, 0.0, 0.003]), inner, inner))
    return struts


def _across(vector: ArrayLike) -> Array:
    v = np.asarray(vector, dtype=float)
    norm = np.linalg.norm(v)
    if norm < 1e-6:
        raise BadInput("a servo's shaft lies along its limb: the case has no side to lean to; turn the joint's axis")
    return v / norm
