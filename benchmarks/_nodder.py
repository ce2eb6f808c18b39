"""A head that nods, for runs that are to be quick. No question of its own."""

from __future__ import annotations

CHARACTER = """bunraku: character/1
name: nodder
bodies:
  - {name: base, mass_kg: 1.0}
  - {name: head, mass_kg: 0.3, center_of_mass_m: [0, 0, 0.05], inertia_kg_m2: [4.0e-4, 4.0e-4, 3.0e-4, 0, 0, 0]}
joints:
  - {name: stand, kind: fixed, parent: world, child: base}
  - {name: nod, kind: hinge, parent: base, child: head, pose: {position_m: [0, 0, 0.3]}, axis: [0, 1, 0], range_deg: [-30, 40]}
motors:
  - {name: nod, coordinate: nod, velocity_deg_s: 180, acceleration_deg_s2: 2000, stall_torque_n_m: 1.5, delay_ms: 20}
"""
