"""What bars and rods are made of."""

from __future__ import annotations

from dataclasses import dataclass

from bunraku.character import ElasticMaterial

BRASS_DENSITY = 8500.0
"""Of the balls at the ends of rods [kg/m³]."""


@dataclass(frozen=True)
class Bar:
    """A round bar that does not bend: density [kg/m³] and usual thickness [m]."""

    name: str
    density: float
    thickness: float
    color: tuple[float, float, float, float]
    source: str


BARS: dict[str, Bar] = {
    bar.name: bar
    for bar in (
        Bar("aluminium bar", 2700.0, 0.008, (0.66, 0.68, 0.71, 1.0), "aluminium, 2700 kg/m³"),
        Bar("beech bar", 700.0, 0.012, (0.72, 0.50, 0.30, 1.0), "solid beech, 700 kg/m³"),
    )
}

RODS: dict[str, ElasticMaterial] = {
    material.name: material
    for material in (
        ElasticMaterial(
            name="spring-steel",
            young=200e9,
            poisson=0.3,
            density=7850.0,
            strain_damping=7.4e-4,
            source="spring steel; the damping of a 0.7 m rod with 0.1 kg at its tip is 0.5 % of critical",
        ),
        ElasticMaterial(
            name="PLA",
            young=3.5e9,
            poisson=0.36,
            density=1240.0,
            strain_damping=7.4e-4,
            source="polylactide as printed, solid; its damping is that of the spring steel: measure yours (bunraku fit)",
        ),
    )
}
