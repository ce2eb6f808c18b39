"""
17. Fit a material
==================

How stiff is this rod, how fast does its vibration die, and how late is its motor? A camera watched the weight at its tip while the
motor turned by 30 degrees and back: 60 pictures a second, half a millimetre of noise, the camera standing anywhere. Notice three
things. The answer does not depend on what was assumed before: frequency and decay are measured in the record first, so the fit
starts on the right cycle even from a modulus three times too high. The interval says how much the record knows: 4 s give the
modulus to a fraction of a per mille and damping to four per cent. And of a record that ends soon after the motor's first stop the
intervals are two to three times as wide: even then the motor's own motion, whose start and stop shake the rod, tells more than the
0.7 cycles of free vibration would. This lesson works below the public names.
"""

import numpy as np

import bunraku
from bunraku.mechanics.identification.fit import fit_material
from bunraku.mechanics.identification.part import part_rig
from bunraku.mechanics.identification.record import MarkerRecord

TRUTH = {"young": 193e9, "damping": 8.5e-4, "delay": 0.021}  # Pa, s, s
RATE, NOISE = 60.0, 5e-4


def film(rig, command, seed=0):
    """What the camera saw (M, 2) [m] and when (M,) [s]: the true rod, late, seen askew, with noise."""
    fine = 5e-4
    x = rig.driven(command, 4.0).simulate(TRUTH["young"] / rig.young, TRUTH["damping"], fine)
    times = np.arange(0.0, 4.0, 1.0 / RATE)
    late = np.maximum(times - TRUTH["delay"], 0.0)
    seen = np.column_stack([np.interp(late, fine * np.arange(len(x)), x[:, i]) for i in (0, 2)])
    camera = np.array([[0.6, -0.8], [0.8, 0.6]])
    return times, seen @ camera.T + [0.3, -1.2] + NOISE * np.random.default_rng(seed).normal(size=seen.shape)


def lesson():
    """The fit to the whole record, and to its first 1.2 s."""
    character, command = bunraku.load_character("one-rod"), bunraku.load_clip("tick").need_joints("a fit")
    times, points = film(part_rig(character, "rod"), command)
    material = character.materials[0].changed(young=600e9)
    rig = part_rig(character.changed(materials=(material,)), "rod")
    fits = {}
    for name, seconds in (("whole", 4.0), ("short", 1.2)):
        kept = times < seconds
        fits[name] = fit_material(MarkerRecord(times[kept], points[kept]), rig.driven(command, seconds))
    return fits


if __name__ == "__main__":
    for name, fit in lesson().items():
        print(f"{name}: {fit.vibration.cycles:.1f} cycles of free vibration seen, noise {1e3 * fit.noise:.2f} mm")
        for what, unit, factor in (("young", "GPa", 1e-9), ("damping", "ms", 1e3), ("delay", "ms", 1e3)):
            estimate = getattr(fit, what)
            low, high = factor * estimate.low, factor * estimate.high
            print(f"  {what:8} {factor * estimate.value:8.3f} [{low:.3f}, {high:.3f}] {unit}, truth {factor * TRUTH[what]:g}")
        for warning in fit.warnings:
            print(f"  ! {warning}")
