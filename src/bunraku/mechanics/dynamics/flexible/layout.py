"""Where things stand in the arrays of flexible segments: the one place where these numbers are written.

A segment with r modes and k strain rows owns a block of ``flexible_f`` and, in the work array ``W``, a row of its own, r rows for
its modes, and rows for its strains; each of its child interfaces owns a block of ``flexible_f``, r slots, a row and r rows for its
modes.
"""

from __future__ import annotations

MODE = 3  # the kind of a slot

# segment_i
COUNT, COORDINATE_0, BASE, ROW, FIRST_INTERFACE, INTERFACES = 0, 1, 2, 3, 4, 5
MASS_F, OWN_F, LINEAR_F, QUADRATIC_F = 6, 7, 8, 9  # offsets in flexible_f: [mass, beta, N, E], pair table, L1, Qp
FIRST_PAIR, PAIRS, ROWS, STRAIN = 10, 11, 12, 13  # STRAIN: offset in the flat work array of s, J and more
POINTS, POINTS_F = 14, 15  # Neo-Hookean points (0: the energy is that of the strains) and the offset of their numbers
SEGMENT_INTS = 16

# interface_i
SEGMENT, FIRST_SLOT, INTERFACE_ROW, FRAME_F = 0, 1, 2, 3
INTERFACE_INTS = 4

# row of a segment in W: pose and twist of the floating frame F (world), its twist in F
F_ROTATION, F_POSITION, F_TWIST, F_LOCAL = 0, 9, 12, 18
# rows of its modes: momentum per unit rate Pi, derivative b of the momentum, first moment N, all in the world, in this order
PI, B, FIRST = 0, 6, 12

# row of an interface in W, all in F: Q, inverse of K, G_v, centroid c, its rate, angular velocity w, rotation R
SQUARE, INVERSE, TURN_RATE, CENTER, CENTER_RATE, SPIN, TURN = 0, 9, 18, 27, 30, 33, 36
# rows of its modes: om, om', G, tr G, C
OM, OM_RATE, G, TRACE, SHIFT = 0, 3, 6, 15, 16
