"""What every part must show, recomputed from its triangles: closed, whole, printable, its screw holes where the motor has them."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from itertools import permutations
from pathlib import Path
from typing import Any

import numpy as np

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.fabrication.draft import LEAST_WALL, Hole
from bunraku.fabrication.kit import Lying, Part
from bunraku.fabrication.mesh import TriangleMesh, read_stl, write_stl
from bunraku.fabrication.shaping import across, overlap

HOLE_TOLERANCE = 0.05
"""How far [mm] a hole may be from where it belongs, and off its diameter."""
_TOUCH = 0.01
_DRIVER = 30.0
"""Room [mm] above a screw for its driver."""


@dataclass(frozen=True)
class HoleFigures:
    """A hole as the triangles show it.

    Measured ``center`` (3,) at half its depth and ``diameter`` [mm], whether it is ``open`` all along its axis and for the driver
    above, whether there is material all ``around`` it, at least a wall's thickness, and the material under the screw's head,
    ``seat`` [mm].
    """

    center: Array
    diameter: float
    open: bool
    around: bool
    seat: float


@dataclass(frozen=True)
class PartFigures:
    """The figures of a part. Lengths [mm], volumes [mm³]; ``hole_error`` is the worst of all holes against the motors' patterns."""

    open_edges: int
    pieces: int
    volume: float
    size: tuple[float, float, float]
    fits: bool
    holes: int
    bad_holes: tuple[str, ...]
    hole_error: float
    least_seat: float
    overlap: float
    overlaps_with: str

    @property
    def watertight(self) -> bool:
        """Closed, with an inside."""
        return self.open_edges == 0 and self.volume > 0.0

    @property
    def sound(self) -> bool:
        """Whether everything holds but the size."""
        return self.watertight and self.pieces == 1 and not self.bad_holes and self.overlap <= _TOUCH

    def faults(self, name: str, printer: tuple[float, float, float]) -> list[str]:
        """What is wrong with the part of that name, in sentences."""
        faults = []
        if not self.fits:
            faults.append(f"{by(self.size)} mm does not fit a printer of {by(printer, 'g')} mm; give a larger one with --printer")
        if not self.watertight:
            faults.append(f"not closed, {self.open_edges} edges are not shared by two triangles")
        if self.pieces != 1:
            faults.append(f"falls into {self.pieces} pieces")
        if self.overlap > _TOUCH:
            faults.append(f"no room for {self.overlaps_with}, {self.overlap:.1f} mm³ in common")
        return [f"{name}: {fault}" for fault in (*faults, *sorted(set(self.bad_holes)))]

    def facts(self, mass: float) -> dict[str, Any]:
        """The figures of one such part of ``mass`` [kg] for JSON."""
        return {
            "size_mm": list(self.size),
            "volume_cm3": self.volume / 1000.0,
            "mass_kg": mass,
            "fits_printer": self.fits,
            "watertight": self.watertight,
            "screw_holes": self.holes,
            "hole_error_mm": self.hole_error,
        }


def by(lengths: Iterable[float], form: str = ".0f") -> str:
    """Lengths as ``20 x 30 x 40``."""
    return " x ".join(f"{length:{form}}" for length in lengths)


def fits_printer(size: Array | tuple[float, float, float], printer: tuple[float, float, float]) -> bool:
    """Whether a box of ``size`` [mm] goes on a printer of that bed (x, y) and height (z) [mm], in some order of its lengths."""
    return any(all(length <= room + 1e-6 for length, room in zip(order, printer, strict=True)) for order in permutations(size))


def measure_hole(mesh: TriangleMesh, hole: Hole, directions: int = 24) -> HoleFigures:
    """Measure a hole from the triangles alone.

    From the point on its axis at half the seat's depth, rays go out at angles θ_k; with r_k the distances to the wall, the hole's
    centre is off by (2/K) Σ r_k (cos θ_k, sin θ_k) and its diameter 2 mean r_k.
    """
    u = across(hole.axis)
    v = np.cross(hole.axis, u)
    angles = 2.0 * np.pi * (np.arange(directions) + 0.5) / directions
    rays = np.cos(angles)[:, None] * u + np.sin(angles)[:, None] * v
    middle = hole.center + hole.axis * hole.seat / 2.0
    r = mesh.distances(middle, rays)
    offset = 2.0 * (r[:, None] * rays).mean(axis=0) if np.isfinite(r).all() else np.full(3, np.inf)
    reach = hole.seat if hole.screw is None or hole.pilot else hole.seat + _DRIVER  # the driver comes the same way
    clear = float(mesh.distances(hole.center + 0.01 * hole.axis, [hole.axis])[0])
    ring = middle + (hole.diameter / 2.0 + LEAST_WALL - 0.05) * rays[::2]
    near = middle + (hole.diameter / 2.0 + 0.15) * rays[::2]
    inside = mesh.inside(np.concatenate([middle[None], near, ring]))
    free, around = clear > reach and not inside[0], bool(inside[1:].all())
    both = np.stack([hole.axis, -hole.axis])
    under = min(float(mesh.distances(point, both).sum()) for point in near[::3]) if around else 0.0
    return HoleFigures(middle + offset, float(2.0 * r.mean()), free, around, under)


def check_settings(printer: tuple[float, float, float], infill: float) -> None:
    """Refuse a printer without room and a share of filling that is none."""
    if min(printer) <= 0.0 or not 0.0 < infill <= 1.0:
        raise BadInput(f"printer {printer} mm and infill {infill:g}: lengths are above 0, infill is above 0 and at most 1")


def written_part(part: Part, path: Path, title: str, lying: Lying, printer: tuple[float, float, float]) -> PartFigures:
    """Write a part as it lies on the bed; its figures are those of its file, read back."""
    write_stl(path, lying.put(part.mesh()), title)
    return check_part(part, printer, lying.take(read_stl(path)))


def check_part(part: Part, printer: tuple[float, float, float], mesh: TriangleMesh | None = None) -> PartFigures:
    """All figures of a part; ``mesh`` is that of its file where it has been read back, in the frame it was drawn in."""
    mesh = part.mesh() if mesh is None else mesh
    measured = [measure_hole(mesh, hole) for hole in part.holes]
    bad = [_fault(hole, figures) for hole, figures in zip(part.holes, measured, strict=True)]
    shared = [(overlap(part.solid, solid), name) for name, solid in part.cases]
    worst = max(shared, default=(0.0, ""))
    size = mesh.size()
    return PartFigures(
        open_edges=mesh.open_edges(),
        pieces=len(part.solid.decompose()),
        volume=mesh.volume(),
        size=(float(size[0]), float(size[1]), float(size[2])),
        fits=fits_printer(size, printer),
        holes=len(part.holes),
        bad_holes=tuple(fault for fault in bad if fault),
        hole_error=max(
            (_pattern_error(part.holes, measured), *(_place_error(h, f) for h, f in zip(part.holes, measured, strict=True)), 0.0)
        ),
        least_seat=min((figures.seat for figures in measured), default=np.inf),
        overlap=worst[0],
        overlaps_with=worst[1],
    )


def _place_error(hole: Hole, figures: HoleFigures) -> float:
    """Distance [mm] of a measured hole from its axis."""
    off = figures.center - hole.center
    return float(np.linalg.norm(off - hole.axis * (off @ hole.axis)))


def _fault(hole: Hole, figures: HoleFigures) -> str:
    """What is wrong with a hole, in words; nothing when it is right."""
    if not figures.open:
        return f"{hole.group}: blocked"
    if not figures.around:
        return f"{hole.group}: less than {LEAST_WALL} mm of material around a hole"
    if _place_error(hole, figures) > HOLE_TOLERANCE or abs(figures.diameter - hole.diameter) > HOLE_TOLERANCE:
        return f"{hole.group}: a hole of {figures.diameter:.2f} mm instead of {hole.diameter:.2f} mm, or out of place"
    if figures.seat < LEAST_WALL:
        return f"{hole.group}: {figures.seat:.2f} mm of material under a screw's head"
    return ""


def _pattern_error(holes: list[Hole], measured: list[HoleFigures]) -> float:
    """The largest difference [mm] between the measured distances of the holes of a motor's pattern and those of its data."""
    worst = 0.0
    for group in {hole.group for hole in holes if hole.pattern is not None}:
        places = np.array([figures.center for hole, figures in zip(holes, measured, strict=True) if hole.group == group])
        pattern = next(hole.pattern for hole in holes if hole.group == group)
        expected = 1000.0 * pattern.places() if pattern is not None else places
        if len(expected) == len(places):
            worst = max(worst, float(np.abs(_distances(places) - _distances(expected)).max()))
    return worst


def _distances(places: Array) -> Array:
    return np.linalg.norm(places[:, None] - places[None], axis=2)
