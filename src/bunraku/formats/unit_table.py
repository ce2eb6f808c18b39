"""The units a person may write, by quantity: suffix of the key and factor to SI.

In files the unit is part of the key: ``mass_g: 250`` is a mass of 0.25 kg. The first suffix of each family is the SI one.
"""

from __future__ import annotations

from math import pi

_DEG = pi / 180.0
_RPM = pi / 30.0
_INCH = 0.0254
_GRAVITY = 9.80665
_OUNCE_FORCE = 0.028349523125 * _GRAVITY

ANGULAR = "angular"
LINEAR = "linear"

_LENGTH = {"m": 1.0, "cm": 0.01, "mm": 0.001, "in": _INCH}
_ANGLE = {"rad": 1.0, "deg": _DEG}

FAMILIES: dict[str, dict[str, dict[str, float]]] = {
    "mass": {LINEAR: {"kg": 1.0, "g": 0.001}},
    "length": {LINEAR: _LENGTH},
    "angle": {ANGULAR: _ANGLE},
    "time": {LINEAR: {"s": 1.0, "ms": 0.001}},
    "frequency": {LINEAR: {"hz": 1.0, "khz": 1000.0}},
    "inertia": {
        ANGULAR: {"kg_m2": 1.0, "kg_cm2": 1e-4, "kg_mm2": 1e-6, "g_cm2": 1e-7, "g_mm2": 1e-9},
        LINEAR: {"kg": 1.0, "g": 0.001},
    },
    "coordinate": {ANGULAR: _ANGLE, LINEAR: _LENGTH},
    "keys": {ANGULAR: _ANGLE, LINEAR: _LENGTH},
    "rate": {ANGULAR: {"rad_s": 1.0, "deg_s": _DEG, "rpm": _RPM}, LINEAR: {"m_s": 1.0, "cm_s": 0.01, "mm_s": 0.001}},
    "acceleration": {ANGULAR: {"rad_s2": 1.0, "deg_s2": _DEG}, LINEAR: {"m_s2": 1.0, "cm_s2": 0.01, "mm_s2": 0.001}},
    "speed": {LINEAR: {"m_s": 1.0, "cm_s": 0.01, "mm_s": 0.001}},
    "linear_acceleration": {LINEAR: {"m_s2": 1.0, "cm_s2": 0.01, "mm_s2": 0.001}},
    "jerk": {ANGULAR: {"rad_s3": 1.0, "deg_s3": _DEG}, LINEAR: {"m_s3": 1.0, "cm_s3": 0.01, "mm_s3": 0.001}},
    "effort": {
        ANGULAR: {"n_m": 1.0, "n_cm": 0.01, "n_mm": 0.001, "kg_cm": 0.01 * _GRAVITY, "oz_in": _OUNCE_FORCE * _INCH},
        LINEAR: {"n": 1.0, "kgf": _GRAVITY},
    },
    "modulus": {LINEAR: {"pa": 1.0, "kpa": 1e3, "mpa": 1e6, "gpa": 1e9}},
    "density": {LINEAR: {"kg_m3": 1.0, "g_cm3": 1000.0}},
    "force": {LINEAR: {"n": 1.0, "kgf": _GRAVITY}},
    "stiffness": {ANGULAR: {"n_m_per_rad": 1.0, "n_m_per_deg": 180.0 / pi}, LINEAR: {"n_per_m": 1.0, "n_per_mm": 1000.0}},
    "drag": {LINEAR: {"n_s_per_m": 1.0}},
    "damping": {ANGULAR: {"n_m_s_per_rad": 1.0, "n_m_s_per_deg": 180.0 / pi}, LINEAR: {"n_s_per_m": 1.0, "n_s_per_mm": 1000.0}},
}


def accepted_units(quantity: str) -> dict[str, tuple[float, str]]:
    """Suffix -> (factor to SI, family) for every unit in which a quantity may be written."""
    return {suffix: (factor, family) for family, units in FAMILIES[quantity].items() for suffix, factor in units.items()}


def si_suffix(quantity: str, *, linear: bool = False) -> str:
    """The suffix of the SI unit: ``rad`` or, of a sliding coordinate, ``m``."""
    families = FAMILIES[quantity]
    return next(iter(families[LINEAR if linear and LINEAR in families else next(iter(families))]))
