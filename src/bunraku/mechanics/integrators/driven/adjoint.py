"""The discrete adjoint: the gradient of tracking outputs over all control points in one sweep backwards.

The same step matrices as in the forward sensitivities, transposed: exact for the discrete motion, at a cost that does not depend on
the number of parameters.
"""

from __future__ import annotations

from numpy.typing import ArrayLike

from bunraku.arrays import Array
from bunraku.mechanics.integrators.driven.curves import Curves
from bunraku.mechanics.integrators.driven.outputs import Outputs, OutputTargets
from bunraku.mechanics.integrators.driven.sensitivity import linearize_motion
from bunraku.mechanics.integrators.driven.simulate import DrivenMotion


def adjoint_gradient(
    motion: DrivenMotion,
    curves: Curves,
    outputs: Outputs,
    targets: OutputTargets,
    weights: ArrayLike | None = None,
    *,
    stride: int = 1,
    memory: float = 1e9,
) -> tuple[float, Array]:
    """Phi = sum w e^2 / 2 over the outputs at every ``stride``-th node, and its gradient (parameters,)."""
    return linearize_motion(motion, memory=memory).gradient(curves, outputs, targets, weights, stride=stride)
