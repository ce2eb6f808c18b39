"""What the skin does to the skeleton, as seen in the last pass: moved masses and soles, torques, stiffness of the joints."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from bunraku.arrays import Array
from bunraku.errors import BadInput
from bunraku.mechanics.centroidal.model import CentroidalModel


@dataclass(frozen=True)
class SkinEffect:
    """The skin as data of a plan of T samples; None is zero.

    ``shift`` (T, n_lumps, 3) [m]: how far the centre of mass of each rigid lump (with its share of skin) lies from where it is in
    the model, in the lump's frame, lumps in the order of `lump_nodes`. ``sole`` (T, n_e, 3) [m]: the same of the soles' centres,
    in the frames of their bodies. ``torque`` (T, nq) [N·m] that the joints give to the skin beyond its ``stiffness`` (nq, nq)
    [N·m/rad]: tau = inverse dynamics + stiffness (q - home) + torque. Rows and columns of the base are ignored.
    """

    shift: Array | None = None
    sole: Array | None = None
    torque: Array | None = None
    stiffness: Array | None = None

    def arrays(self, model: CentroidalModel, samples: int) -> tuple[Array, Array, Array, Array]:
        """Shift (T, n_lumps, 3), sole (T, n_e, 3), torque (T, nq), stiffness (nq, nq), zeros where nothing is stated."""
        shapes = {
            "shift": (samples, len(model.points.node) // 4, 3),
            "sole": (samples, model.n_tips, 3),
            "torque": (samples, model.nq),
            "stiffness": (model.nq, model.nq),
        }
        arrays = []
        for name, shape in shapes.items():
            given = getattr(self, name)
            array = np.zeros(shape) if given is None else np.array(given, dtype=np.float64)
            if array.shape != shape or not np.isfinite(array).all():
                raise BadInput(f"the skin's {name} has shape {array.shape}; {shape} of finite numbers fits this plan")
            arrays.append(array)
        shift, sole, torque, stiffness = arrays
        torque[:, :6] = 0.0
        stiffness[:6], stiffness[:, :6] = 0.0, 0.0
        return shift, sole, torque, stiffness


NO_EFFECT = SkinEffect()


def lump_nodes(model: CentroidalModel) -> NDArray[np.int64]:
    """The node (n_lumps,) of each rigid lump, in the order of ``SkinEffect.shift``."""
    return np.asarray(model.points.node[::4])
