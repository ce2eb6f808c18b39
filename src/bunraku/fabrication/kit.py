"""All parts of a robot, each once, and how each lies on the bed: congruent ones are counted, mirror images are parts apart."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from itertools import permutations, product

import numpy as np

from bunraku.arrays import Array
from bunraku.building.placement import PlacedLimb, place
from bunraku.building.robot import Robot
from bunraku.fabrication.chassis import chassis_parts
from bunraku.fabrication.draft import Draft, Hole
from bunraku.fabrication.forks import AxleSeat, rim, spacer, spacer_length
from bunraku.fabrication.links import PrintedLink, link_of
from bunraku.fabrication.mesh import TriangleMesh
from bunraku.fabrication.shaping import MM, Solid, bounds, middle_of, moved, overlap, triangles
from bunraku.system.names import safe_name

_SAME = 2e-3
"""Share of its volume by which a part may differ from another and still count as the same."""


@dataclass(frozen=True)
class PrintedPiece:
    """One printed piece of the robot where it belongs: the body it is fixed to, its solid in that body's frame [mm]."""

    body: str
    kind: str
    limb: str
    solid: Solid
    joins: tuple[str, ...]
    axles: tuple[AxleSeat, ...] = ()


@dataclass
class Part:
    """A part to print: its solid, its holes, the bought things it must leave room for, and the pieces of the robot it serves as."""

    name: str
    kind: str
    solid: Solid
    holes: list[Hole]
    cases: list[tuple[str, Solid]]
    notes: list[str]
    pieces: list[PrintedPiece] = field(default_factory=list)
    mirrored: bool = False

    @property
    def count(self) -> int:
        """How many of it the robot needs."""
        return len(self.pieces)

    @property
    def file(self) -> str:
        """The name of its file."""
        return safe_name(self.name.replace(" ", "-").replace(",", "") + ".stl")

    def mesh(self) -> TriangleMesh:
        """Its triangles, in the frame it was drawn in."""
        vertices, corners = triangles(self.solid)
        return TriangleMesh(vertices[corners])


@dataclass(frozen=True)
class PartsKit:
    """A robot as parts to print and things to buy."""

    robot: Robot
    limbs: tuple[PlacedLimb, ...]
    parts: tuple[Part, ...]

    @property
    def pieces(self) -> tuple[PrintedPiece, ...]:
        """All printed pieces of the robot."""
        return tuple(piece for part in self.parts for piece in part.pieces)


def make_kit(robot: Robot, longest: float = 220.0) -> PartsKit:
    """Draw every part of a robot; a body longer than ``longest`` [mm] comes in halves."""
    limbs = place(robot)
    drawn = [(_piece(link, link.where), link.draft) for link in chassis_parts(robot, limbs, longest)]
    for limb in limbs:
        links = [link_of(limb, index) for index in range(len(limb.stages))]
        drawn += [(_piece(link, limb.limb.name), link.draft) for link in links]
        drawn += _rims(limb)
    axles = {seat.wheel: seat for piece, _ in drawn for seat in piece.axles}
    drawn += [twin for limb in limbs for twin in _spacers(limb, axles)]
    return PartsKit(robot, limbs, tuple(_grouped(drawn)))


def _piece(link: PrintedLink, limb: str) -> PrintedPiece:
    return PrintedPiece(link.body, link.kind, limb, link.draft.solid(), tuple(link.joins), tuple(link.axles))


def _rims(limb: PlacedLimb) -> Iterator[tuple[PrintedPiece, Draft]]:
    """The rims of driven wheels, turned into the frames of the wheels."""
    for tip in limb.tips:
        if tip.case is not None:
            draft = rim(tip)
            z = tip.case.axes[:, 2]
            R = np.stack([tip.case.axes[:, 0], np.cross(z, tip.case.axes[:, 0]), z], axis=1)
            piece = PrintedPiece(tip.name, "rim", limb.limb.name, moved(draft.solid(), R, np.zeros(3)), (f"shaft of {tip.axle}",))
            yield piece, draft


def _spacers(limb: PlacedLimb, axles: dict[str, AxleSeat]) -> Iterator[tuple[PrintedPiece, Draft]]:
    """Tubes beside passive wheels."""
    for tip in limb.tips:
        if tip.model.kind != "passive":
            continue
        seat = axles[tip.name]
        width = MM * tip.model.width
        length = spacer_length(seat, width)
        frame = np.stack([np.cross(tip.axis, [1.0, 0.0, 0.0]), [1.0, 0.0, 0.0], tip.axis], axis=1)
        for side in (1.0, -1.0):
            start = tip.axis * (width / 2.0 + 0.25 if side > 0 else -width / 2.0 - 0.25 - length)
            tube = spacer(length)
            there, joins = moved(tube, frame, start), (f"axle of {tip.name}",)
            yield PrintedPiece(tip.name, "axle spacer", limb.limb.name, there, joins), Draft("spacer", [tube])


def rotations() -> list[Array]:
    """The 24 rotations that turn coordinate axes into coordinate axes."""
    turns = []
    for order, signs in product(permutations(range(3)), product((1.0, -1.0), repeat=3)):
        R = np.zeros((3, 3))
        R[range(3), order] = signs
        if np.linalg.det(R) > 0.0:
            turns.append(R)
    return turns


def _heavy(solid: Solid) -> Array:
    """The centre of mass of a solid from the middle of its box: Σ V_k (a + b + c) / 4 / V, V_k = a · (b × c) / 6 over triangles."""
    vertices, numbers = triangles(solid)
    a, b, c = (vertices[numbers[:, i]] - middle_of(solid) for i in range(3))
    volumes = np.einsum("ij,ij->i", a, np.cross(b, c)) / 6.0
    return np.asarray(volumes @ (a + b + c) / 4.0 / volumes.sum())


def _congruent(one: Solid, other: Solid, mirrored: bool) -> bool:
    """Whether a turn (after a reflection, where asked) brings a solid onto another: the volume they share is all they have."""
    volume = float(one.volume())
    if abs(volume - float(other.volume())) > _SAME * volume:
        return False
    flip = np.diag([1.0, -1.0 if mirrored else 1.0, 1.0])
    half_one = bounds(one)[1] - middle_of(one)
    half_other = bounds(other)[1] - middle_of(other)
    at_home = moved(one, np.eye(3), -middle_of(one))
    heavy_one, heavy_other = _heavy(one), _heavy(other)
    for R in rotations():
        turn = R @ flip
        if np.abs(np.abs(turn) @ half_other - half_one).max() > 0.05 or np.abs(turn @ heavy_other - heavy_one).max() > 0.05:
            continue
        if overlap(at_home, moved(other, turn, -turn @ middle_of(other))) > (1.0 - _SAME) * volume:
            return True
    return False


def _grouped(drawn: list[tuple[PrintedPiece, Draft]]) -> list[Part]:
    parts: list[Part] = []
    for piece, draft in drawn:
        solid = piece.solid if piece.kind not in ("rim", "axle spacer") else draft.solid()
        known = next((part for part in parts if part.kind == piece.kind and _congruent(part.solid, solid, False)), None)
        if known is not None:
            known.pieces.append(piece)
            continue
        mirrored = any(part.kind == piece.kind and not part.mirrored and _congruent(part.solid, solid, True) for part in parts)
        parts.append(Part(piece.kind, piece.kind, solid, draft.holes, draft.cases, draft.notes, [piece], mirrored))
    for part in parts:
        rivals = [other for other in parts if other.kind == part.kind and not other.mirrored]
        if len(rivals) > 1 and part.pieces[0].limb:
            part.name = f"{part.pieces[0].limb} {part.kind}"
        if part.mirrored:
            part.name += " mirrored"
    return parts


@dataclass(frozen=True)
class Lying:
    """The pose of a part on the bed: its drawing turned by ``turn`` R (3, 3), then moved by ``shift`` p (3,) [mm], x → R x + p.

    ``contact`` [mm²] is the area that touches the bed.
    """

    turn: Array
    shift: Array
    contact: float

    def put(self, mesh: TriangleMesh) -> TriangleMesh:
        """A drawn mesh on the bed."""
        return TriangleMesh(mesh.corners @ self.turn.T + self.shift)

    def take(self, mesh: TriangleMesh) -> TriangleMesh:
        """A mesh on the bed back in the frame it was drawn in."""
        return TriangleMesh((mesh.corners - self.shift) @ self.turn)


def lie_down(mesh: TriangleMesh, printer: tuple[float, float, float]) -> Lying:
    """Of the 24 ways to lay a part along the axes, that which fits, then touches the bed most, then is lowest.

    The corner of its box is at the origin.
    """
    corners = mesh.corners
    areas = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0]) / 2.0
    flat = corners.reshape(-1, 3)
    best: tuple[tuple[bool, float, float], Lying] | None = None
    for R in rotations():
        turned = flat @ R.T
        low, high = turned.min(axis=0), turned.max(axis=0)
        fits = bool((high - low <= np.array(printer) + 1e-6).all())
        facing = areas @ R[2]
        on_bed = (turned[:, 2].reshape(-1, 3) < low[2] + 0.01).all(axis=1) & (facing < 0.0)
        contact = float(-facing[on_bed].sum())
        score = (fits, round(contact, 3), -round(float(high[2] - low[2]), 3))
        if best is None or score > best[0]:
            best = (score, Lying(R, -low, contact))
    if best is None:
        raise ValueError("a mesh without triangles")
    return best[1]
